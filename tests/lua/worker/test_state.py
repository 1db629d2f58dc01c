"""A worker in the hands of its program: the test is the other end of the connection."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import ormsgpack
import pytest

from evatui.kernel.lua import Chunk, Program
from evatui.kernel.lua.state import Answer
from evatui.kernel.lua.worker.frames import MAX_REQUEST, Channel, Gone
from evatui.kernel.lua.worker.launch import Launched
from evatui.kernel.lua.worker.plausible import most
from evatui.kernel.lua.worker.state import WorkerState

PROGRAM = Program(Chunk("t.lua", b"function invoke() end"), max_output_bytes=1000)
LOADED = ormsgpack.packb((int(Answer.RETURNED), ""))


class Ending:
    """Knows that it was killed."""

    def __init__(self) -> None:
        self.killed = threading.Event()

    def kill(self) -> None:
        self.killed.set()

    def ended(self) -> int | None:
        return None

    def close(self) -> None:
        assert self.killed.is_set()


@contextlib.contextmanager
def worker(act: Callable[[socket.socket], None], *, hears: bool = True) -> Iterator[tuple[WorkerState, Ending]]:
    """A state that is loaded, and whose other end does ``act`` when asked something, which it may leave unread."""
    ours, theirs = socket.socketpair()
    ending = Ending()

    def work() -> None:
        channel = Channel(theirs)
        with contextlib.suppress(OSError, Gone):
            channel.receive(MAX_REQUEST)
            channel.send(LOADED)
            if hears:
                channel.receive(MAX_REQUEST)
            act(theirs)

    state = WorkerState(PROGRAM, lambda memory_bytes: Launched(ours, ending))
    thread = threading.Thread(target=work)
    thread.start()
    assert state.load(PROGRAM) == (Answer.RETURNED, "")
    try:
        yield state, ending
    finally:
        state.close()
        theirs.close()
        thread.join()


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "little") + body


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\x01",
        (most(PROGRAM) + 1).to_bytes(4, "little"),
        b"\xff\xff\xff\xff" * 3,
        framed(b""),
        framed(b"\xdd\xff\xff\xff\xff"),
        framed(b"\x91" * 5000 + b"\xc0"),
        framed(ormsgpack.packb("text")),
        framed(ormsgpack.packb((int(Answer.LOST), "all is well"))),
        framed(ormsgpack.packb((int(Answer.RETURNED_ROW), "", 1, 2, -4))),
        framed(LOADED) * 2,
        framed(b"x" * most(PROGRAM)),
    ],
)
def test_whatever_it_says_the_call_ends_and_so_does_the_worker(said: bytes) -> None:
    def act(sock: socket.socket) -> None:
        sock.sendall(said)
        sock.shutdown(socket.SHUT_WR)

    with worker(act) as (state, ending):
        kind, reason = state.enter(2, b"\xa6invoke")
        assert kind == Answer.LOST
        assert reason.startswith("the worker process was given up: it")
        assert ending.killed.is_set()
        assert not state.sound()
        assert state.enter(2, b"\xa6invoke") == (Answer.NO_MEMORY,)


def test_a_worker_that_ends_before_it_reads_has_not_heard() -> None:
    def act(sock: socket.socket) -> None:
        sock.recv(1, socket.MSG_PEEK)
        sock.close()

    with worker(act, hears=False) as (state, ending):
        kind, reason = state.enter(2, b"\xa6invoke")
        assert kind == Answer.UNHEARD
        assert reason.startswith("the worker process was given up: it")
        assert ending.killed.is_set()


def test_an_answer_in_pieces_is_put_together() -> None:
    text = "x" * 200_000

    def act(sock: socket.socket) -> None:
        whole = framed(ormsgpack.packb((int(Answer.RETURNED_ROW), "", text, 0, 7)))
        for at in (*range(5), 1000, 70_000):
            sock.sendall(whole[at : at + 1] if at < 4 else b"")
        sock.sendall(whole[4:])

    with worker(act) as (state, _):
        assert state.enter(2, b"\xa6invoke") == (Answer.RETURNED_ROW, "", text, 0, 7)


def test_a_word_out_of_turn_is_not_taken_for_the_next_answer() -> None:
    answered, spoken = threading.Event(), threading.Event()

    def act(sock: socket.socket) -> None:
        sock.sendall(framed(LOADED))
        answered.wait()
        sock.sendall(framed(LOADED))
        spoken.set()

    with worker(act) as (state, _):
        assert state.enter(2, b"\xa6invoke") == (Answer.RETURNED, "")
        assert state.sound()
        answered.set()
        spoken.wait()
        assert not state.sound()


def test_a_kill_ends_the_wait_for_an_answer() -> None:
    asked = threading.Event()

    with worker(lambda sock: asked.set()) as (state, ending):
        killer = threading.Thread(target=lambda: (asked.wait(), state.kill()))
        killer.start()
        assert state.enter(2, b"\xa6invoke") == (Answer.NO_MEMORY,)
        killer.join()
        assert ending.killed.is_set()


def test_killed_before_there_is_a_process_it_never_runs() -> None:
    ours, theirs = socket.socketpair()
    ending = Ending()

    def launch(memory_bytes: int) -> Launched:
        state.kill()
        return Launched(ours, ending)

    state = WorkerState(PROGRAM, launch)
    assert state.load(PROGRAM) == (Answer.NO_MEMORY,)
    assert ending.killed.is_set()
    state.close()
    assert theirs.recv(1) == b""
    theirs.close()

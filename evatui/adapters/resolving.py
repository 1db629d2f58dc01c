"""Names turned into addresses, and the addresses looked at, before anything is dialled."""

from __future__ import annotations

import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from evatui.adapters.apart import apart
from evatui.kernel.model.address import Address, Reach, literal, reach_of
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line

__all__ = ["Resolve", "SystemNames", "checked_addresses"]

Resolve = Callable[[str], Awaitable[Sequence[Address]]]
"""Every address of a name, in the order in which to try them; raises `OSError` where it has none."""
_MAX_OPEN = 32


class SystemNames:
    """Asks the system. A question cannot be taken back, so at most 32 are open at a time."""

    def __init__(self) -> None:
        self._free = threading.Semaphore(_MAX_OPEN)

    async def __call__(self, name: str) -> Sequence[Address]:
        if not self._free.acquire(blocking=False):
            raise failure(ErrorKind.UNAVAILABLE, "too many names are being looked up", retryable=True)
        return await apart(partial(self._ask, name), "evatui-resolve")

    def _ask(self, name: str) -> Sequence[Address]:
        try:
            return _system_addresses(name)
        except UnicodeError as error:
            raise OSError(str(error)) from None
        finally:
            self._free.release()


def _system_addresses(name: str) -> Sequence[Address]:
    entries = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    found = (literal(str(address[0])) for *_, address in entries)
    return tuple(dict.fromkeys(address for address in found if address is not None))


async def checked_addresses(host: str, reach: Reach, ask: Resolve) -> Sequence[Address]:
    """What may be dialled for ``host``: each of its addresses, if all of them are as far away as ``reach`` says.

    Raises `CallFailed`, ``PolicyDenied`` where one is not, and ``Unavailable`` where there is none.
    """
    shown = clean_line(host, 256)
    address = literal(host)
    try:
        found = await ask(host) if address is None else (address,)
    except OSError:
        found = ()
    if not found:
        raise failure(ErrorKind.UNAVAILABLE, f"{shown} has no address", retryable=True)
    if any(reach_of(each) is not reach for each in found):
        raise failure(ErrorKind.POLICY_DENIED, f"{shown} is refused: it has an address that is not {reach.value}")
    return found

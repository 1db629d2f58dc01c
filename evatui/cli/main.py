"""``eva``: reads the words, runs the command, says what came of it, and ends with the exit code of that."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evatui.cli.early import interrupted, until_at_work

if TYPE_CHECKING:
    from evatui.cli.session import Connect

__all__ = ["main", "run"]


def main() -> None:
    """The console script. What it needs is imported once ctrl+c is taken care of."""
    until_at_work()
    from evatui.cli.streams import give_up, prepare_streams

    prepare_streams()
    if os.environ.get("EVA_DEBUG"):
        _show_log()
    try:
        code = run(sys.argv[1:])
    except OSError as problem:
        code = give_up(problem)
    except KeyboardInterrupt:  # of whoever has seen enough of the answer
        code = interrupted()
    sys.exit(code)


def _show_log() -> None:
    """What went wrong inside a runtime of this process, with its traceback."""
    import logging

    log = logging.getLogger("evatui")
    log.addHandler(logging.StreamHandler())
    log.setLevel(logging.DEBUG)


def run(arguments: Sequence[str], connect: Connect | None = None) -> int:
    """Runs one command line and returns its exit code. Raises `SystemExit`, and `OSError` where it cannot print."""
    from evatui.cli.options import Settings
    from evatui.cli.words import eva

    settings = Settings() if connect is None else Settings(connect)
    try:
        answer = eva.main(list(arguments), "eva", standalone_mode=False, obj=settings)
    except Exception as problem:
        from evatui.cli.ending import failed

        return failed(settings, arguments, problem)
    if answer is None or isinstance(answer, int):
        return int(answer or 0)
    from evatui.cli.ending import told

    return told(settings, answer)


if __name__ == "__main__":
    main()

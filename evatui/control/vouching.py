"""Trust in what ``eva init`` has just written.

Whoever runs ``eva init DIR`` and then ``evatui DIR`` is to find everything at work and no question asked: the files
are the package's own, so there is nothing to decide. Still no power comes silently. What is trusted is the digest of
exactly the bytes that were written, never the folder: a file that was in the folder before is not covered, and a
sample that is edited to connect, to start a process or to use a secret is a changed part, which waits and is asked
about. What asks for none of this, as the samples now, leaves no trace in the record of trust.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from evatui.control.failing import CommandFailed
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry.scan import Scanner
from evatui.kernel.registry.trust import Trust, part_of
from evatui.kernel.storage.database import StorageError
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import open_layout

__all__ = ["vouch"]


def vouch(root: Path, written: Collection[str], home: OperatorHome) -> list[str]:
    """Trusts what needs trust and is made of the ``written`` files alone; returns its names. Blocking.

    Raises `CommandFailed` ``Unavailable`` where that cannot be kept: then the workspace is there, and asks.
    """
    layout = open_layout(root)
    tree = Tree(layout.root)
    try:
        scan = Scanner(layout, tree, sandbox_facts(), home).scan(None, {})
    finally:
        tree.close()
    found = (part_of(one, scan.policy) for one in scan.verdicts.values() if isinstance(one, Candidate))
    mine = [part for part in found if part is not None and part.files.keys() <= set(written)]
    try:
        if mine:
            Trust(home, layout.root, writes=True).set(mine, SYSTEM_CLOCK.now())
    except StorageError as error:
        raise CommandFailed(ErrorKind.UNAVAILABLE, str(error), suggestion="eva trust, in the new workspace") from None
    return [part.name for part in mine]

"""The verdict on one manifest, whatever happens while it is made: a defect costs no more than this one capability."""

from __future__ import annotations

from collections.abc import Callable

from evatui.kernel.admission.admit import admit
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.manifest import guess_id
from evatui.kernel.admission.policy import PolicyResult
from evatui.kernel.admission.render import render
from evatui.kernel.admission.verdict import Rejection
from evatui.kernel.model.diagnostic import Span
from evatui.kernel.model.sandbox import SandboxFacts
from evatui.kernel.registry.seen import Seen
from evatui.kernel.workspace.files import FileProblem, Tree
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.snapshot import Snapshot, take_snapshot, unread_snapshot

__all__ = ["Judge"]

_NEVER = ""
"""The epoch of no policy: what was not judged is judged again at the next look."""


class Judge:
    def __init__(self, layout: Layout, sandbox: SandboxFacts) -> None:
        self.on_defect: Callable[[BaseException], object] = lambda error: None
        """Called in the thread that judges; must not raise."""
        self._layout = layout
        self._sandbox = sandbox

    def judge(self, tree: Tree, path: str, in_force: PolicyResult) -> Seen | None:
        """Reads and judges; None where there is no manifest at ``path`` any more."""
        snapshot: Snapshot | None = None
        try:
            snapshot = take_snapshot(tree, self._layout, path)
            verdict = admit(
                snapshot,
                layout=self._layout,
                policy=in_force.policy,
                sandbox=self._sandbox,
                policy_diagnostics=in_force.diagnostics,
            )
        except FileProblem:
            return None
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic in a library's native code is no `Exception`
            self.on_defect(error)
            snapshot = snapshot or unread_snapshot(path)
            return Seen(snapshot, _refused(snapshot, error), _NEVER)
        return Seen(snapshot, verdict, in_force.policy.epoch)


def _refused(snapshot: Snapshot, error: BaseException) -> Rejection:
    message = f"this version could not be judged: {type(error).__name__}, which is a defect of evatui itself"
    found = render(diagnose("EVA-606", message, Span(snapshot.path)), {})
    return Rejection(guess_id(snapshot.manifest.data), snapshot.path, snapshot.digest, (found,), snapshot)

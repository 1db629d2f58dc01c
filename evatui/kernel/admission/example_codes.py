"""The stable codes ``EVA-6xx`` (reload and rollout)."""

from __future__ import annotations

from evatui.kernel.model.code import Code
from evatui.kernel.model.diagnostic import Reason

__all__ = ["EXAMPLE_CODES"]

EXAMPLE_CODES = (
    Code(
        "EVA-601",
        Reason.EXAMPLES_FAILED,
        "an example cannot be read",
        "An example that is not understood shows nothing, and looks as if it did.",
        "An example is {name, payload, user?, tags?, expect?: {result?, error_kind?}}; payload fits the input schema.",
    ),
    Code(
        "EVA-602",
        Reason.EXAMPLES_FAILED,
        "an example gives another answer",
        "Examples are run on a new version before it serves: what they say is what callers rely on.",
        "Mend the handler, or the expectation where the new answer is meant; reload.examples: warn lets it serve.",
    ),
    Code(
        "EVA-603",
        Reason.MIGRATION_FAILED,
        "the state cannot be carried over",
        "A version that does not find what the one before it stored would lose it. The old state is as it was.",
        "Mend the migration, or add the one that is missing to state.migrations; going back takes a rollback.",
    ),
    Code(
        "EVA-604",
        Reason.ROLLED_BACK,
        "the version on disk was rolled back",
        "What somebody, or too many failed calls, took out of service must not come back because a file is read again.",
        "Change its files, or try the same ones again: eva capability retry ID",
    ),
    Code(
        "EVA-605",
        Reason.QUARANTINED,
        "the runtime died twice in a row while the version on disk was new",
        "Whatever ends the whole process cannot be counted by it: the one before it serves instead, if there is one.",
        "Change its files, or try the same ones again: eva capability retry ID",
    ),
    Code(
        "EVA-606",
        Reason.INTERNAL,
        "evatui failed while it judged this version",
        "What was not judged is not served; the version before it stays, and all others are judged as ever.",
        "It is judged again at the next look, or by eva capability reload. Report it with what EVA_DEBUG=1 writes.",
    ),
)

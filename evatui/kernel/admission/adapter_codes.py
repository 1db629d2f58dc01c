"""The stable codes ``EVA-7xx`` (adapters)."""

from __future__ import annotations

from evatui.kernel.model.code import Code
from evatui.kernel.model.diagnostic import Reason

__all__ = ["ADAPTER_CODES"]

ADAPTER_CODES = (
    Code(
        "EVA-701",
        Reason.FILE_MISSING,
        "the adapter cannot be read",
        "What is not read is not reached: nothing is guessed about it.",
        "Make it a regular file inside the workspace that the runtime may read.",
    ),
    Code(
        "EVA-702",
        Reason.MANIFEST_INVALID,
        "unknown key in an adapter",
        "A misspelt allow-list or limit would be ignored silently and leave its default in force.",
        "Correct the key or remove it.",
    ),
    Code(
        "EVA-703",
        Reason.MANIFEST_INVALID,
        "a value of an adapter does not fit",
        "An adapter leads out of the runtime: what it reaches must be declared exactly.",
        "Write a value of the form that the message names: eva schema print adapter",
    ),
    Code(
        "EVA-704",
        Reason.MANIFEST_INVALID,
        "the blocks of an adapter are not those of its transport",
        "An address or a command that its transport does not use would look as if it were in force.",
        "Keep the one block that is named as the transport.",
    ),
    Code(
        "EVA-705",
        Reason.DUPLICATE_ID,
        "two adapters with one id",
        "A grant names its providers by id, so an id must stand for one of them.",
        "Give one of them another id.",
    ),
    Code(
        "EVA-707",
        Reason.APPROVAL_REQUIRED,
        "an adapter waits until the workspace is trusted with it",
        "What starts a process, opens a connection or sends a secret is not for files to decide, but for a person.",
        "Look at what it may do and trust it: eva trust",
    ),
    Code(
        "EVA-708",
        Reason.RESTART_REQUIRED,
        "an adapter leads elsewhere, and waits for the next start",
        "A command, an address or a transport never changes under calls that run.",
        "Restart the runtime: eva runtime restart",
    ),
    Code(
        "EVA-709",
        Reason.POLICY_DENIED,
        "the policy does not let an adapter answer",
        "Deny beats whatever a manifest says, and what asks for more than the policy gives is refused, never trimmed.",
        "Change the policy, or what the adapter asks for.",
    ),
)

"""The stable codes ``EVA-4xx`` (policy and permissions) and ``EVA-5xx`` (Lua load and health)."""

from __future__ import annotations

from evatui.kernel.model.code import Code
from evatui.kernel.model.diagnostic import Reason

__all__ = ["POLICY_CODES"]

_POLICY = (
    Code(
        "EVA-401",
        Reason.POLICY_DENIED,
        "the policy file cannot be read",
        "A policy that is understood only in part could grant what its author took away.",
        "Repair the file; until then the last valid policy stays in force, or nothing is granted.",
    ),
    Code(
        "EVA-402",
        Reason.POLICY_DENIED,
        "unknown key in the policy",
        "A misspelt rule would be ignored silently, and what it should refuse would be allowed.",
        "Correct the key or remove it; until then the last valid policy stays in force, or nothing is granted.",
    ),
    Code(
        "EVA-403",
        Reason.POLICY_DENIED,
        "a value in the policy does not fit",
        "A rule that has to be guessed at protects nothing.",
        "Correct the value; until then the last valid policy stays in force, or nothing is granted.",
    ),
    Code(
        "EVA-404",
        Reason.POLICY_DENIED,
        "two policy files contradict each other",
        "Neither may override the other silently.",
        "Keep the entry in one file.",
    ),
    Code(
        "EVA-410",
        Reason.POLICY_DENIED,
        "the manifest asks for more than the policy grants",
        "A capability reaches only what the policy grants; a request for more is refused, never trimmed.",
        "Remove the entry, or grant it under grants in a policy file.",
    ),
    Code(
        "EVA-411",
        Reason.POLICY_DENIED,
        "a value is above the policy's ceiling",
        "Ceilings keep one capability from taking the host from all others.",
        "Lower the value, or raise the ceiling in the policy.",
    ),
    Code(
        "EVA-412",
        Reason.POLICY_DENIED,
        "the policy does not let this capability provide the name",
        "A name is a promise to callers, so the policy says who may answer to it.",
        "Use a name that the grant covers, or add the name to its names.",
    ),
    Code(
        "EVA-413",
        Reason.POLICY_DENIED,
        "the policy denies this capability",
        "Deny beats every grant.",
        "Remove the entry under deny if the capability is wanted.",
    ),
    Code(
        "EVA-414",
        Reason.POLICY_DENIED,
        "the policy does not trust this source inside the process",
        "Only what the policy trusts runs in the process of the runtime.",
        "Use isolation: auto, or add the source to trusted_sources.",
    ),
    Code(
        "EVA-415",
        Reason.ISOLATION_UNAVAILABLE,
        "this source needs a process with an OS sandbox, which this machine does not have",
        "What comes from elsewhere is kept from files and sockets by the operating system as well, not by Lua alone.",
        "Ask `eva doctor` what is missing; or trust its source in the policy (trusted_sources), or do without the OS"
        " sandbox there (isolation: {require_os_sandbox: false}).",
    ),
    Code(
        "EVA-416",
        Reason.ISOLATION_UNAVAILABLE,
        "it needs a process of its own, and there is none to be had here",
        "What the policy does not trust, or what asks for a process of its own, never runs in the runtime's.",
        "Ask `eva doctor` what is missing; or trust its source in the policy (trusted_sources).",
    ),
    Code(
        "EVA-417",
        Reason.POLICY_DENIED,
        "shell: true asks for every command",
        "A fixed list of command prefixes can be reviewed, a shell cannot.",
        "List the commands: shell: {commands: [[git, status]]}",
    ),
    Code(
        "EVA-430",
        Reason.APPROVAL_REQUIRED,
        "the version may do more than the one before",
        "What was granted once is a promise to the operator: a version that reaches further is a new decision.",
        "Look at the difference, then approve this very version, or take the entry out of the manifest.",
    ),
    Code(
        "EVA-431",
        Reason.RESTART_REQUIRED,
        "the version asks for a power that no running version may gain",
        "Processes, connections, new places to write and a looser sandbox never come by saving a file.",
        "Look at the difference, then approve this very version; it takes effect with `eva runtime restart`.",
    ),
    Code(
        "EVA-432",
        Reason.APPROVAL_REQUIRED,
        "the schemas are not compatible with those of the version before",
        "Callers were promised what the schemas said; whoever relied on it would fail without a warning.",
        "Keep to what was promised, or approve this very version.",
    ),
    Code(
        "EVA-433",
        Reason.APPROVAL_REQUIRED,
        "the version would provide a name that another capability provides",
        "A name is a promise to callers; who answers to it does not change behind their backs. To "
        "this, names that differ in case only are one.",
        "Use a name of its own, or approve this very version.",
    ),
    Code(
        "EVA-434",
        Reason.APPROVAL_REQUIRED,
        "a new capability asks for a power while the runtime runs",
        "A file that appears must not start processes, connect, write or use secrets before somebody has seen it.",
        "Look at what it asks for, then approve this very version.",
    ),
    Code(
        "EVA-435",
        Reason.APPROVAL_REQUIRED,
        "the workspace is not trusted with this yet",
        "A folder that somebody else made must not start processes, connect or use secrets because it was opened.",
        "Look at what it asks for, then trust the workspace: eva trust",
    ),
)

_LUA = (
    Code(
        "EVA-501",
        Reason.FILE_MISSING,
        "the script or module cannot be read",
        "There is nothing to run without it.",
        "Create the file or correct the path.",
    ),
    Code(
        "EVA-502",
        Reason.LUA_LOAD_FAILED,
        "the Lua code does not load",
        "A version that does not load never serves; the one before stays.",
        "Repair the marked line.",
    ),
    Code(
        "EVA-503",
        Reason.HEALTH_FAILED,
        "the health check failed",
        "A version that says it is not well never serves; the one before stays.",
        "Repair what the health check reports.",
    ),
)

POLICY_CODES: tuple[Code, ...] = _POLICY + _LUA

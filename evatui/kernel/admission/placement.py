"""Where a capability is to run: in the process of the runtime, or in one of its own."""

from __future__ import annotations

from evatui.kernel.admission.pooled_policy import Policy
from evatui.kernel.admission.report import Report
from evatui.kernel.model.manifest import Isolation, Manifest, TrustSource
from evatui.kernel.model.sandbox import SandboxFacts

__all__ = ["check_isolation", "placed", "unboxed"]

_FOREIGN = (TrustSource.THIRD_PARTY, TrustSource.UNKNOWN)


def placed(manifest: Manifest, policy: Policy) -> Isolation:
    """``IN_PROCESS`` or ``PROCESS``: what the manifest says, and for ``auto`` whether the policy trusts its source."""
    if manifest.isolation is Isolation.AUTO:
        return Isolation.IN_PROCESS if manifest.trust in policy.trusted_sources else Isolation.PROCESS
    return manifest.isolation


def unboxed(manifest: Manifest, policy: Policy, sandbox: SandboxFacts) -> bool:
    """Does it come from where a process needs an OS sandbox, and this machine has none for it?"""
    foreign = manifest.trust in _FOREIGN and manifest.trust not in policy.trusted_sources
    return foreign and not sandbox.os_sandbox


def check_isolation(manifest: Manifest, policy: Policy, sandbox: SandboxFacts, report: Report) -> None:
    """Reports a place that the policy refuses, or that this machine does not have."""
    source = manifest.trust
    trusted = source in policy.trusted_sources
    if placed(manifest, policy) is Isolation.IN_PROCESS:
        if not trusted:
            message = f"isolation: in_process from the source {source}, which the policy does not trust"
            report.add("EVA-414", message, report.span(("isolation",)))
    elif not sandbox.process:
        _no_process(manifest, trusted, sandbox, report)
    elif policy.require_os_sandbox and unboxed(manifest, policy, sandbox):
        message = f"the source {source} needs a process with an OS sandbox, and this machine has none"
        report.add("EVA-415", message, report.span(("trust", "source")), notes=(_missing(sandbox),))


def _no_process(manifest: Manifest, trusted: bool, sandbox: SandboxFacts, report: Report) -> None:
    if manifest.isolation is Isolation.PROCESS:
        span = report.span(("isolation",))
        message = "isolation: process, and there are no worker processes here"
    else:
        span = report.span(("trust", "source"))
        message = f"the source {manifest.trust} is not trusted in the process, and there are no others here"
    fix = "Use isolation: auto: the policy trusts its source." if trusted else None
    report.add("EVA-416", message, span, notes=(_missing(sandbox),), fix=fix)


def _missing(sandbox: SandboxFacts) -> str:
    return f"missing here: {', '.join(sandbox.missing)}"

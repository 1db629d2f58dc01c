"""Which walls this machine can put around a worker."""

from __future__ import annotations

import os
import sys
from functools import cache

from evatui.kernel.lua.worker import landlock, limits, seccomp
from evatui.kernel.model.sandbox import NO_SANDBOX, SandboxFacts

__all__ = ["sandbox_facts"]


@cache
def sandbox_facts() -> SandboxFacts:
    """Asks the kernel once; starts nothing."""
    if os.name != "posix" or not sys.executable:
        return NO_SANDBOX
    version, filters = landlock.abi(), seccomp.available()
    missing = []
    if not filters:
        missing.append("seccomp (system calls are not filtered)")
    if version == 0:
        missing.append("Landlock (files are not closed off a second time)" if filters else "Landlock")
    return SandboxFacts(
        process=True,
        rlimits=limits.available(),
        landlock_abi=version,
        seccomp=filters,
        missing=tuple(missing),
        os_sandbox=filters,
    )

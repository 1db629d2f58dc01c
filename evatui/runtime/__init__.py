"""The runtime of one workspace."""

from __future__ import annotations

from evatui.kernel.registry.state_folder import AUDIT_DIR
from evatui.runtime.runtime import Runtime

__all__ = ["AUDIT_DIR", "Runtime"]

"""What the tour saves: versions of one bundled capability, each made from the file as it was bundled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["BROKEN", "MENDED", "PATIENT", "POLICY", "SCALE", "SECOND", "SUBJECT", "TESTER", "TRIAL", "WIDER", "Save"]

SUBJECT = "topic-normalize"
"""The id of the capability that is edited, and that the load calls."""
SCALE = "sim:1209:e7a0:sim.scale"
"""The key of the simulated scale."""
TESTER = "tester"
"""The user whose calls a version on trial takes."""

_SCRIPT = "capabilities/tools/topic_normalize.lua"
_NEXT = "capabilities/tools/topic_normalize_next.lua"
_MANIFEST = "capabilities/topic-normalize.yaml"
_REPORT = "capabilities/scale-report.yaml"
_SCALE = "capabilities/adapters/scale-main.yaml"
_ANSWER = "  return { ok = true, result = result }\n"
_LIMITS = "limits:\n"


@dataclass(frozen=True, slots=True)
class Save:
    """``path`` gets the bundled text of ``source`` with each pair's first text replaced by its second one."""

    path: str
    source: str
    changes: tuple[tuple[str, str], ...]

    def text(self, bundled: Mapping[str, str]) -> str:
        """Raises `ValueError` where the bundled file does not have what is to be replaced."""
        made = bundled[self.source]
        for old, new in self.changes:
            if made.count(old) != 1:
                raise ValueError(f"{self.source} does not have {old!r} once")
            made = made.replace(old, new)
        return made


def _signed(by: str) -> str:
    return f'  return {{ ok = true, result = result, meta = {{ by = "{by}" }} }}\n'


_READS = (_LIMITS, "permissions:\n  fs:\n    read: [workspace]\nlimits:\n")
_FAILS = '  if segments[1] == "weather" then\n    error("no forecast for " .. segments[2])\n  end\n'
_ON_TRIAL = (
    "reload:\n"
    f"  canary: {{percent: 0, users: [{TESTER}]}}\n"
    "  analysis: {min_samples: 20, window_s: 60, max_error_rate: 0.2, deadline_s: 600}\n"
)

SECOND = (Save(_SCRIPT, _SCRIPT, ((_ANSWER, _signed("two")),)),)
BROKEN = (Save(_SCRIPT, _SCRIPT, ((_ANSWER, _signed("three")), ("  note_slashes(", "  note_slahes("))),)
MENDED = (Save(_SCRIPT, _SCRIPT, ((_ANSWER, _signed("three")),)),)
WIDER = (Save(_MANIFEST, _MANIFEST, (_READS,)),)
TRIAL = (
    # The script first, under a name of its own: the manifest makes one version of both, in one save.
    Save(_NEXT, _SCRIPT, ((_ANSWER, _FAILS + _signed("four")),)),
    Save(_MANIFEST, _MANIFEST, ((_SCRIPT, _NEXT), (_READS[0], _ON_TRIAL + _READS[1]))),
)

PATIENT = (
    # The call that waits for the scale is looked at, and read about, before the plug is pulled.
    Save(_REPORT, _REPORT, (("timeout_ms: 8000", "timeout_ms: 60000"),)),
    Save(_SCALE, _SCALE, (("timeout_ms: 5000", "timeout_ms: 60000"),)),
)
POLICY = """\
# What the tour needs beyond the samples: it may ask for files, and no device but simulated ones is touched.
version: 1
grants:
  - match: {ids: [topic-normalize], kinds: [lua_tool], sources: [project]}
    fs: {read: [workspace]}
hardware:
  allowed_buses: [sim]
"""

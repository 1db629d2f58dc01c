"""``python -m tests.adapters.conformance``: the public harness against our client, without the scenarios of OAuth.

None of them is expected to fail.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.mcp.conformance.node import harness

_SCENARIOS = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
)
_PATIENCE_MS = 180_000


def main() -> int:
    words = harness()
    if words is None:
        return 0
    client = shlex.join([sys.executable, "-m", "tests.adapters.conformance_client"])
    root = Path(__file__).parents[2]
    wrong = []
    for scenario in _SCENARIOS:
        leg = ["client", "--command", client, "--scenario", scenario, "--timeout", str(_PATIENCE_MS)]
        done = subprocess.run(
            [*words, *leg],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=False,
        )
        passed = done.returncode == 0
        print(f"{'passed' if passed else 'failed'}  {scenario}", flush=True)
        if not passed:
            wrong.append(scenario)
            print(done.stdout[-2_000:], done.stderr[-2_000:])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

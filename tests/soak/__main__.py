"""Edits under load with numbers from the command line; exit 1 where anything was lost, wrong, mixed or kept."""

from __future__ import annotations

import argparse
import asyncio
import sys

from tests.soak.reload import edit_under_load


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    options.add_argument("--edits", type=int, default=100, help="saves of the script (100)")
    options.add_argument("--callers", type=int, default=4, help="callers at a time (4)")
    options.add_argument("--rate", type=float, default=60.0, help="calls a second of each caller (60)")
    options.add_argument("--beside", type=int, default=0, help="other capabilities that serve as well (0)")
    options.add_argument("--seed", type=int, default=1, help="for the mix of saves and pauses (1)")
    given = options.parse_args()
    report = asyncio.run(edit_under_load(given.edits, given.callers, given.rate, given.seed, given.beside))
    print("\n".join(report.lines()))
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())

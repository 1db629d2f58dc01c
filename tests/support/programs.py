"""The programs of this package, as a shell starts them, of the checkout that is tested."""

from __future__ import annotations

import sys

__all__ = ["EVA"]

EVA = (sys.executable, "-c", "from evatui.cli.main import main; main()")

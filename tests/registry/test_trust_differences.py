"""What is told of a part that was trusted and has changed since."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from evatui.kernel.registry.trust import Part, Trust
from evatui.kernel.workspace.home import OperatorHome

AT = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


def credential(**said: object) -> dict[str, object]:
    return {"credentials": {"GH": said}}


def test_only_what_differs_is_told_whatever_order_the_keys_have(tmp_path: Path) -> None:
    home = OperatorHome(tmp_path)
    Trust(home, tmp_path, writes=True).set(
        [Part("capability a", "1", credential(hosts=["a.org"], header="Authorization"), {"a.lua": "1"})], AT
    )
    later = Trust(home, tmp_path, writes=True)
    later.load()
    told = later.differences(
        Part("capability a", "2", credential(hosts=["a.org", "b.org"], header="Authorization"), {"a.lua": "1"})
    )
    assert len(told) == 1
    assert "b.org" in told[0]
    assert "header" not in told[0].partition("b.org")[2]
    assert "Authorization" not in told[0]

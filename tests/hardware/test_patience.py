"""How long a device that could not be opened is left alone."""

from __future__ import annotations

import pytest

from evatui.hardware.hotplug import Hotplug
from evatui.hardware.patience import Patience
from evatui.hardware.trouble import Trouble


def test_it_is_tried_ever_more_seldom_and_not_without_an_end_where_one_is_named() -> None:
    patience, hotplug, now, waits = Patience(), Hotplug(0.25, 6), 100.0, []
    for _ in range(6):
        patience.check(hotplug, 1, now)
        patience.failed(hotplug, 1, now)
        with pytest.raises(Trouble, match=r"next attempt|in a row"):
            patience.check(hotplug, 1, now)
        waits.append(patience.not_before - now)
        now = patience.not_before + 0.001
    assert all(0.8 * due <= wait <= 1.2 * due for wait, due in zip(waits, (0.25, 0.5, 1, 2, 4, 5), strict=True))
    with pytest.raises(Trouble, match="6 times in a row; eva hardware rescan"):
        patience.check(hotplug, 1, now + 3_600)
    patience.check(hotplug, 2, now)  # plugged in anew
    patience.forget()
    patience.check(hotplug, 1, now)

"""The page about records names all that there is."""

from __future__ import annotations

from pathlib import Path

from evatui.kernel.records.damage import Damage
from evatui.kernel.records.metrics import Metrics
from evatui.kernel.records.record import FIELDS

TEXT = (Path(__file__).parents[2] / "docs" / "records.md").read_text(encoding="utf-8")


def test_every_metric_kind_of_damage_and_field_of_a_record_is_on_the_page() -> None:
    metrics = [f"{m.name}_total" if m.type == "counter" else m.name for m in Metrics(lambda: ()).registry().collect()]
    assert len(metrics) == 10
    assert [name for name in (*metrics, *Damage, *FIELDS) if f"`{name}`" not in TEXT] == []

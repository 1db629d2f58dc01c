"""Thousands of pairs of schemas: no change that loses a value is called compatible."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.admission.compat_law import check
from tests.admission.schema_strategies import DRAFTS


@pytest.mark.parametrize("draft", DRAFTS)
@settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_compatible_means_that_nothing_accepted_is_refused(draft: str | None, data: st.DataObject) -> None:
    check(draft, data)

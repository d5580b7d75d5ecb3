"""The axis of a program's curve."""

from __future__ import annotations

import pytest

from gpu_assistant.gui.examples.curve_chart import axis_ticks


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [
        (2.33, [0, 1, 2, 3]),
        (0.04, [0, 0.01, 0.02, 0.03, 0.04]),
        (90.0, [0, 25, 50, 75, 100]),
        (0.0, [0, 1]),
    ],
)
def test_axis_ends_at_the_first_round_value_above_the_largest(largest, ticks):
    assert axis_ticks(largest) == ticks

"""Texts of the memory estimate."""

from __future__ import annotations

import operator
from itertools import pairwise

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QColor

from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.memory_fit.messages import (
    MEMORY_PARTS,
    FitRemedy,
    fit_remedies,
    refusal_text,
    variant_detail,
)
from tests.fakes.benchmarks import memory_fits, worked_out


def test_batch_norm_note_only_for_resnet():
    accumulated = memory_fits().fits[3]
    assert "BatchNorm" in variant_detail(accumulated)
    assert (
        variant_detail(replace(accumulated, model="bert-base")) == "calculates a batch in four parts: slightly slower"
    )


def test_batch_that_fits_needs_no_remedy():
    assert fit_remedies(worked_out(16).fits) == ()


def test_all_ways_together_are_offered_only_where_no_single_one_is_enough():
    plain, mixed, checkpointing, accumulation, together = memory_fits().fits
    too_large = [replace(each, batch=500, largest_batch=64) for each in (plain, mixed, checkpointing, accumulation)]
    fits = [*too_large, replace(together, batch=500, largest_batch=800)]
    assert [(each.batch, each.variant) for each in fit_remedies(fits)] == [(64, None), (None, "together")]
    fits[1] = replace(mixed, batch=500, largest_batch=600)
    assert [each.variant for each in fit_remedies(fits)] == [None, "mixed"]


def test_smaller_batch_is_that_of_a_saving_way_where_not_even_one_example_fits():
    plain, mixed, *_ = memory_fits().fits
    fits = [replace(plain, batch=16, largest_batch=0), replace(mixed, batch=16, largest_batch=4)]
    assert fit_remedies(fits) == (FitRemedy(label="Set batch size to 4", batch=4),)
    assert fit_remedies([replace(each, batch=4) for each in fits]) == (
        FitRemedy(label="Show code: mixed precision", variant="mixed"),
    )


def test_way_that_costs_least_is_offered():
    plain, mixed, checkpointing, accumulation, _ = memory_fits().fits
    large = [replace(each, batch=100) for each in (plain, checkpointing, accumulation, mixed)]
    assert [each.variant for each in fit_remedies(large)] == [None, "mixed"]
    assert [each.variant for each in fit_remedies(large[:-1])] == [None, "accumulation"]
    assert [each.variant for each in fit_remedies(large[:-2])] == [None, "checkpointing"]


def test_answer_says_what_the_buttons_offer():
    plain, mixed, checkpointing, *_ = memory_fits().fits
    large = [replace(each, batch=100) for each in (plain, mixed, checkpointing)]
    assert refusal_text(large) == "A batch of 100 does not fit. Use 72, or keep 100 with mixed precision."
    assert [each.label for each in fit_remedies(large)] == ["Set batch size to 72", "Show code: mixed precision"]
    nothing = replace(plain, batch=16, largest_batch=0)
    assert refusal_text([nothing, replace(mixed, largest_batch=4)]) == (
        "A batch of 16 does not fit with any method that was measured. Use 4."
    )
    assert refusal_text([replace(nothing, batch=4), replace(mixed, batch=4, largest_batch=4)]) == (
        "A batch of 4 does not fit. Keep 4 with mixed precision."
    )
    assert refusal_text([nothing]).endswith("and neither does a smaller one.")


def test_batch_that_fits_or_may_fit_is_not_refused():
    plain = memory_fits().fits[0]
    assert refusal_text([plain]) == ""
    assert refusal_text([replace(plain, capacity=None, reserve=None, largest_batch=None)]) == ""


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_largest_part_has_a_colour_of_its_own(qapp, choice):
    theme.set_theme(qapp, choice)
    colours = {part: theme.color(token) for part, token in MEMORY_PARTS}
    largest = colours.pop("activations")
    assert largest.hsvSaturationF() > 0.5  # neither grey nor pale
    assert all(distance(largest, each) > 0.35 for each in (*colours.values(), theme.color("ok")))


# How the retina's missing cones change linear RGB: Viénot, Brettel and Mollon 1999.
BLINDNESS = {
    "protanopia": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deuteranopia": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
    "none": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("choice", ["light", "dark"])
def test_neighbouring_parts_differ_for_colour_blind_people(qapp, choice, blindness):
    theme.set_theme(qapp, choice)
    colours = [seen_colour(theme.color(token), BLINDNESS[blindness]) for _, token in MEMORY_PARTS]
    for one, other in pairwise(colours):
        assert distance(one, other) > 0.25


def seen_colour(colour: QColor, matrix: tuple[tuple[float, ...], ...]) -> QColor:
    """A colour as it looks with this change of linear RGB."""
    linear = [((value + 0.055) / 1.055) ** 2.4 if value > 0.04045 else value / 12.92 for value in colour.getRgbF()[:3]]
    changed = [min(max(sum(map(operator.mul, row, linear)), 0.0), 1.0) for row in matrix]
    return QColor.fromRgbF(*(1.055 * v ** (1 / 2.4) - 0.055 if v > 0.0031308 else 12.92 * v for v in changed))


def distance(one: QColor, other: QColor) -> float:
    """Between two colours, in RGB from 0 to 1."""
    pairs = zip(one.getRgbF()[:3], other.getRgbF()[:3], strict=True)
    return sum((a - b) ** 2 for a, b in pairs) ** 0.5

"""Events and their labels of a plot."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from gpu_assistant.gui import theme
from gpu_assistant.gui.monitor.plot import overlay
from gpu_assistant.gui.monitor.plot.annotations import Event
from gpu_assistant.gui.monitor.plot.renderer import ViewRange

pytestmark = pytest.mark.gui


def view(width=600, first=0, column=1.0, ratio=1.0) -> ViewRange:
    return ViewRange(width=width, height=80, first=first, column=column, ticks=(0, 100), ratio=ratio)


def gpu_event(gpu, start, word="", tone="soft", end=900) -> Event:
    """An event in a plot of several GPUs; without a word, in that of another metric."""
    text, gpu_label = (f"GPU {gpu}: {word}", f"GPU {gpu}") if word else ("", "")
    return Event(start=start, end=end, text=text, tone=tone, gpu=gpu, gpu_label=gpu_label, short_text=word)


@pytest.mark.parametrize("ratio", [1.0, 1.5])
@pytest.mark.parametrize("start", [-200.0, 98.0], ids=["before the left edge", "at the right edge"])
def test_a_label_is_whole_at_an_edge(qapp, start, ratio):
    shown = view(width=round(300 * ratio), column=100 / 300 / ratio, ratio=ratio)

    def label(begin: float):
        (placed,) = overlay.place_labels(shown, (Event(start=begin, end=math.inf, text="slowed by heat", tone="warn"),))
        return placed

    assert label(start).width == label(30.0).width
    assert 0 <= label(start).left <= 300 - label(start).width


def test_simultaneous_events_share_label(qapp):
    events = (gpu_event(0, 100, "power limit"), gpu_event(1, 101, "power limit"), gpu_event(3, 110, "power limit"))
    events += (gpu_event(2, 400, "power limit"), gpu_event(2, 102, "hot"))
    texts = [group.text for group in overlay.group_events(view(), events)]
    assert texts == ["GPU 0, 1 and 3: power limit", "GPU 2: hot", "GPU 2: power limit"]


def test_a_label_without_room_is_named_in_the_last_one_of_its_kind(qapp):
    """No GPU is lost, in whichever language the labels are short."""
    width = overlay.QFontMetricsF(theme.font("axis")).horizontalAdvance("GPU 7: hot")
    later = 100 + width + 12  # too far away to share a label from the start, and both lanes are taken
    events = (gpu_event(7, 100, "hot"), gpu_event(7, 102, "slowed by heat"), gpu_event(6, later - 8, "hot"))
    texts = [label.text for label in overlay.place_labels(view(), events)]
    assert texts == ["GPU 6 and 7: hot", "GPU 7: slowed by heat"]


def test_each_dashed_line_has_its_label(qapp):
    events = (gpu_event(0, 50), gpu_event(1, 60, "hot", "warn"), gpu_event(2, 300, "hot", "warn"), gpu_event(3, 320))
    labels = overlay.place_labels(view(), events)
    item = overlay.EventsItem()
    item.show_events(events, labels, view())
    assert sorted(start for _, start in item.starts) == [label.event.start for label in labels] == [60, 300]


def test_crosshair_merges_simultaneous_events():
    events = [
        Event(start=1, end=9, text=text, tone="warn", gpu=gpu) for gpu, text in ((2, "hot"), (0, "hot"), (1, "charger"))
    ]
    events.append(Event(start=1, end=1, text="install", tone="accent"))
    assert overlay.event_reasons(events, names_gpus=True) == ["GPU 0 and 2: hot", "GPU 1: charger", "install"]
    assert overlay.event_reasons(events, names_gpus=False) == ["hot", "charger", "install"]


def test_spans_of_a_tone_are_merged_and_a_pixel_wide():
    events = (gpu_event(0, 100, tone="warn", end=200), gpu_event(1, 150, tone="warn", end=300))
    events += (gpu_event(2, 150, tone="error", end=150.5), gpu_event(3, 400, tone="warn", end=math.inf))
    events += (gpu_event(4, 500, tone="accent", end=500),)
    spans = [(span.tone, span.start, span.end) for span in overlay.merged_spans(events, view())]
    assert spans == [("error", 150, 151), ("warn", 100, 150), ("warn", 151, 300), ("warn", 400, 601)]


def test_of_two_states_at_a_time_the_graver_one_is_shaded():
    hot = gpu_event(0, 100, tone="warn", end=300)
    slowed = replace(hot, hatch="rising", start=150, end=200)
    spans = [(span.hatch, span.start, span.end) for span in overlay.merged_spans((hot, slowed), view())]
    assert spans == [("rising", 150, 200), ("plain", 100, 150), ("plain", 200, 300)]


def test_events_of_a_kind_that_are_close_are_one():
    """A card that leaves its power limit for a moment with each batch is marked once, not as a zebra."""
    dips = [gpu_event(0, start, "power limit", end=start + 40) for start in (100, 150, 200, 300)]
    assert [(each.start, each.end) for each in overlay.join_events(dips, view())] == [(100, 240), (300, 340)]


def test_information_is_marked_in_the_plot_of_its_metric_only():
    events = [gpu_event(0, 100, "word", tone=tone, end=200) for tone in ("soft", "warn")]
    elsewhere = [replace(each, text="", short_text="", gpu_label="") for each in events]
    assert [each.tone for each in overlay.join_events(elsewhere, view())] == ["warn"]
    assert [each.tone for each in overlay.join_events(events, view())] == ["soft", "warn"]

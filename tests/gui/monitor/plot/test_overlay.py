"""Events and their labels of a plot."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from gpu_assistant.gui import theme
from gpu_assistant.gui.monitor.plot import overlay
from gpu_assistant.gui.monitor.plot.annotations import Event
from gpu_assistant.gui.monitor.plot.curves import LineStyle
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
    texts = [group.text(view()) for group in overlay.group_events(view(), events)]
    assert texts == ["GPU 0, 1 and 3: power limit", "GPU 2: hot", "GPU 2: power limit"]


def test_a_label_without_room_is_named_in_the_last_one_of_its_kind(qapp):
    """No GPU is lost, in whichever language the labels are short."""
    width = overlay.QFontMetricsF(theme.font("axis")).horizontalAdvance("GPU 7: hot")
    later = 100 + width + 12  # too far away to share a label from the start, and both lanes are taken
    events = (gpu_event(7, 100, "hot"), gpu_event(7, 102, "slowed by heat"), gpu_event(6, later - 8, "hot"))
    texts = [label.text for label in overlay.place_labels(view(), events)]
    assert texts == ["GPU 7, later also GPU 6: hot", "GPU 7: slowed by heat"]


def test_where_not_all_labels_have_room_the_gravest_are_shown(qapp):
    hot = gpu_event(7, 100, "hot", "warn")
    slowed = replace(gpu_event(7, 120, "slowed by heat", "warn"), hatch="rising")
    lost = gpu_event(6, 130, "lost", "error")
    texts = [[label.text for label in overlay.place_labels(view(), (hot, slowed, lost), lanes)] for lanes in (1, 2)]
    assert texts == [["GPU 6: lost"], ["GPU 7: slowed by heat", "GPU 6: lost"]]


@pytest.mark.parametrize("first", ["hot", "slowed by heat"])
@pytest.mark.parametrize("start", [-50, 100, 420, 490])
@pytest.mark.parametrize("distance", [3, 20, 60, 100])
def test_no_dashed_line_runs_through_a_label(qapp, first, start, distance):
    second = {"hot": "slowed by heat", "slowed by heat": "hot"}[first]
    hatches = {"hot": "plain", "slowed by heat": "rising", "power limit": "falling"}
    events = [
        replace(gpu_event(gpu, start + place * distance, word, "warn"), hatch=hatches[word])
        for place, (gpu, word) in enumerate([(7, first), (5, second), (6, "power limit")])
    ]
    labels = overlay.place_labels(view(), events)
    lines = [(label.lane, view().x(label.event.start)) for label in labels if label.has_line]
    assert len(labels) >= 2
    for label in labels:
        assert not [x for lane, x in lines if lane >= label.lane and label.left <= x <= label.left + label.width]


def test_each_dashed_line_has_its_label(qapp):
    events = (gpu_event(0, 50), gpu_event(1, 60, "hot", "warn"), gpu_event(2, 300, "hot", "warn"), gpu_event(3, 320))
    labels, item = overlay.EventLabels(), overlay.EventsItem()
    labels.show_events(events, view(), {})
    item.show_events(labels, view())
    assert sorted(start for _, start in item.starts) == [label.event.start for label in labels.labels] == [60, 300]


@pytest.mark.parametrize(
    ("code", "text"), [("en", "GPU 2 and 7, later also GPU 6: hot"), ("zh_CN", "GPU 2 和 7，随后还有 GPU 6：hot")]
)
def test_a_shared_label_tells_which_gpu_was_later_and_marks_when(language, code, text):
    language.set(code)
    events = (gpu_event(7, 100, "hot", "warn"), gpu_event(2, 104, "hot", "warn"), gpu_event(6, 180, "hot", "warn"))
    labels, item = overlay.EventLabels(), overlay.EventsItem()
    labels.show_events(events, view(), {})
    item.show_events(labels, view())
    assert [(label.text, label.event.start) for label in labels.labels] == [(text, 100)]
    assert sorted(start for _, start in item.starts) == [100, 180]


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


def test_of_cards_with_strips_each_state_tints_its_own(qapp):
    """What the computer had is in all of them."""
    labels = overlay.EventLabels()
    events = [gpu_event(6, 100, "hot", "warn", end=300), gpu_event(7, 200, "hot", "warn", end=400)]
    events.append(Event(start=500, end=600, text="no data", tone="soft", hatch="dotted"))

    def tinted(shown):
        labels.show_events(events, shown, {key: LineStyle(colour_token="s1") for key in ("7", "3", "6")})
        return [[(span.start, span.end) for span in spans] for spans in labels.spans_by_strip]

    assert tinted(view()) == [[(100, 400), (500, 600)]]
    in_strips = replace(view(), strips=3)
    assert tinted(in_strips) == [[(200, 400), (500, 600)], [(500, 600)], [(100, 300), (500, 600)]]


@pytest.mark.parametrize(
    ("pause", "parts"), [(10, [(100, 140), (150, 190)]), (2, [(100, 182)])], ids=["seen", "too short to be seen"]
)
def test_the_band_of_a_label_has_a_gap_for_each_pause_that_can_be_seen(qapp, pause, parts):
    labels = overlay.EventLabels()
    starts = (100, 140 + pause)
    labels.show_events([gpu_event(0, start, "power limit", end=start + 40) for start in starts], view(), {})
    assert [(span.start, span.end) for span in labels.spans_by_strip[0]] == parts
    assert [label.text for label in labels.labels] == ["GPU 0: power limit"]


def test_information_is_marked_in_the_plot_of_its_metric_only():
    events = [gpu_event(0, 100, "word", tone=tone, end=200) for tone in ("soft", "warn")]
    elsewhere = [replace(each, text="", short_text="", gpu_label="") for each in events]
    assert [each.tone for each in overlay.join_events(elsewhere, view())] == ["warn"]
    assert [each.tone for each in overlay.join_events(events, view())] == ["soft", "warn"]


@pytest.mark.parametrize(
    ("most", "bands"),
    [
        (3, [(7, [("rising", 200, 400)]), (6, [("plain", 100, 300)])]),
        (1, [(None, [("rising", 200, 400), ("plain", 100, 200)])]),
    ],
    ids=["one each", "too many"],
)
def test_several_gpus_have_a_band_each_in_the_order_of_their_lines(most, bands):
    events = [gpu_event(6, 100, "hot", "warn", end=300)]
    events.append(replace(gpu_event(7, 200, "slowed by heat", "warn", end=400), hatch="rising"))
    found = overlay.event_bands(events, view(), ["7", "3", "6"], most)
    assert [(band.gpu, [(span.hatch, span.start, span.end) for span in band.spans]) for band in found] == bands
    alone = overlay.event_bands(events[:1], view(), ["7", "3", "6"], most)
    assert [band.gpu for band in alone] == [None]


def test_a_pause_of_sampling_is_in_the_band_of_each_gpu():
    events = [gpu_event(gpu, 100, "hot", "warn", end=200) for gpu in (0, 1)]
    events.append(Event(start=300, end=400, text="no data", tone="soft", hatch="dotted"))
    bands = overlay.event_bands(events, view(), ["0", "1"], 3)
    assert [[(span.start, span.end) for span in band.spans] for band in bands] == [[(100, 200), (300, 400)]] * 2

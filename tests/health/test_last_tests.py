"""The last health test of each GPU is kept, and a damaged file counts as none."""

from __future__ import annotations

import pytest

from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.results import Check, Checks
from gpu_assistant.health.last_tests import MAX_CARDS, RECORD_NAME, CardTest, read_last_tests, record_test


def outcome(verdict="pass", *, covers=("device-compute",), check="device-compute", level=2) -> Checks:
    checks = (Check(id=check, state=verdict),)
    return Checks(schema="gpu-assistant/checks/1", verdict=verdict, checks=checks, level=level, covers=covers)


@pytest.fixture
def data(tmp_path):
    return DataDir(tmp_path / "data")


def test_each_gpu_keeps_its_last_test(data):
    assert read_last_tests(data).cards == {}
    record_test(data, outcome(), ["GPU-a", "GPU-b"], 1000.0)
    record_test(data, outcome("fail", level=3), ["GPU-b"], 2000.0)
    assert read_last_tests(data).cards == {
        "GPU-a": CardTest(ended=1000.0, level=2, verdict="pass"),
        "GPU-b": CardTest(ended=2000.0, level=3, verdict="fail"),
    }


@pytest.mark.parametrize(
    "checks",
    [
        outcome(covers=("driver", "cpu-compute")),  # no GPU was tested
        outcome("fail", check="torch-import"),  # the setup, not the card
    ],
)
def test_what_says_nothing_of_a_gpu_is_not_kept(data, checks):
    record_test(data, checks, ["GPU-a"], 1000.0)
    assert read_last_tests(data).cards == {}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"schema":"gpu-assistant/health-tests/1","cards":{"a":{"ended":1e99,"level":1,"verdict":"pass"}}}',
        '{"schema":"gpu-assistant/health-tests/1","cards":{"a":{"ended":1,"level":9,"verdict":"pass"}}}',
        '{"schema":"gpu-assistant/health-tests/9","cards":{}}',
    ],
)
def test_damaged_file_counts_as_no_test(data, text):
    (data.claim(data.state) / RECORD_NAME).write_text(text, encoding="utf-8")
    assert read_last_tests(data).cards == {}
    record_test(data, outcome(), ["GPU-a"], 1000.0)
    assert [*read_last_tests(data).cards] == ["GPU-a"]


def test_oldest_tests_are_dropped(data):
    for number in range(MAX_CARDS + 2):
        record_test(data, outcome(), [f"GPU-{number}"], 1000.0 + number)
    kept = read_last_tests(data).cards
    assert len(kept) == MAX_CARDS
    assert "GPU-1" not in kept
    assert f"GPU-{MAX_CARDS + 1}" in kept

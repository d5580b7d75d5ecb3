"""How far a health test is, from its reports."""

from __future__ import annotations

import pytest

from gpu_assistant.health.checks import make_check
from gpu_assistant.health.child_protocol import HealthProgress
from gpu_assistant.health.job import AREAS_BY_LEVEL, PROGRAM_AREAS, SAMPLED_AREAS
from gpu_assistant.health.progress import HealthTestProgress

LEVEL_1 = tuple(area for area in AREAS_BY_LEVEL[1] if area != "cpu-compute")
LEVEL_2 = (*LEVEL_1, *AREAS_BY_LEVEL[2])
LEVEL_3 = (*LEVEL_2, *AREAS_BY_LEVEL[3])


def at(area: str, done: float | None = None, device: str = "cuda:0") -> HealthProgress:
    return HealthProgress(check=area, device=device, done=done)


def test_every_area_of_the_levels_has_its_place_in_the_order():
    assert sorted((*PROGRAM_AREAS, *SAMPLED_AREAS)) == sorted(
        area for level in AREAS_BY_LEVEL.values() for area in level
    )


def test_areas_to_come_are_those_after_the_current_one():
    progress = HealthTestProgress(LEVEL_2)
    assert progress.areas_to_come[:2] == ("driver", "device-compute")
    assert progress.current_area is None
    progress.update(make_check("driver", "pass"), 1)
    assert progress.current_area == "device-compute"
    progress.update(at("torch-import"), 1)
    assert progress.areas_to_come[:2] == ("device-compute", "copy-bandwidth")  # loading PyTorch is no area
    progress.update(at("memory-test", 0.4), 60)
    assert progress.current is not None
    assert progress.current.done == 0.4
    assert progress.areas_to_come[0] == "card-answers"
    progress.update(make_check("memory-test", "pass"), 70)
    assert progress.current is None
    assert progress.areas_to_come[0] == "card-answers"
    for area in LEVEL_2:
        progress.update(make_check(area, "pass"), 71)
    assert progress.areas_to_come == ()
    assert progress.current_area is None


def test_without_load_the_bar_counts_areas_of_the_whole_test():
    progress = HealthTestProgress(LEVEL_2)
    assert progress.fraction(0) == 0
    progress.update(at("memory-test", 0.5), 60)
    assert progress.fraction(60) == pytest.approx(4.5 / 14)
    for area in LEVEL_2:
        progress.update(make_check(area, "pass"), 71)
    assert progress.fraction(71) == 1


def test_with_load_the_bar_is_a_share_of_the_time():
    progress = HealthTestProgress(LEVEL_3, load_seconds=600)
    progress.update(at("memory-test", 0.0), 80)
    # Four of five areas before the load took 80 s: all five 100 s, and 600 s of load.
    assert progress.fraction(80) == pytest.approx(80 / 700)
    progress.update(at("load", 0.0), 100)
    assert progress.fraction(100) == pytest.approx(100 / 700)
    progress.update(at("load", 0.5), 400)
    assert progress.fraction(400) == pytest.approx(400 / 700)
    progress.update(make_check("load", "pass"), 700)
    assert progress.fraction(700) == 1


def test_the_bar_counts_the_areas_of_every_gpu_and_never_falls():
    progress = HealthTestProgress(LEVEL_2, gpu_count=2)
    total = 14 + 3  # copies, products and memory once more
    shares = []
    for device in ("cuda:0", "cuda:1"):
        for area in ("copy-bandwidth", "matmul-bits", "memory-test"):
            progress.update(at(area, 0.5, device), 10)
            shares.append(progress.fraction(10))
            progress.update(make_check(area, "pass", device=device), 10)
            shares.append(progress.fraction(10))
    assert shares == sorted(shares)
    assert shares[5] == pytest.approx(5 / total)  # the first GPU is done
    assert shares[6] == pytest.approx(5.5 / total)
    assert shares[-1] == pytest.approx(8 / total)
    progress.update(at("copy-bandwidth", 0.0, "cuda:0"), 10)  # what would take it back
    assert progress.fraction(10) == shares[-1]


def test_an_area_that_was_passed_over_is_not_to_come():
    progress = HealthTestProgress((*LEVEL_2, "cpu-compute"))
    progress.update(at("device-compute"), 3)
    assert "cpu-compute" not in progress.areas_to_come

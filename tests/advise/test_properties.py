"""What must hold between two answers: of a newer driver, of a forgotten fact, of another order of cards."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.recommendation import Choice, Recommendation

from .build import catalog
from .oracle.grid import DRIVERS, MAIN, SYSTEMS, cards, host, machine
from .oracle.published import PublishedFacts, number

IGPU = {"vendor": "amd", "name": "AMD Radeon Graphics", "pci_id": "1002:164e", "gfx": "gfx1036"}


@cache
def published() -> PublishedFacts:
    return PublishedFacts()


def answer(box: dict[str, Any]) -> Recommendation:
    return recommend(msgspec.convert(box, Machine), catalog(), choice=Choice(way="newest"))


def chosen(advice: Recommendation) -> tuple[Any, ...]:
    """What is decided, without the words."""
    return advice.accelerator, advice.python, advice.pytorch, advice.driver, advice.cuda_toolkit, advice.cudnn


def release(advice: Recommendation) -> tuple[int, ...]:
    assert advice.pytorch is not None
    return number(advice.pytorch.version)


systems = st.sampled_from([*MAIN, "windows10", "rocky8"])
names = st.sampled_from(sorted(cards(PublishedFacts())))


@pytest.mark.parametrize("system", MAIN)
def test_a_newer_driver_never_gives_an_older_torch(system: str) -> None:
    what = SYSTEMS[system]
    drivers = sorted((d for d in DRIVERS[host(what)] if d), key=number)
    for card, gpus in cards(published()).items():
        # With several kinds of chips the driver that is there says whether the older card still counts.
        if len({published().chip(gpu) for gpu in gpus if gpu["vendor"] == "nvidia"}) > 1:
            continue
        before: tuple[int, ...] = ()
        for driver in drivers:
            now = release(answer(machine(what, gpus, driver)))
            assert now >= before, (card, driver)
            before = now


@settings(max_examples=150, deadline=None)
@given(systems, names, st.integers(0, 60), st.randoms(use_true_random=False))
def test_the_order_of_cards_does_not_matter(system: str, card: str, turn: int, dice: Any) -> None:
    drivers = DRIVERS[host(SYSTEMS[system])]
    gpus = [*cards(published())[card], cards(published())["7.5-desktop"][0], IGPU]
    shuffled = copy.copy(gpus)
    dice.shuffle(shuffled)
    driver = drivers[turn % len(drivers)]
    assert chosen(answer(machine(SYSTEMS[system], gpus, driver))) == chosen(
        answer(machine(SYSTEMS[system], shuffled, driver))
    )


@settings(max_examples=150, deadline=None)
@given(systems, names, st.integers(0, 60))
def test_an_unused_igpu_changes_no_decision(system: str, card: str, turn: int) -> None:
    drivers = DRIVERS[host(SYSTEMS[system])]
    gpus, driver = cards(published())[card], drivers[turn % len(drivers)]
    alone, beside = (answer(machine(SYSTEMS[system], all_, driver)) for all_ in (gpus, [*gpus, IGPU]))
    assert chosen(alone) == chosen(beside)


@settings(max_examples=200, deadline=None)
@given(systems, names, st.integers(0, 60))
def test_unknown_driver_is_not_mentioned(system: str, card: str, turn: int) -> None:
    drivers = [d for d in DRIVERS[host(SYSTEMS[system])] if d]
    box = machine(SYSTEMS[system], cards(published())[card], drivers[turn % len(drivers)])
    del box["driver"]
    advice = answer(box)
    assert advice.driver.installed is None
    assert advice.driver.action in ("install", "none")
    assert not any(reason.data.get("installed") for reason in advice.reasons)


@settings(max_examples=200, deadline=None)
@given(systems, names, st.integers(0, 60))
def test_unknown_chip_gives_no_more_confident_answer(system: str, card: str, turn: int) -> None:
    drivers = DRIVERS[host(SYSTEMS[system])]
    driver = drivers[turn % len(drivers)]
    known = machine(SYSTEMS[system], cards(published())[card][:1], driver)
    if known["gpus"][0]["vendor"] != "nvidia":
        return
    forgotten = copy.deepcopy(known)
    forgotten["gpus"] = [{"index": 0, "vendor": "nvidia"}]
    advice = answer(forgotten)
    assert not any(reason.data.get("capability") for reason in advice.reasons)
    if driver is None:
        assert advice.driver.recommended is None
    codes = {reason.code for reason in advice.reasons}
    assert advice.accelerator == "cpu" or codes & {"variant-widest", "variant-widest-newer"}


@settings(max_examples=100, deadline=None)
@given(systems, names, st.sampled_from(["pythons", "disks", "cuda_toolkits", "cudnn", "memory_bytes"]))
def test_unknown_field_is_not_mentioned(system: str, card: str, field: str) -> None:
    box = machine(SYSTEMS[system], cards(published())[card], "999.1")
    box["pythons"] = [{"path": "python", "version": "3.12.7", "kind": "system", "arch": "x86_64"}]
    box["disks"] = [{"path": "/", "free_bytes": 1}]
    box["cuda_toolkits"] = [{"version": "12.6.3", "path": "/usr/local/cuda", "nvcc": True}]
    box["cudnn"] = [{"version": "9.6.0", "path": "/usr"}]
    del box[field]
    advice = answer(box)
    codes = {entry.code for entry in (*advice.reasons, *advice.warnings)}
    forbidden = {
        "pythons": {"python-here"},
        "disks": {"disk-space", "disk-space-about", "disk-space-other", "disk-space-about-other"},
        "cuda_toolkits": {"toolkit-unused", "toolkit-keep"},
        "cudnn": {"cudnn-unused", "cudnn-keep"},
        "memory_bytes": set(),
    }[field]
    assert not codes & forbidden
    if field == "pythons":
        assert "python-download-unknown" in codes or "python-unknown" in codes

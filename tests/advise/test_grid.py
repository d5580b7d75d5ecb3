"""Thousands of machines: what is recommended stands before a judge who was not asked when it was written."""

from __future__ import annotations

import collections
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.recommendation import Recommendation
from gpu_assistant.texts.localized import Texts

from .grid_answers import CATALOG, answers, ask, cases, published
from .oracle.driver_rules import alternatives_faults, beside_faults, ways_faults
from .oracle.expect import any_build, expected, on_a_board
from .oracle.faults import find_faults
from .oracle.grid import Case, cards
from .oracle.published import PublishedFacts, chip
from .oracle.reasons import text_faults

LEAST = 3000


def faults(case: Case, advice: Recommendation | str, known: PublishedFacts) -> list[str]:
    """What is wrong with an answer; a refusal is right only where nothing is published."""
    if isinstance(advice, str):
        if advice in ("jetson", "jetson-driver"):
            return [] if on_a_board(known, case.machine) else ["refused as a Jetson"]
        if advice in ("no-tensorflow", "no-tensorflow-nor-pytorch") and case.goal == "tensorflow":
            here = case.machine["os"]
            nowhere = f"{here['system']} {here['arch']}" in known.facts["tensorflow"]["nowhere"]
            # Who is sent to PyTorch finds one there.
            sent = any_build(known, here["system"], here["arch"])
            right_words = "no-tensorflow" if sent else "no-tensorflow-nor-pytorch"
            return [] if nowhere and advice == right_words else [f"TensorFlow refused with {advice}"]
        right = expected(known, case.machine, case.channel)
        return [] if advice.startswith("no-build") and right is None else [f"refused with {advice}"]
    plain = msgspec.to_builtins(advice)
    return [
        *find_faults(known, case.machine, case.goal, case.channel, plain),
        *alternatives_faults(known, case.machine, case.channel, plain),
        *beside_faults(known, case.machine, case.channel, plain),
    ]


def report(wrong: dict[str, list[str]]) -> str:
    """The faults by kind, with an example each, so that thousands stay readable."""
    lines = [f"{sum(map(len, wrong.values()))} faults"]
    lines += [f"{len(names)} x {fault}: {names[0]}" for fault, names in wrong.items()]
    return "\n".join(lines[:60])


def find_wrong(answered: Iterable[tuple[Case, Recommendation | str]], known: PublishedFacts) -> dict[str, list[str]]:
    """Every fault with the machines on which it was found."""
    wrong: dict[str, list[str]] = collections.defaultdict(list)
    for case, advice in answered:
        for fault in faults(case, advice, known):
            wrong[fault].append(case.name)
    return wrong


def test_the_grid_holds_every_kind_of_machine() -> None:
    result = cases()
    assert len({case.name for case in result}) == len(result) >= LEAST
    chips = {chip(row["compute_capability"]) for row in published().cards.values()} - {None}
    there = {published().chip(gpu) for gpus in cards(published()).values() for gpu in gpus}
    assert chips <= there
    assert {case.goal for case in result} == {"pytorch", "tensorflow", "cuda-dev", "all"}
    assert {case.channel for case in result} == {"studio", "game-ready"}


def test_oracle_finds_no_errors() -> None:
    wrong = find_wrong(zip(cases(), answers(), strict=True), published())
    assert not wrong, report(wrong)


def test_oracle_finds_no_errors_in_ways() -> None:
    wrong: dict[str, list[str]] = collections.defaultdict(list)
    ways = [
        (case, advice.ways)
        for case, advice in zip(cases(), answers(), strict=True)
        if case.goal == "pytorch" and not isinstance(advice, str) and advice.ways
    ]
    for case, both in ways:
        for fault in ways_faults(published(), case.machine, case.channel, msgspec.to_builtins(both)):
            wrong[fault].append(case.name)
    assert len(ways) > 100
    assert not wrong, report(wrong)
    # Whoever has chosen none is shown the same.
    catalog = load_catalog(CATALOG)
    for case, both in ways[::20]:
        box = msgspec.convert(case.machine, Machine)
        assert recommend(box, catalog, channel=case.channel).ways == both, case.name  # type: ignore[arg-type]


@pytest.mark.parametrize("newest", ["2.14.1", "2.11.0", "2.8.0", "2.6.0"])
def test_oracle_finds_no_errors_with_older_newest_release(newest: str, tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    shutil.copytree(CATALOG, folder)
    path = folder / "pytorch.json"
    torch = json.loads(path.read_text(encoding="utf-8"))
    at = next(place for place, row in enumerate(torch["releases"]) if row["version"] == newest)
    torch["releases"] = torch["releases"][at:]
    path.write_text(json.dumps(torch), encoding="utf-8")
    catalog = load_catalog(folder)
    wrong = find_wrong(((case, ask(case, catalog)) for case in cases()[::5]), PublishedFacts(folder))
    assert not wrong, report(wrong)


def test_every_text_exists_in_both_languages() -> None:
    seen: set[frozenset[str]] = set()
    wrong: dict[str, list[str]] = collections.defaultdict(list)
    for case, advice in zip(cases(), answers(), strict=True):
        if isinstance(advice, str):
            continue
        entries = (*advice.reasons, *advice.warnings, *advice.alternatives)
        kind = frozenset(f"{type(entry).__name__} {entry.code} {sorted(entry.data)}" for entry in entries)
        if kind in seen:
            continue
        seen.add(kind)
        spoken = {
            language: msgspec.to_builtins(Texts(language).localize_recommendation(advice))  # type: ignore[arg-type]
            for language in ("en", "zh_CN")
        }
        for fault in text_faults(spoken):
            wrong[fault].append(case.name)
    assert len(seen) > 50
    assert not wrong, report(wrong)

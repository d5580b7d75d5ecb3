"""The 300 independent machines with one thing changed each: an older driver, another Python or glibc, a further card, a
container. Whatever comes of it, what must never be advised is not.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.recommendation import Recommendation
from gpu_assistant.core.types import Goal

from .build import catalog
from .oracle.expect import arch_of, nvidia
from .oracle.grid import DRIVERS, cards, host
from .oracle.published import PublishedFacts, number
from .oracle.torch_rules import runs
from .test_independent_machines import FOLDER

SEED = 17
# The first glibc whose headers clash with those of the toolkits below a version.
GLIBC_CLASHES = (((13, 0), (2, 41)), ((13, 2), (2, 42)))
PYTHONS = ("3.8.10", "3.9.21", "3.10.12", "3.11.9", "3.12.3", "3.13.1", "3.14.0", "3.15.0")


@cache
def published() -> PublishedFacts:
    return PublishedFacts()


def older_driver(box: dict[str, Any], chance: random.Random) -> None:
    driver = box.get("driver") or {}
    installed = str(driver.get("version") or "")
    if installed.replace(".", "").isdigit():
        below = [d for d in DRIVERS[host(box["os"])] if d and number(d) < number(installed)]
        box["driver"] = {"version": chance.choice(below)} if below else None


def other_python(box: dict[str, Any], chance: random.Random) -> None:
    kind = chance.choice(["system", "conda", "venv", "store"])
    box["pythons"] = [{"path": "python", "version": chance.choice(PYTHONS), "kind": kind, "arch": arch_of(box)}]


def further_card(box: dict[str, Any], chance: random.Random) -> None:
    box["gpus"] = [*box["gpus"], *chance.choice(list(cards(published()).values()))]


def newer_glibc(box: dict[str, Any], chance: random.Random) -> None:
    if box["os"]["system"] == "linux":
        box["os"]["glibc"] = chance.choice(["2.41", "2.42", "2.43"])


def container(box: dict[str, Any], chance: random.Random) -> None:
    if box["os"]["system"] == "linux":
        box["container"] = chance.choice(["docker", "podman", "kubernetes", "lxc", "other"])


def forbidden(box: dict[str, Any], goal: str, advice: Recommendation) -> Iterator[str]:
    """What is advised and must never be."""
    told = msgspec.to_builtins(advice)
    for way in (told, *told.get("ways", ())):
        driver, torch = way["driver"], way["pytorch"]
        is_hosts = box.get("container") or any(gpu.get("vgpu") or gpu.get("mig") for gpu in nvidia(box))
        if is_hosts and driver["action"] not in ("keep", "none"):
            yield f"{driver['action']} the driver of a host"
        if way.get("id") == "works-now" and driver["action"] != "keep":
            yield "works now with another driver"
        if advice.accelerator == "cuda" and torch is not None and not has_code(box, torch):
            yield f"{torch['version']}+{torch['variant']} has code for none of the cards"
        toolkit, glibc = way["cuda_toolkit"], box["os"].get("glibc")
        if toolkit["action"] == "install" and glibc and box["os"]["system"] == "linux":
            clashing = next((first for below, first in GLIBC_CLASHES if number(toolkit["version"])[:2] < below), None)
            if clashing is not None and number(glibc) >= clashing:
                yield f"toolkit {toolkit['version']} on glibc {glibc}"
    if goal == "tensorflow" and box.get("cpu", {}).get("avx") is False and arch_of(box) == "x86_64":
        yield "TensorFlow without AVX"


def has_code(box: dict[str, Any], torch: dict[str, Any]) -> bool:
    """Whether a build has code for one of the cards at least; an unknown chip may have it."""
    platform = (box["os"]["system"], arch_of(box))
    releases = (r for r in published().torch["releases"] if r["version"] == torch["version"])
    records = [
        v
        for release in releases
        for v in release["variants"]
        if (v["system"], v.get("arch", "x86_64")) == platform and v["variant"] == torch["variant"]
    ]
    chips = [published().chip(gpu) for gpu in nvidia(box)]
    return any(chip is None or runs(published(), record, chip) is not None for record in records for chip in chips)


def faults(box: dict[str, Any]) -> Iterator[str]:
    for goal in get_args(Goal):
        try:
            advice = recommend(msgspec.convert(box, Machine), catalog(), goal=goal)
        except AppError:
            continue
        yield from (f"{goal}: {fault}" for fault in forbidden(box, goal, advice))


@pytest.mark.parametrize("mutate", [older_driver, other_python, further_card, newer_glibc, container])
def test_changed_machine_gets_nothing_forbidden(mutate: Any) -> None:
    chance, wrong = random.Random(f"{SEED} {mutate.__name__}"), {}
    for file in sorted(FOLDER.glob("*.json")):
        box = copy.deepcopy(json.loads(file.read_text(encoding="utf-8")))
        mutate(box, chance)
        if found := list(faults(box)):
            wrong[file.stem] = found
    assert not wrong, list(wrong.items())[:10]

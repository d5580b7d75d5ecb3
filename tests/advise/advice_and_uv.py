"""Writes `docs/advice-and-uv.md`: where our PyTorch and the one that uv's driver table leads to differ, and why.

python -m tests.advise.advice_and_uv
"""

from __future__ import annotations

import collections
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gpu_assistant.catalog.store import load_catalog

from . import uv_variants
from .grid_answers import CATALOG, answers, ask, cases, published
from .oracle.expect import box_of, deciding, nvidia
from .oracle.grid import Case
from .oracle.published import number
from .oracle.torch_rules import cuda_of, cudnn_inside, cudnn_serves, runs

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs" / "advice-and-uv.md"
TABLES = json.loads((HERE / "uv_backends.json").read_text(encoding="utf-8"))
GROUPS = json.loads((HERE / "uv_groups.json").read_text(encoding="utf-8"))


class Difference(NamedTuple):
    """One machine on which the two part."""

    case: Case
    uv: str
    advice: str
    driver: str


def backends(machine: dict[str, Any]) -> list[str]:
    """The indexes that uv looks at, in its order."""
    system = machine["os"]["system"]
    driver = machine.get("driver")
    vendors = {gpu["vendor"] for gpu in machine["gpus"]}
    if system in ("linux", "windows") and driver is not None:
        there = number(driver["version"])
        return [row["backend"] for row in TABLES[system] if number(row["min_driver"]) <= there] + ["cpu"]
    chips = sorted(gpu["gfx"] for gpu in machine["gpus"] if gpu["vendor"] == "amd" and gpu.get("gfx"))
    if system == "linux" and chips:
        return [name for name, listed in TABLES["amd_linux"].items() if chips[0] in listed] + ["cpu"]
    return ["xpu"] if "intel" in vendors and system in ("linux", "windows") else ["cpu"]


@cache
def newest_builds() -> dict[tuple[str, str, str], tuple[str, dict[str, Any]]]:
    """The newest release and its record by system, architecture and variant."""
    builds: dict[tuple[str, str, str], tuple[str, dict[str, Any]]] = {}
    for release in published().releases:
        for record in release["variants"]:
            builds.setdefault((record["system"], record["arch"], record["variant"]), (release["version"], record))
    return builds


def uv_build(machine: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The release and build that uv takes: the newest on the first index that has any."""
    here = machine["os"]
    builds = (newest_builds().get((here["system"], here["arch"], backend)) for backend in backends(machine))
    return next((build for build in builds if build is not None), None)


def reason(case: Case, uv_choice: tuple[str, dict[str, Any]], advice: Any) -> str:
    """Which group a difference belongs to; the first that fits."""
    version_, record = uv_choice
    gpu = deciding(published(), case.machine)
    cuda = cuda_of(record["variant"])
    if gpu is None:
        return "intel" if record["variant"] == "xpu" else "amd"
    box = box_of(published(), case.machine, case.channel, gpu)
    if box.device is None:
        return "unknown-chip"
    if cuda is None:
        return "no-driver" if box.installed is None else "driver-before-all"
    code = runs(published(), record, box.device)
    if code is None:
        return "no-code"
    release = next(row for row in published().releases if row["version"] == version_)
    if not cudnn_serves(published(), cudnn_inside(release, record), cuda, box.device):
        return "cudnn"
    if code == "portable" and (published().native(box.driver) or (0, 0)) < cuda:
        return "portable"
    if version_ == advice.pytorch.version:
        return "own-cuda"
    if len({published().chip(gpu) for gpu in nvidia(case.machine)}) > 1 and number(version_) > number(
        advice.pytorch.version
    ):
        return "several-cards"
    return "older-index" if advice.driver.action == "keep" else "older-release"


def differences() -> tuple[int, int, dict[str, list[Difference]]]:
    """How many machines there are, on how many both agree, and the rest by group."""
    catalog = load_catalog(CATALOG)
    total = agreed = 0
    result: dict[str, list[Difference]] = collections.defaultdict(list)
    seen: set[str] = set()
    for case, answer in zip(cases(), answers(), strict=True):
        key = json.dumps(case.machine, sort_keys=True)
        uv_choice = uv_build(case.machine)
        # Without a build known for this processor (a CPU build for Linux on ARM) there is nothing to compare.
        if case.goal != "pytorch" or key in seen or uv_choice is None:
            continue
        seen.add(key)
        # The page is about the Studio driver, whichever the case asks for.
        recommendation = answer if case.channel == "studio" else ask(case._replace(channel="studio"), catalog)
        if isinstance(recommendation, str):
            continue
        assert recommendation.pytorch is not None
        total += 1
        label = f"{recommendation.pytorch.version}+{recommendation.pytorch.variant}"
        uv = f"{uv_choice[0]}+{uv_choice[1]['variant']}"
        if label == uv:
            agreed += 1
            continue
        advice = recommendation.driver
        number_ = (advice.installed if advice.action == "keep" else advice.recommended) or ""
        change = f", driver: {advice.action} {number_}".rstrip() if advice.action != "none" else ""
        result[reason(case, uv_choice, recommendation)].append(Difference(case, uv, label, change))
    return total, agreed, result


def shown(case: Case) -> str:
    """A machine in a line."""
    system, what = case.name.split("/")[0], case.machine
    cards = " + ".join(str(gpu.get("name") or gpu["vendor"]) for gpu in what["gpus"]) or "no card"
    driver = what["driver"]["version"] if what["driver"] else "none"
    gpu = deciding(published(), what)
    chip = box_of(published(), what, case.channel, gpu).device if gpu else None
    capability = f" (capability {chip[0]}.{chip[1]})" if chip else ""
    return f"{system}, {cards}{capability}, driver {driver}"


@cache
def driver_versions() -> frozenset[str]:
    """The drivers that are known to exist: those that are offered, and those that came with a toolkit."""
    offered = (row["version"] for row in published().drivers["packages"])
    bundled = (row[f"{system}_driver"] for row in published().cuda["toolkits"] for system in ("linux", "windows"))
    return frozenset(filter(None, (*offered, *bundled)))


def possible(case: Case) -> bool:
    """Whether there can be such a machine: cards that were sold, and a published driver that knows all of them."""
    what = case.machine
    gpus = nvidia(what)
    if not all(published().card(gpu) for gpu in gpus):
        return not gpus
    if what["driver"] is None:
        return True
    box = box_of(published(), what, case.channel, gpus[0]) if gpus else None
    native = published().native(box.driver) if box is not None else None
    if native is None or what["driver"]["version"] not in driver_versions():
        return False
    knows = [span.newest for span in published().spans() if span.first <= native]
    for gpu in gpus:
        chip = published().chip(gpu)
        limits = (published().generation(chip) or {}).get("first_without") or {} if chip else {}
        gone = limits.get(box.host) if box is not None else None
        if chip is None or not any(chip <= newest for newest in knows):
            return False
        if gone is not None and number(what["driver"]["version"]) >= number(gone):
            return False
    return True


def typical(group: str, advice: list[Difference]) -> Difference:
    """The example: the one that the group's own words ask for, else the middle one; of machines that can be."""
    wish = GROUPS[group].get("example")
    real = [difference for difference in advice if possible(difference.case)] or advice
    return next((d for d in advice if wish and d.case.name.startswith(wish)), real[len(real) // 2])


def document() -> str:
    """The whole text."""
    total, agreed, result = differences()
    lines = [
        "# Our advice and uv's",
        "",
        "`uv pip install --torch-backend=auto` chooses a PyTorch build by the driver alone. We choose by chip, driver,",
        "operating system and release together. This page compares both over the grid of machines that",
        "`tests/advise/test_grid.py` judges. `python -m tests.advise.advice_and_uv` writes it; a test keeps it true.",
        "",
        "uv's side is its own table: every build whose lowest driver is reached, in its order, and the newest release",
        "on the first index that has one. uv cannot be asked about other machines than the one it runs on. The table",
        f"and our catalog are of {TABLES['as_of']}; the table's source is <{TABLES['source']}>.",
        "",
        f"Of {total:,} machines both take the same build on {agreed:,}. On {total - agreed:,} they differ:",
        "",
        "| why | machines |",
        "| --- | ---: |",
    ]
    order = sorted(result, key=lambda group: (-len(result[group]), group))
    lines += [f"| {GROUPS[group]['title']} | {len(result[group]):,} |" for group in order]
    for group in order:
        parts, example = GROUPS[group], typical(group, result[group])
        lines += ["", f"## {parts['title']}", "", f"{len(result[group]):,} machines. {parts['why']}", ""]
        lines += [
            f"- Example: {shown(example.case)}",
            f"- uv takes {example.uv}",
            f"- we advise {example.advice}{example.driver}",
            f"- Source: {parts['source']}",
        ]
    return "\n".join([*lines, "", *uv_variants.section()]) + "\n"


def main() -> None:
    """Write the page."""
    DOCUMENT.write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""600 machines, with answers by two who had not seen the rules, each written before the program was asked.

`independent_answers.json` has for each machine what an expert accepts: accelerators, builds and driver actions for
PyTorch, the builds for the present driver ("works_now"), TensorFlow's versions (None: there is none), and toolkits, []
where none should be installed. "none" is no PyTorch at all, `*` in a build stands for anything.

`independent_answers_b.json` (machines `b-…`) also has, each where it is certain: who puts in the driver of the way that
changes it ("driver_by": program, user, or nobody where it stays), the versions between which it has to lie
("driver_range", the upper one excluded), what is to be said of the PyTorch that is there ("existing_torch"),
expressions that the English texts have to hold or must not ("says", "never", by goal), and the reason with its source
("why").

`MISSES` are those that the program answers otherwise, each with the reason.
"""

from __future__ import annotations

import functools
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.json import decode
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.recommendation import Recommendation
from gpu_assistant.core.types import Goal
from gpu_assistant.core.versions import Version
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.texts.localized import Texts

from .build import catalog

FOLDER = Path(__file__).resolve().parents[1] / "machines" / "independent"
ANSWERS: dict[str, dict[str, Any]] = {
    name: answer
    for file in ("independent_answers.json", "independent_answers_b.json")
    for name, answer in json.loads(Path(__file__).with_name(file).read_text(encoding="utf-8")).items()
}
TORCH_CODES = {
    "works": {"works-already", "works-without-update"},
    "cpu-build-beside-card": {"torch-cpu-build"},
    "no-code-for-card": {"torch-no-code", "torch-no-code-cpu"},
    "driver-too-old": {"torch-driver-old"},
    "cannot-start": {"torch-cannot-start", "torch-cannot-start-runtime"},
}
MISSES = {
    "docker-p100-dgx1-host-450": "an older TensorFlow uses the card on the host's driver; the expert: CPU",
    "kubernetes-pod-h200-driver-535": "an older TensorFlow uses the card on the host's driver; the expert: CPU",
    "vgpu-a16-4c-rhel-8-driver-470": "an older TensorFlow uses the card on the host's driver; the expert: CPU",
    "gt710-debian-12-nouveau": "Toolkit 11.8 compiles for compute capability 3.5; the expert would install none",
    "laptop-920m-kepler-gk208": "Toolkit 11.8 compiles for compute capability 3.5; the expert would install none",
    "h100-pcie-rocky-9-driver-550-no-root": "with a newer driver TensorFlow's code is translated for the card",
    "b-jetson-thor-jetpack-7-580": "TensorFlow's general wheels compute on its CPU, and from CUDA 13 on NVIDIA has one "
    "toolkit for all of ARM (its post on CUDA 13.0 for Jetson Thor); the expert leaves both to JetPack",
    "jetson-nano-jetpack-4-6": "a Jetson's builds are NVIDIA's own; the expert takes the CPU build",
    "jetson-orin-nx-jetpack-6-2": "a Jetson's builds are NVIDIA's own; the expert takes the CPU build",
    "laptop-gtx1070-max-q-impossible-driver-591": "a driver that does not serve the card: back to the last that does",
    "parallels-win11-arm-on-m2": "PyTorch's build for Windows on ARM was seen for 2.13.0, not for 2.15.0",
    "rtx-spark-n1x-windows-arm": "PyTorch's build for Windows on ARM was seen for 2.13.0, not for 2.15.0",
    "surface-laptop-7-snapdragon-arm64": "PyTorch's build for Windows on ARM was seen for 2.13.0, not for 2.15.0",
    "pentium-gold-g5400-avx-unknown": "whether it has AVX is unknown, and said so; the expert goes by its name",
    "rtx3060-beside-rtx5060ti-ubuntu-24-04-driver-575": "TensorFlow has code for one of the two cards only",
    "rx7800xt-win11-torch-cpu": "AMD publishes a build for Windows 11",
    "rx9070xt-win11": "AMD publishes a build for Windows 11",
    "ryzen-ai-max-395-128g": "AMD publishes a build for Windows 11",
    "ryzen-8845hs-radeon-780m-ubuntu-24-04": "nobody has confirmed that a build works on gfx1103; that is said",
    # Decided: a card that is divided (MIG) serves others, too, and a new driver stops all of them. So its driver stays,
    # as that of a container's host does: the build is chosen by it, and only where none works it is said whom to ask.
    "b-a100-mig-3g40gb-rocky-9-535": "a divided card's driver stays, since others use the card; the expert: update",
}


def advice(name: str, goal: Goal) -> dict[str, Any] | str:
    """The recommendation as JSON has it, or the code of a refusal."""
    told = _advice(name, goal)
    return told.code if isinstance(told, AppError) else msgspec.to_builtins(told)


@functools.cache
def _advice(name: str, goal: Goal) -> Recommendation | AppError:
    try:
        return recommend(_machine(name), catalog(), goal=goal)
    except AppError as error:
        return error


@functools.cache
def _machine(name: str) -> Machine:
    return decode((FOLDER / f"{name}.json").read_bytes(), Machine)


def label(pytorch: dict[str, Any] | None) -> str | None:
    return f"{pytorch['version']}+{pytorch['variant']}" if pytorch is not None else None


def is_among(build: str | None, wanted: str | list[str]) -> bool:
    builds = [wanted] if isinstance(wanted, str) else wanted
    patterns = [each if "+" in each or each == "none" else f"{each}+cpu" for each in builds]
    return any(fnmatchcase(build or "none", pattern) for pattern in patterns)


def torch_faults(told: dict[str, Any] | str, wanted: dict[str, Any]) -> list[str]:
    """Where there are two ways, one of them is the expert's."""
    builds = wanted["builds"]
    if isinstance(told, str):
        return [] if not builds or "none" in builds else [f"refused: {told}"]
    ways = {way["id"]: way for way in told.get("ways", ())}
    faults = []
    if told["accelerator"] not in wanted["accelerators"]:
        faults.append(f"accelerator {told['accelerator']}")
    elif not any(
        is_among(label(way["pytorch"]), builds) and way["driver"]["action"] in wanted["drivers"]
        for way in (told, *ways.values())
    ):
        faults.append(f"build {label(told['pytorch'])}, driver {told['driver']['action']}")
    now = label(ways.get("works-now", told)["pytorch"])
    if "works_now" in wanted and not is_among(now, wanted["works_now"]):
        faults.append(f"works now: {now}")
    return faults


def goal_all_faults(told: dict[str, Any] | str, wanted: dict[str, Any]) -> list[str]:
    """PyTorch's build, where there is a TensorFlow, too."""
    if isinstance(told, str) or wanted["tensorflow"] is None:
        return []
    builds = [label(way["pytorch"]) for way in (told, *told.get("ways", ()))]
    is_right = told["accelerator"] in wanted["pytorch"]["accelerators"] and any(
        is_among(build, wanted["pytorch"]["builds"]) for build in builds
    )
    return [] if is_right else [f"with TensorFlow: {builds[0]} on {told['accelerator']}"]


def driver_faults(name: str, wanted: dict[str, Any]) -> list[str]:
    """Of the way that changes the driver, where there are two."""
    told = _advice(name, "pytorch")
    if isinstance(told, AppError):
        return []
    driver = next((way.driver for way in told.ways if way.driver.needs_install), told.driver)
    plan = make_plan(
        _machine(name),
        replace(told, driver=driver, ways=()),
        catalog(),
        data=DataDir(Path("/data")),
        environment=Path("/environment"),
        wheelhouse=None,
        simulated=True,
    )
    step = next((step for step in plan.steps if step.kind == "nvidia-driver"), None)
    by = "nobody" if step is None else "program" if step.needs_admin else "user"
    faults = [f"driver by {by}"] if by not in wanted.get("driver_by", [by]) else []
    if driver.needs_install and "driver_range" in wanted:
        low, high = (Version(each) for each in wanted["driver_range"])
        # Where only the distribution knows the number, the bounds are said.
        least, most = driver.recommended or driver.minimum, driver.recommended or driver.below
        if least is None or Version(least) < low or (most is not None and Version(most) > high):
            faults.append(f"driver {least} to {most}")
    return faults


def text_faults(name: str, wanted: dict[str, Any]) -> list[str]:
    faults = []
    said = {goal: english(name, goal) for goal in {**wanted.get("says", {}), **wanted.get("never", {})}}
    for goal, expressions in wanted.get("says", {}).items():
        faults += [f"{goal} without {each}" for each in expressions if not re.search(each, said[goal], re.I)]
    for goal, expressions in wanted.get("never", {}).items():
        faults += [f"{goal} with {each}" for each in expressions if re.search(each, said[goal], re.I)]
    told = _advice(name, "pytorch")
    if "existing_torch" in wanted and isinstance(told, Recommendation):
        codes = {warning.code for warning in told.warnings} | {alternative.code for alternative in told.alternatives}
        if not codes & TORCH_CODES[wanted["existing_torch"]]:
            faults.append(f"the PyTorch there is not said to be: {wanted['existing_torch']}")
    return faults


def english(name: str, goal: Goal) -> str:
    """All that is said and to be typed."""
    texts, told = Texts("en"), _advice(name, goal)
    if isinstance(told, AppError):
        return texts.error_text(told)
    told = texts.localize_recommendation(told)
    drivers = (told.driver, *(way.driver for way in told.ways))
    sentences = [
        *(reason.text for reason in told.reasons),
        *(text for warning in told.warnings for text in (warning.text, warning.fix)),
        *(alternative.text for alternative in told.alternatives),
        *(" ".join(command) for driver in drivers for command in driver.commands),
    ]
    return "\n".join(sentence for sentence in sentences if sentence)


def tensorflow_faults(told: dict[str, Any] | str, wanted: dict[str, Any] | None) -> list[str]:
    version = None if isinstance(told, str) or told["tensorflow"] is None else told["tensorflow"]["version"]
    if wanted is None or isinstance(told, str):
        return [] if (version is None) == (wanted is None) else [f"TensorFlow {version or told}"]
    versions = {known for version in wanted["versions"] for known in (version, version.rpartition(".")[0])}
    offered = {version, *(way["tensorflow"]["version"] for way in told.get("ways", ()))}
    faults = [] if versions & offered else [f"TensorFlow {version}"]
    return faults + ([] if told["accelerator"] in wanted["accelerators"] else [f"TensorFlow on {told['accelerator']}"])


def toolkit_faults(told: dict[str, Any] | str, wanted: list[str]) -> list[str]:
    if isinstance(told, str):
        return [f"toolkit refused: {told}"] if wanted else []
    toolkits = [way["cuda_toolkit"] for way in told.get("ways", ())] or [told["cuda_toolkit"]]
    series = {".".join(each["version"].split(".")[:2]) for each in toolkits if each["version"]}
    return [] if not series or series & set(wanted) else [f"toolkit {', '.join(sorted(series))}"]


def faults(name: str) -> list[str]:
    wanted = ANSWERS[name]
    return [
        *torch_faults(advice(name, "pytorch"), wanted["pytorch"]),
        *tensorflow_faults(advice(name, "tensorflow"), wanted["tensorflow"]),
        *toolkit_faults(advice(name, "cuda-dev"), wanted["toolkits"]),
        *goal_all_faults(advice(name, "all"), wanted),
        *driver_faults(name, wanted),
        *text_faults(name, wanted),
    ]


def test_every_machine_has_an_answer() -> None:
    assert sorted(ANSWERS) == sorted(path.stem for path in FOLDER.glob("*.json"))
    assert len(ANSWERS) == 600


def test_answers_agree_with_the_experts() -> None:
    wrong = {name: found for name in ANSWERS if (found := faults(name)) and name not in MISSES}
    assert wrong == {}


@pytest.mark.parametrize("name", MISSES)
def test_explained_misses_are_still_there(name: str) -> None:
    assert faults(name), f"{name} is answered as the experts do: take it out of MISSES"

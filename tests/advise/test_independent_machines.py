"""300 machines, with answers by somebody who had not seen the rules, written before the program was asked.

`independent_answers.json` has for each machine what an expert accepts: accelerators, builds and driver actions for
PyTorch, the build for the present driver ("works_now"), TensorFlow's versions (None: there is none), and toolkits, []
where none should be installed. `MISSES` are those that the program answers otherwise, each with the reason.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.json import decode
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.types import Goal

from .build import catalog

FOLDER = Path(__file__).resolve().parents[1] / "machines" / "independent"
ANSWERS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "independent_answers.json").read_text(encoding="utf-8")
)
MISSES = {
    "docker-p100-dgx1-host-450": "an older TensorFlow uses the card on the host's driver; the expert: CPU",
    "kubernetes-pod-h200-driver-535": "an older TensorFlow uses the card on the host's driver; the expert: CPU",
    "vgpu-a16-4c-rhel-8-driver-470": "an older TensorFlow uses the card on the host's driver; the expert: CPU",
    "gt710-debian-12-nouveau": "Toolkit 11.8 compiles for compute capability 3.5; the expert would install none",
    "laptop-920m-kepler-gk208": "Toolkit 11.8 compiles for compute capability 3.5; the expert would install none",
    "h100-pcie-rocky-9-driver-550-no-root": "with a newer driver TensorFlow's code is translated for the card",
    "jetson-nano-jetpack-4-6": "a Jetson's builds are NVIDIA's own; the expert takes the CPU build",
    "jetson-orin-nx-jetpack-6-2": "a Jetson's builds are NVIDIA's own; the expert takes the CPU build",
    "jetson-thor-jetpack-7": "open: a Jetson's driver has a version of its own, which the program does not judge",
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
}


def advice(name: str, goal: Goal) -> dict[str, Any] | str:
    """The recommendation as JSON has it, or the code of a refusal."""
    try:
        return msgspec.to_builtins(recommend(_machine(name), catalog(), goal=goal))  # type: ignore[no-any-return]
    except AppError as error:
        return error.code


@functools.cache
def _machine(name: str) -> Machine:
    return decode((FOLDER / f"{name}.json").read_bytes(), Machine)


def label(pytorch: dict[str, Any] | None) -> str | None:
    return f"{pytorch['version']}+{pytorch['variant']}" if pytorch is not None else None


def torch_faults(told: dict[str, Any] | str, wanted: dict[str, Any]) -> list[str]:
    """Where there are two ways, one of them is the expert's."""
    if isinstance(told, str):
        return [f"refused: {told}"] if wanted["builds"] else []
    ways = {way["id"]: way for way in told.get("ways", ())}
    builds = {build if "+" in build else f"{build}+cpu" for build in wanted["builds"]}
    faults = []
    if told["accelerator"] not in wanted["accelerators"]:
        faults.append(f"accelerator {told['accelerator']}")
    elif not any(
        label(way["pytorch"]) in builds and way["driver"]["action"] in wanted["drivers"]
        for way in (told, *ways.values())
    ):
        faults.append(f"build {label(told['pytorch'])}, driver {told['driver']['action']}")
    if "works_now" in wanted and label(ways.get("works-now", told)["pytorch"]) != wanted["works_now"]:
        faults.append(f"works now: {label(ways.get('works-now', told)['pytorch'])}")
    return faults


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
    ]


def test_every_machine_has_an_answer() -> None:
    assert sorted(ANSWERS) == sorted(path.stem for path in FOLDER.glob("*.json") if not path.stem.startswith("b-"))
    assert len(ANSWERS) == 300


def test_answers_agree_with_the_experts() -> None:
    wrong = {name: found for name in ANSWERS if (found := faults(name)) and name not in MISSES}
    assert wrong == {}


@pytest.mark.parametrize("name", MISSES)
def test_explained_misses_are_still_there(name: str) -> None:
    assert faults(name), f"{name} is answered as the experts do: take it out of MISSES"

"""Whatever the machine file says: an answer or a plain error, and nothing heavy loaded for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.texts.localized import Texts

from .build import catalog, check, wheel

ROOT = Path(__file__).resolve().parent.parent.parent
MACHINES = sorted((ROOT / "tests" / "machines").glob("*.json"))

# What a machine file may hold: text that can be shown, and sizes (tests/cli/test_machine_files.py has the others).
shown = st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp")), max_size=12)
word = st.one_of(shown, st.sampled_from(["", "@x", "{y}", "8.9", "12.0", "566.03", "3.12.1", "é"]))
ids = st.sampled_from([row.pci_id for row in catalog().gpus.gpus])
version = st.one_of(st.from_regex(r"\d{1,4}(\.\d{1,3}){0,3}", fullmatch=True), word)
gpu = st.fixed_dictionaries(
    {"vendor": st.sampled_from(["nvidia", "amd", "intel", "apple", "other"])},
    optional={
        "name": st.none() | word,
        "pci_id": st.none() | ids | word,
        "compute_capability": st.none() | st.from_regex(r"\d{1,2}\.\d", fullmatch=True) | word,
        "memory_bytes": st.none() | st.integers(0, 2**40),
        "laptop": st.none() | st.booleans(),
    },
)
machines = st.fixed_dictionaries(
    {
        "schema": st.just("gpu-assistant/machine/1"),
        "os": st.fixed_dictionaries(
            {"system": st.sampled_from(["windows", "linux", "darwin"])},
            optional={
                "arch": st.sampled_from([None, "x86_64", "arm64"]),
                "wsl": st.none() | st.booleans(),
                "glibc": st.none() | version,
            },
        ),
        "gpus": st.lists(gpu, max_size=4),
    },
    optional={
        "driver": st.none() | st.fixed_dictionaries({"version": version}, optional={"cuda_max": version}),
        "pythons": st.none()
        | st.lists(
            st.fixed_dictionaries(
                {"path": word, "version": version},
                optional={"kind": st.sampled_from([None, "system", "conda", "managed"]), "arch": st.none() | word},
            ),
            max_size=3,
        ),
        "disks": st.none()
        | st.lists(st.fixed_dictionaries({"path": word, "free_bytes": st.none() | st.integers(0, 2**50)}), max_size=2),
        "cuda_toolkits": st.none() | st.lists(st.fixed_dictionaries({"path": word, "version": version}), max_size=2),
        "user": st.none() | st.fixed_dictionaries({"ascii": st.none() | st.booleans()}),
        "pending_reboot": st.none() | st.booleans(),
    },
)
# A system that nothing runs on, a processor without builds, a choice that cannot work.
REFUSALS = {
    "no-build",
    "no-build-for-card",
    "windows-too-old",
    "mac-too-old",
    "no-glibc",
    "glibc-too-old",
    "jetson",
    "jetson-driver",
} | {
    "choice-impossible",
    "choice-unreadable",
}
releases = st.sampled_from([release.version.text for release in catalog().releases])
variants = st.sampled_from(["cpu", "cu118", "cu126", "cu128", "cu130", "cu132", "rocm7.2", "xpu"])
choices = st.none() | st.builds(
    Choice,
    pytorch=st.none() | releases | version,
    variant=st.none() | variants | word,
    python=st.none() | st.sampled_from(["3.9", "3.11", "3.15"]) | version,
)
wheels = st.lists(
    st.builds(wheel, releases | version, st.none() | variants | word, st.none() | st.sampled_from(["3.11", "cp312"])),
    max_size=3,
).map(tuple)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(machines, choices, wheels)
def test_any_machine_gets_an_answer_or_a_plain_error(data: dict, choice: Choice | None, local: tuple) -> None:
    box = msgspec.json.decode(json.dumps(data), type=Machine)
    refusal: AppError | None = None
    try:
        advice = recommend(box, catalog(), choice=choice, wheels=local)
    except AppError as error:
        refusal = error
    if refusal is not None:
        assert refusal.code in REFUSALS
        assert all(Texts(language).error_text(refusal) for language in ("en", "zh_CN"))
        return
    check(advice)
    assert recommend(box, catalog(), choice=choice, wheels=local) == advice


@pytest.mark.parametrize("path", MACHINES, ids=lambda path: path.stem)
def test_every_machine_file_gets_an_answer(path: Path) -> None:
    box = msgspec.json.decode(path.read_bytes(), type=Machine)
    advice = check(recommend(box, catalog()))
    has_card = any(gpu.vendor == "nvidia" for gpu in box.gpus) and box.os.system != "darwin"
    assert (advice.accelerator == "cuda") <= has_card


def test_advice_loads_nothing_heavy() -> None:
    code = (
        "import sys, gpu_assistant.advise.recommend\n"
        "heavy = {'PySide6', 'requests', 'numpy', 'psutil', 'pynvml', 'rich', 'torch', 'uv', 'packaging'}\n"
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "[]"

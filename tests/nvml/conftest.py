"""A computer with NVIDIA cards: our own library in NVML's place, answering from a scenario."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("fake_nvml.c")

RTX_4060 = {
    "name": "NVIDIA GeForce RTX 4060",
    "uuid": "GPU-00000000-1111-2222-3333-444444444444",
    "capability": "8.9",
    "address": "00000000:01:00.0",
    "pci": "0x288210de",
    "util": "37",
    "mem_util": "12",
    "mem_total": "8585740288",
    "mem_used": "2000000000",
    "mem_reserved": "250000000",
    "temp": "51",
    "fan": "30",
    "power": "63200",
    "power_limit": "115000",
    "pcie_gen": "4",
    "pcie_width": "8",
    "pcie_tx": "120",
    "pcie_rx": "3400",
    "clock_sm": "2460",
    "clock_mem": "8501",
    "event_reasons": "0x4",
    "enc": "3",
    "dec": "4",
}


class Scenario:
    """What the library answers; `card()` adds or changes one, `None` takes a figure away."""

    def __init__(self, path: Path, library: Path) -> None:
        self.path = path
        self.library = library
        self.machine: dict[str, str] = {"init": "0", "driver": "566.03", "cuda": "12070"}
        self.cards: list[dict[str, str]] = []
        self.write()

    def set(self, **values: str) -> None:
        self.machine.update(values)
        self.write()

    def card(self, index: int = 0, **values: str | None) -> None:
        while len(self.cards) <= index:
            self.cards.append(dict(RTX_4060))
        card = {**self.cards[index], **values}
        self.cards[index] = {key: value for key, value in card.items() if value is not None}
        self.write()

    def write(self) -> None:
        lines = [f"{key} {value}" for key, value in self.machine.items()]
        lines.append(f"gpus {len(self.cards)}")
        for index, card in enumerate(self.cards):
            lines += [f"{index}.{key} {value}" for key, value in card.items()]
        self.path.write_text("\n".join(lines) + "\n", encoding="ascii")

    def calls(self) -> list[str]:
        """The functions called since the last time this was asked."""
        path = self.path.with_name(self.path.name + ".calls")
        names = path.read_text(encoding="ascii").splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return names


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux":
        pytest.skip("the library is built for Linux; on Windows the rig's own nvml.dll answers")
    if compiler is None:
        pytest.skip("no C compiler (cc) to build the library that answers in NVML's place")
    path = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-Wno-unused-function", "-o", path, SOURCE],
        check=True,
        timeout=60,
    )
    return path


@pytest.fixture
def scenario(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> Scenario:
    path = tmp_path / "scenario"
    monkeypatch.setenv("FAKE_NVML_SCENARIO", str(path))
    return Scenario(path, library)

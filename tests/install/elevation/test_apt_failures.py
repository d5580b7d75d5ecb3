"""What apt-get really said when it failed, and what follows: an error with a name, or a repair before the next try."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import OperatingSystem
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.elevation.packages import install_packages
from gpu_assistant.install.elevation.protocol import LinuxPackagesRequest
from gpu_assistant.system.base import ProcessResult
from gpu_assistant.texts.localized import Texts

RECORDED = Path(__file__).parents[2] / "fixtures/apt"
CATALOG = load_catalog(resources_dir() / "catalog")
DEBIAN = OperatingSystem(system="linux", distro="debian", distro_version="12")
REQUEST = LinuxPackagesRequest(nonce="0" * 32, packages=("nvidia-driver", "firmware-misc-nonfree"), minimum="525")
MEND = "--fix-broken install"
INSTALL = "install -- nvidia-driver firmware-misc-nonfree"


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text(encoding="utf-8")


class ScriptedApt:
    """Answers for what is simulated, and for what changes something, in order; then everything goes well."""

    asks = False

    def __init__(self, simulations: Sequence[str] = (), changes: Sequence[str] = (), *, removed: str = "") -> None:
        self.calls: list[str] = []
        self._simulations, self._changes, self._removed = list(simulations), list(changes), removed

    def simulate(self, arguments: Sequence[str]) -> ProcessResult:
        if " ".join(arguments).endswith(MEND):
            return ProcessResult(returncode=0, stdout=self._removed, stderr="")
        return self._answer(self._simulations)

    def change(self, arguments: Sequence[str]) -> ProcessResult:
        text = " ".join(arguments)
        if text.endswith(" update"):
            return ProcessResult(returncode=0, stdout="", stderr="")
        self.calls.append(next(each for each in (MEND, INSTALL) if text.endswith(each)))
        return self._answer(self._changes)

    def configure(self) -> ProcessResult:
        self.calls.append("dpkg --configure -a")
        return ProcessResult(returncode=1, stdout="", stderr="")

    @staticmethod
    def _answer(texts: list[str]) -> ProcessResult:
        if texts:
            return ProcessResult(returncode=100, stdout=texts.pop(0), stderr="")
        return ProcessResult(returncode=0, stdout="Setting up nvidia-driver\n", stderr="")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("locked", "driver-apt-locked"),
        ("no-room-archives", "driver-no-room"),
        ("full-disk", "driver-no-room"),
        ("held-packages", "driver-held"),
        ("broken-mirror", "driver-packages-unreachable"),
    ],
)
def test_recorded_failure_is_named(name: str, code: str) -> None:
    with pytest.raises(AppError) as caught:
        install_packages(REQUEST, DEBIAN, CATALOG, ScriptedApt(changes=[recorded(name)]))
    assert caught.value.code == code
    for language in ("en", "zh_CN"):
        assert "{" not in Texts(language).translate(f"error.{code}", caught.value.data)


def test_packages_of_a_part_that_is_switched_off_are_named() -> None:
    with pytest.raises(AppError) as caught:
        install_packages(REQUEST, DEBIAN, CATALOG, ScriptedApt([recorded("unknown-package")]))
    assert caught.value.code == "driver-packages-unknown"
    assert "has no installation candidate" in str(caught.value.data["detail"])


@pytest.mark.parametrize(
    "earlier",
    [
        recorded("after-kill"),
        recorded("after-full-disk"),
    ],
)
def test_run_that_was_cut_off_is_finished_first(earlier: str) -> None:
    apt = ScriptedApt([earlier])
    assert install_packages(REQUEST, DEBIAN, CATALOG, apt).exit_code == 0
    assert apt.calls == ["dpkg --configure -a", MEND, INSTALL]


def test_interrupted_dpkg_that_only_the_installation_meets_is_finished() -> None:
    # After a kill between packages the simulation goes well, and the installation does not.
    apt = ScriptedApt(changes=[recorded("interrupted")])
    assert install_packages(REQUEST, DEBIAN, CATALOG, apt).exit_code == 0
    assert apt.calls == [INSTALL, "dpkg --configure -a", MEND, INSTALL]


def test_repair_that_would_remove_unrelated_packages_is_not_made() -> None:
    apt = ScriptedApt([recorded("after-kill")], removed="Remv gnome-shell [43.9]\n")
    with pytest.raises(AppError, match="driver-would-remove"):
        install_packages(REQUEST, DEBIAN, CATALOG, apt)
    assert apt.calls == ["dpkg --configure -a"]

"""What apt-get really said when it failed, and what follows: an error with a name, or a repair before the next try."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import OperatingSystem
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.elevation.packages import PackagePrograms, RootAptGet, install_packages, remove_packages
from gpu_assistant.install.elevation.protocol import LinuxPackagesRemoval, LinuxPackagesRequest
from gpu_assistant.system.base import ProcessResult
from gpu_assistant.texts.localized import Texts
from tests.fakes.system import FakeSystem

RECORDED = Path(__file__).parents[2] / "fixtures/apt"
CATALOG = load_catalog(resources_dir() / "catalog")
DEBIAN = OperatingSystem(system="linux", distro="debian", distro_version="12")
NAMES = ("nvidia-driver", "nvidia-kernel-dkms", "firmware-misc-nonfree")
REQUEST = LinuxPackagesRequest(nonce="0" * 32, packages=NAMES, minimum="525")
MEND = "--fix-broken install"
INSTALL = "install -- nvidia-driver nvidia-kernel-dkms firmware-misc-nonfree nvidia-open-kernel-dkms-"
INSTALL_AND_MEND = f"--fix-broken {INSTALL}"
CONFIGURE = "dpkg --configure -a"


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text(encoding="utf-8")


class ScriptedApt:
    """Answers for what is simulated, and for what changes something, in order; then everything goes well.

    `together`: what is said whenever an installation that also completes is simulated.
    """

    asks = False

    def __init__(
        self,
        simulations: Sequence[str] = (),
        changes: Sequence[str] = (),
        *,
        together: str = "",
        removed: str = "",
        interrupted: bool = False,
    ) -> None:
        self.calls: list[str] = []
        self._together = together
        self._simulations, self._changes, self._removed = list(simulations), list(changes), removed
        self._is_interrupted = interrupted

    def simulate(self, arguments: Sequence[str]) -> ProcessResult:
        if self._together and " ".join(arguments).endswith(INSTALL_AND_MEND):
            return ProcessResult(returncode=100, stdout=self._together, stderr="")
        if "--fix-broken" in arguments:
            return ProcessResult(returncode=0, stdout=self._removed, stderr="")
        return self._answer(self._simulations)

    def is_interrupted(self) -> bool:
        return self._is_interrupted

    def change(self, arguments: Sequence[str]) -> ProcessResult:
        text = " ".join(arguments)
        if text.endswith(" update"):
            return ProcessResult(returncode=0, stdout="", stderr="")
        self.calls.append(next(each for each in (MEND, INSTALL_AND_MEND, INSTALL) if text.endswith(each)))
        return self._answer(self._changes)

    def configure(self) -> ProcessResult:
        self._is_interrupted = False
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
        ("full-boot", "driver-no-room-boot"),
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
def test_installation_completes_what_a_run_that_was_cut_off_left(earlier: str) -> None:
    apt = ScriptedApt([earlier])
    assert install_packages(REQUEST, DEBIAN, CATALOG, apt).exit_code == 0
    assert apt.calls == [INSTALL_AND_MEND]


def test_installation_first_completes_what_it_cannot_complete_together() -> None:
    said = recorded("after-full-disk-together")
    apt = ScriptedApt([said], together=said)
    assert install_packages(REQUEST, DEBIAN, CATALOG, apt).exit_code == 0
    assert apt.calls == [MEND, INSTALL]


def test_disk_that_is_still_full_is_named_when_completing_fails() -> None:
    said = recorded("after-full-disk-together")
    apt = ScriptedApt([said], [recorded("full-disk")], together=said)
    with pytest.raises(AppError) as caught:
        install_packages(REQUEST, DEBIAN, CATALOG, apt)
    assert (caught.value.code, apt.calls) == ("driver-no-room", [MEND])


@pytest.mark.parametrize(
    ("simulations", "install"), [([], INSTALL), ([recorded("after-kill")], INSTALL_AND_MEND)], ids=["whole", "parts"]
)
def test_dpkg_that_was_interrupted_comes_to_its_end_before_anything_else(simulations: list[str], install: str) -> None:
    apt = ScriptedApt(simulations, interrupted=True)
    assert install_packages(REQUEST, DEBIAN, CATALOG, apt).exit_code == 0
    assert apt.calls == [CONFIGURE, install]


@pytest.mark.parametrize(
    ("named", "others"),
    [
        ("nvidia-kernel-dkms", ["nvidia-open-kernel-dkms-"]),
        ("nvidia-open-kernel-dkms", ["nvidia-kernel-dkms-"]),
        ("firmware-misc-nonfree", []),
    ],
)
def test_kernel_modules_of_the_other_kind_go(named: str, others: list[str]) -> None:
    # Debian's apt-get keeps those that are there beside the new ones, and dkms fails with those that do not compile.
    asked: list[Sequence[str]] = []

    class RecordingApt(ScriptedApt):
        def simulate(self, arguments: Sequence[str]) -> ProcessResult:
            asked.append(arguments)
            return super().simulate(arguments)

        def change(self, arguments: Sequence[str]) -> ProcessResult:
            asked.append(arguments)
            return ProcessResult(returncode=0, stdout="", stderr="")

    names = ("nvidia-driver", named)
    install_packages(LinuxPackagesRequest(nonce="0" * 32, packages=names), DEBIAN, CATALOG, RecordingApt())
    update, simulation, installation = asked
    assert update[-1] == "update"
    assert list(simulation)[-len(names) - len(others) :] == [*names, *others]
    assert list(installation)[-len(names) - len(others) - 1 :] == ["--", *names, *others]


def test_removal_after_a_run_that_was_cut_off_completes_it_first() -> None:
    removal = LinuxPackagesRemoval(nonce="0" * 32, packages=("nvidia-driver",))
    apt = ScriptedApt([recorded("after-kill")], interrupted=True)
    assert remove_packages(removal, DEBIAN, CATALOG, apt).exit_code == 0
    assert apt.calls == [CONFIGURE, MEND]


def test_repair_that_would_remove_unrelated_packages_is_not_made() -> None:
    apt = ScriptedApt([recorded("after-kill")], removed="Remv gnome-shell [43.9]\n")
    with pytest.raises(AppError, match="driver-would-remove"):
        install_packages(REQUEST, DEBIAN, CATALOG, apt)
    assert apt.calls == []


@pytest.mark.linux
@pytest.mark.parametrize(
    ("names", "interrupted"),
    [(("0000",), True), (("0012", "tmp.i"), True), (("tmp.i",), False), ((), False), (None, False)],
)
def test_interrupted_dpkg_is_seen_as_apt_sees_it(
    tmp_path: Path, names: tuple[str, ...] | None, interrupted: bool
) -> None:
    """By files whose names are numbers; seen in Debian 13 after apt-get and dpkg were killed."""
    updates = tmp_path / "updates"
    if names is not None:
        updates.mkdir()
    for name in names or ():
        (updates / name).touch()
    assert RootAptGet(FakeSystem(), PackagePrograms(updates=updates)).is_interrupted() is interrupted

"""Machines without a usable NVIDIA card, and what else is said about a machine."""

from __future__ import annotations

import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import UnsatisfiableChoice
from gpu_assistant.core.machine import Disk, Gpu, ProbeNote, SystemName, User
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.types import Goal
from gpu_assistant.texts.localized import Texts

from .build import catalog, check, codes, machine, python, reason


@pytest.mark.parametrize(("goal", "code"), [("pytorch", "cpu-no-gpu-wsl"), ("tensorflow", "tensorflow-no-gpu-wsl")])
def test_wsl_without_driver_looks_like_no_gpu(goal: Goal, code: str) -> None:
    assert reason(recommend(machine("linux", wsl=True), catalog(), goal=goal), "accelerator").code == code
    outside = recommend(machine("linux"), catalog(), goal=goal)
    assert reason(outside, "accelerator").code == code.removesuffix("-wsl")


@pytest.mark.parametrize("system", ["windows", "linux"])
@pytest.mark.parametrize(
    ("gpus", "code"),
    [
        ((), "cpu-no-gpu"),
        ((Gpu(vendor="amd", name="AMD Radeon(TM) Graphics"),), "cpu-amd"),
        ((Gpu(vendor="intel", name="Intel UHD Graphics 630", pci_id="8086:3e92"),), "cpu-intel"),
        ((Gpu(vendor="other", name="ASPEED"),), "cpu-no-gpu"),
    ],
)
def test_no_usable_gpu(system: SystemName, gpus: tuple[Gpu, ...], code: str) -> None:
    advice = check(recommend(machine(system, *gpus), catalog()))
    assert advice.accelerator == "cpu"
    # For AMD's cards PyTorch publishes builds on Linux only; a card of no known name or id names no chip.
    text = {"linux": "cpu-amd-unknown", "windows": "cpu-amd-windows"}.get(system) if code == "cpu-amd" else code
    assert reason(advice, "accelerator").code == text
    assert advice.pytorch is not None
    assert (advice.pytorch.version, advice.pytorch.variant) == (catalog().releases[0].version.text, "cpu")
    assert advice.pytorch.index_url == "https://download.pytorch.org/whl/cpu"
    assert (advice.pytorch.cuda, advice.pytorch.cudnn) == (None, None)
    assert advice.driver.action == "none"
    assert advice.warnings == advice.alternatives == ()
    assert reason(advice, "driver.action").code == "driver-processor"


@pytest.mark.parametrize(
    ("system", "gpu", "wsl", "build"),
    [
        ("linux", Gpu(vendor="amd", name="RX 7900 XTX", gfx="gfx1100"), None, "2.14.1+rocm7.2"),
        ("linux", Gpu(vendor="amd", name="RX 7900 XTX", gfx="gfx1100"), True, "2.15.0+cpu"),
        ("linux", Gpu(vendor="amd", pci_id="1002:66af"), None, "2.9.1+rocm6.3"),
        ("linux", Gpu(vendor="amd", name="RX 580", gfx="gfx803"), None, "2.15.0+cpu"),
        ("windows", Gpu(vendor="amd", name="RX 7900 XTX", gfx="gfx1100"), None, "2.13.0+rocm10.0.0"),
        ("windows", Gpu(vendor="amd", name="RX 6600", gfx="gfx1032"), None, "2.15.0+cpu"),
        ("windows", Gpu(vendor="intel", name="Arc A770", pci_id="8086:56a0"), None, "2.15.0+xpu"),
        ("linux", Gpu(vendor="intel", name="Arc A770", pci_id="8086:56a0"), None, "2.15.0+xpu"),
    ],
)
def test_amd_and_intel(system: SystemName, gpu: Gpu, wsl: bool | None, build: str) -> None:
    advice = check(recommend(machine(system, gpu, wsl=wsl), catalog()))
    assert advice.pytorch is not None
    assert f"{advice.pytorch.version}+{advice.pytorch.variant}" == build
    assert advice.driver.action == "none"
    if not build.endswith("cpu"):
        rocm = "driver-rocm" if system == "linux" else "driver-rocm-windows"
        assert reason(advice, "driver.action").code == (rocm if gpu.vendor == "amd" else "driver-xpu")
        assert "not-proven" in codes(advice.warnings)
        assert "cpu-instead" in codes(advice.alternatives)
    assert ("amd-unlisted" in codes(advice.alternatives)) == (system == "windows" and gpu.gfx == "gfx1032")


def test_newest_rocm_release_is_named_as_newest_for_amd() -> None:
    box = machine("linux", Gpu(vendor="amd", name="RX 7900 XTX", gfx="gfx1100"), glibc="2.39")
    advice = check(recommend(box, catalog()))
    why = reason(advice, "pytorch.version")
    assert advice.pytorch is not None
    assert (why.code, why.data["maker"], why.data["version"]) == (
        "version-newest-for-maker",
        "AMD",
        advice.pytorch.version,
    )
    # The same computer can have a newer one, which stands below as an offer.
    offer = next(a for a in advice.alternatives if a.code == "cpu-instead")
    assert offer.change["pytorch"] == why.data["newest"] != advice.pytorch.version
    assert "newest PyTorch with a build for your AMD card" in str(
        reason(Texts("en").localize_recommendation(advice), "pytorch.version").text
    )


def test_apple_gets_mps_from_the_general_index() -> None:
    advice = check(recommend(machine("darwin", Gpu(vendor="apple", name="Apple M3"), arch="arm64"), catalog()))
    assert advice.accelerator == "mps"
    assert advice.pytorch is not None
    assert advice.pytorch.index_url is None


def test_intel_mac_gets_the_last_release_for_it() -> None:
    advice = check(recommend(machine("darwin", Gpu(vendor="amd"), arch="x86_64"), catalog()))
    assert advice.accelerator == "cpu"
    assert advice.pytorch is not None
    assert advice.pytorch.version == "2.2.2"


def test_only_the_system_is_known() -> None:
    advice = check(recommend(machine("linux", arch=None), catalog()))
    assert advice.accelerator == "cpu"
    assert codes(advice.warnings) == ["arch-unknown"]


@pytest.mark.parametrize(
    ("pythons", "series", "code"),
    [
        (None, "3.13", "python-download-unknown"),
        ((), "3.13", "python-download"),
        ((python("3.12.7"), python("3.11.2")), "3.12", "python-here"),
        ((python("3.9.1"), python("3.16.0")), "3.13", "python-download"),
        ((python("3.12.7", "conda"), python("3.12.7", "venv"), python("3.12.7", "store")), "3.13", "python-not-conda"),
        ((python("3.12.7", "managed"), python("3.13.1", "conda")), "3.12", "python-here"),
        ((python("3.13.1", arch="arm64"), python("3.11.0", arch=None)), "3.11", "python-here"),
        ((python("not a version"), python("3")), "3.13", "python-download"),
        ((python("3.15.0"),), "3.15", "python-here"),
    ],
)
def test_python(pythons: object, series: str, code: str) -> None:
    advice = check(recommend(machine("linux", pythons=pythons), catalog()))
    assert advice.python == series
    assert reason(advice, "python").code == code


def test_unanswered_pythons_are_not_called_unsuitable() -> None:
    silent = (ProbeNote(probe="pythons", code="detect.pythons.partly", detail="/usr/bin/python3"),)
    advice = check(recommend(machine("linux", pythons=(), notes=silent), catalog()))
    assert reason(advice, "python").code == "python-download-partly"


def test_warnings_have_fixes() -> None:
    result = check(
        recommend(
            machine(
                "linux",
                pending_reboot=True,
                disks=(Disk(path="/", free_bytes=10**8), Disk(path="/home", free_bytes=None)),
                user=User(home="/home/小明", ascii=False),
            ),
            catalog(),
        )
    )
    assert codes(result.warnings) == ["disk-space-about", "pending-reboot", "home-not-ascii"]


def test_a_size_is_exact_only_for_the_release_that_was_measured() -> None:
    box = machine("linux", disks=(Disk(path="/", free_bytes=10**8),))
    measured = check(recommend(box, catalog(), choice=Choice(pytorch="2.13.0", variant="cpu")))
    assert codes(measured.warnings) == ["disk-space"]


def test_disk_space_is_checked_on_home_disk() -> None:
    disks = (Disk(path="C:\\", free_bytes=4 * 10**8), Disk(path="D:\\", free_bytes=4 * 10**11))
    at_home = machine("windows", disks=disks, user=User(home="C:\\Users\\lin", ascii=True))
    (small,) = recommend(at_home, catalog()).warnings
    assert small.code == "disk-space-about-other"
    assert (small.data["other"], small.data["there"]) == ("D:\\", "D:\\gpu-assistant")
    elsewhere = machine("windows", disks=disks, user=User(home="d:\\lin", ascii=True))
    assert recommend(elsewhere, catalog()).warnings == ()


def test_any_disk_counts_when_home_is_unknown() -> None:
    disks = (Disk(path="C:\\", free_bytes=10**8), Disk(path="D:\\", free_bytes=10**11))
    assert recommend(machine("windows", disks=disks), catalog()).warnings == ()


def test_disk_need_includes_the_download() -> None:
    """Nobody measured the build for CUDA on Windows: about what it takes on Linux is more than the download."""
    facts = catalog()
    room = Disk(path="C:\\", free_bytes=(facts.sizes("cu126", "windows").download_bytes or 0) + 10**9)
    box = machine("windows", Gpu(vendor="nvidia", name="NVIDIA GeForce RTX 4090", pci_id="10de:2684"), disks=(room,))
    advice = recommend(box, facts)
    warning = next(one for one in advice.warnings if one.code == "disk-space-about")
    stored = facts.sizes("cu132", "linux").disk_bytes or 0
    assert warning.data["needed_bytes"] == (facts.sizes("cu126", "windows").download_bytes or 0) + stored


def test_small_disk_warns_for_amd_gpu() -> None:
    card = Gpu(vendor="amd", name="AMD Radeon RX 7900 XTX", pci_id="1002:744c", gfx="gfx1100")
    for free, warned in ((8 * 10**9, True), (10**12, False)):
        advice = recommend(machine("linux", card, disks=(Disk(path="/", free_bytes=free),)), catalog())
        assert advice.accelerator == "rocm"
        assert ("disk-space-about" in codes(advice.warnings)) == warned


def test_unknown_size_gives_no_disk_warning() -> None:
    small = (Disk(path="/", free_bytes=10**6),)
    advice = recommend(
        machine("linux", Gpu(vendor="intel", name="Arc A770", pci_id="8086:56a0"), disks=small), catalog()
    )
    assert advice.pytorch is not None
    assert advice.pytorch.variant == "xpu"
    assert "disk-space" not in codes(advice.warnings)


def test_amd_card_that_amd_does_not_list_may_be_tried_on_windows() -> None:
    """The alternative is a choice that can be taken, with a warning; it brings the code for the card."""
    card = machine("windows", Gpu(vendor="amd", name="RX 6600", gfx="gfx1032"))
    offer = next(each for each in recommend(card, catalog()).alternatives if each.code == "amd-unlisted")
    assert offer.change == {"pytorch": "2.13.0", "variant": "rocm10.0.0"}
    taken = check(recommend(card, catalog(), choice=Choice(pytorch="2.13.0", variant="rocm10.0.0")))
    assert taken.pytorch is not None
    assert (taken.accelerator, taken.pytorch.extras) == ("rocm", ("device-gfx1032",))
    assert {"amd-windows", "amd-windows-unlisted"} <= set(codes(taken.warnings))
    for impossible in (Gpu(vendor="amd", name="RX 580", gfx="gfx803"), Gpu(vendor="intel", name="Arc")):
        with pytest.raises(UnsatisfiableChoice):
            recommend(machine("windows", impossible), catalog(), choice=Choice(variant="rocm10.0.0"))


def test_amd_card_of_unknown_chip_gets_the_code_for_all() -> None:
    card = machine("windows", Gpu(vendor="amd", name="AMD Radeon(TM) Graphics"))
    taken = recommend(card, catalog(), choice=Choice(variant="rocm10.0.0"))
    assert taken.pytorch is not None
    assert taken.pytorch.extras == ("device-all",)

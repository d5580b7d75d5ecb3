"""Driver, CUDA Toolkit, cuDNN and TensorFlow picked by hand; several cards; what is missing on Windows."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.machine import Gpu, OperatingSystem, SystemName, Tools
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.core.types import Goal
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, RTX_4060, RTX_5090, catalog, check, codes, machine, nvidia, reason

V100 = "10de:1db1"


def build(advice: Recommendation) -> str:
    assert advice.pytorch is not None
    return f"{advice.pytorch.version}+{advice.pytorch.variant}"


@pytest.mark.parametrize(
    ("pci_id", "driver", "goal", "choice", "part", "why"),
    [
        (RTX_4060, None, "pytorch", Choice(driver="keep"), "driver", "no-driver"),
        (GTX_1060, "566.03", "pytorch", Choice(driver="617.42"), "driver", "driver-drops-card"),
        (None, None, "pytorch", Choice(driver="617.42"), "driver", "no-card"),
        (RTX_4060, None, "pytorch", Choice(driver="566.03", variant="cu130"), "variant", "driver-picked"),
        (RTX_4060, None, "cuda-dev", Choice(cuda_toolkit="99.1"), "cuda_toolkit", "no-toolkit"),
        (GTX_1060, None, "cuda-dev", Choice(cuda_toolkit="13.0.3"), "cuda_toolkit", "toolkit-chip"),
        (RTX_5090, None, "cuda-dev", Choice(cuda_toolkit="12.6.3"), "cuda_toolkit", "toolkit-chip"),
        (None, None, "cuda-dev", Choice(cuda_toolkit="12.6.3"), "cuda_toolkit", "no-card"),
        (RTX_4060, None, "cuda-dev", Choice(cuda_toolkit="12.4.0"), "cuda_toolkit", "no-installer"),
        (RTX_4060, None, "cuda-dev", Choice(cudnn="1.2.3"), "cudnn", "no-cudnn"),
        (RTX_4060, None, "cuda-dev", Choice(cudnn="9.10.2"), "cudnn", "cudnn-cuda"),
        (GTX_1060, None, "cuda-dev", Choice(cudnn="9.20.0"), "cudnn", "cudnn-chip"),
        (RTX_4060, None, "all", Choice(tensorflow="9.9"), "tensorflow", "no-tensorflow"),
        (RTX_4060, None, "all", Choice(python="3.14"), "python", "python-tensorflow"),
    ],
)
def test_impossible_part_is_refused_with_reason(
    pci_id: str | None, driver: str | None, goal: Goal, choice: Choice, part: str, why: str
) -> None:
    cards = (nvidia(pci_id),) if pci_id is not None else ()
    with pytest.raises(UsageError) as caught:
        recommend(machine("windows", *cards, driver=driver), catalog(), goal=goal, choice=choice)
    error = caught.value
    assert (error.code, error.data["part"], error.data["why"]) == ("choice-impossible", part, f"@choice.{why}")
    for language in ("en", "zh_CN"):
        assert "choice." not in Texts(language).error_text(error)


@pytest.mark.parametrize(
    "choice", [Choice(driver="x"), Choice(cuda_toolkit="x"), Choice(cudnn="x"), Choice(tensorflow="x")]
)
def test_invalid_version_is_refused(choice: Choice) -> None:
    with pytest.raises(UsageError, match="choice-unreadable"):
        recommend(machine("windows", nvidia(RTX_4060), driver="566.03"), catalog(), goal="all", choice=choice)


@pytest.mark.parametrize(
    ("choice", "version", "action", "recommended", "warned"),
    [
        (Choice(driver="keep"), "2.14.1+cu126", "keep", "566.03", []),
        (Choice(driver="581.57"), "2.15.0+cu130", "update", "581.57", []),
        (Choice(driver="617.42"), "2.15.0+cu132", "update", "617.42", []),
        (Choice(driver="560.94"), "2.14.1+cu126", "back", "560.94", ["driver-older", "driver-unlisted"]),
    ],
)
def test_chosen_driver_limits_the_build(
    choice: Choice, version: str, action: str, recommended: str, warned: list[str]
) -> None:
    advice = check(recommend(machine("windows", nvidia(RTX_4060), driver="566.03"), catalog(), choice=choice))
    assert (build(advice), advice.driver.action, advice.driver.recommended) == (version, action, recommended)
    assert codes(advice.warnings) == warned
    assert reason(advice, "driver.action").code == "driver-by-hand"


def test_kept_old_driver_gives_cpu_build() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="391.35")
    advice = check(recommend(box, catalog(), choice=Choice(driver="keep")))
    assert (advice.accelerator, reason(advice, "accelerator").code) == ("cpu", "cpu-driver-picked")


def test_doubtful_parts_give_a_warning() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="617.42")
    far = check(recommend(box, catalog(), goal="cuda-dev", choice=Choice(cuda_toolkit="12.6.3")))
    assert (far.cuda_toolkit.version, codes(far.warnings)) == ("12.6.3", ["toolkit-far"])
    near = check(recommend(box, catalog(), goal="cuda-dev", choice=Choice(cuda_toolkit="13.0.2")))
    assert (near.cuda_toolkit.version, codes(near.warnings)) == ("13.0.2", ["toolkit-near"])
    alone = check(recommend(box, catalog(), choice=Choice(cudnn="9.27.0")))
    assert (alone.cudnn.version, codes(alone.warnings)) == ("9.27.0.42", ["cudnn-alone"])


def test_newer_driver_is_an_alternative_not_required() -> None:
    advice = check(recommend(machine("windows", nvidia(RTX_4060), driver="581.57"), catalog()))
    assert advice.driver.action == "keep"
    offer = next(a for a in advice.alternatives if a.code == "newer-driver-own")
    assert offer.change == {"pytorch": "2.15.0", "variant": "cu132", "driver": "617.42"}
    again = check(
        recommend(machine("windows", nvidia(RTX_4060), driver="581.57"), catalog(), choice=Choice(**offer.change))
    )  # type: ignore[arg-type]
    assert (build(again), again.driver.action, again.driver.recommended) == ("2.15.0+cu132", "update", "617.42")


@pytest.mark.parametrize(
    ("system", "cards", "driver", "version", "recommended", "offered"),
    [
        # The old card's own newest serves both: it is taken, and the newest for the strong one offered.
        ("linux", (RTX_4060, GTX_1060), None, "2.14.1+cu126", "580.178.04", "strongest-only"),
        ("windows", (RTX_4060, GTX_1060), "566.03", "2.14.1+cu126", "566.03", "strongest-only-driver"),
        ("windows", (RTX_4060, GTX_1060), None, "2.14.1+cu126", "581.57", "strongest-only"),
        # No build of this age serves both: the strongest decides, with a driver that leaves the old card its picture.
        ("windows", (RTX_5090, V100), None, "2.15.0+cu130", "581.57", "all-cards"),
        # A driver that is there and has left the old card behind is not taken back.
        ("windows", (RTX_4060, GTX_1060), "617.42", "2.15.0+cu132", "617.42", "all-cards-driver"),
    ],
)
def test_old_and_new_cards(
    system: SystemName, cards: tuple[str, ...], driver: str | None, version: str, recommended: str, offered: str
) -> None:
    box = machine(system, *(nvidia(card, index=n) for n, card in enumerate(cards)), driver=driver)
    advice = check(recommend(box, catalog()))
    assert build(advice) == version
    if advice.driver.action != "keep":
        assert advice.driver.recommended == recommended
    assert offered in codes(advice.alternatives)
    assert ("other-gpu-without-code" in codes(advice.warnings)) == (offered == "all-cards")
    assert ("other-gpu-dark-way-back" in codes(advice.warnings)) == (offered == "all-cards-driver")
    other = next(a for a in advice.alternatives if a.code == offered)
    again = check(recommend(box, catalog(), choice=Choice(**other.change)))  # type: ignore[arg-type]
    assert build(again) == f"{other.change['pytorch']}+{other.change['variant']}"
    assert ("other-gpu-without-code" in codes(again.warnings)) == offered.startswith("strongest-only")
    assert "driver" not in other.change or other.change["driver"] in ("keep", again.driver.recommended)


def test_idle_graphics_are_named() -> None:
    box = machine("windows", Gpu(vendor="amd", name="Radeon 780M"), nvidia(RTX_4060), driver="617.42")
    advice = check(recommend(box, catalog()))
    assert next(r for r in advice.reasons if r.code == "idle-graphics").data["gpu"] == "Radeon 780M"


@pytest.mark.parametrize(
    ("distro", "pci_id", "package"),
    [
        ("ubuntu", RTX_5090, "nvidia-driver-595-open linux-modules-nvidia-595-open-generic"),
        ("ubuntu", GTX_1060, "nvidia-driver-580 linux-modules-nvidia-580-generic"),
        ("arch", RTX_5090, None),
    ],
)
def test_linux_packages_are_the_distributions_own(distro: str, pci_id: str, package: str | None) -> None:
    box = machine("linux", nvidia(pci_id))
    system = OperatingSystem(system="linux", arch="x86_64", distro=distro, distro_version="24.04")
    advice = check(recommend(type(box)(schema=box.schema, os=system, gpus=box.gpus), catalog()))
    named = next((r.data["package"] for r in advice.reasons if r.code == "driver-packages"), None)
    assert named == package
    assert advice.driver.packages == (tuple(package.split()) if package is not None else ())


def test_nvidia_smi_cuda_is_called_a_limit() -> None:
    # Older than its generation's first driver for all: no later version of it runs.
    advice = check(recommend(machine("windows", nvidia(GTX_1060), driver="451.00"), catalog()))
    assert next(r for r in advice.reasons if r.code == "driver-ceiling").data["shown"] == "11.0"
    without = recommend(machine("windows", nvidia(RTX_4060)), catalog())
    assert not [r for r in without.reasons if r.about == "driver.installed"]


@pytest.mark.parametrize(
    ("driver", "shown", "major", "minimum"), [("566.03", "12.7", 12, "528.33"), ("516.94", "11.7", 11, "452.39")]
)
def test_cuda_limit_agrees_with_alternative(driver: str, shown: str, major: int, minimum: str) -> None:
    advice = check(recommend(machine("windows", nvidia(GTX_1060), driver=driver), catalog()))
    why = next(r for r in advice.reasons if r.about == "driver.installed")
    assert (why.code, why.data) == ("driver-ceiling-within", {"shown": shown, "major": major, "minimum": minimum})


def test_missing_vc_runtime_warns() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="617.42", tools=Tools())
    assert "vc-missing" in codes(check(recommend(box, catalog())).warnings)
    here = machine("windows", nvidia(RTX_4060), driver="617.42", tools=Tools(vc_redist="14.42"))
    assert recommend(here, catalog()).warnings == ()
    files = ("msvcp140.dll", "vcruntime140.dll", "vcruntime140_1.dll")
    older = replace(here, tools=Tools(vc_redist="14.20", vc_libraries=files))
    missing = next(w for w in check(recommend(older, catalog())).warnings if w.code == "vc-files")
    assert missing.data["files"] == "vcruntime140_threads.dll"
    before = recommend(older, catalog(), choice=Choice(pytorch="2.14.1", variant="cu130"))
    assert "vc-files" not in codes(before.warnings)
    advised = next(warning for warning in check(before).warnings if warning.code == "vc-not-current")
    assert advised.data["files"] == "vcruntime140_threads.dll"
    ancient = recommend(older, catalog(), choice=Choice(pytorch="2.8.0", variant="cu129"))
    assert "vc-not-current" not in codes(ancient.warnings)
    whole = replace(here, tools=Tools(vc_redist="14.44", vc_libraries=(*files, "vcruntime140_threads.dll")))
    assert recommend(whole, catalog()).warnings == ()
    stored = recommend(whole, catalog(), choice=Choice(pytorch="2.14.1", variant="cu130"))
    assert "vc-not-current" not in codes(stored.warnings)
    linux = machine("linux", nvidia(RTX_4060), driver="595.84", tools=Tools())
    assert "vc-missing" not in codes(recommend(linux, catalog()).warnings)


@pytest.mark.parametrize(
    ("msvc", "code"),
    [
        (None, "msvc-missing-command"),
        ("14.16.27023", "msvc-unfit"),
        ("14.29.30133", ""),
        ("14.44.35207", ""),
        ("odd", ""),
    ],
)
def test_compiling_on_windows_needs_microsofts_compiler(msvc: str | None, code: str) -> None:
    box = machine("windows", nvidia(RTX_4060), driver="617.42", tools=Tools(vc_redist="14.44", msvc=msvc))
    advice = check(recommend(box, catalog(), goal="cuda-dev"))
    assert [c for c in codes(advice.warnings) if c.startswith("msvc")] == ([code] if code else [])
    if code:
        text = next(w for w in advice.warnings if w.code == code)
        assert "2022" in str(text.data["products"])
    assert not [c for c in codes(recommend(box, catalog()).warnings) if c.startswith("msvc")]


def test_msvc_too_new_for_the_toolkit_warns() -> None:
    tools = Tools(vc_redist="14.44", msvc="14.51.36014")
    box = machine("windows", nvidia(GTX_1060), driver="582.16", tools=tools)
    assert "msvc-unfit" in codes(check(recommend(box, catalog(), goal="cuda-dev")).warnings)


def test_kepler_gets_newest_build_with_cudnn_support() -> None:
    advice = check(recommend(machine("linux", nvidia(name="Tesla K80", compute_capability="3.7")), catalog()))
    assert build(advice) == "2.3.1+cu118"
    assert "cudnn-too-new" not in codes(advice.warnings)


def test_gpus_with_different_kernel_modules_warn() -> None:
    box = machine("linux", nvidia(RTX_5090), nvidia(V100, index=1))
    assert "all-cards" not in codes(recommend(box, catalog()).alternatives)


def test_package_supports_the_older_gpu_too() -> None:
    box = machine("linux", nvidia(RTX_4060), nvidia(GTX_1060, index=1))
    system = OperatingSystem(system="linux", arch="x86_64", distro="ubuntu", distro_version="24.04", secure_boot=False)
    advice = recommend(type(box)(schema=box.schema, os=system, gpus=box.gpus), catalog())
    assert advice.driver.packages == ("nvidia-driver-580",)

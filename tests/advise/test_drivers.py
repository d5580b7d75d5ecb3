"""The driver: which one a card still gets, going back to it, and what is said of the cards beside it."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_assistant.advise.options import list_options
from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.machine import Driver, Gpu, Machine, OperatingSystem, SystemName
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, H100, QUADRO_P5000, RTX_4060, RTX_5090, catalog, check, codes, machine, nvidia, reason

CMP_170HX = "10de:20c2"  # made for mining: NVIDIA names no driver for it

KEPLER = nvidia(name="GeForce GTX 780 Ti", compute_capability="3.5")


def linux(distro: str, version: str, *gpus: Gpu, driver: str | None = None, secure: bool | None = None) -> Machine:
    return Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(
            system="linux", arch="x86_64", distro=distro, distro_version=version, secure_boot=secure, wsl=False
        ),
        gpus=gpus,
        driver=Driver(version=driver) if driver is not None else None,
    )


def sentences(value: Recommendation) -> str:
    """Everything that is said, in English."""
    spoken = Texts("en").localize_recommendation(value)
    entries: tuple[Any, ...] = (*spoken.reasons, *spoken.warnings, *spoken.alternatives)
    return " ".join(text for entry in entries for text in (entry.text, getattr(entry, "fix", None)) if text)


@pytest.mark.parametrize(
    ("system", "gpu", "driver", "recommended", "code"),
    [
        ("windows", nvidia(GTX_1060), "591.44", "582.78", "driver-back"),
        ("windows", nvidia(GTX_1060), "617.42", "582.78", "driver-back"),
        ("windows", nvidia(QUADRO_P5000), "596.36", "582.78", "driver-back"),
        ("linux", nvidia(GTX_1060), "590.48.01", "580.178.04", "driver-back"),
        ("linux", nvidia(name="Tesla V100", compute_capability="7.0"), "595.84", "580.178.04", "driver-back"),
        ("linux", nvidia(name="Tesla K80", compute_capability="3.7"), "535.104.05", "470.256.02", "driver-back"),
        ("windows", nvidia("10de:1d83"), "591.44", None, "driver-back-unnamed"),
    ],
)
def test_driver_that_dropped_the_gpu_is_downgraded(
    system: SystemName, gpu: Gpu, driver: str, recommended: str | None, code: str
) -> None:
    advice = check(recommend(machine(system, gpu, driver=driver), catalog()))
    assert (advice.driver.action, advice.driver.recommended) == ("back", recommended)
    assert reason(advice, "driver.action").code == code
    text = sentences(advice)
    assert "Going back" in text
    assert "new enough" not in text
    assert "keep-driver" not in codes(advice.alternatives)
    with pytest.raises(UsageError) as caught:
        recommend(machine(system, gpu, driver=driver), catalog(), choice=Choice(driver="keep"))
    assert caught.value.data["why"] == "@choice.driver-drops-card"


@pytest.mark.parametrize(("gpu", "driver"), [(GTX_1060, "582.78"), (GTX_1060, "580.88"), (RTX_4060, "617.42")])
def test_driver_that_supports_the_gpu_is_kept(gpu: str, driver: str) -> None:
    assert recommend(machine("windows", nvidia(gpu), driver=driver), catalog()).driver.action == "keep"


def test_secondary_gpu_dropped_by_installed_driver() -> None:
    box = machine("windows", nvidia(RTX_5090), nvidia(GTX_1060, index=1), driver="617.42")
    advice = check(recommend(box, catalog()))
    assert codes(advice.warnings) == ["other-gpu-dark-way-back"]
    assert "its own environment" not in sentences(advice)
    offer = next(a for a in advice.alternatives if a.code == "all-cards-driver")
    assert offer.change == {"pytorch": "2.7.1", "variant": "cu128", "driver": "581.57"}
    again = check(recommend(box, catalog(), choice=Choice(**offer.change)))  # type: ignore[arg-type]
    assert (again.driver.action, again.driver.recommended) == ("back", "581.57")
    # Nothing is offered where no driver for both is known by its number.
    game = recommend(box, catalog(), channel="game-ready")
    assert not [code for code in codes(game.alternatives) if code.startswith("all-cards")]
    assert codes(game.warnings) == ["other-gpu-dark"]


def test_kepler_with_new_gpu_is_already_dropped() -> None:
    advice = check(recommend(machine("windows", nvidia(RTX_4060), KEPLER, driver="566.03"), catalog()))
    assert codes(advice.warnings) == ["other-gpu-dark"]
    assert "would have no driver" not in sentences(advice)
    fresh = check(recommend(machine("windows", nvidia(RTX_4060), KEPLER), catalog()))
    assert codes(fresh.warnings) == ["driver-drops-other-alone"]
    assert "alternatives" not in sentences(fresh)


@pytest.mark.parametrize("driver", [None, "580.126.20", "595.84"])
def test_pascal_and_blackwell_share_no_kernel_modules_on_linux(driver: str | None) -> None:
    box = linux("ubuntu", "24.04", nvidia(RTX_5090), nvidia(GTX_1060, index=1), driver=driver)
    advice = check(recommend(box, catalog()))
    warning = next(w for w in advice.warnings if w.code == "other-gpu-modules-named")
    # A driver that stays is of the branch that is here.
    branch = "580" if driver == "580.126.20" else "595"
    assert (warning.data["package"], warning.data["other"]) == (f"nvidia-driver-{branch}-open", "nvidia-driver-580")
    assert not [a for a in advice.alternatives if a.code.startswith("all-cards")]
    assert "driver-last-branch" not in codes(advice.reasons)


@pytest.mark.parametrize(("system", "driver", "first"), [("windows", "566.03", 570), ("linux", "560.35.05", 570)])
def test_driver_older_than_blackwell_cannot_be_kept(system: SystemName, driver: str, first: int) -> None:
    for gpu in (nvidia(RTX_5090), nvidia(name="NVIDIA B200", compute_capability="10.0")):
        advice = check(recommend(machine(system, gpu, driver=driver), catalog()))
        assert advice.driver.action == "update"
        assert "keep-driver" not in codes(advice.alternatives)
        with pytest.raises(UsageError) as caught:
            recommend(machine(system, gpu), catalog(), choice=Choice(driver=driver))
        assert caught.value.data["why"] == "@choice.driver-before-card"
        picked = Choice(pytorch="2.11.0", variant="cu128")
        assert (
            int((recommend(machine(system, gpu), catalog(), choice=picked).driver.minimum or "").split(".")[0]) >= first
        )


def test_debian_names_driver_sources_and_old_branch() -> None:
    old = check(recommend(linux("debian", "12", nvidia(GTX_1060)), catalog()))
    packages = next(r for r in old.reasons if r.code == "driver-packages-branch")
    assert packages.data["package"] == "nvidia-driver nvidia-kernel-dkms firmware-misc-nonfree"
    assert (old.driver.recommended, old.driver.way) == ("535", "packages")
    needs = str(next(r for r in old.reasons if r.code == "driver-packages-need").data["needs"])
    assert needs.split(", ")[:3] == ["contrib", "non-free", "non-free-firmware"]
    new = check(recommend(linux("debian", "12", nvidia(RTX_4060)), catalog()))
    behind = next(r for r in new.reasons if r.code == "driver-packages-behind")
    assert behind.data["branch"] == "535"
    assert behind.data["package"] == "nvidia-driver nvidia-kernel-dkms firmware-misc-nonfree"
    assert behind.source is not None
    offer = next(a for a in new.alternatives if a.code == "distribution-driver")
    again = check(recommend(linux("debian", "12", nvidia(RTX_4060)), catalog(), choice=Choice(**offer.change)))  # type: ignore[arg-type]
    assert "driver-packages-branch" in codes(again.reasons)


@pytest.mark.parametrize(
    ("distro", "secure", "driver", "code"),
    [
        ("ubuntu", True, None, "secure-boot-signed"),
        ("debian", True, None, "secure-boot-enrol"),
        ("ubuntu", False, None, None),
        ("ubuntu", None, None, None),
        ("ubuntu", True, "595.84", None),
    ],
)
def test_secure_boot_warning_before_driver_change(
    distro: str, secure: bool | None, driver: str | None, code: str | None
) -> None:
    advice = check(recommend(linux(distro, "24.04", nvidia(RTX_4060), driver=driver, secure=secure), catalog()))
    assert [c for c in codes(advice.warnings) if c.startswith("secure-boot")] == ([code] if code else [])


def test_unknown_driver_version_is_not_a_dash() -> None:
    for gpu, driver in ((nvidia(CMP_170HX), "461.92"), (nvidia(CMP_170HX), None), (nvidia("10de:ffff"), None)):
        box = machine("windows", gpu, driver=driver)
        advice = check(recommend(box, catalog(), choice=Choice(way="newest")))
        assert advice.driver.recommended is None
        assert "—" not in sentences(advice)


@pytest.mark.parametrize(
    ("gpu", "driver", "code"),
    [
        (GTX_1060, "582.28", "driver-games-crash"),
        (GTX_1060, "582.53", "driver-games-crash"),
        (QUADRO_P5000, "582.28", "driver-games-crash"),
        (GTX_1060, "582.78", None),
    ],
)
def test_driver_with_known_issue_is_kept_with_warning(gpu: str, driver: str, code: str | None) -> None:
    advice = check(recommend(machine("windows", nvidia(gpu), driver=driver), catalog()))
    assert advice.driver.action == "keep"
    assert [c for c in codes(advice.warnings) if c != "driver-insecure"] == ([code] if code else [])
    linux_one = recommend(machine("linux", nvidia(gpu), driver=driver), catalog())
    assert not [c for c in codes(linux_one.warnings) if "crash" in c]


@pytest.mark.parametrize("goal", ["pytorch", "cuda-dev", "all", "tensorflow"])
@pytest.mark.parametrize("driver", ["566.03", "617.42"])
def test_wsl_uses_the_windows_driver(goal: Any, driver: str) -> None:
    advice = recommend(machine("linux", nvidia(RTX_4060), driver=driver, wsl=True), catalog(), goal=goal)
    assert "driver-wsl" in codes(advice.reasons)
    assert "toolkit-without-driver" not in codes(advice.reasons)
    if goal in ("cuda-dev", "all"):
        assert "toolkit-without-driver-wsl" in codes(advice.reasons)


@pytest.mark.parametrize(
    ("gpu", "channel", "code"),
    [
        (RTX_4060, "studio", "driver-channel-studio"),
        (RTX_4060, "game-ready", "driver-channel-game-ready"),
        (GTX_1060, "studio", "driver-channel-one"),
        (H100, "studio", None),
        ("10de:2bb1", "studio", None),  # RTX PRO 6000
        ("10de:2bb1", "game-ready", "driver-channel-one"),
    ],
)
def test_driver_channel_has_a_reason(gpu: str, channel: Any, code: str | None) -> None:
    advice = check(recommend(machine("windows", nvidia(gpu)), catalog(), channel=channel))
    assert [c for c in codes(advice.reasons) if c.startswith("driver-channel")] == ([code] if code else [])


def test_driver_options_support_the_gpu() -> None:
    part = list_options(machine("windows", nvidia(RTX_4060), driver="617.42"), catalog()).part("driver")
    assert part is not None
    assert {option.value for option in part.options} == {"keep", "617.14", "616.92", "581.57"}
    with pytest.raises(UsageError) as caught:
        recommend(machine("windows", nvidia(RTX_4060)), catalog(), choice=Choice(driver="475.14"))
    assert caught.value.data["why"] == "@choice.driver-other-card"


def test_going_back_by_hand_is_not_called_an_update() -> None:
    box = machine("windows", nvidia(RTX_4060), driver="617.42")
    advice = check(recommend(box, catalog(), choice=Choice(driver="581.57")))
    assert (advice.driver.action, advice.driver.recommended) == ("back", "581.57")
    assert "driver-older" in codes(advice.warnings)


@pytest.mark.parametrize("driver", ["566.03", "570.65", "581.57", "617.42"])
@pytest.mark.parametrize("gpu", [RTX_4060, GTX_1060, RTX_5090, H100])
@pytest.mark.parametrize("system", ["windows", "linux"])
def test_every_goal_with_pytorch_treats_the_driver_alike(system: SystemName, gpu: str, driver: str) -> None:
    box = machine(system, nvidia(gpu), driver=driver)
    goals: tuple[Any, ...] = ("pytorch", "cuda-dev", "all")
    newest = Choice(way="newest")
    assert len({recommend(box, catalog(), goal=goal, choice=newest).driver for goal in goals}) == 1


def test_toolkit_driver_demand_is_attributed_to_the_toolkit() -> None:
    thor = machine("windows", nvidia(name="Thor", compute_capability="11.0"), driver="566.03")
    advice = recommend(thor, catalog(), goal="cuda-dev")
    assert (advice.accelerator, advice.driver.action) == ("cpu", "update")
    assert str(reason(advice, "driver.action").data["cuda"]).startswith("Toolkit 13.")


def test_update_without_benefit_claims_none() -> None:
    advice = check(recommend(machine("windows", nvidia(RTX_4060), driver="581.57"), catalog()))
    offer = next(a for a in advice.alternatives if a.code.startswith("newer-driver"))
    # cu132 starts on 581.57 as well: the sentence says so.
    assert offer.code == "newer-driver-own"
    picked = Choice(pytorch="2.15.0", variant="cu132")
    assert (
        recommend(machine("windows", nvidia(RTX_4060), driver="581.57"), catalog(), choice=picked).driver.action
        == "keep"
    )

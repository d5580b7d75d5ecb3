"""What we do not do ourselves with a driver: said in plain words, never called done."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError, RebootRequired
from gpu_assistant.core.machine import Gpu
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.plan import VERIFY_AFTER_DRIVER, Step, StepEvent
from gpu_assistant.install.steps.nvidia_driver import MANUAL_CODES
from gpu_assistant.texts.localized import Texts

from .test_nvidia_driver import Sandbox, driver_step, machine, recommendation, use


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    use(sandbox, monkeypatch)
    return sandbox


def test_downgrade_is_manual_and_never_done(sandbox: Sandbox) -> None:
    advice = recommendation("back", installed="591.44", minimum="528.33", recommended="582.78", url="https://e.org/x")
    step = driver_step(sandbox, machine("windows"), advice)
    assert (step.code, step.needs_admin, step.files) == ("nvidia-driver-back", False, ())
    for language in ("en", "zh_CN"):
        what = Texts(language).translate(f"step.{step.code}.what", step.data)
        assert "591.44" in what
        assert "582.78" in what
    for here, code in (("591.44", "progress.driver-by-hand"), ("582.78", "progress.driver-here")):
        sandbox.here = here
        last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
        assert (last.state, last.code) == ("skipped", code)


def test_downgrade_to_unknown_version_is_a_step(sandbox: Sandbox) -> None:
    step = driver_step(sandbox, machine("windows"), recommendation("back", installed="591.44", minimum="452.39"))
    assert (step.code, step.commands, step.files) == ("nvidia-driver-back-page", (), ())
    for language in ("en", "zh_CN"):
        what = Texts(language).translate(f"step.{step.code}.what", step.data)
        assert "591.44" in what
        assert "452.39" in what
        assert "https://" in what
    # The newer one that is here is never called enough.
    sandbox.here = "591.44"
    last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
    assert (last.state, last.code) == ("skipped", "progress.driver-by-hand")


@pytest.mark.parametrize(
    ("minimum", "english", "chinese"),
    [
        ("580.65.06", "only branch 550, which is too old, and", "只有 550 系列驱动，太旧；"),
        # New enough, but the kernel modules that this card needs do not compile there.
        ("525.60.13", "only branch 550, without kernel modules", "只有 550 系列驱动，没有能让这张显卡工作的内核模块；"),
    ],
)
def test_nvidia_repository_is_named_with_the_reason(sandbox: Sandbox, minimum: str, english: str, chinese: str) -> None:
    advice = recommendation("install", minimum=minimum, recommended="595.84", way="nvidia-source", packages=("x",))
    step = driver_step(sandbox, machine("linux", distro="debian", distro_version="13"), advice)
    assert (step.code, step.commands) == ("nvidia-driver-source", ())
    for language, expected in (("en", english), ("zh_CN", chinese)):
        assert expected in Texts(language).translate(f"step.{step.code}.what", step.data)


def test_command_of_debian_replaces_modules_of_the_other_kind(sandbox: Sandbox) -> None:
    names = ("nvidia-driver", "nvidia-kernel-dkms", "firmware-misc-nonfree")
    advice = recommendation("install", minimum="525.60.13", recommended="550", way="packages", packages=names)
    step = driver_step(sandbox, machine("linux", distro="debian", distro_version="13"), advice)
    assert step.spec["packages"] == list(names)
    assert step.commands == (("sudo", "apt-get", "install", *names, "nvidia-open-kernel-dkms-"),)


def test_old_debian_branch_names_nvidia_repository(sandbox: Sandbox) -> None:
    names = ("nvidia-driver",)
    advice = recommendation("install", minimum="580.65.06", recommended="595.84", way="nvidia-source", packages=names)
    step = driver_step(sandbox, machine("linux", distro="debian", distro_version="13", secure_boot=True), advice)
    assert (step.code, step.spec, step.needs_admin) == ("nvidia-driver-source-key", {"version": "580.65.06"}, False)
    assert step.commands == (("sudo", "mokutil", "--import", "/var/lib/dkms/mok.pub"),)
    for language in ("en", "zh_CN"):
        what = Texts(language).translate(f"step.{step.code}.what", step.data)
        assert "550" in what
        assert "docs.nvidia.com" in what
        assert "sudo mokutil --import /var/lib/dkms/mok.pub" in what
        # One number is the one to install; the lowest that does is told as that.
        assert "595.84" in what
        assert "580.65.06" in what
        title = Texts(language).translate(f"step.{step.code}.title", step.data)
        assert "595.84" in title
        assert "580.65.06" not in title
    last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
    assert (last.state, last.code) == ("skipped", "progress.driver-by-hand")


def test_unknown_package_version_shows_query_command(sandbox: Sandbox) -> None:
    names = ("nvidia-driver-580", "linux-modules-nvidia-580-generic")
    advice = recommendation("update", installed="384.130", minimum="525.60.13", way="unsure", packages=names)
    step = driver_step(sandbox, machine("linux", distro="ubuntu", distro_version="16.04"), advice)
    assert (step.code, step.commands) == ("nvidia-driver-unsure", (("apt-cache", "policy", names[0]),))
    assert (step.needs_admin, step.spec) == (False, {"version": "525.60.13"})
    for language in ("en", "zh_CN"):
        what = Texts(language).translate(f"step.{step.code}.what", step.data)
        assert " ".join(names) in what
        assert "525.60.13" in what
        assert "https://" in what


DNF = (("sudo", "dnf", "install", "akmod-nvidia"), ("sudo", "akmods", "--force"))
PAGE = "https://rpmfusion.org/Howto/NVIDIA"


@pytest.mark.parametrize(("key", "code"), [(False, "nvidia-driver-commands"), (True, "nvidia-driver-commands-key")])
def test_distribution_commands_can_be_copied(sandbox: Sandbox, key: bool, code: str) -> None:
    advice = recommendation("install", minimum="580.65.06", way="commands", commands=DNF, page=PAGE, key=key)
    step = driver_step(sandbox, machine("linux", distro="fedora", distro_version="43"), advice)
    assert (step.code, step.commands, step.spec) == (code, DNF, {"version": "580.65.06"})
    assert not step.needs_admin
    for language in ("en", "zh_CN"):
        what = Texts(language).translate(f"step.{step.code}.what", step.data)
        assert "sudo dnf install akmod-nvidia; sudo akmods --force" in what
        assert "580.65.06" in what
        assert ("MOK" in what) == key
    for here, ended in (("570.86", "progress.driver-by-hand"), ("595.84", "progress.driver-here")):
        sandbox.here = here
        last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
        assert (last.state, last.code) == ("skipped", ended)


def test_distribution_page_is_named_without_commands(sandbox: Sandbox) -> None:
    advice = recommendation("install", minimum="525.60.13", way="page", page=PAGE)
    step = driver_step(sandbox, machine("linux", distro="fedora", distro_version="43"), advice)
    assert (step.code, step.commands, step.files) == ("nvidia-driver-distribution", (), ())
    for language in ("en", "zh_CN"):
        assert PAGE in Texts(language).translate(f"step.{step.code}.what", step.data)
        assert "525.60.13" in Texts(language).translate(f"step.{step.code}.title", step.data)


def test_wsl_names_the_recommended_version(sandbox: Sandbox) -> None:
    here = replace(machine("linux", distro="ubuntu", distro_version="24.04"), gpus=(Gpu(vendor="nvidia"),))
    here = replace(here, os=replace(here.os, wsl=True))
    advice = recommendation(
        "update", installed="546.33", minimum="580", recommended="617.42", url="https://e.org/x.exe"
    )
    step = driver_step(sandbox, here, advice)
    assert (step.code, step.spec) == ("nvidia-driver-outside-named", {"version": "580"})
    nameless = driver_step(sandbox, here, recommendation("update", installed="546.33", minimum="580"))
    assert nameless.code == "nvidia-driver-outside"
    for language in ("en", "zh_CN"):
        title = Texts(language).translate(f"step.{step.code}.title", step.data)
        assert "617.42" in title
        assert "580" not in title
        assert "580" in Texts(language).translate(f"step.{nameless.code}.title", nameless.data)


def test_step_names_the_chosen_version(sandbox: Sandbox) -> None:
    ubuntu = machine("linux", distro="ubuntu", distro_version="16.04")
    names = ("nvidia-driver-580",)
    unsure = recommendation("update", installed="1.0", minimum="525", recommended="580.1", way="unsure", packages=names)
    page = recommendation("install", minimum="525.60.13", recommended="580.1", way="page", page=PAGE)
    fedora = machine("linux", distro="fedora", distro_version="43")
    for here, advice in ((ubuntu, unsure), (fedora, page)):
        step = driver_step(sandbox, here, advice)
        assert step.code.endswith("-named")
        for language in ("en", "zh_CN"):
            title = Texts(language).translate(f"step.{step.code}.title", step.data)
            assert "580.1" in title
            assert "525" not in title


def test_plan_and_warning_agree_on_secure_boot_on_arch(sandbox: Sandbox) -> None:
    here = machine("linux", distro="arch", secure_boot=True)
    here = replace(here, gpus=(Gpu(vendor="nvidia", name="NVIDIA GeForce RTX 3060", compute_capability="8.6"),))
    result = recommend(here, load_catalog(resources_dir() / "catalog"))
    (caution,) = [each for each in result.warnings if each.code.startswith("secure-boot")]
    step = driver_step(sandbox, here, result)
    assert (caution.code, step.code) == ("secure-boot-page", "nvidia-driver-commands-secure-boot")
    for language in ("en", "zh_CN"):
        assert str(caution.data["page"]) in Texts(language).translate(f"step.{step.code}.what", step.data)
    off = replace(here, os=replace(here.os, secure_boot=False))
    assert (
        driver_step(sandbox, off, recommend(off, load_catalog(resources_dir() / "catalog"))).code
        == "nvidia-driver-commands"
    )


@pytest.mark.parametrize("distro", [("fedora", "43"), ("arch", None)])
def test_legacy_gpu_has_upper_driver_bound(sandbox: Sandbox, distro: tuple[str, str | None]) -> None:
    here = machine("linux", distro=distro[0], distro_version=distro[1])
    old = Gpu(vendor="nvidia", name="NVIDIA GeForce GTX 1060 6GB", compute_capability="6.1")
    result = recommend(replace(here, gpus=(old,)), load_catalog(resources_dir() / "catalog"))
    assert (result.driver.minimum, result.driver.recommended, result.driver.below) == ("525.60.13", None, "590")
    step = driver_step(sandbox, here, result)
    assert step.code == "nvidia-driver-distribution-below"
    for language in ("en", "zh_CN"):
        assert "590" in Texts(language).translate(f"step.{step.code}.title", step.data)
    # Beside a newer card a driver can answer that has left this one behind.
    for there, code in (("595.84", "progress.driver-by-hand"), ("580.126.20", "progress.driver-here")):
        sandbox.here = there
        last = [event for event in sandbox.install(step) if isinstance(event, StepEvent)][-1]
        assert (last.state, last.code) == ("skipped", code)


def test_downgrade_by_distribution_commands(sandbox: Sandbox) -> None:
    more = {"installed": "595.84", "minimum": "525.60.13", "recommended": "580.126.20", "page": PAGE}
    step = driver_step(sandbox, machine("linux"), recommendation("back", way="commands", commands=DNF, **more))
    assert (step.code, step.commands, step.spec) == ("nvidia-driver-back", DNF, {"version": "580.126.20"})
    paged = driver_step(sandbox, machine("linux"), recommendation("back", way="page", **more))
    assert (paged.code, paged.commands, paged.data["commands"]) == ("nvidia-driver-back", (), PAGE)


VERIFY = Step(id="verify", kind="verify", code=VERIFY_AFTER_DRIVER)
FEDORA = {"installed": "570.86", "minimum": "580.65.06", "recommended": None, "page": PAGE}


def test_missing_manual_driver_is_awaited_before_the_proof(sandbox: Sandbox) -> None:
    step = driver_step(sandbox, machine("linux"), recommendation("update", way="commands", commands=DNF, **FEDORA))
    sandbox.here = "570.86"
    with pytest.raises(RebootRequired) as stopped:
        sandbox.install(step, VERIFY)
    assert (stopped.value.code, stopped.value.exit_code) == ("driver-awaited-by-hand", 4)
    events = stopped.value.events  # type: ignore[attr-defined]
    # The proof did not fail: it was not begun.
    assert [(e.id, e.state) for e in events if isinstance(e, StepEvent)][-1] == ("driver", "skipped")
    for language in ("en", "zh_CN"):
        text = Texts(language).translate(stopped.value.message.code, stopped.value.data)
        assert "dnf" in text


def test_manual_driver_that_is_there_is_not_awaited(sandbox: Sandbox) -> None:
    step = driver_step(sandbox, machine("linux"), recommendation("update", way="commands", commands=DNF, **FEDORA))
    sandbox.here = "595.84"
    with pytest.raises(AppError) as failure:
        sandbox.install(step, VERIFY)
    # No environment was built by these two steps: that is what the proof says.
    assert not isinstance(failure.value, RebootRequired)


@pytest.mark.parametrize(
    ("distro", "similar"), [("ubuntu", 323_508_062), ("debian", 184_710_456), ("fedora", None), (None, None)]
)
def test_size_of_a_similar_driver_is_named_where_one_was_measured(
    sandbox: Sandbox, distro: str | None, similar: int | None
) -> None:
    advice = recommendation("update", installed="570.86", minimum="580", recommended="595.84", way="page", page=PAGE)
    step = driver_step(sandbox, machine("linux", distro=distro, distro_version="24.04"), advice)
    assert (step.data["similar_bytes"], step.bytes) == (similar, 0)


@pytest.mark.parametrize("code", MANUAL_CODES)
def test_manual_step_is_not_reported_as_no_change(code: str) -> None:
    data = {"installed": "570.86"}
    text = Texts("en").translate(f"step.{code}.undo", data), Texts("zh_CN").translate(f"step.{code}.undo", data)
    assert "does not undo what you do yourself" in text[0]
    assert "不会撤销" in text[1]
    assert all("570.86" in each for each in text)

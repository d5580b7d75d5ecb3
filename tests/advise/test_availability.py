"""What is recommended where it is known which index has which build."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Gpu, Machine, OperatingSystem
from gpu_assistant.core.recommendation import Choice, Recommendation, SourceAnswer
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, RTX_4060, catalog, check, machine, nvidia, python, wheel

NEWEST = catalog().releases[0].version.text
MIRROR = "Nanjing University"


def answer(source: Any, state: Any, variant: str, *, version: str = NEWEST, **more: Any) -> SourceAnswer:
    newest = version if state == "available" else more.pop("newest", None)
    return SourceAnswer(source=source, version=version, variant=variant, state=state, newest=newest, **more)


def advise(this: Machine, *answers: SourceAnswer, **more: Any) -> Recommendation:
    result = recommend(this, catalog(), sources=answers, **more)
    if more.get("goal") != "tensorflow":
        check(result)
    for language in ("en", "zh_CN"):
        localized = Texts(language).localize_recommendation(result)
        assert all(w.text and "{" not in w.text and "@" not in w.text for w in localized.warnings)
        assert all(r.text and "{" not in r.text for r in localized.reasons)
    return result


def build(result: Recommendation) -> str:
    assert result.pytorch is not None
    return f"{result.pytorch.version}+{result.pytorch.variant}"


def source(result: Recommendation) -> Any:
    assert result.pytorch is not None
    return result.pytorch.source


def codes(result: Recommendation) -> set[str]:
    return {warning.code for warning in result.warnings if warning.code.startswith("source-")}


LINUX = machine("linux", glibc="2.36")
GENERAL = catalog().default_variant(NEWEST, "linux", "x86_64") or ""


def test_nobody_asked_changes_nothing() -> None:
    result = advise(LINUX)
    assert (build(result), source(result), result.sources) == (f"{NEWEST}+cpu", UNSET, UNSET)


def test_own_index_that_has_the_build_is_taken() -> None:
    result = advise(LINUX, answer("index", "available", "cpu"), answer("general", "available", GENERAL))
    assert (build(result), source(result), codes(result)) == (f"{NEWEST}+cpu", "index", set())


@pytest.mark.parametrize("state", ["unreachable", "absent", "late", "damaged"])
def test_linux_without_card_takes_general_build_where_own_index_fails(state: Any) -> None:
    result = advise(LINUX, answer("index", state, "cpu"), answer("general", "available", GENERAL))
    assert result.pytorch is not None
    assert (build(result), source(result), result.pytorch.index_url) == (f"{NEWEST}+{GENERAL}", "general", None)
    assert (result.accelerator, result.driver.action, codes(result)) == ("cpu", "none", {"source-on-cpu"})
    (warning,) = (w for w in result.warnings if w.code == "source-on-cpu")
    assert warning.data["download_bytes"]


def test_mirror_goes_before_the_larger_build_of_the_general_index() -> None:
    answers = (answer("index", "unreachable", "cpu"), answer("general", "available", GENERAL))
    mirror = answer("mirror", "available", "cpu", name=MIRROR)
    result = advise(LINUX, *answers, mirror)
    assert result.pytorch is not None
    assert (build(result), source(result), codes(result)) == (f"{NEWEST}+cpu", "mirror", {"source-mirror"})
    assert result.pytorch.index_url is not None
    assert result.pytorch.index_url.endswith("/cpu/")
    without = advise(LINUX, *answers, mirror, mirror_use="never")
    assert source(without) == "general"


def test_windows_without_card_takes_the_same_build_from_general_index() -> None:
    result = advise(machine("windows"), answer("index", "unreachable", "cpu"), answer("general", "available", "cpu"))
    assert (build(result), source(result), codes(result)) == (f"{NEWEST}+cpu", "general", {"source-general"})


def test_index_without_newest_release_gives_an_older_one() -> None:
    result = advise(
        LINUX,
        answer("index", "absent", "cpu", newest="2.14.1"),
        answer("general", "absent", GENERAL, newest="2.13.0"),
    )
    assert (build(result), source(result), codes(result)) == ("2.14.1+cpu", "index", {"source-older"})
    assert any(reason.code == "version-available" for reason in result.reasons)


def test_older_release_of_general_index_serves_the_cpu() -> None:
    result = advise(LINUX, answer("index", "unreachable", "cpu"), answer("general", "absent", GENERAL, newest="2.13.0"))
    assert (build(result), source(result), codes(result)) == ("2.13.0+cu130", "general", {"source-on-cpu-older"})


def test_late_general_index_is_better_than_a_refused_one() -> None:
    result = advise(LINUX, answer("index", "unreachable", "cpu"), answer("general", "late", GENERAL))
    assert (build(result), source(result)) == (f"{NEWEST}+{GENERAL}", "general")


def test_all_late_keeps_the_build_and_says_that_it_is_unknown() -> None:
    result = advise(LINUX, answer("index", "late", "cpu"), answer("general", "late", GENERAL))
    assert (build(result), source(result), codes(result)) == (f"{NEWEST}+cpu", "index", {"source-unknown"})


def card(driver: str = "580.95.05", pci_id: str = RTX_4060) -> Machine:
    return machine("linux", nvidia(pci_id), driver=driver, glibc="2.36")


def test_card_takes_general_build_that_has_code_for_it_and_runs_on_its_driver() -> None:
    wanted = advise(card())
    assert wanted.pytorch is not None
    variant = wanted.pytorch.variant
    assert variant != GENERAL  # else this tries nothing
    result = advise(card(), answer("index", "unreachable", variant), answer("general", "available", GENERAL))
    assert (build(result), source(result), result.accelerator) == (f"{NEWEST}+{GENERAL}", "general", "cuda")
    assert codes(result) == {"source-other"}
    assert result.driver.action == "keep"


def test_card_whose_build_nobody_gives_is_told_so_and_keeps_it() -> None:
    wanted = advise(card(pci_id=GTX_1060))
    assert wanted.pytorch is not None
    result = advise(
        card(pci_id=GTX_1060),
        answer("index", "unreachable", wanted.pytorch.variant),
        answer("general", "unreachable", GENERAL),
    )
    assert (build(result), source(result), result.accelerator) == (build(wanted), None, "cuda")
    assert codes(result) == {"source-none-card"}


def test_old_card_never_gets_general_build_without_its_code() -> None:
    wanted = advise(card(pci_id=GTX_1060))
    assert wanted.pytorch is not None
    result = advise(
        card(pci_id=GTX_1060),
        answer("index", "unreachable", wanted.pytorch.variant, version=wanted.pytorch.version),
        answer("general", "available", GENERAL),
    )
    assert result.pytorch is not None
    assert (result.accelerator, result.pytorch.variant) in {("cuda", "cu126"), ("cuda", "cu124"), ("cuda", "cu121")}


def test_chosen_build_is_never_replaced() -> None:
    choice = Choice(pytorch=NEWEST, variant="cpu")
    answers = (answer("index", "unreachable", "cpu"), answer("general", "available", GENERAL))
    result = advise(LINUX, *answers, choice=choice)
    assert (build(result), source(result), codes(result)) == (f"{NEWEST}+cpu", None, {"source-none"})


def test_index_that_has_the_build_ends_all_doubt_about_it() -> None:
    wanted = advise(card())
    assert wanted.pytorch is not None
    assert any(reason.code.startswith("build-") for reason in wanted.reasons)
    result = advise(card(), answer("index", "available", wanted.pytorch.variant))
    assert build(result) == build(wanted)
    assert not any(reason.code.startswith("build-") for reason in result.reasons)
    assert not any(each.code == "sure-build" for each in result.alternatives)


def test_concluded_build_that_is_absent_steps_down_to_one_that_is_there() -> None:
    wanted = advise(card())
    assert wanted.pytorch is not None
    result = advise(
        card(),
        answer("index", "absent", wanted.pytorch.variant, newest="2.14.1"),
        answer("general", "absent", GENERAL, newest="2.14.1"),
    )
    # Another build of the same release is asked for first.
    assert (build(result), source(result)) == (f"{NEWEST}+{GENERAL}", "index")
    assert isinstance(result.sources, tuple)
    result = advise(card(), *result.sources, answer("index", "absent", GENERAL, newest="2.14.1"))
    assert result.pytorch is not None
    assert (result.pytorch.version, result.accelerator) == ("2.14.1", "cuda")
    assert codes(result) == {"source-older"}


def test_own_wheels_serve_where_no_index_gives_anything() -> None:
    own = wheel("2.13.0", "cpu", "3.12")
    here = machine("linux", glibc="2.36", pythons=(python("3.12.1"),))
    refused = (answer("index", "unreachable", "cpu"), answer("general", "unreachable", GENERAL))
    result = advise(here, *refused, wheels=(own,))
    assert (build(result), source(result), codes(result)) == ("2.13.0+cpu", UNSET, {"source-wheelhouse"})
    assert result.python == "3.12"
    # An index that has the release goes first.
    result = advise(here, refused[0], answer("general", "available", GENERAL), wheels=(own,))
    assert source(result) == "general"


def test_torchvision_that_the_same_index_lacks_is_left_out_and_said() -> None:
    here = answer("index", "available", "cpu")
    wanted = advise(LINUX, here).pytorch
    assert wanted is not None
    lacks = answer("index", "absent", "cpu", version=wanted.torchvision or "", package="torchvision")
    result = advise(LINUX, here, lacks)
    assert result.pytorch is not None
    assert (build(result), result.pytorch.torchvision) == (f"{NEWEST}+cpu", None)
    (warning,) = (w for w in result.warnings if w.code == "source-without")
    assert warning.data == {"packages": f"torchvision {wanted.torchvision}", "site": "@site.pytorch-wheels"}


@pytest.mark.parametrize(
    "other",
    [
        {"source": "mirror", "state": "absent", "variant": "cpu", "name": MIRROR},
        {"source": "index", "state": "absent", "variant": "cu130"},
        {"source": "index", "state": "late", "variant": "cpu"},
        {"source": "index", "state": "unreachable", "variant": "cpu"},
    ],
)
def test_torchvision_stays_where_another_index_or_build_lacks_it_or_nothing_is_known(other: dict[str, Any]) -> None:
    here = answer("index", "available", "cpu")
    wanted = advise(LINUX, here).pytorch
    assert wanted is not None
    result = advise(LINUX, here, answer(**other, version=wanted.torchvision or "", package="torchvision"))
    assert result.pytorch is not None
    assert (result.pytorch.torchvision, codes(result)) == (wanted.torchvision, set())


def tensorflow_answer(state: Any, newest: str | None = None) -> SourceAnswer:
    version = catalog().tensorflow.newest.text
    return SourceAnswer(
        source="general", package="tensorflow", version=version, variant=None, state=state, newest=newest
    )


@pytest.mark.parametrize("goal", ["tensorflow", "all"])
def test_older_tensorflow_is_named_where_the_general_index_has_no_newer(goal: Any) -> None:
    result = advise(LINUX, tensorflow_answer("absent", "2.20.0"), goal=goal)
    assert result.tensorflow is not None
    assert result.tensorflow.requirement.endswith("==2.20.*")
    assert "source-older-tensorflow" in codes(result)


@pytest.mark.parametrize("state", ["absent", "unreachable", "damaged"])
def test_tensorflow_that_nobody_has_is_told_and_not_replaced(state: Any) -> None:
    result = advise(LINUX, tensorflow_answer(state), goal="tensorflow")
    assert result.tensorflow is not None
    assert result.tensorflow.version == catalog().tensorflow.newest.text
    assert codes(result) == {"source-none-tensorflow"}


def test_chosen_tensorflow_is_never_swapped() -> None:
    newest = catalog().tensorflow.newest.text
    answers = tensorflow_answer("absent", "2.20.0")
    result = advise(LINUX, answers, goal="tensorflow", choice=Choice(tensorflow=newest))
    assert result.tensorflow is not None
    assert (result.tensorflow.version, codes(result)) == (newest, {"source-none-tensorflow"})


def test_tensorflow_that_is_there_is_taken() -> None:
    newest = catalog().tensorflow.newest.text
    assert codes(advise(LINUX, tensorflow_answer("available", newest), goal="tensorflow")) == set()


def test_own_index_alone_does_not_suffice_where_the_general_one_is_silent() -> None:
    silent = SourceAnswer(source="general", package="numpy", version=None, variant=None, state="unreachable")
    here, unreachable = answer("index", "available", "cpu"), answer("general", "unreachable", GENERAL)
    assert codes(advise(LINUX, here, unreachable, silent)) == {"source-none-rest"}
    assert codes(advise(LINUX, here, unreachable)) == set()


def test_amd_index_is_called_amds_and_has_no_mirrors_of_pytorchs() -> None:
    this = Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(system="windows", arch="x86_64", version="10.0.26100", build=26100),
        gpus=(Gpu(vendor="amd", name="AMD Radeon RX 7900 XTX", gfx="gfx1100"),),
    )
    wanted = recommend(this, catalog()).pytorch
    assert wanted is not None
    assert wanted.variant.startswith("rocm")
    lacks = answer("index", "unreachable", wanted.variant, version=wanted.version)
    mirror = answer("mirror", "available", wanted.variant, version=wanted.version, name=MIRROR)
    result = advise(this, lacks, mirror)
    (warning,) = (w for w in result.warnings if w.code.startswith("source-"))
    assert warning.data["site"] == "@site.amd-wheels"
    assert source(result) != "mirror"

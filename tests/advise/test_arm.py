"""Computers with ARM CPUs: small boards, servers, Windows on ARM, and Macs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.advise.options import list_options
from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.machine import Gpu
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, catalog, check, codes, machine, nvidia, python, reason
from .oracle.published import PublishedFacts, number

GH200 = nvidia("10de:2342", name="NVIDIA GH200 480GB")
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
ADRENO = Gpu(vendor="other", name="Qualcomm Adreno X1-85 GPU")
KINDS = [(system, arch) for system in ("windows", "linux", "darwin") for arch in ("x86_64", "arm64")]


@pytest.fixture
def without_windows_on_arm(tmp_path: Path) -> Catalog:
    folder = tmp_path / "catalog"
    shutil.copytree(resources_dir() / "catalog", folder)
    torch = json.loads((folder / "pytorch.json").read_text("utf-8"))
    for release in torch["releases"]:
        stored = [v for v in release["variants"] if (v["system"], v["arch"]) != ("windows", "arm64")]
        release["variants"] = stored
    (folder / "pytorch.json").write_text(json.dumps(torch), "utf-8")
    return load_catalog(folder)


@pytest.mark.parametrize(
    ("glibc", "release", "index"),
    [("2.36", "2.15.0", CPU_INDEX), ("2.28", "2.15.0", CPU_INDEX), ("2.27", "2.5.1", None)],
)
def test_small_board_gets_cpu_build(glibc: str, release: str, index: str | None) -> None:
    advice = check(recommend(machine("linux", arch="arm64", glibc=glibc), catalog()))
    assert advice.pytorch is not None
    text = (advice.pytorch.version, advice.pytorch.variant, advice.pytorch.index_url)
    assert text == (release, "cpu", index)
    assert advice.python is not None
    assert ("index-own-cpu" in codes(advice.reasons)) == (index is not None)
    assert "no-python" not in codes(advice.warnings)


@pytest.mark.parametrize(
    ("driver", "wish", "build", "action"),
    [
        ("550.54.15", Choice(way="newest"), "2.15.0+cu132", "update"),
        ("550.54.15", Choice(), "2.14.1+cu126", "keep"),
        ("550.54.15", Choice(driver="keep"), "2.14.1+cu126", "keep"),
        ("595.84", Choice(), "2.15.0+cu132", "keep"),
        ("595.84", Choice(pytorch="2.8.0"), "2.8.0+cu129", "keep"),
        ("595.84", Choice(pytorch="2.6.0", variant="cpu"), "2.6.0+cpu", "none"),
    ],
)
def test_arm_server_gets_cuda_build(driver: str, wish: Choice, build: str, action: str) -> None:
    box = machine("linux", GH200, driver=driver, arch="arm64", glibc="2.35", pythons=(python("3.10.12", arch="arm64"),))
    advice = check(recommend(box, catalog(), choice=wish))
    assert advice.pytorch is not None
    assert (f"{advice.pytorch.version}+{advice.pytorch.variant}", advice.driver.action) == (build, action)
    assert not {"code-unknown", "no-python"} & set(codes(advice.warnings))


def test_gpu_without_arm_code_stays_unused() -> None:
    advice = check(recommend(machine("linux", nvidia(GTX_1060), arch="arm64"), catalog()))
    assert (advice.accelerator, advice.pytorch and advice.pytorch.version) == ("cpu", "2.15.0")
    assert "gpu-too-old" in codes(advice.warnings)


def test_windows_on_arm_gets_native_build() -> None:
    box = machine("windows", ADRENO, arch="arm64", pythons=(python("3.14.0", arch="arm64"), python("3.12.1")))
    advice = check(recommend(box, catalog()))
    assert advice.pytorch is not None
    assert (advice.pytorch.version, advice.pytorch.variant, advice.pytorch.index_url) == ("2.13.0", "cpu", CPU_INDEX)
    assert (advice.pytorch.torchvision, advice.pytorch.torchaudio, advice.python) == (None, None, "3.13")
    assert reason(advice, "pytorch.torchvision").code == "vision-not-published"
    assert reason(advice, "pytorch.version").code == "version-newest-for-system"


def test_windows_on_arm_nvidia_gpu_names_vendor_index() -> None:
    card = nvidia(name="NVIDIA RTX Spark", compute_capability="12.1")
    advice = check(recommend(machine("windows", card, driver="616.00", arch="arm64"), catalog()))
    assert (advice.accelerator, advice.driver.action) == ("cpu", "none")
    assert reason(advice, "accelerator").code == "cpu-card-own"
    vendor_warning = next(warning for warning in advice.warnings if warning.code == "gpu-makers-own")
    assert str(vendor_warning.data["url"]).startswith("https://forums.developer.nvidia.com/")


@pytest.mark.parametrize(
    ("system", "wish", "why"),
    [
        ("windows", Choice(pytorch="2.14.1"), "other-computer"),
        ("windows", Choice(pytorch="2.14"), "other-computer"),
        ("windows", Choice(pytorch="9.9.9"), "no-release"),
        ("windows", Choice(pytorch="2.13.0", python="3.14"), "python"),
        ("linux", Choice(pytorch="9.9.9"), "no-release"),
    ],
    ids=str,
)
def test_release_of_other_platforms_is_not_unknown(system: Any, wish: Choice, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        recommend(machine(system, arch="arm64"), catalog(), choice=wish)
    assert caught.value.data["why"] == f"@choice.{why}"
    assert all(Texts(language).error_text(caught.value) for language in ("en", "zh_CN"))


@pytest.mark.parametrize("release", ["2.14.1", "2.10.0", "2.0.1"])
def test_older_releases_can_be_picked_on_a_small_board(release: str) -> None:
    advice = check(recommend(machine("linux", arch="arm64"), catalog(), choice=Choice(pytorch=release)))
    assert (advice.pytorch and advice.pytorch.version) == release


def test_only_builds_for_this_kind_of_computer_are_offered() -> None:
    part = list_options(machine("windows", arch="arm64", pythons=()), catalog()).part("pytorch")
    assert part is not None
    assert [option.value for option in part.options] == ["2.13.0", "2.10.0"]


@pytest.mark.parametrize(
    ("system", "arch", "gpu", "version", "avx"),
    [
        ("linux", "arm64", None, "2.21.0", False),
        ("linux", "arm64", GH200, "2.21.0", False),
        ("darwin", "arm64", Gpu(vendor="apple", name="Apple M3"), "2.21.0", False),
        ("darwin", "x86_64", None, "2.16", True),
    ],
)
def test_tensorflow_computes_on_the_cpu(system: Any, arch: str, gpu: Gpu | None, version: str, *, avx: bool) -> None:
    box = machine(system, *([gpu] if gpu is not None else []), arch=arch)
    advice = recommend(box, catalog(), goal="tensorflow")
    assert advice.tensorflow is not None
    assert (advice.tensorflow.version, advice.tensorflow.gpu) == (version, False)
    assert ("tensorflow-cpu" in codes(advice.reasons)) == avx
    assert ("tensorflow-no-gpu-build" in codes(advice.warnings)) == (gpu is GH200)
    assert ("pytorch-instead" in codes(advice.alternatives)) == (gpu is GH200)


@pytest.mark.parametrize(("system", "arch"), KINDS)
def test_no_goal_suggests_an_unsupported_goal(system: Any, arch: str) -> None:
    box = machine(system, arch=arch)
    assert recommend(box, catalog()).pytorch is not None
    assert recommend(box, catalog(), goal="all").pytorch is not None
    if (system, arch) != ("windows", "arm64"):
        assert recommend(box, catalog(), goal="tensorflow").tensorflow is not None
        return
    with pytest.raises(AppError) as caught:
        recommend(box, catalog(), goal="tensorflow")
    assert caught.value.code == "no-tensorflow"  # which sends to PyTorch
    assert "tensorflow-none" in codes(recommend(box, catalog(), goal="all").warnings)


def test_no_pytorch_and_no_tensorflow_suggests_neither(without_windows_on_arm: Catalog) -> None:
    box = machine("windows", arch="arm64", pythons=())
    for goal, code in (("pytorch", "no-build"), ("tensorflow", "no-tensorflow-nor-pytorch")):
        with pytest.raises(AppError) as caught:
            recommend(box, without_windows_on_arm, goal=goal)  # type: ignore[arg-type]
        assert (caught.value.code, caught.value.exit_code) == (code, 1)
        assert all(Texts(language).error_text(caught.value) for language in ("en", "zh_CN"))
    with pytest.raises(AppError, match="no-build"):
        list_options(box, without_windows_on_arm)


def test_amd_gpu_with_arm_cpu_is_not_the_reason() -> None:
    card = Gpu(vendor="amd", name="AMD Radeon RX 7900 XTX", pci_id="1002:744c", gfx="gfx1100")
    advice = check(recommend(machine("linux", card, arch="arm64"), catalog()))
    assert (advice.accelerator, reason(advice, "accelerator").code) == ("cpu", "cpu-amd-computer")


def test_catalog_matches_arm_facts() -> None:
    published = PublishedFacts()
    facts = published.facts["arm"]
    for release in published.releases:
        version, series = release["version"], release["version"].rpartition(".")[0]
        mine = {v["variant"]: v for v in release["variants"] if (v["system"], v["arch"]) == ("linux", "arm64")}
        assert sorted(mine) == sorted([*facts["linux_cuda"].get(series, []), "cpu"]), version
        for variant in facts["linux_cuda"].get(series, []):
            chips = facts.get(f"linux_chips_{series}", facts["linux_chips"])[variant]
            assert mine[variant]["arch_list"] == chips, (version, variant)
        general = number(series) <= number(facts["linux_cpu_on_general_index_until"])
        assert (mine["cpu"]["index_url"] is None) == general, version
        windows = [v for v in release["variants"] if (v["system"], v["arch"]) == ("windows", "arm64")]
        assert bool(windows) == (version in facts["windows"]["releases"])
        assert all(v["python"] == facts["windows"]["pythons"] for v in windows)

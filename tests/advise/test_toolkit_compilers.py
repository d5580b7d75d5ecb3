"""Which of GNU's compilers the CUDA Toolkit takes on Linux, and what to do about one that it refuses."""

from __future__ import annotations

import pytest
from msgspec import structs

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import CudaToolkit, Machine, OperatingSystem, Tools
from gpu_assistant.core.recommendation import Recommendation
from gpu_assistant.core.types import Goal
from gpu_assistant.core.versions import Version
from gpu_assistant.texts.localized import Texts

from .build import GTX_1060, RTX_4060, catalog, check, codes, nvidia

DEBIAN_13 = OperatingSystem(
    system="linux", arch="x86_64", distro="debian", distro_version="13", distro_like=(), glibc="2.41"
)
FEDORA_43 = OperatingSystem(
    system="linux", arch="x86_64", distro="fedora", distro_version="43", distro_like=(), glibc="2.42"
)
MINT_22 = OperatingSystem(
    system="linux", arch="x86_64", distro="linuxmint", distro_version="22.2", distro_like=("ubuntu", "debian")
)


# Their compilers are new, but not the headers of their glibc: those clash with every toolkit for an old card.
DEBIAN_TESTING, FEDORA_TESTING = (structs.replace(each, glibc="2.40") for each in (DEBIAN_13, FEDORA_43))


def advised(
    system: OperatingSystem, card: str, gcc: str | None, *, goal: Goal = "cuda-dev", here: tuple[CudaToolkit, ...] = ()
) -> Recommendation:
    tools = Tools(gcc=gcc, git="2.47")
    box = Machine(schema="gpu-assistant/machine/1", os=system, gpus=(nvidia(card),), tools=tools, cuda_toolkits=here)
    return check(recommend(box, catalog(), goal=goal))


@pytest.mark.parametrize(
    ("toolkit", "newest"),
    [
        *[("13.4.1", 16), ("13.3.1", 15), ("13.0.0", 15), ("12.9.1", 14), ("12.8.0", 14), ("12.6.3", 13)],
        *[("12.4.0", 13), ("12.3.2", 12), ("12.0.0", 12), ("11.8.0", 11), ("11.4.0", None)],
    ],
)
def test_newest_gcc_matches_nvcc_header(toolkit: str, newest: int | None) -> None:
    assert catalog().cuda.newest_gnu(Version(toolkit)) == newest


def test_new_compiler_is_too_new_for_the_toolkit_of_an_old_card() -> None:
    advice = advised(DEBIAN_TESTING, GTX_1060, "14.2.0")
    assert (advice.cuda_toolkit.action, advice.cuda_toolkit.version) == ("install", "12.6.3")
    text = next(w for w in advice.warnings if w.code == "gcc-unfit-package")
    assert text.data == {"toolkit": "12.6.3", "gcc": "14.2.0", "newest": 13, "package": "g++-13"}
    for language in ("en", "zh_CN"):
        fix = Texts(language).translate("warning.gcc-unfit-package.fix", text.data)
        assert "sudo apt-get install g++-13" in fix
        assert "NVCC_CCBIN=g++-13" in fix
    # A later toolkit of PyTorch's own CUDA major takes it.
    other = next(a for a in advice.alternatives if a.code == "toolkit-for-compiler")
    assert other.change == {"cuda_toolkit": "12.8.2"}


def test_fedora_warning_names_no_package() -> None:
    advice = advised(FEDORA_TESTING, GTX_1060, "15.2.1")
    text = next(w for w in advice.warnings if w.code == "gcc-unfit")
    assert text.data["package"] is None
    # No toolkit for this card takes GCC 15.
    assert "toolkit-for-compiler" not in codes(advice.alternatives)


@pytest.mark.parametrize(("system", "gcc"), [(DEBIAN_13, "14.2.0"), (FEDORA_43, "15.2.1")])
def test_current_gpu_has_compatible_toolkit(system: OperatingSystem, gcc: str) -> None:
    advice = advised(system, RTX_4060, gcc)
    assert not [code for code in codes(advice.warnings) if code.startswith("gcc-")]
    assert "toolkit-for-compiler" not in codes(advice.alternatives)


def test_derivatives_use_parent_package_names() -> None:
    advice = advised(MINT_22, GTX_1060, "14.2.0")
    assert next(w for w in advice.warnings if w.code == "gcc-unfit-package").data["package"] == "g++-13"


def test_kept_toolkit_is_checked_too() -> None:
    here = (CudaToolkit(version="12.4.1", path="/usr/local/cuda-12.4", nvcc=True),)
    assert "gcc-unfit-package" in codes(advised(DEBIAN_TESTING, GTX_1060, "14.2.0", here=here).warnings)


def test_missing_compiler_warns_unknown_does_not() -> None:
    advice = advised(DEBIAN_TESTING, GTX_1060, None)
    (missing,) = (warning for warning in advice.warnings if warning.code == "gcc-missing-command")
    assert missing.data["newest"] == 13
    assert missing.data["command"] == "sudo apt-get install g++"
    unseen = Machine(schema="gpu-assistant/machine/1", os=DEBIAN_13, gpus=(nvidia(GTX_1060),))
    assert not [
        code for code in codes(recommend(unseen, catalog(), goal="cuda-dev").warnings) if code.startswith("gcc-")
    ]


def test_no_compiler_warning_without_toolkit() -> None:
    advice = advised(DEBIAN_13, GTX_1060, "14.2.0", goal="pytorch")
    assert not [code for code in codes(advice.warnings) if code.startswith("gcc-")]

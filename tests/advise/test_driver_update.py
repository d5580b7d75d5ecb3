"""Where a driver update is needed there are two ways: the newest release, and what works with the present driver."""

from __future__ import annotations

import msgspec
import pytest

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.core.machine import Machine, Tools
from gpu_assistant.core.recommendation import Choice, Way
from gpu_assistant.texts.localized import Texts, way_cost_texts

from .build import (
    GTX_1060,
    H100,
    RTX_4060,
    RTX_4060_LAPTOP,
    RTX_5090,
    catalog,
    check,
    codes,
    machine,
    nvidia,
)
from .test_goals import localized

DESKTOP = machine("windows", nvidia(RTX_4060), driver="566.03")
LAPTOP = machine("windows", nvidia(RTX_4060_LAPTOP), driver="566.03")


def linux(distro: str, release: str, driver: str) -> Machine:
    box = machine("linux", nvidia(RTX_4060), driver=driver, glibc="2.39")
    return msgspec.structs.replace(
        box, os=msgspec.structs.replace(box.os, distro=distro, distro_version=release, secure_boot=False)
    )


def labels(ways: tuple[Way, ...]) -> list[tuple[str, str, str]]:
    return [(way.id, program(way), way.driver.action) for way in ways]


def program(way: Way) -> str:
    if way.pytorch is not None:
        return f"{way.pytorch.version}+{way.pytorch.variant}"
    return way.tensorflow.version if way.tensorflow is not None else ""


NEWEST, WORKS_NOW = ("newest", "2.15.0+cu132", "update"), ("works-now", "2.14.1+cu126", "keep")


@pytest.mark.parametrize("box", [DESKTOP, LAPTOP])
def test_newest_comes_first_where_the_driver_is_ours(box: Machine) -> None:
    advice = check(recommend(box, catalog()))
    assert labels(advice.ways) == [NEWEST, WORKS_NOW]
    assert advice.way == advice.ways[0]
    assert not {"cpu-for-now", "newer-driver"} & set(codes(advice.alternatives))


@pytest.mark.parametrize(
    "box",
    [
        linux("fedora", "43", "550.120"),
        linux("debian", "13", "550.163.01"),
        machine("linux", nvidia(RTX_4060), driver="566.03", wsl=True),
    ],
)
def test_works_now_comes_first_where_the_user_installs_the_driver(box: Machine) -> None:
    advice = check(recommend(box, catalog()))
    assert labels(advice.ways) == [WORKS_NOW, NEWEST]
    assert advice.way == advice.ways[0]
    assert {"driver-stays-for-now", "version-newest-for-present-driver"} <= set(codes(advice.reasons))
    assert advice.ways[1].cost.manual_driver


def test_distribution_packages_are_ours() -> None:
    advice = check(recommend(linux("ubuntu", "24.04", "550.120"), catalog()))
    assert labels(advice.ways) == [NEWEST, WORKS_NOW]


@pytest.mark.parametrize("box", [DESKTOP, linux("fedora", "43", "550.120")])
@pytest.mark.parametrize(("way", "wanted"), [("newest", NEWEST), ("works-now", WORKS_NOW)])
def test_chosen_way_is_recommended(box: Machine, way: str, wanted: tuple[str, str, str]) -> None:
    choice = msgspec.convert({"way": way}, Choice)
    advice = check(recommend(box, catalog(), choice=choice))
    assert advice.way is not None
    assert labels((advice.way,)) == [wanted]
    assert advice.choice == choice
    assert "driver-stays-for-now" not in codes(advice.reasons)


@pytest.mark.parametrize(
    ("box", "choice"),
    [
        (machine("windows", nvidia(RTX_4060), driver="617.42"), Choice()),
        (machine("windows", nvidia(RTX_4060)), Choice()),
        # No build has code for this card and runs on this driver.
        (machine("windows", nvidia(RTX_5090), driver="471.11"), Choice()),
        (msgspec.structs.replace(DESKTOP, container="docker"), Choice()),
        (DESKTOP, Choice(driver="keep")),
        (DESKTOP, Choice(pytorch="2.15.0")),
    ],
)
def test_one_way_only_is_no_choice(box: Machine, choice: Choice) -> None:
    advice = check(recommend(box, catalog(), choice=choice))
    assert (advice.ways, advice.way) == ((), None)


def test_works_now_keeps_what_the_goal_asks_for() -> None:
    advice = check(recommend(DESKTOP, catalog(), goal="cuda-dev"))
    series = {way.id: str(way.cuda_toolkit.version).rpartition(".")[0] for way in advice.ways}
    assert series == {"newest": "13.2", "works-now": "12.6"}


@pytest.mark.parametrize(
    ("box", "lacks"),
    [
        (machine("linux", nvidia(H100), driver="535.104.05", glibc="2.39"), ("tensorflow-gpu",)),
        (machine("linux", nvidia(RTX_4060), driver="470.256.02", glibc="2.35"), ("tensorflow-gpu",)),
        (machine("linux", nvidia(RTX_4060), driver="550.163.01", glibc="2.42"), ("cuda-toolkit",)),
        (machine("linux", nvidia(RTX_4060), driver="550.163.01", glibc="2.35"), ()),
    ],
)
def test_all_has_both_ways_and_names_what_only_the_new_driver_brings(box: Machine, lacks: tuple[str, ...]) -> None:
    advice = check(recommend(box, catalog(), goal="all"))
    ways = {way.id: way for way in advice.ways}
    assert (ways["newest"].lacks or (), ways["works-now"].lacks or ()) == ((), lacks)
    texts = Texts("en").localize_recommendation(advice)
    line = next(f"{way.text}" for way in texts.ways if way.id == "works-now")
    assert ("TensorFlow on the CPU" in line, "no CUDA Toolkit" in line) == (
        "tensorflow-gpu" in lacks,
        "cuda-toolkit" in lacks,
    )
    # What serves the goal as a whole is recommended, also where the user installs the driver.
    assert not lacks or advice.ways[0].id == "newest"


def test_compiling_has_no_way_without_a_toolkit() -> None:
    old = machine("linux", nvidia(RTX_4060), driver="550.163.01", glibc="2.42")
    assert not recommend(old, catalog(), goal="cuda-dev").ways


@pytest.mark.parametrize(
    ("gpu", "driver", "way", "python"),
    [
        (GTX_1060, "470.256.02", ("works-now", "2.14", "keep"), "3.10"),
        # Its driver translates the code, and CUDA 12.2 is the newest that it translates.
        (H100, "535.104.05", ("works-now", "2.15", "keep"), "3.11"),
    ],
)
def test_older_tensorflow_works_now(gpu: str, driver: str, way: tuple[str, str, str], python: str) -> None:
    box = machine("linux", nvidia(gpu), driver=driver, glibc="2.35")
    advice = localized(recommend(box, catalog(), goal="tensorflow"))
    assert labels(advice.ways) == [way, ("newest", "2.21.0", "update")]
    assert (advice.python, advice.accelerator, advice.pytorch) == (python, "cuda", None)
    assert {"tensorflow-newest-for-driver", "driver-stays-for-now"} <= set(codes(advice.reasons))
    newest = localized(recommend(box, catalog(), goal="tensorflow", choice=Choice(way="newest")))
    assert newest.way == advice.ways[1]
    assert "tensorflow-newest-for-driver" not in codes(newest.reasons)
    # Measured with the libraries of CUDA 11 and of CUDA 12.
    sizes = [each.cost.package_bytes for each in advice.ways]
    assert sizes == [3_067_409_135 if way[1] == "2.14" else 3_442_231_933, 3_442_231_933]
    texts = [each.text for each in Texts("en").localize_recommendation(advice).ways]
    assert texts[0] == f"Keep my driver: TensorFlow {way[1]} with your driver"


def test_tensorflow_on_the_hosts_driver_uses_the_card() -> None:
    box = machine("linux", nvidia(GTX_1060), driver="470.256.02", glibc="2.35")
    advice = localized(recommend(msgspec.structs.replace(box, container="docker"), catalog(), goal="tensorflow"))
    assert (advice.ways, advice.driver.action, advice.accelerator) == ((), "keep", "cuda")


@pytest.mark.parametrize(
    ("box", "choice"),
    [
        (machine("linux", nvidia(GTX_1060), driver="470.256.02", glibc="2.35"), Choice(tensorflow="2.21.0")),
        (machine("linux", nvidia(GTX_1060), driver="470.256.02", glibc="2.35"), Choice(driver="keep")),
        # No driver for Windows is known to serve CUDA 11 in WSL.
        (machine("linux", nvidia(GTX_1060), driver="472.12", wsl=True), Choice()),
        (machine("linux", nvidia(GTX_1060), driver="390.157", glibc="2.35"), Choice()),
    ],
)
def test_tensorflow_has_one_way_only(box: Machine, choice: Choice) -> None:
    assert not localized(recommend(box, catalog(), goal="tensorflow", choice=choice)).ways


def test_no_second_cudnn_is_required_beside_a_pinned_one() -> None:
    box = machine("linux", nvidia(GTX_1060), driver="580.95.05", glibc="2.35")
    constraints = {}
    for version in ("2.19", "2.20"):
        advice = localized(recommend(box, catalog(), goal="tensorflow", choice=Choice(tensorflow=version)))
        constraints[version] = len(advice.tensorflow.constraints) if advice.tensorflow is not None else None
    assert constraints == {"2.19": 0, "2.20": 1}


def test_cost_names_driver_restart_and_consent() -> None:
    newest, works_now = (way.cost for way in recommend(DESKTOP, catalog()).ways)
    assert (newest.restarts, newest.admin_prompts, newest.manual_driver) == (1, 1, False)
    assert (works_now.restarts, works_now.admin_prompts, works_now.driver_bytes) == (0, 0, 0)
    assert newest.driver_bytes is not None
    assert newest.driver_bytes > 5e8
    without_runtime = msgspec.structs.replace(DESKTOP, tools=Tools(vc_redist=None))
    assert [way.cost.admin_prompts for way in recommend(without_runtime, catalog()).ways] == [2, 1]


def test_unmeasured_driver_size_is_unknown_and_said() -> None:
    (newest,) = (way for way in recommend(linux("fedora", "43", "550.120"), catalog()).ways if way.id == "newest")
    assert newest.cost.driver_bytes is None
    assert way_cost_texts(newest.cost, Texts("en"))[0].endswith("plus the driver")


def test_ways_are_named_in_both_languages() -> None:
    english, chinese = (Texts(name).localize_recommendation(recommend(DESKTOP, catalog())) for name in ("en", "zh_CN"))
    assert [way.text for way in english.ways] == [
        "Newest: PyTorch 2.15.0 with a new driver",
        "Keep my driver: PyTorch 2.14.1 with your driver",
    ]
    assert all("{" not in f"{way.text}" for way in chinese.ways)

"""What the window says of a computer and its parts: nothing that was not checked, and no dash for what is known."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QLabel

from gpu_assistant.core.machine import CudaToolkit, Disk, Gpu, Machine, OperatingSystem, ProbeNote, Python, TorchBuild
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.core.recommendation import DriverAdvice, PyTorchChoice, Reason, Recommendation, TensorFlowChoice
from gpu_assistant.gui.wizard.pages.machine_summary import (
    MachineRow,
    disk_name,
    machine_rows,
    processor_name,
    rows_as_text,
)
from gpu_assistant.gui.wizard.pages.recommendation.cost_card import CostCard
from gpu_assistant.gui.wizard.pages.recommendation.page import recommendation_heading
from gpu_assistant.gui.wizard.pages.recommendation.part_summary import PartSummary, part_summaries
from gpu_assistant.texts.format import format_size
from gpu_assistant.texts.localized import Texts
from tests.fakes.examples import cpu_recommendation, make_plan, rtx4060, rtx4060_recommendation

ADVICE = rtx4060_recommendation()
pytestmark = pytest.mark.gui
LANGUAGES: tuple[Any, ...] = ("en", "zh_CN")
OTHERS = (
    Gpu(vendor="amd", name="AMD Radeon RX 7900 XTX"),
    Gpu(vendor="intel", name="Intel Arc B580"),
    Gpu(vendor="apple", name="Apple M3"),
)


def with_cards(*cards: Gpu) -> Machine:
    return replace(rtx4060(), gpus=cards, driver=None)


def elsewhere() -> Recommendation:
    return replace(
        ADVICE,
        accelerator="cpu",
        driver=DriverAdvice(action="none"),
        pytorch=PyTorchChoice(version="2.15.0", variant="cpu"),
    )


def row(machine: Machine, name: str) -> MachineRow:
    return next(row for row in machine_rows(machine, None, None) if row.id == name)


def part(machine: Machine, advice: Recommendation, name: str, plan: Plan | None = None) -> PartSummary:
    summaries = part_summaries(machine, advice, Texts("en"), already_installed=False, plan=plan)
    return next(part for part in summaries if part.id == name)


def test_equal_gpus_are_counted_and_console_chip_is_omitted(language) -> None:
    h100 = Gpu(vendor="nvidia", name="NVIDIA H100", memory_bytes=80 * 2**30)
    console = Gpu(vendor="other", name="ASPEED Graphics Family")
    machine = with_cards(h100, replace(h100, index=1, uuid="GPU-1"), console)
    text = row(machine, "card")
    assert text.detail == "2 × 80 GB memory"
    assert "ASPEED" in rows_as_text((text,))


def test_only_what_will_be_installed_is_said_to_be_missing(language) -> None:
    machine = replace(rtx4060(), pythons=(Python(path="/usr/bin/python3", version="3.11.2"),))
    tensorflow = replace(
        ADVICE, pytorch=None, tensorflow=TensorFlowChoice(version="2.22.0", requirement="tensorflow==2.22.0", gpu=False)
    )
    rows = [machine_rows(machine, advice, None)[-1] for advice in (ADVICE, tensorflow)]
    assert [(each.value, each.detail) for each in rows] == [
        ("No PyTorch yet", "your Python 3.11.2 stays"),
        ("Python 3.11.2", "stays as it is"),
    ]
    assert [each.pill for each in rows] == [("neutral", "Will be installed"), ("ok", "Fine")]


def test_system_is_named_in_common_words(language) -> None:
    machine = replace(rtx4060(), os=OperatingSystem(system="linux", arch="x86_64", glibc="2.35"))
    text = row(machine, "system")
    assert text.value == "Linux"
    # What a beginner need not know is in the copied text only.
    assert text.detail == "AMD Ryzen 5 7500F · 32 GB RAM"
    assert "64-bit · glibc 2.35" in rows_as_text((text,))
    assert disk_name(Disk(path="C:\\")) == "C:"
    assert disk_name(Disk(path="/")) == "/"


def test_unprobed_part_is_not_called_missing(language) -> None:
    machine = replace(rtx4060(), cuda_toolkits=None, cudnn=None, pythons=None)
    texts = [part(machine, ADVICE, name).installed_detail for name in ("cuda", "cudnn", "torch")]
    assert texts == ["not known"] * 3
    machine = replace(rtx4060(), cuda_toolkits=(), cudnn=(), pythons=())
    texts = [part(machine, ADVICE, name).installed_detail for name in ("cuda", "cudnn", "torch")]
    assert texts == ["not installed"] * 3


def test_incomplete_toolkit_is_called_so(language) -> None:
    broken = CudaToolkit(path="/usr/local/cuda-11.8", version="11.8.0", nvcc=False)
    whole = CudaToolkit(path="/usr/local/cuda-12.6", version="12.6.3", nvcc=True)
    summary = part(replace(rtx4060(), cuda_toolkits=(broken,)), ADVICE, "cuda")
    assert (summary.installed, summary.installed_detail) == ("11.8.0", "toolkit without its compiler; stays")
    summary = part(replace(rtx4060(), cuda_toolkits=(broken, whole)), ADVICE, "cuda")
    assert (summary.installed, summary.installed_detail) == ("12.6.3", "toolkit, stays")


def test_driver_under_wsl_is_windows(language) -> None:
    machine = replace(rtx4060(), os=OperatingSystem(system="linux", wsl=True))
    assert part(machine, ADVICE, "driver").meaning.startswith("Windows")


def test_computing_gpu_of_another_vendor_is_the_main_gpu(language) -> None:
    advice = replace(elsewhere(), accelerator="xpu")
    title, _ = recommendation_heading(with_cards(OTHERS[1]), advice, Texts("en"))
    assert "Arc B580" in title
    unused = replace(elsewhere(), reasons=(Reason(code="cpu-intel", about="accelerator", data={"gpu": "Arc"}),))
    assert "CPU" in recommendation_heading(with_cards(OTHERS[1]), unused, Texts("en"))[1]


@pytest.mark.parametrize("card", OTHERS, ids=lambda card: card.vendor)
def test_other_vendors_driver_is_not_judged(language, card) -> None:
    machine = with_cards(card)
    assert "driver" not in {each.id for each in machine_rows(machine, None, None)}
    driver = part(machine, elsewhere(), "driver")
    assert (driver.installed_detail, driver.pill[1]) == ("not checked", "Stays as it is")


def test_no_gpu_needs_no_driver(language) -> None:
    assert "driver" not in {each.id for each in machine_rows(with_cards(), None, None)}
    driver = part(with_cards(), elsewhere(), "driver")
    assert (driver.installed_detail, driver.pill[1]) == ("no NVIDIA card", "Not needed")


def test_the_processor_has_a_row_where_no_driver_has_one(language) -> None:
    assert "processor" not in {each.id for each in machine_rows(rtx4060(), ADVICE, None)}
    [processor] = [each for each in machine_rows(with_cards(), elsewhere(), None) if each.id == "processor"]
    assert (processor.value, processor.detail) == ("AMD Ryzen 5 7500F", "6 cores")
    assert processor.pill == ("ok", "Works with PyTorch")
    # Why nothing is known of the driver is said in its row.
    unread = replace(with_cards(), notes=(ProbeNote(probe="driver", code="probe-failed"),))
    assert [each.id for each in machine_rows(unread, None, None)][1] == "driver"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("AMD Ryzen 9 7950X3D 16-Core Processor", "AMD Ryzen 9 7950X3D"),
        ("Intel(R) Core(TM) i7-14700K", "Intel Core i7-14700K"),
        ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "Intel Xeon E5-2680 v4"),
        ("AMD Ryzen 7 7840HS w/ Radeon 780M Graphics", "AMD Ryzen 7 7840HS"),
        ("AMD Ryzen 5 5600G with Radeon Graphics", "AMD Ryzen 5 5600G"),
    ],
)
def test_a_processor_is_named_without_marks(name: str, shown: str) -> None:
    assert processor_name(name) == shown


def test_update_is_needed_only_where_nothing_works_with_the_driver(language) -> None:
    for ways, expected in ((ADVICE.ways, "Update recommended"), ((), "Update needed")):
        rows = {each.id: each for each in machine_rows(rtx4060(), replace(ADVICE, ways=ways), None)}
        assert rows["driver"].pill == ("warn", expected)


def test_every_gpu_is_named(language) -> None:
    h100 = Gpu(vendor="nvidia", name="NVIDIA H100")
    machine = with_cards(OTHERS[0], *[replace(h100, index=index) for index in range(4)])
    text = row(machine, "card")
    assert text.value == "NVIDIA H100"
    assert "3 × NVIDIA H100" in text.detail
    assert "AMD Radeon RX 7900 XTX" in text.detail


def test_every_kind_of_python_is_named(language) -> None:
    pythons = (
        Python(path="/a", version="3.12.3", kind="system"),
        Python(path="/b", version="3.11.9", kind="conda", torch=TorchBuild(version="2.4.1")),
        Python(path="/c", version="3.10.1"),
    )
    text = row(replace(rtx4060(), pythons=pythons), "python")
    assert text.value == "PyTorch 2.4.1 on Python 3.11.9"
    assert "also Python 3.12.3, Python 3.10.1" in text.detail
    many = tuple(Python(path=f"/{number}", version=f"3.{number}.0") for number in range(8, 15))
    assert "and 3 more" in row(replace(rtx4060(), pythons=many), "python").detail


def test_unknown_cudnn_version_is_still_included(language) -> None:
    torch = ADVICE.pytorch
    assert torch is not None
    unknown = replace(ADVICE, pytorch=replace(torch, cudnn=None))
    cudnn = part(rtx4060(), unknown, "cudnn")
    assert (cudnn.planned, cudnn.pill[1]) == ("Included in PyTorch", "Included")
    flow = TensorFlowChoice(version="2.21.0", requirement="tensorflow[and-cuda]==2.21.*", gpu=True)
    alone = replace(ADVICE, goal="tensorflow", pytorch=None, tensorflow=flow)
    assert all(part(rtx4060(), alone, name).planned == "included in TensorFlow" for name in ("cuda", "cudnn"))


def test_driver_is_manual_only_without_plan_step(language) -> None:
    plan = make_plan(ADVICE, "D:\\env", simulated=True)
    without = replace(plan, steps=tuple(step for step in plan.steps if step.kind != "nvidia-driver"))
    step = Step(id="driver", kind="nvidia-driver", code="nvidia-driver", needs_admin=True)
    within = replace(without, steps=(*without.steps, step))
    packaged = replace(step, spec={"version": "1", "packages": ["nvidia-driver"]})
    from_packages = replace(without, steps=(*without.steps, packaged))
    assert "your system's own" in part(rtx4060(), ADVICE, "driver", from_packages).planned_detail
    assert "you install it" in part(rtx4060(), ADVICE, "driver", without).planned_detail
    assert "you install it" not in part(rtx4060(), ADVICE, "driver", within).planned_detail


@pytest.mark.parametrize("language_code", LANGUAGES)
@pytest.mark.parametrize(
    ("toolkit", "about", "expected"),
    [
        (None, None, "The exact download size is known after the first step"),
        (2_000_000_000, None, "2.0 GB + more to download"),
        (None, 3_000_000_000, "About"),
    ],
)
def test_unknown_cost_is_text(
    qapp, language, language_code, toolkit: int | None, about: int | None, expected: str
) -> None:
    language.set(language_code)
    plan = make_plan(ADVICE, "D:\\env", simulated=True)
    code = "download" if about is None else "download-about"
    download = Step(id="download", kind="download", code=code, data={"bytes": about, "measured": "2.14.0"})
    other = Step(id="cuda-toolkit", kind="cuda-toolkit", code="cuda-toolkit", bytes=toolkit or 0)
    card = CostCard()
    plan = replace(plan, steps=(download, other), bytes=None, disk_bytes=None, minutes=None)
    card.set_cost(plan, rtx4060(), Texts(language_code))
    text = f"{card.accessibleName()} {' '.join(card.notes)}"
    assert "—" not in text
    if language_code == "en":
        assert expected in text
    card.deleteLater()


@pytest.mark.parametrize(
    ("code", "free", "needed", "kind", "expected"),
    [
        ("check-space-about", 3_000_000_000, 2_600_000_000, "neutral", "May not be enough"),
        ("check-space-about", 412_000_000_000, 2_600_000_000, "ok", "Fine"),
        ("check-space-about", 2_000_000_000, 2_600_000_000, "error", "Too little"),
        ("check-space", 3_000_000_000, 2_600_000_000, "ok", "Fine"),
    ],
)
def test_disk_is_fine_only_with_certain_margin(
    language, code: str, free: int, needed: int, kind: str, expected: str
) -> None:
    plan = make_plan(ADVICE, "D:\\env", simulated=True)
    space = Step(id="space", kind="check-space", code=code, data={"disk_bytes": needed})
    plan = replace(plan, steps=(space,), disk_bytes=None)
    machine = replace(rtx4060(), disks=(Disk(path="D:\\", free_bytes=free),))
    row = next(each for each in machine_rows(machine, ADVICE, plan) if each.id == "space")
    assert row.pill == (kind, expected)


@pytest.mark.parametrize(
    ("kinds", "more"),
    [
        ((), ""),
        (("nvidia-driver",), "the driver"),
        (("nvidia-driver", "cuda-toolkit"), "the driver, CUDA Toolkit"),
    ],
)
def test_download_size_names_its_release_and_missing_parts(qapp, language, kinds: tuple[str, ...], more: str) -> None:
    data = {"bytes": 2_600_000_000, "measured": "PyTorch 2.14.0+cu126"}
    steps = (
        Step(id="python", kind="python-runtime", code="python-runtime"),
        Step(id="download", kind="download", code="download-about", data=data),
        *(Step(id=kind, kind=kind, code=kind) for kind in kinds),
    )
    plan = replace(make_plan(ADVICE, "D:\\env", simulated=True), steps=steps, bytes=None)
    card = CostCard()
    card.set_cost(plan, rtx4060(), Texts("en"))
    figure = {0: "About 2.6 GB", 1: "About 2.6 GB + driver", 2: "About 2.6 GB + more"}[len(kinds)]
    assert card.accessibleName().startswith(f"{figure} to download, ")
    notes = " ".join(card.notes)
    assert "based on PyTorch 2.14.0 with CUDA 12.6" in notes
    assert (f"Not included, size unknown: {more}." in notes) is bool(more)
    card.deleteLater()


@pytest.mark.parametrize(("goal", "tool"), [("pytorch", "PyTorch"), ("tensorflow", "TensorFlow")])
def test_heading_says_gpu_is_unused(language, goal: str, tool: str) -> None:
    advice = replace(elsewhere(), goal=goal)
    if goal == "tensorflow":
        advice = replace(
            advice,
            pytorch=None,
            tensorflow=TensorFlowChoice(version="2.21.0", requirement="tensorflow==2.21.0", gpu=False),
        )
    title, line = recommendation_heading(rtx4060(), advice, Texts("en"))
    assert title == "Recommended for this computer"
    assert line == f"{tool} runs on the CPU here; your RTX 4060 is not used."
    title, line = recommendation_heading(rtx4060(), ADVICE, Texts("en"))
    assert title == "Recommended for your RTX 4060"
    assert line == "PyTorch will use your NVIDIA GeForce RTX 4060. The newest PyTorch, 2.15.0, needs a newer driver."


def test_large_sizes_have_few_digits() -> None:
    assert [format_size(count) for count in (412e9, 99.96e9, 52e9, 2.6e9)] == [
        "412 GB",
        "100.0 GB",
        "52.0 GB",
        "2.6 GB",
    ]


def test_manual_driver_is_named_in_the_price(language) -> None:
    card = CostCard()
    plan = make_plan(ADVICE, "D:\\env", simulated=True)
    plan = replace(plan, steps=tuple(replace(step, needs_admin=False) for step in plan.steps))
    for by_hand, expected in ((False, "No administrator prompt no restart"), (True, "you install the driver")):
        card.set_cost(plan, rtx4060(), Texts("en"), manual_driver=by_hand)
        assert card.accessibleName().endswith(expected)
    card.deleteLater()


def test_disk_without_a_letter_is_called_the_disk(language) -> None:
    language.set("zh_CN")
    card = CostCard()
    plan = make_plan(ADVICE, "/home/me/env", simulated=True)
    machine = replace(rtx4060(), disks=(Disk(path="/", free_bytes=412_000_000_000),))
    card.set_cost(plan, machine, Texts("zh_CN"), manual_driver=False)
    assert "所需空间，剩余 412 GB" in card.accessibleName()
    card.deleteLater()


def test_details_of_the_price_are_one_line_each(language, qtbot) -> None:
    card = CostCard()
    qtbot.addWidget(card)
    plan = make_plan(cpu_recommendation(), "/home/me/env", simulated=True)
    machine = replace(rtx4060(), disks=(Disk(path="/", free_bytes=52_000_000_000),))
    card.set_cost(plan, machine, Texts("en"), manual_driver=False)
    card.set_available_width(922)
    card.resize(922, 100)
    card.show()
    qtbot.waitExposed(card)
    details = ("to download", "needed, 52.0 GB free", "to set up", "no restart")
    labels = {each.text(): each for each in card.findChildren(QLabel)}
    assert [labels[text].height() // labels[text].fontMetrics().lineSpacing() for text in details] == [1] * 4

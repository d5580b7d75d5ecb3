"""The main window's pages for `tests.gui.screenshots`: on fakes, with ten minutes of made-up work behind them."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gpu_assistant.catalog.records.updates import RootStatement, UpdateKey
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.recommendation import Choice, DriverAdvice, Recommendation
from gpu_assistant.core.results import Benchmark, GpuProcess, Sample
from gpu_assistant.gui.main.main_area import BENCHMARK, HEALTH, HOME, MONITOR, SETTINGS
from gpu_assistant.gui.main.window import MainWindow
from gpu_assistant.install.jobs.move_downloads import MoveProgress
from gpu_assistant.update.check import UpdateState, UpdateStatus
from gpu_assistant.update.files import UpdateDownloadProgress
from gpu_assistant.update.service import UpdateService
from gpu_assistant.update.signed_statement import ReleaseStatement, UpdateFile

from ..fakes.app import FakeJob
from ..fakes.benchmarks import card_benchmark, processor_benchmark, slow_benchmark, two_cards
from ..fakes.examples import GIB, cpu_benchmark, cpu_recommendation, rtx4060
from ..fakes.main_window import ENVIRONMENT, FakeMain, feed, gpu, sample
from . import bench_scenes, health_scenes

if TYPE_CHECKING:
    from .screenshots import Studio


MINUTES = 10
# °C at which the cards slow down; that each of them is hotter than the first one in the end; one that does nothing.
LIMIT_C, TOP_CLOCK_MHZ = 87, 3105
HOTTER = (0, 6, 3, 9, 0, 12, 20, 24)
IDLE_GPU = 4
ROOT = RootStatement(
    schema="gpu-assistant/update-root/1",
    version=1,
    expires=date(2036, 1, 1),
    keys=(UpdateKey(id="root", ed25519="0" * 64),),
    threshold=1,
    release_keys=(),
)
TRAINING = GpuProcess(pid=4711, name="python3", mem_used=5 * GIB, kind="compute")


def work(gpus: int) -> list[Sample]:
    """Idle, then training with pauses between the epochs; half a minute in which nobody sampled."""
    now, dice, made = time.time(), random.Random(1), []
    for second in range(60 * MINUTES):
        if 250 < second < 285:
            continue
        warmth = 1 - math.exp(-max(second - 120, 0) / 80)
        cards = []
        for index, hotter in enumerate(HOTTER[:gpus]):
            busy = second > 120 and index != IDLE_GPU
            temp = int(38 + (28 + hotter) * warmth) if busy else 38
            slowed, loaded = temp >= LIMIT_C, busy and second % 60 > 5
            card = gpu(
                index,
                util=dice.randint(94, 99) if loaded else dice.randint(2, 6),
                mem_used=int((5.6 if busy else 0.9) * GIB),
                temp=temp,
                temp_max=LIMIT_C,
                power_w=_power(slowed=slowed, loaded=loaded, busy=busy) + 3 * dice.random() * loaded,
                clock_sm=2190 if slowed else 2730 if busy else 210,
                throttle=(("thermal",) if slowed else ("power-cap",)) if loaded else (),
                processes=(TRAINING,) if busy else (),
                clock_sm_max=TOP_CLOCK_MHZ,
                clock_mem=8501,
                clock_mem_max=8501,
                pstate=2 if busy else 8,
                pcie_gen=4,
                pcie_gen_max=4,
                pcie_width=8,
                pcie_width_max=8,
                ecc=False,
            )
            cards.append(card)
        cpu = 30 + 20 * math.sin(second / 20) + 8 * dice.random()
        made.append(sample(*cards, t=now - 60 * MINUTES + second, cpu=cpu))
    return made


def _power(*, slowed: bool, loaded: bool, busy: bool) -> float:
    """W of a card under load, of one that waits between two epochs, and of an idle one."""
    if loaded:
        return 98 if slowed else 112
    return 34 if busy else 11


def measured(days: int, faster: float) -> Benchmark:
    """Three sizes on the CPU, some days ago."""
    one = cpu_benchmark().results[0]
    sizes = ((1024, 0.118), (2048, 0.141), (4096, 0.152))
    results = tuple(
        replace(one, size=(n, n, n), median=m * faster, q1=m * faster * 0.97, q3=m * faster * 1.02, error=1e-6)
        for n, m in sizes
    )
    return replace(cpu_benchmark(), results=results, started=time.time() - 86_400 * days, seconds=14.2, notes=())


def newer(stage: str = "found", kind: str = "windows-installer", error: AppError | None = None):
    """A newer version, as far as it has come."""
    names = {"windows-installer": "GPU-Assistant-Setup-0.2.0.exe", "deb": "gpu-assistant_0.2.0_amd64.deb"}
    file = UpdateFile(kind=kind, url=f"https://example.invalid/{names[kind]}", sha256="0" * 64, bytes=46_200_000)
    statement = ReleaseStatement(
        schema="gpu-assistant/update/1",
        version="0.2.0",
        released=date(2026, 11, 20),
        expires=date(2027, 2, 1),
        notes_url="https://example.invalid/notes",
        files=(file,),
    )

    def state(window: MainWindow) -> None:
        updates, app = window.main_area.updates, window.app
        updates.check_timer.stop()
        source = replace(app.catalog.updates, address="https://example.invalid", root=ROOT)
        app.system.name = "windows" if kind == "windows-installer" else "linux"
        updates.__dict__["service"] = UpdateService(source, app.data, app.system, current_version="0.1.0", kind=kind)
        known = UpdateState(asked=datetime(2026, 11, 21, 10, 5, tzinfo=UTC).timestamp(), outcome="newer")
        updates.check_result = UpdateStatus(state=known, newer_release=statement)
        updates.stage, updates.error = stage, error
        updates.progress = UpdateDownloadProgress(id=file.name, done=12_400_000, total=file.bytes, speed=5.1e6)
        updates.file_path = Path("C:/Users/mei/gpu-assistant/cache/updates") / file.name
        if kind == "deb":
            updates.file_path = Path("/home/mei/.local/share/gpu-assistant/cache/updates") / file.name
        updates.changed.emit()

    return state


def heat() -> list[Sample]:
    """A minute and a half in which a card gets so hot that it slows itself down."""
    now, dice, made = time.time(), random.Random(2), []
    for second in range(90):
        temp = min(round(65 + 25 * (1 - math.exp(-second / 4))), LIMIT_C + 2)
        slowed = temp >= LIMIT_C
        card = gpu(
            util=dice.randint(94, 99),
            temp=temp,
            temp_max=LIMIT_C,
            power_w=(84 if slowed else 112) + 3 * dice.random(),
            clock_sm=1650 + dice.randint(-2, 2) * 15 if slowed else 2730,
            clock_sm_max=TOP_CLOCK_MHZ,
            throttle=("thermal",) if slowed else ("power-cap",),
            fan=41 + min(second // 3, 20),
        )
        made.append(sample(card, t=now - 90 + second))
    return made


def beside(window: MainWindow) -> None:
    """A plot for each GPU."""
    window.main_area.pages[MONITOR].layout_control.buttons[1].click()


def inside(window: MainWindow) -> None:
    """The programs on the cards and their details."""
    window.main_area.pages[MONITOR].gpu_details.toggle_button.click()


def moving(window: MainWindow) -> None:
    """The downloads on their way to another disk."""
    page = window.main_area.pages[SETTINGS]
    halfway = MoveProgress(done=2_600_000_000, total=6_800_000_000)
    window.app.move_downloads = lambda _: FakeJob(None, (halfway,), threading.Event())
    page.folders_card.downloads.move_to(Path("D:/gpu-assistant-downloads"))


# The section of Settings that each of its other scenes is about.
SECTIONS = {"settings-moving": "folders_card", "update-settings": "updates_card", "update-trouble": "updates_card"}
# The scenes of the Monitor page in which the pointer is over a plot.
POINTED = ("monitor-gpu", "monitor-2-gpus", "monitor-inside")
# name: (page, GPUs, benchmarks kept, whether an environment stands, state of the page)
SCENES: dict[str, tuple[int, int, int, bool, Callable[[MainWindow], None] | None]] = {
    "home": (HOME, 0, 0, True, None),
    "home-nothing": (HOME, 0, 0, False, None),
    "home-gpu": (HOME, 1, 0, True, None),
    "home-3-gpus": (HOME, 3, 0, True, None),
    "monitor": (MONITOR, 0, 0, True, None),
    "monitor-gpu": (MONITOR, 1, 0, True, None),
    "monitor-2-gpus": (MONITOR, 2, 0, True, None),
    "monitor-2-gpus-beside": (MONITOR, 2, 0, True, beside),
    "monitor-8-gpus": (MONITOR, 8, 0, True, None),
    "monitor-hot": (MONITOR, 1, 2, True, None),
    "home-environments": (HOME, 1, 0, True, None),
    "home-hot": (HOME, 1, 0, True, None),
    "home-advice-hot": (HOME, 1, 0, True, lambda window: window.main_area.pages[HOME].hero.button.click()),
    "monitor-inside": (MONITOR, 2, 0, True, inside),
    "monitor-table": (MONITOR, 0, 0, True, lambda window: window.main_area.pages[MONITOR].toolbar.table_button.click()),
    "benchmark": (BENCHMARK, 0, 3, True, None),
    "benchmark-gpu": (BENCHMARK, 1, 0, True, bench_scenes.results(card_benchmark(0.89), card_benchmark())),
    "benchmark-slow": (BENCHMARK, 1, 0, True, bench_scenes.results(slow_benchmark())),
    "benchmark-2-gpus": (BENCHMARK, 2, 0, True, bench_scenes.results(two_cards(), expanded=True)),
    "benchmark-running": (BENCHMARK, 1, 0, True, bench_scenes.running),
    "memory": (BENCHMARK, 1, 0, True, bench_scenes.what_fits),
    "memory-measured": (BENCHMARK, 1, 0, True, bench_scenes.memory_fit),
    "memory-too-large": (BENCHMARK, 1, 0, True, bench_scenes.memory_fit_too_large),
    "benchmark-empty": (BENCHMARK, 0, 0, True, None),
    "benchmark-gone": (BENCHMARK, 0, 3, False, None),
    "benchmark-nothing": (BENCHMARK, 0, 0, False, None),
    "health": (HEALTH, 2, 0, True, health_scenes.before),
    "health-running": (HEALTH, 1, 0, True, health_scenes.running),
    "health-done": (HEALTH, 1, 0, True, health_scenes.done),
    "settings": (SETTINGS, 0, 0, True, None),
    "settings-moving": (SETTINGS, 0, 0, True, moving),
    "update-home": (HOME, 1, 0, True, newer()),
    "update-fetching": (HOME, 1, 0, True, newer("fetching")),
    "update-ready": (HOME, 1, 0, True, newer("ready")),
    "update-settings": (SETTINGS, 0, 0, True, newer("ready", "deb")),
    "update-trouble": (
        SETTINGS,
        0,
        0,
        True,
        newer(error=AppError("update-changed", path="C:\\Users\\mei\\GPU-Assistant-Setup-0.2.0.exe")),
    ),
}


def computer_with(gpus: int) -> Machine:
    """A computer with so many cards."""
    machine = rtx4060()
    return replace(machine, gpus=machine.gpus[:1] * gpus)


def gpu_advice(choice: Choice | None) -> Recommendation:
    """What is advised for the card: the newest release, which needs a newer driver."""
    driver = DriverAdvice(action="update", installed="566.03", minimum="580.88", recommended="617.42", channel="studio")
    return replace(cpu_recommendation(choice), driver=driver)


def shoot(studio: Studio, name: str, folder: Path) -> None:
    """One scene on an app of its own."""
    page, gpus, stored, installed, state = SCENES[name]
    app = FakeMain(folder, computer_with(gpus) if gpus else None)
    app.system.name = "windows" if gpus else "linux"
    variant, place = ("cu126", "D:\\AI\\pytorch") if gpus else ("cpu", "/home/mei/ai/pytorch")
    size = 5_200_000_000 if gpus else ENVIRONMENT.bytes
    app.known = (replace(ENVIRONMENT, variant=variant, path=place, bytes=size),) if installed else ()
    if name == "home-environments":
        app.known += tuple(
            replace(ENVIRONMENT, name=f"course-{number}", path=f"{place}-{number}", bytes=number * GIB)
            for number in range(2, 7)
        )
    if gpus:
        app.recommendation = gpu_advice
    names = {place: "pytorch"} | {f"{place}-{number}": f"course-{number}" for number in range(2, 7)}
    app.settings = replace(app.settings, environment_names=names)
    app.stored = [measured(7 * (stored - index), 0.9 + 0.05 * index) for index in range(stored)]
    if name == "home":
        app.stored = [replace(processor_benchmark(), started=time.time() - 3600)]
    window = MainWindow(app)
    window.build(studio.language)
    window.show()
    studio.until(lambda: window.main_area.is_monitor_ready)
    window.main_area.sampling.load_now()
    past = work(gpus)
    feed(window, *([*past[:-90], *heat()] if name.endswith("-hot") else past))
    window.main_area.stop()
    window.main_area.open_page(page)
    studio.settle()
    if page == MONITOR:
        time_axis = window.main_area.pages[MONITOR].time_axis
        time_axis.now = lambda: past[-1].t  # at the last values, however long the page took
        time_axis.pause(True)
        if name in POINTED:
            time_axis.point(time_axis.view()[0] + 470)
    if state is not None:
        state(window)
    if name in SECTIONS:
        settings = window.main_area.pages[SETTINGS]
        studio.before_picture = lambda: settings.verticalScrollBar().setValue(
            getattr(settings, SECTIONS[name]).y() - 12
        )
    studio.save(window, name)
    studio.before_picture = None
    window.end_session()  # asks nobody whether a benchmark may be stopped
    studio.until(lambda: not window.isVisible())
    studio.dispose(window)

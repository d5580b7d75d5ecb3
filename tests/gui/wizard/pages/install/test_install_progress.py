"""What the wizard reckons from events and machines, without a window."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.core.machine import Disk, find_disk
from gpu_assistant.core.plan import PlanEvent, Step, StepEvent, StepSummary
from gpu_assistant.gui.wizard.pages.install.progress import InstallProgress
from gpu_assistant.texts.format import short_name
from tests.fakes.examples import cpu_recommendation, make_plan, plain_linux, rtx4060

pytestmark = pytest.mark.gui


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def progress(clock):
    return InstallProgress(make_plan(cpu_recommendation(), "/env"), clock)


def fetching(done: int, speed: float | None = 10e6) -> StepEvent:
    return StepEvent(id="download", state="running", done=done, total=192_000_000, unit="bytes", speed=speed)


def test_fraction_grows_to_one(progress):
    seen = [progress.fraction]
    for step in list(progress.steps):
        progress.handle_event(StepEvent(id=step, state="running"))
        progress.handle_event(StepEvent(id=step, state="done"))
        seen.append(progress.fraction)
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, pytest.approx(1.0))


def test_nothing_is_installed_until_a_step_does_more_than_look_or_download(progress):
    assert not progress.has_installed_nothing  # nothing was begun: nothing is known
    seen = {}
    for step in list(progress.steps):
        progress.handle_event(StepEvent(id=step, state="running"))
        seen[progress.steps[step].kind] = progress.has_installed_nothing
        progress.handle_event(StepEvent(id=step, state="done"))
    assert seen["resolve"]
    assert seen["download"]
    assert not seen["python-packages"]


@pytest.mark.parametrize("code", ["nvidia-driver", "nvidia-driver-linux"])
def test_driver_is_changed_once_its_step_is_done(code, clock):
    plan = make_plan(cpu_recommendation(), "/env")
    driver = Step(id="driver", kind="nvidia-driver", code=code)
    progress = InstallProgress(replace(plan, steps=(*plan.steps, driver)), clock)
    progress.handle_event(StepEvent(id="driver", state="running"))
    assert not progress.has_changed_driver
    progress.handle_event(StepEvent(id="driver", state="skipped"))
    assert not progress.has_changed_driver
    progress.handle_event(StepEvent(id="driver", state="done"))
    assert progress.has_changed_driver


def test_number_fraction_and_time_of_running_step(progress, clock):
    progress.handle_event(StepEvent(id="download", state="running"))
    progress.handle_event(fetching(96_000_000))
    assert progress.step_number == 4
    assert progress.running_step.fraction == 0.5
    assert progress.running_step.seconds_left == pytest.approx(9.6)
    clock.now = 12.0
    progress.handle_event(StepEvent(id="download", state="done"))
    assert progress.steps["download"].seconds == 12.0
    assert progress.running_step is None


def test_unknown_time_is_none(clock):
    plan = make_plan(cpu_recommendation(), "/env")
    progress = InstallProgress(replace(plan, steps=tuple(replace(step, minutes=None) for step in plan.steps)), clock)
    progress.handle_event(fetching(96_000_000, speed=None))
    assert progress.running_step.seconds_left is None
    assert progress.seconds_left is None


def test_total_time_when_every_step_has_one(clock):
    plan = make_plan(cpu_recommendation(), "/env")
    plan = replace(plan, steps=tuple(replace(step, minutes=0.5) for step in plan.steps))
    progress = InstallProgress(plan, clock)
    for step in ("space", "python", "resolve"):
        progress.handle_event(StepEvent(id=step, state="done"))
    progress.handle_event(fetching(96_000_000))
    assert progress.seconds_left == pytest.approx(9.6 + 2 * 30)


def test_stop_ends_only_the_running_step(progress):
    progress.handle_event(StepEvent(id="space", state="done"))
    progress.handle_event(StepEvent(id="download", state="running"))
    progress.end_running_step("cancelled")
    assert progress.steps["download"].state == "cancelled"
    assert progress.steps["space"].state == "done"
    assert progress.end_running_step("failed") is None


def test_events_of_unknown_steps_are_ignored(progress):
    assert progress.handle_event(StepEvent(id="nothing-like-this", state="running")) is None
    progress.handle_event(PlanEvent(steps=(StepSummary(id="more", code="verify"),)))
    assert progress.handle_event(StepEvent(id="more", state="running")) == "more"


def test_disk_of_folder_is_the_deepest_mount():
    disks = [Disk(path=path, free_bytes=1) for path in ("/", "/home", "/homes", "C:\\", "D:\\")]
    machine = replace(plain_linux(), disks=tuple(disks[:3]))
    assert find_disk(machine, "/home/mei/ai").path == "/home"
    assert find_disk(machine, "/opt/x").path == "/"
    windows = replace(rtx4060(), disks=tuple(disks[3:]))
    assert find_disk(windows, "d:\\AI\\pytorch").path == "D:\\"
    assert find_disk(windows, "E:\\AI") is None


@pytest.mark.parametrize(
    ("name", "short"), [("NVIDIA GeForce RTX 4060", "RTX 4060"), ("Intel(R) UHD Graphics 770", "Intel UHD 770")]
)
def test_gpus_have_their_common_names(name, short):
    assert short_name(name) == short


def test_a_restart_is_a_step_with_a_number_of_its_own(clock):
    plan = make_plan(cpu_recommendation(), "/env")
    plan = replace(plan, steps=tuple(replace(step, needs_reboot=step.id == "pytorch") for step in plan.steps))
    progress = InstallProgress(plan, clock)
    assert (progress.step_count, progress.before_restart) == (7, {"pytorch"})
    progress.handle_event(StepEvent(id="pytorch", state="running"))
    assert progress.step_number == 5
    assert progress.restart_state("pytorch", resumed=False) == "waiting"
    progress.handle_event(StepEvent(id="verify", state="running"))
    assert progress.step_number == 7
    assert progress.restart_state("pytorch", resumed=True) == "done"
    assert progress.restart_state("pytorch", resumed=False) == "skipped"


def test_known_time_is_told_beside_a_step_whose_time_is_not_known(clock):
    plan = make_plan(cpu_recommendation(), "/env")
    plan = replace(
        plan, steps=tuple(replace(step, minutes=None if step.id == "verify" else 0.5) for step in plan.steps)
    )
    progress = InstallProgress(plan, clock)
    for step in ("space", "python", "resolve"):
        progress.handle_event(StepEvent(id=step, state="done"))
    progress.handle_event(fetching(96_000_000))
    known_s, unknown = progress.time_left
    assert known_s == pytest.approx(9.6 + 30)
    assert [step.id for step in unknown] == ["verify"]
    assert progress.seconds_left is None

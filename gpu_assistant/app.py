"""Who gets what: the only place that builds the rooms' parts and wires them together.

The command line and the window both hold one `App`; whatever they do goes through it, so both give the
same answer. Rooms are imported on first use, so that `--help` loads nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .core import json, paths, settings
from .core.errors import CallError
from .core.machine import Machine

if TYPE_CHECKING:
    from .advise.options import Options
    from .bench.fit import FitJob, FitModel
    from .bench.parent import BenchJob
    from .catalog.health import HealthRules
    from .catalog.load import Catalog
    from .core.plan import Interrupted, Plan
    from .core.recommendation import Channel, Choice, Goal, LocalWheel, Recommendation
    from .core.results import Benchmark, GpuSample, Sample
    from .detect.job import DetectJob
    from .fetch.job import DownloadJob
    from .fetch.pace import Pace
    from .health.job import HealthJob
    from .health.minder import Looks
    from .health.watch import Watch
    from .install.after import EditorJob, KernelJob, MenuEntryJob, Ways
    from .install.bundle.check import CheckJob
    from .install.bundle.contents import Contents
    from .install.bundle.create import CreateJob
    from .install.environments import Environment
    from .install.farewell import FarewellJob
    from .install.pricing import PriceJob
    from .install.runner import InstallJob
    from .install.uninstall import UninstallJob
    from .monitor.history import History
    from .monitor.sampler import Sampler
    from .refresh.job import RefreshJob
    from .system.base import System
    from .system.desktop import Desktop
    from .update.service import UpdateService
    from .verify.job import VerifyJob


class App:
    """The product's services for one data folder and, if given, one simulated machine."""

    def __init__(
        self,
        *,
        data_dir: str | None = None,
        wheelhouse: str | None = None,
        machine_file: str | None = None,
        mirrors: settings.MirrorUse | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.data = paths.data_dir(data_dir, environ)
        self.wheelhouse = paths.wheelhouse(wheelhouse, environ)
        if self.wheelhouse is not None and (self.wheelhouse / "bundle.json").is_file():
            self.wheelhouse /= "wheels"  # a bundle's wheels are as good as any folder of them
        if self.wheelhouse is not None and not self.wheelhouse.is_dir():
            raise CallError("wheelhouse-missing", path=str(self.wheelhouse))
        self.simulated_machine = (
            json.read_file(Path(machine_file), Machine, code="machine-file") if machine_file else None
        )
        self.settings = settings.load(self.data.settings)
        self._mirrors = mirrors
        # The window was started to go on by itself with the install that a restart interrupted.
        self.resuming = False

    @property
    def simulated(self) -> bool:
        """Whether we reason about a machine from a file: nothing is executed then."""
        return self.simulated_machine is not None

    def save_settings(self, new: settings.Settings) -> None:
        """Keep the settings; raises AppError when the data folder cannot be written."""
        self.settings = new
        settings.save(self.data.settings, new)

    @property
    def mirrors(self) -> settings.MirrorUse:
        """When mirrors give files: as this call says, else as the settings do."""
        return self._mirrors or self.settings.mirrors

    @cached_property
    def system(self) -> System:
        """This operating system."""
        from .system import current

        return current()

    @cached_property
    def catalog(self) -> Catalog:
        """The compatibility data in use."""
        from .catalog.load import load

        return load(paths.resources() / "catalog", self.data.catalog / "current")

    def reloaded_catalog(self) -> Catalog:
        """The compatibility data as it stands on the disk now, after a refresh."""
        vars(self).pop("catalog", None)
        return self.catalog

    def refresh_catalog(self) -> RefreshJob:
        """Ask the publishers' pages for newer facts; `reloaded_catalog` and the next App use what came."""
        from datetime import UTC, datetime

        from .refresh.job import RefreshJob

        folder = self.data.catalog / "current"
        return RefreshJob(self.catalog, self.catalog.refreshing, folder, today=datetime.now(UTC).date())

    @cached_property
    def updates(self) -> UpdateService:
        """Whether there is a newer version of this program, and how it gets here."""
        from .update.service import UpdateService

        return UpdateService(self.catalog.updates, self.data, self.system, simulated=self.simulated)

    def language(self) -> settings.Language:
        """The language to speak: the user's choice, else the system's."""
        return self.settings.language or self.system.language()

    # The road: machine → recommendation → plan → install → checks → benchmark

    def detect(self) -> DetectJob:
        """Look at this machine (a simulated one is returned as it stands)."""
        from .detect.job import DetectJob

        return DetectJob(self.system, self.catalog, simulated=self.simulated_machine)

    def local_wheels(self, bundle: Path | None = None) -> tuple[LocalWheel, ...]:
        """What the wheelhouse offers, or a bundle in its place."""
        from .install.bundle.contents import WHEELS
        from .install.wheelhouse import scan

        folder = bundle / WHEELS if bundle is not None else self.wheelhouse
        return scan(folder) if folder is not None else ()

    def recommend(
        self,
        machine: Machine,
        *,
        goal: Goal = "pytorch",
        channel: Channel = "studio",
        choice: Choice | None = None,
        bundle: Path | None = None,
    ) -> Recommendation:
        """Versions for a machine, with reasons. Raises CallError for a choice that cannot work."""
        from .advise.recommend import recommend

        wheels = self.local_wheels(bundle)
        return recommend(machine, self.catalog, goal=goal, channel=channel, choice=choice, wheels=wheels)

    def options(
        self,
        machine: Machine,
        *,
        goal: Goal = "pytorch",
        channel: Channel = "studio",
        choice: Choice | None = None,
    ) -> Options:
        """What can be picked by hand for each part, and what becomes of it. Raises what `recommend` raises."""
        from .advise.options import options

        return options(machine, self.catalog, goal=goal, channel=channel, choice=choice, wheels=self.local_wheels())

    def environment_path(self, given: str | None, goal: Goal = "pytorch") -> Path:
        """The folder of the environment to work on: the given one, else the usual one for this goal."""
        if given:
            return paths.plain(given)
        return self.system.default_environments(self.data.root) / goal

    def plan(
        self, machine: Machine, recommendation: Recommendation, environment: Path, *, bundle: Path | None = None
    ) -> Plan:
        """The steps that carry a recommendation out; with a `bundle` they take every file from there."""
        from .install.planner import make_plan

        return make_plan(
            machine,
            recommendation,
            self.catalog,
            data=self.data,
            environment=environment,
            wheelhouse=self.wheelhouse,
            simulated=self.simulated,
            bundle=bundle,
        )

    def price(self, machine: Machine, plan: Plan) -> PriceJob:
        """Ask the publishers how large everything in a plan is: `plan` asked again then knows its price."""
        from .install.place import Ground
        from .install.pricing import PriceJob

        return PriceJob(plan, machine.os, Ground(self.system, self.data, self.catalog))

    def read_bundle(self, folder: Path) -> Contents:
        """What a bundle was made for and holds; raises CallError. Its files are read when they are used."""
        from .install.bundle.contents import read

        return read(folder)

    def create_bundle(
        self, machine: Machine, recommendation: Recommendation, folder: Path, *, channel: Channel = "studio"
    ) -> CreateJob:
        """Gather all that a plan for the machine needs in a folder; a stopped one goes on where it was."""
        from .install.bundle.create import CreateJob
        from .install.place import Ground
        from .install.target import target_of

        # Where the environment will be, only the other computer knows.
        plan = self.plan(machine, recommendation, self.data.environments / recommendation.goal)
        (resolve,) = (step for step in plan.steps if step.kind == "resolve")
        target = target_of(machine.os, str(resolve.data["release"]))
        ground = Ground(self.system, self.data, self.catalog)
        return CreateJob(plan, target, folder, ground, channel=channel, mirrors=self.mirrors)

    def check_bundle(self, folder: Path) -> CheckJob:
        """Read every byte of a bundle and compare it with its list."""
        from .install.bundle.check import CheckJob

        return CheckJob(folder)

    def read_plan(self, path: Path) -> Plan:
        """A plan file somebody gives us; raises CallError when it is broken or not one that we would make."""
        from .core.plan import Plan
        from .install.place import Ground
        from .install.untrusted import check

        plan = json.read_file(path, Plan, code="plan-file")
        check(plan, Ground(self.system, self.data, self.catalog))
        return plan

    def interrupted_plan(self) -> Plan | None:
        """The plan of the last install that began and did not end, if there is one."""
        found = self.interrupted()
        return found.plan if found is not None else None

    def interrupted(self) -> Interrupted | None:
        """The last install that began and did not end, and the step at which it stopped."""
        from .install.journal import interrupted

        return interrupted(self.data)

    def download_pace(self) -> Pace:
        """How downloads go: as fast as the settings allow; the holder may hold them or change the speed."""
        from .fetch.pace import Pace

        return Pace(self.settings.speed_limit)

    def install(
        self, plan: Plan, *, dry_run: bool = False, resume: Sequence[str] = (), pace: Pace | None = None
    ) -> InstallJob:
        """Carry a plan out (or only say what would be done); `resume` goes on after a restart (`resume_words`).

        Its downloads go at `pace`, else as fast as the settings allow.
        """
        from .install.runner import InstallJob

        dry = dry_run or plan.simulated
        return InstallJob(
            plan,
            self.system,
            self.data,
            self.catalog,
            dry_run=dry,
            resume=resume,
            mirrors=self.mirrors,
            pace=pace or self.download_pace(),
        )

    def resume_words(self, *, window: bool) -> tuple[str, ...]:
        """The command that goes on after a restart: the window, or the command line's `install --resume`."""
        from .install.login import resume_words

        return resume_words(self.data, self.system, window=window)

    def uninstall(self, environment: Path) -> UninstallJob:
        """Take back what install put there."""
        from .install.uninstall import UninstallJob

        return UninstallJob(environment, self.data, self.system)

    @cached_property
    def desktop(self) -> Desktop:
        """This computer's menu and editors."""
        from .system.desktop import current

        return current()

    def ways(self, environment: Path) -> Ways:
        """How an environment of ours is used: interpreter, command, editor, kernel, lock. Raises AppError."""
        from .install.after import ways

        return ways(environment, self.system, self.desktop)

    def menu_entry(self, environment: Path) -> MenuEntryJob:
        """Put a terminal with this environment into the desktop's menu."""
        from .install.after import MenuEntryJob

        return MenuEntryJob(environment, self.data, self.system, self.desktop)

    def kernel(self, environment: Path) -> KernelJob:
        """Tell Jupyter of this environment."""
        from .install.after import KernelJob

        return KernelJob(environment, self.data, self.system, self.desktop)

    def open_in_editor(self, environment: Path, folder: Path) -> EditorJob:
        """Open a folder in Visual Studio Code with this environment's Python."""
        from .install.after import EditorJob

        return EditorJob(environment, self.data, self.system, self.desktop, folder=folder)

    def share_lock(self, environment: Path, target: Path) -> None:
        """Copy the environment's lock (`pylock.toml`) to a file; raises AppError."""
        from .install.after import share_lock

        share_lock(environment, target)

    def farewell(self, *, keep_environments: bool) -> FarewellJob:
        """Take away everything that the program keeps for itself."""
        from .install.farewell import FarewellJob

        return FarewellJob(self.data, self.system, keep_environments=keep_environments)

    def environments(self) -> tuple[Environment, ...]:
        """The environments that install made and that still stand."""
        from .install.environments import known

        return known(self.data)

    def download(self, urls: Sequence[str], path: Path, *, sha256: str | None, connections: int) -> DownloadJob:
        """Fetch one file; the further addresses are mirrors. What lies in the cache or wheelhouse is not fetched."""
        from .fetch.job import DownloadJob
        from .fetch.limits import Limits
        from .fetch.wanted import Wanted
        from .install.mirrors import sourced

        copies = list(self.data.files.glob(f"{sha256[:16]}/*")) if sha256 else []
        if self.wheelhouse is not None:
            copies.append(self.wheelhouse / path.name)
        wanted = Wanted(url=urls[0], mirrors=tuple(urls[1:]), path=path, sha256=sha256, copies=tuple(copies))
        return DownloadJob(sourced(wanted, self.catalog, self.mirrors), Limits(connections=connections))

    def verify(self, environment: Path) -> VerifyJob:
        """Prove an environment."""
        from .verify.job import VerifyJob

        return VerifyJob(environment, self.system)

    def bench(self, environment: Path, *, full: bool = False, device: str | None = None) -> BenchJob:
        """Measure an environment's devices."""
        from .bench.parent import BenchJob

        return BenchJob(environment, self.system, self.data, full=full, device=device, catalog=self.catalog)

    def fit(self, environment: Path, *, model: FitModel, batch: int, device: str) -> FitJob:
        """What a training step of a model needs of a device's memory."""
        from .bench.fit import FitJob

        return FitJob(environment, self.system, model=model, batch=batch, device=device)

    def health(
        self,
        environment: Path,
        looks: Looks,
        *,
        level: int = 1,
        device: str | None = None,
        load_seconds: float | None = None,
    ) -> HealthJob:
        """Test whether the cards are sound; `looks` is a sampler that nobody else uses meanwhile."""
        from .health.job import HealthJob

        return HealthJob(
            environment,
            self.system,
            self.health_rules,
            looks,
            level=level,
            device=device,
            load_seconds=load_seconds,
            allowed=self.allowed_temperature,
        )

    @cached_property
    def health_rules(self) -> HealthRules:
        """When a card is not well."""
        from .catalog.health import HealthRules

        return self.catalog.read("health.json", HealthRules)

    def health_watch(self) -> Watch:
        """Whether the cards are well: give it every sample, and it says so."""
        from .health.watch import Watch

        return Watch(self.health_rules, allowed=self.allowed_temperature)

    def remember_past(self, watch: Watch, history: History, sample: Sample) -> None:
        """Tell a watch how hot the cards of a sample usually are; it takes some milliseconds, once an hour will do."""
        from .health.past import remembered
        from .monitor.series import card

        for gpu in sample.gpus:
            watch.remember(gpu.index, remembered(history, card(gpu), sample.t, self.health_rules.settling))

    def allowed_temperature(self, gpu: GpuSample) -> float | None:
        """°C that a card's maker allows; None where nobody knows."""
        card = self.catalog.reference_card(gpu.name, gpu.mem_total) if gpu.name is not None else None
        return card.max_temp_c if card is not None else None

    def benchmarks(self) -> tuple[Benchmark, ...]:
        """The benchmarks kept so far, oldest first; a file that cannot be read is left out."""
        kept = [_benchmark(path) for path in self.data.benchmarks.glob("*.json")]
        return tuple(sorted((each for each in kept if each is not None), key=lambda each: each.started or 0.0))

    def sampler(self) -> Sampler:
        """Samples of this machine's GPU, CPU and memory."""
        from .monitor.sampler import Sampler
        from .system.nvml import Nvml

        return Sampler(Nvml(self.system))

    def history(self) -> History:
        """What this computer's window saw in the last month, not yet read from the disk."""
        from .monitor.history import History

        return History(self.data.history)


def _benchmark(path: Path) -> Benchmark | None:
    import msgspec

    from .core.results import Benchmark

    try:
        return json.decode(path.read_bytes(), Benchmark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None

"""What a computer does and can: live figures, their past, health, benchmarks."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import AppError
from .base import Base

if TYPE_CHECKING:
    from ..bench.fit import FitJob, FitModel
    from ..bench.kept import Kept
    from ..bench.parent import BenchJob
    from ..catalog.health import HealthRules
    from ..core.results import GpuSample, Sample
    from ..health.figures import Form
    from ..health.job import HealthJob
    from ..health.minder import Looks
    from ..health.watch import Watch
    from ..monitor.history import History
    from ..monitor.sampler import Sampler


class Figures(Base):
    """What a computer does and can: live figures, their past, health, benchmarks."""

    def bench(self, environment: Path, *, full: bool = False, device: str | None = None) -> BenchJob:
        """Measure an environment's devices."""
        from ..bench.parent import BenchJob

        return BenchJob(
            environment,
            self.system,
            self.data,
            full=full,
            device=device,
            catalog=self.catalog,
            start_limit=self._torch_load_limit,
            simulated=self.simulated,
        )

    def fit(self, environment: Path, *, model: FitModel, batch: int, device: str) -> FitJob:
        """What a training step of a model needs of a device's memory; "cuda" is the card with the most."""
        from ..bench.fit import FitJob

        return FitJob(
            environment,
            self.system,
            self.data,
            self.catalog,
            model=model,
            batch=batch,
            device=device,
            start_limit=self._torch_load_limit,
            simulated=self.simulated,
        )

    def lacking(self, environment: Path) -> dict[str, tuple[str, ...] | None]:
        """The packages of our example programs that an environment does not have, each with the command that brings it;
        None: nobody knows which release of it belongs to the PyTorch there.
        """
        from ..bench.needed import command
        from ..bench.snippet import EXAMPLES
        from ..detect import packages
        from ..install.owned import SITE

        folders = [folder for pattern in SITE for folder in environment.glob(pattern)]
        build = packages.torch(folders)
        python, here = self.system.environment_python(environment), self.system.operating_system()
        return {
            needed: command(needed, python, build.version if build is not None else None, self.catalog, here)
            for needed in sorted({example.needs for example in EXAMPLES.values()})
            if not any((folder / needed).is_dir() for folder in folders)
        }

    def benchmarks(self) -> Kept:
        """The benchmarks kept so far; one that cannot be read, or is another version's, is left out and counted."""
        from ..bench.kept import all_of

        return all_of(self.data.benchmarks)

    def health(
        self,
        environment: Path | None,
        looks: Looks,
        *,
        level: int = 1,
        device: str | None = None,
        load_seconds: float | None = None,
    ) -> HealthJob:
        """Test whether the cards are sound; `looks` is a sampler that nobody else uses meanwhile.

        Without an `environment` the first level asks the driver alone.
        """
        from ..health.job import HealthJob

        return HealthJob(
            environment,
            self.system,
            self.health_rules,
            looks,
            level=level,
            device=device,
            load_seconds=load_seconds,
            start_limit=self._torch_load_limit,
            allowed=self.allowed_temperature,
            form=self.card_form,
            lanes=self.card_lanes,
        )

    @property
    def _torch_load_limit(self) -> float:
        """Seconds after which a PyTorch that does not load is taken for one that hangs."""
        from ..catalog.paces import paces

        return paces(self.catalog).torch_load_limit_seconds

    @cached_property
    def health_rules(self) -> HealthRules:
        """When a card is not well."""
        from ..catalog.health import HealthRules

        return self.catalog.read("health.json", HealthRules)

    def health_watch(self) -> Watch:
        """Whether the cards are well: give it every sample, and it says so."""
        from ..health.watch import Watch

        return Watch(self.health_rules, allowed=self.allowed_temperature, form=self.card_form, lanes=self.card_lanes)

    def remember_past(self, watch: Watch, history: History, sample: Sample) -> None:
        """Tell a watch how hot the cards of a sample usually are, and what the driver reported of them since the
        computer was started; it takes some milliseconds, once an hour will do.
        """
        import psutil

        from ..health.past import remembered, reported
        from ..monitor.series import card

        for gpu in sample.gpus:
            watch.remember(gpu.index, remembered(history, card(gpu), sample.t, self.health_rules.settling))
            # A restart of the computer is what helps: what was before it is over.
            last = reported(history, card(gpu), sample.t, self.health_rules, since=psutil.boot_time())
            if last is not None:
                watch.recall(gpu, *last)

    def allowed_temperature(self, gpu: GpuSample) -> float | None:
        """°C that a card's maker allows; None where nobody knows."""
        card = self.catalog.reference_card(gpu.name, gpu.mem_total) if gpu.name is not None else None
        return card.max_temp_c if card is not None else None

    def card_lanes(self, gpu: GpuSample) -> int | None:
        """The PCI Express lanes that a card has by its maker; None where nobody knows."""
        card = self.catalog.reference_card(gpu.name, gpu.mem_total) if gpu.name is not None else None
        return card.pcie_lanes if card is not None else None

    def card_form(self, gpu: GpuSample) -> Form:
        """What a card is built into, by the name it is sold under."""
        from ..catalog.names import portable_name

        if gpu.name is None:
            return "any"
        if portable_name(gpu.name):
            return "laptop"
        row = self.catalog.gpu_named(gpu.name)
        if row is None:
            return "any"
        return "laptop" if row.laptop else "server" if row.segment == "datacenter" else "desktop"

    def sampler(self) -> Sampler:
        """Samples of this machine's GPU, CPU and memory."""
        from ..monitor.sampler import Sampler
        from ..system.nvml import Nvml

        try:
            forget_s = self.health_rules.forget_seconds
        except AppError:  # whoever judges says so; figures are shown without rules
            forget_s = None
        return Sampler(Nvml(self.system, forget_s=forget_s))

    def history(self) -> History:
        """What this computer's window saw in the last month, not yet read from the disk. The window of a simulated
        machine keeps nothing: the real one may be open beside it.
        """
        from ..monitor.history import History

        return History(None if self.simulated else self.data.history)

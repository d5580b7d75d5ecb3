"""Bundles: all files of a plan in a folder, for a computer without internet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from ..core.machine import Machine
    from ..core.plan import Plan
    from ..core.recommendation import Choice, Recommendation, SourceAnswer
    from ..core.types import Channel, Goal
    from ..fetch.rate import RateLimiter
    from ..install.bundle.format import BundleContents
    from ..install.bundle.minisign import SecretKey
    from ..install.jobs.check_bundle import CheckBundleJob
    from ..install.jobs.create_bundle import CreateBundleJob
    from .available_plan import AvailableSetupJob
    from .context import AppContext
    from .setup import SetupService


class BundleService:
    """Creates bundles here, and reads and installs them on the other computer."""

    def __init__(self, context: AppContext, setup: SetupService) -> None:
        self._context = context
        self._setup = setup

    def read(self, folder: Path) -> BundleContents:
        """What a bundle was made for and its list of files, which are not read yet; raises UsageError."""
        from ..install.bundle.format import read_contents

        return read_contents(folder)

    def check_origin(self, folder: Path, *, sha256: str | None = None, public_key: str | None = None) -> str:
        """The SHA-256 of a bundle's list, which must be the given one, or signed by the key of minisign.

        Raises UsageError: bundle-differs, bundle-unsigned, bundle-signature, public-key.
        """
        from ..install.bundle import minisign
        from ..install.bundle.format import check_signature, list_hash

        if public_key is not None:
            signed = check_signature(folder, minisign.read_public_key(public_key))
            sha256 = sha256 or signed
        return list_hash(folder, sha256)

    def read_signing_key(self, path: Path, ask_password: Callable[[], str]) -> SecretKey:
        """A minisign secret key for `create`; raises UsageError."""
        from ..install.bundle import minisign

        return minisign.read_secret_key(path, ask_password)

    def available_setup(
        self,
        machine: Machine,
        *,
        goal: Goal = "pytorch",
        channel: Channel = "studio",
        choice: Choice | None = None,
    ) -> AvailableSetupJob:
        """Recommend for a machine, and plan its bundle, by what the sources have: as `SetupService.available_setup`
        does, since the files are downloaded over this computer's network, whichever the machine is.
        """
        from ..install.host import PreviewContext
        from .available_plan import AvailableSetupJob

        def recommend(sources: tuple[SourceAnswer, ...]) -> Recommendation:
            return self._setup.recommend(machine, goal=goal, channel=channel, choice=choice, sources=sources)

        return AvailableSetupJob(
            machine,
            PreviewContext(self._context.system, self._context.data, self._context.catalog),
            recommend=recommend,
            plan=lambda recommendation: self._planned(machine, recommendation),
            mirrors=self._context.mirrors,
            retries=True,
            downloads_here=True,
        )

    def _planned(self, machine: Machine, recommendation: Recommendation) -> Plan:
        """Only its files matter: the other computer makes its own plan with its own folder."""
        from ..install.plan.planner import make_plan

        return make_plan(
            machine,
            recommendation,
            self._context.catalog,
            data=self._context.data,
            environment=self._context.data.environments / recommendation.goal,
            wheelhouse=self._context.wheelhouse,
            simulated=True,
        )

    def create(
        self,
        machine: Machine,
        recommendation: Recommendation,
        folder: Path,
        *,
        channel: Channel = "studio",
        choice: Choice | None = None,
        signing_key: SecretKey | None = None,
        rate_limiter: RateLimiter | None = None,
    ) -> CreateBundleJob:
        """Collect all files that a plan for the machine needs in a folder; a stopped job continues there.

        The list is signed with `signing_key`. `rate_limiter` limits the downloads, else the settings do.
        """
        from ..install.host import PreviewContext
        from ..install.jobs.create_bundle import CreateBundleJob
        from ..install.packages.requirements import platform_for

        plan = self._planned(machine, recommendation)
        (resolve_step,) = (step for step in plan.steps if step.kind == "resolve")
        platform = platform_for(machine.os, str(resolve_step.data["release"]))
        preview_context = PreviewContext(self._context.system, self._context.data, self._context.catalog)
        return CreateBundleJob(
            plan,
            platform,
            folder,
            preview_context,
            channel=channel,
            choice=_pinned(choice, recommendation),
            mirrors=self._context.mirrors,
            signing_key=signing_key,
            rate_limiter=rate_limiter or self._context.rate_limiter(),
        )

    def needed_bytes(self, machine: Machine, recommendation: Recommendation) -> int:
        """How many bytes of files a bundle for the machine collects, as far as they are known."""
        from ..core.plan_cost import plan_cost

        return plan_cost(self.create(machine, recommendation, Path()).bundled_plan).bytes

    def check(self, folder: Path, *, match_computer: bool = False) -> CheckBundleJob:
        """Verify every file of a bundle against its list.

        With `match_computer`, also check that the bundle was made for this operating system and architecture.
        """
        from ..install.jobs.check_bundle import CheckBundleJob

        simulated = self._context.simulated_machine
        operating_system = simulated.os if simulated is not None else self._context.system.operating_system()
        return CheckBundleJob(folder, operating_system if match_computer else None)

    def recommend(self, folder: Path, machine: Machine) -> Recommendation:
        """The recommendation that a bundle was made for; raises what `read` and `SetupService.recommend` raise."""
        contents = self.read(folder)
        return self._setup.recommend(
            machine, goal=contents.goal, channel=contents.channel, choice=contents.pinned_choice, bundle=folder
        )

    def plan(
        self,
        folder: Path,
        machine: Machine,
        recommendation: Recommendation,
        environment: Path,
        *,
        sha256: str | None = None,
    ) -> Plan:
        """The steps that take every file from a bundle, as its list names them now, with its `sha256` if one is given.

        Raises UsageError("bundle-other-machine"), ("bundle-differs"), AppError("bundle-lacks").
        """
        from ..install.bundle.format import list_hash
        from ..install.bundle.source import BundleSource
        from ..install.packages.requirements import platform_for

        known_sha256 = list_hash(folder, sha256)
        plan = self._setup.plan(machine, recommendation, environment, bundle=folder)
        bundle_source = BundleSource(folder, known_sha256)
        bundle_source.check_plan(plan, platform_for(machine.os, bundle_source.contents.request.label))
        return replace(plan, bundle_sha256=known_sha256)


def _pinned(choice: Choice | None, recommendation: Recommendation) -> Choice | None:
    """The choice with the TensorFlow that stands in for a newer one, which the other computer would take."""
    from ..core.recommendation import Choice

    tensorflow = recommendation.tensorflow
    if tensorflow is None or not any(w.code == "source-older-tensorflow" for w in recommendation.warnings):
        return choice
    return replace(choice or Choice(), tensorflow=tensorflow.version)

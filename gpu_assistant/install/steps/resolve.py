"""Which files exactly: the lock, from an earlier run or from the first source that has everything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from ...core.errors import AppError
from ...core.names import Value
from ...core.plan import Plan, Step
from ...core.recommendation import PyTorchChoice, Recommendation, TensorFlowChoice
from .. import owned
from ..built import built
from ..conda import META
from ..draft import Draft
from ..fetching import Getting
from ..lock import Lock
from ..occupied import ours, wrecked
from ..place import Ground
from ..resolve import Resolver
from ..soundness import damage
from ..sources import by_name
from ..strangers import named
from ..target import Target
from ..untrusted import check_file
from ..wish import ALWAYS, Wish, wish
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused

_SERIES = re.compile(r"3\.\d{1,2}\Z")
_VERSION = re.compile(r"\d+(\.\d+){1,3}((a|b|rc)\d+)?\Z")
_EXTRA = re.compile(r"\[.*?\]")
_VARIANT = re.compile(r"[a-z]+[0-9.]*\Z")


class Resolve(Kind):
    """What is asked for stands in the plan's recommendation."""

    name: ClassVar[str] = "resolve"
    codes: ClassVar[tuple[str, ...]] = ("resolve", "resolve-bundle")
    needs: ClassVar[tuple[str, ...]] = ("python-runtime",)

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step for the environment's packages."""
        torch, flow = draft.recommendation.pytorch, draft.recommendation.tensorflow
        named = (
            ("torch", torch),
            ("torchvision", torch and torch.torchvision),
            ("torchaudio", torch and torch.torchaudio),
            ("tensorflow", flow),
        )
        held = draft.catalog.held_for(torch.version if torch is not None else None, draft.machine.os.system)
        held += flow.constraints if flow is not None else ()
        # What is held back is named once, with its bound.
        plain = [name for name in ALWAYS if not any(line.startswith(f"{name}<") for line in held)]
        packages = ", ".join([*(name for name, wanted in named if wanted), *held, *plain])
        data: dict[str, Value] = {"release": draft.release, "python": draft.series, "packages": packages}
        if draft.bundle is not None:
            data["path"] = str(draft.bundle)
        else:
            data["requirements"] = " ".join(by_name(_wish(draft)))
        return (
            Step(
                id="resolve",
                kind=self.name,
                # A bundle brings its lock: nothing is asked, and nothing is run.
                code="resolve" if draft.bundle is None else "resolve-bundle",
                needs=draft.ids("python-runtime"),
                data=data,
                bytes=0,
                disk_bytes=0,
                minutes=draft.paces.resolve_minutes,
                commands=() if draft.bundle is not None else (_compile(draft),),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """The recommendation's versions are versions, and packages come from no address of the plan's own."""
        refuse_fields(step)
        torch, flow = plan.recommendation.pytorch, plan.recommendation.tensorflow
        if torch is None and flow is None:
            raise refused("pytorch")
        if _SERIES.match(plan.recommendation.python or "") is None:
            raise refused(f"python: {plan.recommendation.python}")
        if torch is not None:
            _refuse_choice(torch, ground)
        if flow is not None:
            _refuse_tensorflow(flow, ground)

    def done(self, step: Step, work: Work) -> Outcome | None:  # noqa: ARG002
        """An earlier run's lock for the very same wish serves again; a bundle brings its own."""
        if work.shelf is not None:
            return _settled(work.shelf.lock(asked(work.plan.recommendation, work)), work)
        earlier = _resolver(work).earlier()
        return None if earlier is None else _settled(earlier, work)

    def run(self, step: Step, work: Work) -> Outcome:  # noqa: ARG002
        """Raises AppError: release-unavailable, no-source, environment-differs, environment-damaged."""
        return _settled(_resolver(work).resolve(), work)


def _resolver(work: Work) -> Resolver:
    wanted = asked(work.plan.recommendation, work, folder=work.plan.wheelhouse)
    resolver = Resolver(wanted, work.uv, work.data, work.interpreter)
    work.forget_lock = resolver.forget
    return resolver


def asked(
    recommendation: Recommendation, getting: Getting, *, folder: str | None = None, target: Target | None = None
) -> Wish:
    """The packages of a recommendation, for this computer or another one."""
    torch, here = recommendation.pytorch, target if target is not None else getting.system.operating_system()
    arch, known = here.arch or "x86_64", getting.catalog
    serves = torch is not None and known.default_variant(torch.version, here.system, arch) == torch.variant
    python = str(recommendation.python)
    held = known.held_for(torch.version if torch is not None else None, here.system)
    return wish(recommendation, python=python, folder=folder, serves_variant=serves, held=held, target=target)


def _settled(lock: Lock, work: Work) -> Outcome:
    work.lock = lock
    for package in lock.packages:
        check_file(package.file)
    standing = ours(work.environment, work.data)
    if standing is not None and standing.lock != lock.identity:
        raise AppError("environment-differs", path=str(work.environment))
    work.damaged = wrecked(work.environment, work.data)
    if work.damaged:
        _refuse_other(lock, work.environment)
    if standing is not None:
        work.damaged = damage(work.environment, standing, work.system)
    if work.damaged and (work.environment / META).is_dir():
        # conda writes a folder's path into its files: none can be made beside it.
        raise AppError("environment-damaged", path=str(work.environment), files=named(work.damaged))
    work.standing = standing is not None and not work.damaged
    waiting = built(work.plan, work.journal)
    work.built = waiting is not None and waiting.lock == lock.identity
    found = {"PyTorch": lock.version("torch"), "TensorFlow": lock.version("tensorflow")}
    told = " + ".join(f"{name} {version}" for name, version in found.items() if version is not None)
    return Outcome(code="progress.resolved", data={"count": len(lock.packages), "release": told})


def _refuse_other(lock: Lock, environment: Path) -> None:
    """Where its own notes do not tell it any more, the packages tell whether it is the environment that is wanted."""
    there = {package.name for package in owned.packages(environment)}
    for name in ("torch", "tensorflow"):
        wanted = lock.version(name)
        found = next((each for each in there if each.startswith(f"{name} ")), None)
        if found is not None and found != f"{name} {wanted}":
            raise AppError("environment-differs", path=str(environment))


def _refuse_choice(torch: PyTorchChoice, ground: Ground) -> None:
    versions = [v for v in (torch.version, torch.torchvision, torch.torchaudio) if v is not None]
    if not all(_VERSION.match(version) for version in versions) or _VARIANT.match(torch.variant) is None:
        raise refused(f"pytorch: {torch.version} {torch.variant} {torch.torchvision} {torch.torchaudio}")
    # Packages run code: only an address that the catalog names for some build may bring them.
    known = {variant.index_url for release in ground.catalog.releases for variant in release.variants}
    if torch.index_url is not None and torch.index_url not in known:
        raise refused(f"index_url: {torch.index_url}")


def _refuse_tensorflow(flow: TensorFlowChoice, ground: Ground) -> None:
    """Only a requirement of the catalog, with or without its extra, and the cuDNN that the catalog holds back."""
    known = {build.requirement for build in ground.catalog.tensorflow.builds}
    known |= {_EXTRA.sub("", requirement) for requirement in known}
    if flow.requirement not in known or _VERSION.match(flow.version) is None:
        raise refused(f"tensorflow: {flow.requirement} {flow.version}")
    cudnn = ground.catalog.cudnn
    held = {f"{package}=={cudnn.last_for_old_chips.version}" for package in cudnn.wheel_packages.values()}
    if not held.issuperset(flow.constraints):
        raise refused(f"tensorflow: {' '.join(flow.constraints)}")


def _wish(draft: Draft) -> Wish:
    """What is asked of the publishers, whatever a folder of wheels has of it."""
    torch, system = draft.recommendation.pytorch, draft.machine.os.system
    held = draft.catalog.held_for(torch.version if torch is not None else None, system)
    return wish(draft.recommendation, python=draft.series, folder=None, serves_variant=False, held=held)


def _compile(draft: Draft) -> tuple[str, ...]:
    """What a person would type for the lock, with the requirements in `requirements.in`."""
    # A folder of this computer's means nothing on the one of a machine file.
    folder = draft.wheelhouse if not draft.simulated else None
    where: tuple[str, ...] = ("--find-links", str(folder)) if folder is not None else ()
    torch = draft.recommendation.pytorch
    if torch is not None and torch.index_url is not None:
        where += ("--index", torch.index_url)
    return ("uv", "pip", "compile", "requirements.in", "--python-version", draft.series, *where, "-o", "pylock.toml")

"""NVIDIA's driver: its own package on Windows, the distribution's packages on Linux, else what to do by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct, structs

from ...core.errors import AppError, RightsRefused
from ...core.names import Value
from ...core.plan import Plan, PlanFile, Step
from ...core.recommendation import DriverAdvice
from ...fetch.wanted import Wanted
from ..door.ask import Door
from ..door.packages import known
from ..draft import Draft
from ..driver import linux, windows
from ..driver.installed import enough, installed
from ..effects import Effect, ProgramInstalled
from ..fetching import fetch
from ..journal import Why
from ..place import Ground, Place
from ..undoing import Sight
from ..untrusted import check_file
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused, spec_of

WINDOWS, LINUX, LINUX_AFTER, SECURE_BOOT, SECURE_BOOT_AFTER = (
    "nvidia-driver",
    "nvidia-driver-linux",
    "nvidia-driver-linux-after",
    "nvidia-driver-secure-boot",
    "nvidia-driver-secure-boot-after",
)
BY_HAND, SOURCE, UNSURE, PAGE, OUTSIDE, BACK, BACK_PAGE, COMMANDS, COMMANDS_KEY, COMMANDS_UNKNOWN_KEY, DISTRIBUTION = (
    "nvidia-driver-by-hand",
    "nvidia-driver-source",
    "nvidia-driver-unsure",
    "nvidia-driver-page",
    "nvidia-driver-outside",
    "nvidia-driver-back",
    "nvidia-driver-back-page",
    "nvidia-driver-commands",
    "nvidia-driver-commands-key",
    "nvidia-driver-commands-secure-boot",
    "nvidia-driver-distribution",
)
# Of these there is one for a driver whose number is known or picked, and one for a card that newer drivers have left
# out, which names the first of them.
NAMED = {code: f"{code}-named" for code in (UNSURE, OUTSIDE, DISTRIBUTION)}
BELOW = {code: f"{code}-below" for code in (UNSURE, OUTSIDE, DISTRIBUTION)}
# The same where Secure Boot has to be told the key of the modules besides.
SOURCE_KEY = "nvidia-driver-source-key"
TO_DO = (
    *(BY_HAND, SOURCE, SOURCE_KEY, PAGE, BACK, BACK_PAGE, COMMANDS, COMMANDS_KEY, COMMANDS_UNKNOWN_KEY),
    *(*BELOW, *NAMED.values(), *BELOW.values()),
)


class Spec(Struct, frozen=True, forbid_unknown_fields=True):
    """`version`: this driver or a newer one is enough, if it is older than `below`; `packages` of the distribution,
    none where a file has it.
    """

    version: str
    packages: tuple[str, ...] = ()
    below: str | None = None


def _door(work: Work) -> Door:
    return Door(work.data.state, work.system, cancel=work.cancel)


class NvidiaDriver(Kind):
    """`door` and `here` replace the way to administrator rights, and the look at what is installed."""

    name: ClassVar[str] = "nvidia-driver"
    apart: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = (WINDOWS, LINUX, LINUX_AFTER, SECURE_BOOT, SECURE_BOOT_AFTER, *TO_DO)

    def __init__(self, door: Callable[[Work], Door] = _door, here: Callable[..., str | None] = installed) -> None:
        self._door, self._here = door, here

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step where the driver has to change."""
        advice, machine = draft.recommendation.driver, draft.machine
        if not advice.changes or (advice.recommended is None and advice.minimum is None):
            return ()
        version = advice.recommended
        if advice.action == "back":
            return (_on_page(draft, advice, BACK_PAGE) if version is None else _back(draft, advice, version),)
        if advice.way in ("commands", "page"):
            return (_taught(draft, advice),)
        if advice.way == "unsure":
            return (_unsure(draft, advice, linux.nvidia_source(machine, draft.catalog)),)
        if version is None or machine.os.wsl:
            return (_on_page(draft, advice, OUTSIDE if machine.os.wsl else PAGE),)
        windows_here = machine.os.system == "windows"
        return (self._windows(draft, advice, version) if windows_here else self._linux(draft, advice, version),)

    def _windows(self, draft: Draft, advice: DriverAdvice, version: str) -> Step:
        package, facts = windows.package(advice.url, draft.catalog), draft.catalog.drivers.windows_install
        if package is None or package.url is None or facts is None:
            return _by_hand(advice, version, (), page=_page(draft, advice))
        size = draft.file_extent(package.url).bytes
        file = PlanFile(url=package.url, name=_file_name(package.url), sha256=package.sha256, bytes=size)
        return Step(
            id="driver",
            kind=self.name,
            code=WINDOWS,
            data={"version": package.version, "installed": advice.installed or "@driver.none"},
            spec={"version": package.version},
            bytes=size,
            disk_bytes=None,
            needs_admin=True,
            needs_reboot=True,
            commands=((file.name, *facts.arguments, *facts.components),),
            files=(file,),
        )

    def _linux(self, draft: Draft, advice: DriverAdvice, version: str) -> Step:
        machine, catalog, names = draft.machine, draft.catalog, advice.packages
        page, branch = linux.nvidia_source(machine, catalog), linux.release_branch(machine, catalog)
        if advice.way == "nvidia-source" and page is not None:
            step = _by_hand(advice, version, ())
            data = {**step.data, "commands": page, "branch": branch, "minimum": advice.minimum}
            if machine.os.secure_boot is not True or not linux.key_known(machine.os, catalog):
                return structs.replace(step, code=SOURCE, data=data)
            words = linux.enrolment(machine.os, catalog)
            data["enrol"] = " ".join(words)
            return structs.replace(step, code=SOURCE_KEY, data=data, commands=(words,))
        if advice.way != "packages":
            return _by_hand(advice, version, linux.by_hand(version, catalog))
        unknown = machine.os.secure_boot is True and not linux.signed(names, machine, catalog)
        needs = linux.first(machine, catalog)
        plain, key = (LINUX_AFTER, SECURE_BOOT_AFTER) if needs else (LINUX, SECURE_BOOT)
        return Step(
            id="driver",
            kind=self.name,
            code=key if unknown else plain,
            data={
                "version": version,
                "installed": advice.installed or "@driver.none",
                "packages": " ".join(names),
                "boot": None if unknown else linux.boot_words(names, machine, catalog),
                "enrol": " ".join(linux.enrolment(machine.os, catalog)) if unknown else None,
                "needs": ", ".join(needs) or None,
            },
            spec={"version": advice.minimum or version, "packages": list(names), **_limit(advice)},
            bytes=None,
            needs_admin=True,
            needs_reboot=True,
            commands=linux.to_type(names),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """A package of the catalog, or names that it knows for this distribution."""
        refuse_fields(step, files=True, spec=True)
        spec = spec_of(step, Spec)
        if step.code in TO_DO and (step.files or spec.packages):
            raise refused(f"{step.id}: {step.code}")
        if step.files:
            (file,) = step.files if len(step.files) == 1 else (None,)
            package = windows.package(file.url, ground.catalog) if file is not None else None
            if file is None or package is None or (package.version, package.sha256) != (spec.version, file.sha256):
                raise refused(f"{step.id}: files")
            check_file(file)
        if spec.packages and not plan.simulated:
            if step.files:
                raise refused(f"{step.id}: packages")
            try:
                names = known(ground.system.operating_system(), ground.catalog)
            except AppError as error:
                raise refused(f"{step.id}: packages") from error
            if not all(names.match(name) for name in spec.packages):
                raise refused(f"{step.id}: {', '.join(spec.packages)}")

    def done(self, step: Step, work: Work) -> Outcome | None:
        """The driver that is here is enough, or it is not ours to install."""
        spec = spec_of(step, Spec)
        here, wanted = self._here(work.system), spec.version
        # Which older one it shall be, nobody here knows: the check after it shows whether it serves the card.
        if step.code == BACK_PAGE:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        # Back to an older one: what is here must not be newer.
        if here is not None and (enough(wanted, here) if step.code == BACK else _fits(here, spec)):
            return Outcome(code="progress.driver-here", data={"version": here})
        if step.code in TO_DO:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        return None

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises RightsRefused, what fetching raises, and AppError for what an installer says no to."""
        spec = spec_of(step, Spec)
        before = self._here(work.system)
        effect = ProgramInstalled(name=self.name, after=spec.version, before=before)
        return self._run_package(step, work, effect) if step.files else self._run_names(step, work, effect, spec)

    def _run_package(self, step: Step, work: Work, effect: ProgramInstalled) -> Outcome:
        facts, file = work.catalog.drivers.windows_install, step.files[0]
        if facts is None:
            raise refused(step.id)
        wanted = Wanted(url=file.url, path=work.data.files / file.name, sha256=file.sha256, bytes=file.bytes)
        (path,) = fetch(work, [wanted])
        work.reporter.progress(done=0, total=None, unit="items", bottleneck="consent", code="progress.driver-asking")
        with work.effect(step, effect):
            answer = self._door(work).windows_driver(path, file.sha256)
            restart = windows.driver_restart(answer.exit_code or 0, effect.after, facts)
        noted = "" if answer.restore_point else "-unnoted"
        return Outcome(code=f"progress.driver-installed{noted}", restart=restart)

    def _run_names(self, step: Step, work: Work, effect: ProgramInstalled, spec: Spec) -> Outcome:
        work.reporter.progress(done=0, total=None, unit="items", bottleneck="consent", code="progress.driver-packages")
        try:
            with work.effect(step, effect):
                answer = self._door(work).linux_packages(spec.packages, spec.version)
                if answer.exit_code != 0:
                    last = answer.lines[-1] if answer.lines else None
                    raise AppError("driver-packages-failed", status=answer.exit_code, detail=last)
        except RightsRefused as error:
            if error.code == "rights-no-way":
                commands = "; ".join(" ".join(words) for words in linux.to_type(spec.packages))
                raise RightsRefused("driver-by-hand", commands=commands) from error
            raise
        # Secure Boot's question comes with the restart: it has to be explained before.
        if step.code in (SECURE_BOOT, SECURE_BOOT_AFTER):
            enrol = " ".join(linux.enrolment(work.system.operating_system(), work.catalog))
            return Outcome(code="progress.driver-restart-key", data={"enrol": enrol}, restart=True)
        return Outcome(code="progress.driver-restart", restart=True)

    def look(self, effect: Effect, place: Place) -> Sight:
        """By the driver that answers; after an installation it may be the old one until the restart."""
        if not isinstance(effect, ProgramInstalled):
            return super().look(effect, place)
        here = self._here(place.system)
        if here == effect.before:
            # What was installed answers after the restart: until then nobody says that it is not there.
            return "made" if place.system.pending_reboot() else "before"
        return "made" if here is not None and enough(here, effect.after) else "changed"

    def undo(self, effect: Effect, place: Place) -> Why | None:
        """A driver cannot simply be taken away: it stays, and the step's words say how to go back."""
        if not isinstance(effect, ProgramInstalled):
            return super().undo(effect, place)
        return None if self.look(effect, place) == "before" else "system"

    def leaving(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:
        """How to go back, which on Linux are the packages that the step brought."""
        told = step.data if step is not None else {}
        before: Value = effect.before or "@driver.none"
        data: dict[str, Value] = {"version": told.get("version") or effect.after, "before": before}
        if step is None or not step.spec.get("packages"):
            return "leave-driver", data
        return "leave-driver-packages", data | {"packages": " ".join(spec_of(step, Spec).packages)}


def _fits(here: str, spec: Spec) -> bool:
    """Whether a driver does; one that serves another card here may have left this step's behind."""
    return enough(here, spec.version) and not (spec.below is not None and enough(here, spec.below))


def _back(draft: Draft, advice: DriverAdvice, version: str) -> Step:
    """An older driver in place of a newer one: installers refuse that, or leave halves, so a person does it."""
    if draft.machine.os.system == "windows" or draft.machine.os.wsl:
        step = _by_hand(advice, version, (), page=_page(draft, advice))
    else:
        if advice.way == "page":
            return structs.replace(_taught(draft, advice), code=BACK, spec={"version": version})
        ours = linux.to_type(advice.packages) if advice.way == "packages" else advice.commands
        step = _by_hand(advice, version, ours or linux.by_hand(version, draft.catalog))
    return structs.replace(step, code=BACK, spec={"version": version})


def _unsure(draft: Draft, advice: DriverAdvice, page: str | None) -> Step:
    """The distribution has packages, but nobody here knows which driver they bring: a look shows it."""
    step = _by_hand(advice, advice.recommended or advice.minimum or "", linux.to_ask(advice.packages[0]))
    wanted: dict[str, Value] = {
        "minimum": advice.minimum,
        "package": advice.packages[0],
        "packages": " ".join(advice.packages),
        "page": page or draft.catalog.source(draft.catalog.drivers, "nvidia"),
    }
    return structs.replace(step, code=_numbered(advice, UNSURE), data={**step.data, **wanted})


def _taught(draft: Draft, advice: DriverAdvice) -> Step:
    """What the distribution's own documentation teaches: its commands, else the page that has them."""
    step = _by_hand(advice, advice.recommended or advice.minimum or "", advice.commands, page=advice.page)
    chain = "; ".join(" ".join(words) for words in advice.commands)
    code, data = COMMANDS_KEY if advice.key else COMMANDS, {**step.data, "minimum": advice.minimum}
    if advice.way == "page":
        code = _numbered(advice, DISTRIBUTION)
    elif linux.signing_unknown(advice, draft.machine.os, draft.catalog):
        code, data["page"] = COMMANDS_UNKNOWN_KEY, linux.signing_page(draft.machine.os, draft.catalog)
    return structs.replace(step, code=code, data={**data, "commands": chain or advice.page}, needs_reboot=False)


def _page(draft: Draft, advice: DriverAdvice) -> str | None:
    """Where NVIDIA has the driver; an address is no command, and is told in the step's words."""
    return advice.url or draft.catalog.source(draft.catalog.drivers, "nvidia")


def _on_page(draft: Draft, advice: DriverAdvice, code: str) -> Step:
    """A driver whose number nobody knows, or that belongs to the Windows around this Linux."""
    step = _by_hand(advice, advice.recommended or advice.minimum or "", (), page=_page(draft, advice))
    lowest = advice.minimum or advice.recommended or ""
    return structs.replace(step, code=_numbered(advice, code), data={**step.data, "minimum": lowest})


def _numbered(advice: DriverAdvice, code: str) -> str:
    """The words with the one number to install, where it is known; else with the bounds of those that do."""
    if advice.recommended is not None:
        return NAMED.get(code, code)
    return BELOW.get(code, code) if advice.below is not None else code


def _limit(advice: DriverAdvice) -> dict[str, Value]:
    return {} if advice.below is None else {"below": advice.below}


def _by_hand(advice: DriverAdvice, version: str, commands: linux.Commands, *, page: str | None = None) -> Step:
    text, bound = page or "; ".join(" ".join(words) for words in commands), _limit(advice)
    return Step(
        id="driver",
        kind=NvidiaDriver.name,
        code=BY_HAND,
        data={"version": version, "installed": advice.installed or "@driver.none", "commands": text or None, **bound},
        spec={"version": advice.minimum or version, **bound},
        bytes=0,
        disk_bytes=0,
        minutes=0.0,
        commands=commands,
    )


def _file_name(url: str) -> str:
    return PurePosixPath(unquote(urlsplit(url).path)).name

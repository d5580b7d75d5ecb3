"""NVIDIA's driver: its own package on Windows, the distribution's packages on Linux, else what to do by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct, structs

from ...core.errors import AppError, ElevationDenied
from ...core.names import Value
from ...core.plan import Plan, PlanFile, Step
from ...core.recommendation import DriverAdvice
from ...fetch.wanted import Wanted
from ..door.ask import ElevationClient
from ..door.packages import allowed_packages
from ..draft import PlanBuilder
from ..driver import linux, windows
from ..driver.installed import is_sufficient, installed_driver
from ..effects import Effect, ProgramInstalled
from ..fetching import download_files
from ..journal import RetentionReason
from ..place import ValidationContext, Host
from ..undoing import EffectState
from ..untrusted import check_plan_file
from ..work import Outcome, InstallContext
from .kind import StepKind, check_fields, plan_refused_error, parse_spec

WINDOWS_CODE, LINUX_CODE, LINUX_AFTER_CODE, SECURE_BOOT_CODE, SECURE_BOOT_AFTER_CODE = (
    "nvidia-driver",
    "nvidia-driver-linux",
    "nvidia-driver-linux-after",
    "nvidia-driver-secure-boot",
    "nvidia-driver-secure-boot-after",
)
MANUAL_CODE, REPOSITORY_CODE, UNKNOWN_VERSION_CODE, PAGE_CODE, WSL_HOST_CODE, DOWNGRADE_CODE, DOWNGRADE_PAGE_CODE, COMMANDS_CODE, COMMANDS_KEY_CODE, COMMANDS_SECURE_BOOT_CODE, DISTRIBUTION_CODE = (
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
NAMED_CODES = {code: f"{code}-named" for code in (UNKNOWN_VERSION_CODE, WSL_HOST_CODE, DISTRIBUTION_CODE)}
BELOW_CODES = {code: f"{code}-below" for code in (UNKNOWN_VERSION_CODE, WSL_HOST_CODE, DISTRIBUTION_CODE)}
# The same where Secure Boot has to be told the key of the modules besides.
REPOSITORY_KEY_CODE = "nvidia-driver-source-key"
MANUAL_CODES = (
    *(MANUAL_CODE, REPOSITORY_CODE, REPOSITORY_KEY_CODE, PAGE_CODE, DOWNGRADE_CODE, DOWNGRADE_PAGE_CODE, COMMANDS_CODE, COMMANDS_KEY_CODE, COMMANDS_SECURE_BOOT_CODE),
    *(*BELOW_CODES, *NAMED_CODES.values(), *BELOW_CODES.values()),
)


class DriverSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """`version`: this driver or a newer one is enough, if it is older than `below`; `packages` of the distribution,
    none where a file has it.
    """

    version: str
    packages: tuple[str, ...] = ()
    below: str | None = None


def _elevation_client(context: InstallContext) -> ElevationClient:
    return ElevationClient(context.data.state, context.system, cancel=context.cancel)


class NvidiaDriverInstall(StepKind):
    """`door` and `here` replace the way to administrator rights, and the look at what is installed."""

    name: ClassVar[str] = "nvidia-driver"
    external_installer: ClassVar[bool] = True
    codes: ClassVar[tuple[str, ...]] = (WINDOWS_CODE, LINUX_CODE, LINUX_AFTER_CODE, SECURE_BOOT_CODE, SECURE_BOOT_AFTER_CODE, *MANUAL_CODES)

    def __init__(self, make_client: Callable[[InstallContext], ElevationClient] = _elevation_client, find_installed: Callable[..., str | None] = installed_driver) -> None:
        self._make_client, self._installed_driver = make_client, find_installed

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where the driver has to change."""
        advice, machine = builder.recommendation.driver, builder.machine
        if not advice.needs_install or (advice.recommended is None and advice.minimum is None):
            return ()
        version = advice.recommended
        if advice.action == "back":
            return (_page_step(builder, advice, DOWNGRADE_PAGE_CODE) if version is None else _downgrade_step(builder, advice, version),)
        if advice.way in ("commands", "page"):
            return (_distribution_step(builder, advice),)
        if advice.way == "unsure":
            return (_unknown_version_step(builder, advice, linux.nvidia_repository_page(machine, builder.catalog)),)
        if version is None or machine.os.wsl:
            return (_page_step(builder, advice, WSL_HOST_CODE if machine.os.wsl else PAGE_CODE),)
        is_windows = machine.os.system == "windows"
        return (self._windows_step(builder, advice, version) if is_windows else self._linux_step(builder, advice, version),)

    def _windows_step(self, builder: PlanBuilder, advice: DriverAdvice, version: str) -> Step:
        package, facts = windows.find_package(advice.url, builder.catalog), builder.catalog.drivers.windows_install
        if package is None or package.url is None or facts is None:
            return _manual_step(advice, version, (), page=_download_page(builder, advice))
        size = builder.file_size(package.url).bytes
        file = PlanFile(url=package.url, name=_file_name(package.url), sha256=package.sha256, bytes=size)
        return Step(
            id="driver",
            kind=self.name,
            code=WINDOWS_CODE,
            data={"version": package.version, "installed": advice.installed or "@driver.none"},
            spec={"version": package.version},
            bytes=size,
            disk_bytes=None,
            needs_admin=True,
            needs_reboot=True,
            commands=((file.name, *facts.arguments, *facts.components),),
            files=(file,),
        )

    def _linux_step(self, builder: PlanBuilder, advice: DriverAdvice, version: str) -> Step:
        machine, catalog, names = builder.machine, builder.catalog, advice.packages
        page, branch = linux.nvidia_repository_page(machine, catalog), linux.distribution_branch(machine, catalog)
        if advice.way == "nvidia-source" and page is not None:
            step = _manual_step(advice, version, ())
            data = {**step.data, "commands": page, "branch": branch, "minimum": advice.minimum}
            if machine.os.secure_boot is not True or not linux.is_key_known(machine.os, catalog):
                return structs.replace(step, code=REPOSITORY_CODE, data=data)
            command = linux.enrollment_command(machine.os, catalog)
            data["enrol"] = " ".join(command)
            return structs.replace(step, code=REPOSITORY_KEY_CODE, data=data, commands=(command,))
        if advice.way != "packages":
            return _manual_step(advice, version, linux.run_file_commands(version, catalog))
        has_unknown_signature = machine.os.secure_boot is True and not linux.has_signed_modules(names, machine, catalog)
        required_packages = linux.prerequisites(machine, catalog)
        plain_code, key_code = (LINUX_AFTER_CODE, SECURE_BOOT_AFTER_CODE) if required_packages else (LINUX_CODE, SECURE_BOOT_CODE)
        return Step(
            id="driver",
            kind=self.name,
            code=key_code if has_unknown_signature else plain_code,
            data={
                "version": version,
                "installed": advice.installed or "@driver.none",
                "packages": " ".join(names),
                "boot": None if has_unknown_signature else linux.secure_boot_text(names, machine, catalog),
                "enrol": " ".join(linux.enrollment_command(machine.os, catalog)) if has_unknown_signature else None,
                "needs": ", ".join(required_packages) or None,
            },
            spec={"version": advice.minimum or version, "packages": list(names), **_upper_bound(advice)},
            bytes=None,
            needs_admin=True,
            needs_reboot=True,
            commands=linux.install_commands(names),
        )

    def validate(self, step: Step, plan: Plan, context: ValidationContext) -> None:
        """A package of the catalog, or names that it knows for this distribution."""
        check_fields(step, allow_files=True, allow_spec=True)
        spec = parse_spec(step, DriverSpec)
        if step.code in MANUAL_CODES and (step.files or spec.packages):
            raise plan_refused_error(f"{step.id}: {step.code}")
        if step.files:
            (file,) = step.files if len(step.files) == 1 else (None,)
            package = windows.find_package(file.url, context.catalog) if file is not None else None
            if file is None or package is None or (package.version, package.sha256) != (spec.version, file.sha256):
                raise plan_refused_error(f"{step.id}: files")
            check_plan_file(file)
        if spec.packages and not plan.simulated:
            if step.files:
                raise plan_refused_error(f"{step.id}: packages")
            try:
                names = allowed_packages(context.system.operating_system(), context.catalog)
            except AppError as error:
                raise plan_refused_error(f"{step.id}: packages") from error
            if not all(names.match(name) for name in spec.packages):
                raise plan_refused_error(f"{step.id}: {', '.join(spec.packages)}")

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """The driver that is here is enough, or it is not ours to install."""
        spec = parse_spec(step, DriverSpec)
        installed_version, required = self._installed_driver(context.system), spec.version
        # Which older one it shall be, nobody here knows: the check after it shows whether it serves the card.
        if step.code == DOWNGRADE_PAGE_CODE:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        # Back to an older one: what is here must not be newer.
        if installed_version is not None and (is_sufficient(required, installed_version) if step.code == DOWNGRADE_CODE else _satisfies(installed_version, spec)):
            return Outcome(code="progress.driver-here", data={"version": installed_version})
        if step.code in MANUAL_CODES:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        return None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises RightsRefused, what fetching raises, and AppError for what an installer says no to."""
        spec = parse_spec(step, DriverSpec)
        previous = self._installed_driver(context.system)
        effect = ProgramInstalled(name=self.name, after=spec.version, before=previous)
        return self._run_package(step, context, effect) if step.files else self._run_packages(step, context, effect, spec)

    def _run_package(self, step: Step, context: InstallContext, effect: ProgramInstalled) -> Outcome:
        facts, file = context.catalog.drivers.windows_install, step.files[0]
        if facts is None:
            raise plan_refused_error(step.id)
        request = Wanted(url=file.url, path=context.data.files / file.name, sha256=file.sha256, bytes=file.bytes)
        (path,) = download_files(context, [request])
        context.reporter.report_progress(done=0, total=None, unit="items", bottleneck="consent", code="progress.driver-asking")
        with context.record_effect(step, effect):
            answer = self._make_client(context).install_windows_driver(path, file.sha256)
            needs_restart = windows.driver_needs_restart(answer.exit_code or 0, effect.after, facts)
        suffix = "" if answer.restore_point else "-unnoted"
        return Outcome(code=f"progress.driver-installed{suffix}", restart=needs_restart)

    def _run_packages(self, step: Step, context: InstallContext, effect: ProgramInstalled, spec: DriverSpec) -> Outcome:
        context.reporter.report_progress(done=0, total=None, unit="items", bottleneck="consent", code="progress.driver-packages")
        try:
            with context.record_effect(step, effect):
                answer = self._make_client(context).install_linux_packages(spec.packages, spec.version)
                if answer.exit_code != 0:
                    last_line = answer.lines[-1] if answer.lines else None
                    raise AppError("driver-packages-failed", status=answer.exit_code, detail=last_line)
        except ElevationDenied as error:
            if error.code == "rights-no-way":
                commands = "; ".join(" ".join(command) for command in linux.install_commands(spec.packages))
                raise ElevationDenied("driver-by-hand", commands=commands) from error
            raise
        # Secure Boot's question comes with the restart: it has to be explained before.
        if step.code in (SECURE_BOOT_CODE, SECURE_BOOT_AFTER_CODE):
            enroll_command = " ".join(linux.enrollment_command(context.system.operating_system(), context.catalog))
            return Outcome(code="progress.driver-restart-key", data={"enrol": enroll_command}, restart=True)
        return Outcome(code="progress.driver-restart", restart=True)

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        """By the driver that answers; after an installation it may be the old one until the restart."""
        if not isinstance(effect, ProgramInstalled):
            return super().effect_state(effect, host)
        installed_version = self._installed_driver(host.system)
        if installed_version == effect.before:
            # What was installed answers after the restart: until then nobody says that it is not there.
            return "made" if host.system.pending_reboot() else "before"
        return "made" if installed_version is not None and is_sufficient(installed_version, effect.after) else "changed"

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """A driver cannot simply be taken away: it stays, and the step's words say how to go back."""
        if not isinstance(effect, ProgramInstalled):
            return super().revert(effect, host)
        return None if self.effect_state(effect, host) == "before" else "system"

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:
        """How to go back, which on Linux are the packages that the step brought."""
        step_data = step.data if step is not None else {}
        previous: Value = effect.before or "@driver.none"
        data: dict[str, Value] = {"version": step_data.get("version") or effect.after, "before": previous}
        if step is None or not step.spec.get("packages"):
            return "leave-driver", data
        return "leave-driver-packages", data | {"packages": " ".join(parse_spec(step, DriverSpec).packages)}


def _satisfies(installed_version: str, spec: DriverSpec) -> bool:
    """Whether a driver does; one that serves another card here may have left this step's behind."""
    return is_sufficient(installed_version, spec.version) and not (spec.below is not None and is_sufficient(installed_version, spec.below))


def _downgrade_step(builder: PlanBuilder, advice: DriverAdvice, version: str) -> Step:
    """An older driver in place of a newer one: installers refuse that, or leave halves, so a person does it."""
    if builder.machine.os.system == "windows" or builder.machine.os.wsl:
        step = _manual_step(advice, version, (), page=_download_page(builder, advice))
    else:
        if advice.way == "page":
            return structs.replace(_distribution_step(builder, advice), code=DOWNGRADE_CODE, spec={"version": version})
        commands = linux.install_commands(advice.packages) if advice.way == "packages" else advice.commands
        step = _manual_step(advice, version, commands or linux.run_file_commands(version, builder.catalog))
    return structs.replace(step, code=DOWNGRADE_CODE, spec={"version": version})


def _unknown_version_step(builder: PlanBuilder, advice: DriverAdvice, page: str | None) -> Step:
    """The distribution has packages, but nobody here knows which driver they bring: a look shows it."""
    step = _manual_step(advice, advice.recommended or advice.minimum or "", linux.policy_commands(advice.packages[0]))
    details: dict[str, Value] = {
        "minimum": advice.minimum,
        "package": advice.packages[0],
        "packages": " ".join(advice.packages),
        "page": page or builder.catalog.source_url(builder.catalog.drivers, "nvidia"),
    }
    return structs.replace(step, code=_versioned_code(advice, UNKNOWN_VERSION_CODE), data={**step.data, **details})


def _distribution_step(builder: PlanBuilder, advice: DriverAdvice) -> Step:
    """What the distribution's own documentation teaches: its commands, else the page that has them."""
    step = _manual_step(advice, advice.recommended or advice.minimum or "", advice.commands, page=advice.page)
    command_line = "; ".join(" ".join(command) for command in advice.commands)
    code, data = COMMANDS_KEY_CODE if advice.key else COMMANDS_CODE, {**step.data, "minimum": advice.minimum}
    if advice.way == "page":
        code = _versioned_code(advice, DISTRIBUTION_CODE)
    elif linux.is_signing_unknown(advice, builder.machine.os, builder.catalog):
        code, data["page"] = COMMANDS_SECURE_BOOT_CODE, linux.signing_page(builder.machine.os, builder.catalog)
    return structs.replace(step, code=code, data={**data, "commands": command_line or advice.page}, needs_reboot=False)


def _download_page(builder: PlanBuilder, advice: DriverAdvice) -> str | None:
    """Where NVIDIA has the driver; an address is no command, and is told in the step's words."""
    return advice.url or builder.catalog.source_url(builder.catalog.drivers, "nvidia")


def _page_step(builder: PlanBuilder, advice: DriverAdvice, code: str) -> Step:
    """A driver whose number nobody knows, or that belongs to the Windows around this Linux."""
    step = _manual_step(advice, advice.recommended or advice.minimum or "", (), page=_download_page(builder, advice))
    minimum = advice.minimum or advice.recommended or ""
    return structs.replace(step, code=_versioned_code(advice, code), data={**step.data, "minimum": minimum})


def _versioned_code(advice: DriverAdvice, code: str) -> str:
    """The words with the one number to install, where it is known; else with the bounds of those that do."""
    if advice.recommended is not None:
        return NAMED_CODES.get(code, code)
    return BELOW_CODES.get(code, code) if advice.below is not None else code


def _upper_bound(advice: DriverAdvice) -> dict[str, Value]:
    return {} if advice.below is None else {"below": advice.below}


def _manual_step(advice: DriverAdvice, version: str, commands: linux.Commands, *, page: str | None = None) -> Step:
    text, upper_bound = page or "; ".join(" ".join(command) for command in commands), _upper_bound(advice)
    return Step(
        id="driver",
        kind=NvidiaDriverInstall.name,
        code=MANUAL_CODE,
        data={"version": version, "installed": advice.installed or "@driver.none", "commands": text or None, **upper_bound},
        spec={"version": advice.minimum or version, **upper_bound},
        bytes=0,
        disk_bytes=0,
        minutes=0.0,
        commands=commands,
    )


def _file_name(url: str) -> str:
    return PurePosixPath(unquote(urlsplit(url).path)).name

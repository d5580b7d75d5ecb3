"""NVIDIA's driver: its own package on Windows, the distribution's packages on Linux, else what to do by hand.

Which NVIDIA driver is here just now, and whether it is enough.

The driver on Linux: what the catalog says of a distribution's packages, and what to type where we install none.

Which packages those are, the recommendation says.

NVIDIA's package for Windows, and Microsoft's runtime: what their exit codes mean.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct, structs

from ...catalog import distributions
from ...core.errors import AppError, ElevationDenied
from ...core.plan import PlanFile, Step
from ...core.recommendation import DriverAdvice
from ...core.types import Value
from ...core.versions import Version, version_text
from ...fetch.request import DownloadRequest
from ..elevation.client import ElevationClient
from ..host import Host
from ..journal.log import Effect, ProgramInstalled, RetentionReason
from ..journal.revert import EffectState
from .base import StepKind, parse_spec, refused
from .context import InstallContext, Outcome, download_files
from .plan_builder import PlanBuilder

if TYPE_CHECKING:
    from ...catalog.records.catalog import DriverPackage
    from ...catalog.records.drivers import LinuxDriverInstall, WindowsDriverInstall
    from ...catalog.records.software import VcRuntimePackage
    from ...catalog.store import Catalog
    from ...core.machine import Machine, OperatingSystem
    from ...system.base import Hardware


def installed_driver(system: Hardware) -> str | None:
    """The version of the driver that answers, or of the one that sleeps; None where there is none."""
    sleeping = system.sleeping_driver()
    if sleeping is not None:
        return sleeping.version
    from ...system.nvml.monitor import NvmlMonitor

    with NvmlMonitor(system) as nvml:
        snapshot = nvml.snapshot()
    return snapshot.driver.version if snapshot is not None else None


def is_sufficient(installed_version: str | None, required: str) -> bool:
    """Whether the driver that is here is the wanted one or newer."""
    installed_numbers, required_numbers = Version.parse(installed_version), Version.parse(required)
    return installed_numbers is not None and required_numbers is not None and installed_numbers >= required_numbers


Commands = tuple[tuple[str, ...], ...]
# The purposes of packages with modules that the distribution signed.
SIGNED_PURPOSES = ("signed_modules", "signed_open_modules")


def has_signed_modules(names: tuple[str, ...], machine: Machine, catalog: Catalog) -> bool:
    """Whether modules that the distribution signed are among its packages, so that Secure Boot takes them."""
    facts = _install_facts(machine, catalog)
    patterns = [facts.packages.get(purpose) for purpose in SIGNED_PURPOSES] if facts is not None else []
    stems = tuple(pattern.partition("{branch}")[0] for pattern in patterns if pattern is not None)
    return bool(stems) and any(name.startswith(stems) for name in names)


def secure_boot_text(names: tuple[str, ...], machine: Machine, catalog: Catalog) -> str:
    """The text that says why Secure Boot asks nothing about these packages at the restart, as far as that is known."""
    if machine.os.secure_boot is False:
        return "@driver.boot.off"
    return "@driver.boot.signed" if has_signed_modules(names, machine, catalog) else "@driver.boot.unknown"


def distribution_branch(machine: Machine, catalog: Catalog) -> str | None:
    """The one branch that this release's own packages bring; None where that is not known."""
    facts = _install_facts(machine, catalog)
    return version_text(distributions.package_branch(facts, machine.os)) if facts is not None else None


def prerequisites(machine: Machine, catalog: Catalog) -> tuple[str, ...]:
    """The package sources and headers that have to be there before the driver's packages can be had."""
    facts = _install_facts(machine, catalog)
    return facts.needs if facts is not None else ()


def nvidia_repository_page(machine: Machine, catalog: Catalog) -> str | None:
    """The page that says how NVIDIA's own packages come to a distribution."""
    facts = _install_facts(machine, catalog)
    if facts is None or facts.nvidia_source is None:
        return None
    return catalog.source_url(catalog.drivers, facts.nvidia_source)


def run_file_commands(version: str, catalog: Catalog) -> Commands:
    """What to type where nothing is known of the distribution: NVIDIA's own installer."""
    segments = (
        package for package in catalog.drivers.packages if (package.system, package.version.text) == ("linux", version)
    )
    is_datacenter = next((package.segment == "datacenter" for package in segments), False)
    pattern = catalog.drivers.address_patterns.get("linux_run_data_center" if is_datacenter else "linux_run")
    if pattern is None:
        return ()
    url = pattern.url.replace("{version}", version)
    return (("curl", "-fLO", url), ("sudo", "sh", PurePosixPath(urlsplit(url).path).name))


def policy_commands(name: str) -> Commands:
    """What shows which version of a package the distribution has."""
    return (("apt-cache", "policy", name),)


def install_commands(names: tuple[str, ...]) -> Commands:
    """The same packages by the user's own hand."""
    return (("sudo", "apt-get", "install", *names),)


def enrollment_command(system: OperatingSystem, catalog: Catalog) -> tuple[str, ...]:
    """What makes the next start ask whether our modules' key is trusted; empty where the catalog does not say."""
    return distributions.enroll_command(catalog.drivers, system)


def is_key_known(system: OperatingSystem, catalog: Catalog) -> bool:
    """Whether the catalog says where this very distribution keeps the key of its modules."""
    return distributions.signing_key_path(catalog.drivers, system) is not None


def is_signing_unknown(advice: DriverAdvice, system: OperatingSystem, catalog: Catalog) -> bool:
    """Whether Secure Boot may refuse the modules that a distribution's own commands bring: nothing is known of their
    signature, and no key is made known to it.
    """
    rows = catalog.drivers.linux_commands
    is_signed = any(row.signed and distributions.fill_commands(row.commands, system) == advice.commands for row in rows)
    return system.secure_boot is True and advice.way == "commands" and not advice.key and not is_signed


def signing_page(system: OperatingSystem, catalog: Catalog) -> str | None:
    """Where the distribution says how its modules are signed; None where no page of it is known."""
    source = distributions.secure_boot_page_source(catalog.drivers, system)
    return catalog.source_url(catalog.drivers, source) if source is not None else None


def _install_facts(machine: Machine, catalog: Catalog) -> LinuxDriverInstall | None:
    return distributions.find_install_method(catalog.drivers, machine.os)


EXIT_CODE_ERRORS = {"no-compatible-card": "driver-no-card", "wrong-package-kind": "driver-wrong-kind"}


def find_package(url: str | None, catalog: Catalog) -> DriverPackage | None:
    """The catalog's record of a package by its address; None where it is not one with a published hash."""
    return next(
        (
            package
            for package in catalog.drivers.packages
            if url is not None and package.url == url and package.system == "windows" and package.sha256 is not None
        ),
        None,
    )


def driver_needs_restart(status: int, version: str, facts: WindowsDriverInstall) -> bool:
    """Whether a driver that its installer put there wants a restart.

    Raises AppError("driver-no-card", "driver-wrong-kind", "driver-failed") for every other code.
    """
    meaning = next(
        (exit_code.means for exit_code in facts.exit_codes if (exit_code.code, exit_code.of) == (status, "driver")),
        "failed",
    )
    if meaning in ("done", "restart"):
        return meaning == "restart"
    raise AppError(EXIT_CODE_ERRORS.get(meaning, "driver-failed"), version=version, status=status)


def vc_redist_needs_restart(status: int, facts: VcRuntimePackage) -> bool:
    """Whether Microsoft's runtime wants a restart; raises AppError("vc-redist-failed")."""
    if status in facts.success_codes:
        return status in facts.restart_codes
    raise AppError("vc-redist-failed", status=status)


WINDOWS_CODE, LINUX_CODE, LINUX_AFTER_CODE, SECURE_BOOT_CODE, SECURE_BOOT_AFTER_CODE = (
    "nvidia-driver",
    "nvidia-driver-linux",
    "nvidia-driver-linux-after",
    "nvidia-driver-secure-boot",
    "nvidia-driver-secure-boot-after",
)
(
    MANUAL_CODE,
    REPOSITORY_CODE,
    UNKNOWN_VERSION_CODE,
    PAGE_CODE,
    WSL_HOST_CODE,
    DOWNGRADE_CODE,
    DOWNGRADE_PAGE_CODE,
    COMMANDS_CODE,
    COMMANDS_KEY_CODE,
    COMMANDS_SECURE_BOOT_CODE,
    DISTRIBUTION_CODE,
) = (
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
    *(
        MANUAL_CODE,
        REPOSITORY_CODE,
        REPOSITORY_KEY_CODE,
        PAGE_CODE,
        DOWNGRADE_CODE,
        DOWNGRADE_PAGE_CODE,
        COMMANDS_CODE,
        COMMANDS_KEY_CODE,
        COMMANDS_SECURE_BOOT_CODE,
    ),
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

    def __init__(
        self,
        make_client: Callable[[InstallContext], ElevationClient] = _elevation_client,
        find_installed: Callable[..., str | None] = installed_driver,
    ) -> None:
        self._make_client, self._installed_driver = make_client, find_installed

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where the driver has to change."""
        advice, machine = builder.recommendation.driver, builder.machine
        if not advice.needs_install or (advice.recommended is None and advice.minimum is None):
            return ()
        version = advice.recommended
        if advice.action == "back":
            return (
                _page_step(builder, advice, DOWNGRADE_PAGE_CODE)
                if version is None
                else _downgrade_step(builder, advice, version),
            )
        if advice.way in ("commands", "page"):
            return (_distribution_step(builder, advice),)
        if advice.way == "unsure":
            return (_unknown_version_step(builder, advice, nvidia_repository_page(machine, builder.catalog)),)
        if version is None or machine.os.wsl:
            return (_page_step(builder, advice, WSL_HOST_CODE if machine.os.wsl else PAGE_CODE),)
        is_windows = machine.os.system == "windows"
        return (
            self._windows_step(builder, advice, version) if is_windows else self._linux_step(builder, advice, version),
        )

    def _windows_step(self, builder: PlanBuilder, advice: DriverAdvice, version: str) -> Step:
        package, facts = find_package(advice.url, builder.catalog), builder.catalog.drivers.windows_install
        if package is None or package.url is None or facts is None:
            return _manual_step(advice, version, (), page=_download_page(builder, advice))
        size = builder.file_extent(package.url).bytes
        file = PlanFile(url=package.url, name=_file_name(package.url), sha256=package.sha256, bytes=size)
        return Step(
            id="driver",
            kind=self.name,
            code=WINDOWS_CODE,
            data={"version": package.version.text, "installed": advice.installed or "@driver.none"},
            spec={"version": package.version.text},
            bytes=size,
            disk_bytes=None,
            needs_admin=True,
            needs_reboot=True,
            commands=((file.name, *facts.arguments, *facts.components),),
            files=(file,),
        )

    def _linux_step(self, builder: PlanBuilder, advice: DriverAdvice, version: str) -> Step:
        machine, catalog, names = builder.machine, builder.catalog, advice.packages
        page, branch = nvidia_repository_page(machine, catalog), distribution_branch(machine, catalog)
        if advice.way == "nvidia-source" and page is not None:
            step = _manual_step(advice, version, ())
            data = {**step.data, "commands": page, "branch": branch, "minimum": advice.minimum}
            if machine.os.secure_boot is not True or not is_key_known(machine.os, catalog):
                return structs.replace(step, code=REPOSITORY_CODE, data=data)
            command = enrollment_command(machine.os, catalog)
            data["enrol"] = " ".join(command)
            return structs.replace(step, code=REPOSITORY_KEY_CODE, data=data, commands=(command,))
        if advice.way != "packages":
            return _manual_step(advice, version, run_file_commands(version, catalog))
        has_unknown_signature = machine.os.secure_boot is True and not has_signed_modules(names, machine, catalog)
        required_packages = prerequisites(machine, catalog)
        plain_code, key_code = (
            (LINUX_AFTER_CODE, SECURE_BOOT_AFTER_CODE) if required_packages else (LINUX_CODE, SECURE_BOOT_CODE)
        )
        return Step(
            id="driver",
            kind=self.name,
            code=key_code if has_unknown_signature else plain_code,
            data={
                "version": version,
                "installed": advice.installed or "@driver.none",
                "packages": " ".join(names),
                "boot": None if has_unknown_signature else secure_boot_text(names, machine, catalog),
                "enrol": " ".join(enrollment_command(machine.os, catalog)) if has_unknown_signature else None,
                "needs": ", ".join(required_packages) or None,
            },
            spec={"version": advice.minimum or version, "packages": list(names), **_upper_bound(advice)},
            bytes=None,
            needs_admin=True,
            needs_reboot=True,
            commands=install_commands(names),
        )

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """The driver that is here is enough, or it is not ours to install."""
        spec = parse_spec(step, DriverSpec)
        here, wanted = self._installed_driver(context.system), spec.version
        # Which older one it shall be, nobody here knows: the check after it shows whether it serves the card.
        if step.code == DOWNGRADE_PAGE_CODE:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        # Back to an older one: what is here must not be newer.
        if here is not None and (
            is_sufficient(wanted, here) if step.code == DOWNGRADE_CODE else _satisfies(here, spec)
        ):
            return Outcome(code="progress.driver-here", data={"version": here})
        if step.code in MANUAL_CODES:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        return None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises RightsRefused, what fetching raises, and AppError for what an installer says no to."""
        spec = parse_spec(step, DriverSpec)
        previous = self._installed_driver(context.system)
        effect = ProgramInstalled(name=self.name, after=spec.version, before=previous)
        return (
            self._run_package(step, context, effect) if step.files else self._run_packages(step, context, effect, spec)
        )

    def _run_package(self, step: Step, context: InstallContext, effect: ProgramInstalled) -> Outcome:
        facts, file = context.catalog.drivers.windows_install, step.files[0]
        if facts is None:
            raise refused(step.id)
        request = DownloadRequest(file=file.remote, path=context.data.files / file.name)
        (path,) = download_files(context.downloads, [request])
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="consent", code="progress.driver-asking"
        )
        with context.effect(step, effect):
            answer = self._make_client(context).install_windows_driver(path, file.sha256)
            needs_restart = driver_needs_restart(answer.exit_code or 0, effect.after, facts)
        suffix = "" if answer.restore_point else "-unnoted"
        return Outcome(code=f"progress.driver-installed{suffix}", restart=needs_restart)

    def _run_packages(self, step: Step, context: InstallContext, effect: ProgramInstalled, spec: DriverSpec) -> Outcome:
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="consent", code="progress.driver-packages"
        )
        try:
            with context.effect(step, effect):
                answer = self._make_client(context).install_linux_packages(spec.packages, spec.version)
                if answer.exit_code != 0:
                    last_line = answer.lines[-1] if answer.lines else None
                    raise AppError("driver-packages-failed", status=answer.exit_code, detail=last_line)
        except ElevationDenied as error:
            if error.code == "rights-no-way":
                commands = "; ".join(" ".join(command) for command in install_commands(spec.packages))
                raise ElevationDenied("driver-by-hand", commands=commands) from error
            raise
        # Secure Boot's question comes with the restart: it has to be explained before.
        if step.code in (SECURE_BOOT_CODE, SECURE_BOOT_AFTER_CODE):
            enroll_command = " ".join(enrollment_command(context.system.operating_system(), context.catalog))
            return Outcome(code="progress.driver-restart-key", data={"enrol": enroll_command}, restart=True)
        return Outcome(code="progress.driver-restart", restart=True)

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        """By the driver that answers; after an installation it may be the old one until the restart."""
        if not isinstance(effect, ProgramInstalled):
            return super().effect_state(effect, host)
        here = self._installed_driver(host.system)
        if here == effect.before:
            # What was installed answers after the restart: until then nobody says that it is not there.
            return "made" if host.system.pending_reboot() else "before"
        return "made" if here is not None and is_sufficient(here, effect.after) else "changed"

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """A driver cannot simply be taken away: it stays, and the step's words say how to go back."""
        if not isinstance(effect, ProgramInstalled):
            return super().revert(effect, host)
        return None if self.effect_state(effect, host) == "before" else "system"

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:
        """How to go back, which on Linux are the packages that the step brought."""
        told = step.data if step is not None else {}
        before: Value = effect.before or "@driver.none"
        data: dict[str, Value] = {"version": told.get("version") or effect.after, "before": before}
        if step is None or not step.spec.get("packages"):
            return "leave-driver", data
        return "leave-driver-packages", data | {"packages": " ".join(parse_spec(step, DriverSpec).packages)}


def _satisfies(installed_version: str, spec: DriverSpec) -> bool:
    """Whether a driver does; one that serves another card here may have left this step's behind."""
    return is_sufficient(installed_version, spec.version) and not (
        spec.below is not None and is_sufficient(installed_version, spec.below)
    )


def _downgrade_step(builder: PlanBuilder, advice: DriverAdvice, version: str) -> Step:
    """An older driver in place of a newer one: installers refuse that, or leave halves, so a person does it."""
    if builder.machine.os.system == "windows" or builder.machine.os.wsl:
        step = _manual_step(advice, version, (), page=_download_page(builder, advice))
    else:
        if advice.way == "page":
            return structs.replace(_distribution_step(builder, advice), code=DOWNGRADE_CODE, spec={"version": version})
        commands = install_commands(advice.packages) if advice.way == "packages" else advice.commands
        step = _manual_step(advice, version, commands or run_file_commands(version, builder.catalog))
    return structs.replace(step, code=DOWNGRADE_CODE, spec={"version": version})


def _unknown_version_step(builder: PlanBuilder, advice: DriverAdvice, page: str | None) -> Step:
    """The distribution has packages, but nobody here knows which driver they bring: a look shows it."""
    step = _manual_step(advice, advice.recommended or advice.minimum or "", policy_commands(advice.packages[0]))
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
    elif is_signing_unknown(advice, builder.machine.os, builder.catalog):
        code, data["page"] = COMMANDS_SECURE_BOOT_CODE, signing_page(builder.machine.os, builder.catalog)
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


def _manual_step(advice: DriverAdvice, version: str, commands: Commands, *, page: str | None = None) -> Step:
    text, upper_bound = page or "; ".join(" ".join(command) for command in commands), _upper_bound(advice)
    return Step(
        id="driver",
        kind=NvidiaDriverInstall.name,
        code=MANUAL_CODE,
        data={
            "version": version,
            "installed": advice.installed or "@driver.none",
            "commands": text or None,
            **upper_bound,
        },
        spec={"version": advice.minimum or version, **upper_bound},
        bytes=0,
        disk_bytes=0,
        minutes=0.0,
        commands=commands,
    )


def _file_name(url: str) -> str:
    return PurePosixPath(unquote(urlsplit(url).path)).name

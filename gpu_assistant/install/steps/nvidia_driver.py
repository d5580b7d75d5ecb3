"""NVIDIA's driver: installed from NVIDIA's package on Windows and from the distribution's packages on Linux.

Everywhere else the step shows the user what to do: an unknown distribution, NVIDIA's own repository, WSL, a driver that
has to be replaced by an older one. `advise/drivers.py` recommends the version and the way (`DriverAdvice`); installing
goes through `elevation/client.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct, structs

from ...catalog import distributions
from ...core.errors import AppError, ElevationDenied, NetworkError
from ...core.plan import PlanFile, Step
from ...core.plan_cost import SIMILAR_BYTES
from ...core.recommendation import DriverAdvice
from ...core.types import Value
from ...core.versions import Version, version_text
from ...fetch.request import DownloadRequest
from ...system.processes import gather_with_timeout
from ..elevation.client import ElevationClient
from ..elevation.packages import KEPT_PACKAGES, apt_removal, present_packages
from ..elevation.protocol import MAX_PACKAGES
from ..host import Host
from ..journal.log import ProgramInstalled
from ..journal.revert import EffectState
from .base import ProgramInstall, parse_spec, plan_error
from .context import ElevationContext, InstallContext, Outcome, RemovalContext, download_files
from .plan_builder import PlanBuilder

if TYPE_CHECKING:
    from ...catalog.records.drivers import LinuxDriverInstall, WindowsDriverInstall
    from ...catalog.store import Catalog
    from ...core.machine import Machine, OperatingSystem
    from ...system.base import Hardware

Commands = tuple[tuple[str, ...], ...]

# The texts of the step: installed by us; on Linux maybe after packages that the user installs first, and where Secure
# Boot asks to enroll a key at the restart.
WINDOWS_CODE = "nvidia-driver"
LINUX_CODE = "nvidia-driver-linux"
LINUX_AFTER_CODE = "nvidia-driver-linux-after"
SECURE_BOOT_CODE = "nvidia-driver-secure-boot"
SECURE_BOOT_AFTER_CODE = "nvidia-driver-secure-boot-after"
# Left to the user: with a page or commands; from NVIDIA's repository, where a key may have to be enrolled; from the
# distribution; on the Windows around WSL; back to an older driver.
MANUAL_CODE = "nvidia-driver-by-hand"
MANUAL_WINDOWS_CODE = "nvidia-driver-by-hand-windows"
PAGE_CODE = "nvidia-driver-page"
REPOSITORY_CODE = "nvidia-driver-source"
REPOSITORY_KEY_CODE = "nvidia-driver-source-key"
UNKNOWN_VERSION_CODE = "nvidia-driver-unsure"
DISTRIBUTION_CODE = "nvidia-driver-distribution"
COMMANDS_CODE = "nvidia-driver-commands"
COMMANDS_KEY_CODE = "nvidia-driver-commands-key"
COMMANDS_SECURE_BOOT_CODE = "nvidia-driver-commands-secure-boot"
WSL_HOST_CODE = "nvidia-driver-outside"
DOWNGRADE_CODE = "nvidia-driver-back"
DOWNGRADE_PAGE_CODE = "nvidia-driver-back-page"
# Variants of these texts that name the one version to install, or the first one that no longer supports the GPU.
_VERSIONED_CODES = (UNKNOWN_VERSION_CODE, WSL_HOST_CODE, DISTRIBUTION_CODE)
NAMED_CODES = {code: f"{code}-named" for code in _VERSIONED_CODES}
BELOW_CODES = {code: f"{code}-below" for code in _VERSIONED_CODES}
MANUAL_CODES = (
    *(
        MANUAL_CODE,
        MANUAL_WINDOWS_CODE,
        PAGE_CODE,
        REPOSITORY_CODE,
        REPOSITORY_KEY_CODE,
        DOWNGRADE_CODE,
        DOWNGRADE_PAGE_CODE,
    ),
    *(COMMANDS_CODE, COMMANDS_KEY_CODE, COMMANDS_SECURE_BOOT_CODE),
    *(*_VERSIONED_CODES, *NAMED_CODES.values(), *BELOW_CODES.values()),
)
# The catalog's purposes of packages with kernel modules that the distribution has signed.
SIGNED_PURPOSES = ("signed_modules", "signed_open_modules")
# In `ProgramInstalled.details`: the packages that the installation added, with spaces between.
PACKAGES_KEY = "packages"
NVML_TIMEOUT_S = 10.0  # a driver whose answer takes longer hangs
_PACKAGE_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]{1,80}(?::[a-z0-9]{2,12})?\Z")
EXIT_CODE_ERRORS = {"no-compatible-card": "driver-no-card", "wrong-package-kind": "driver-wrong-kind"}


class DriverSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """Drivers from `version` on, and before `below`, suffice. `packages` of the distribution: none if the step has a
    file or is left to the user.
    """

    version: str
    packages: tuple[str, ...] = ()
    below: str | None = None


class NvidiaDriverInstall(ProgramInstall):
    """`find_installed` replaces the query for the installed driver in tests."""

    name: ClassVar[str] = "nvidia-driver"

    def __init__(
        self,
        make_client: Callable[[ElevationContext], ElevationClient] = lambda context: context.elevation_client(),
        find_installed: Callable[[Hardware], str | None] | None = None,
    ) -> None:
        super().__init__(make_client)
        self._installed_driver = find_installed or installed_driver

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step if the driver has to change."""
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
        catalog, facts = builder.catalog, builder.catalog.drivers.windows_install
        if advice.url is None or facts is None or not catalog.is_driver_installer(advice.url, version):
            step = _manual_step(builder, advice, version, (), page=_download_page(builder, advice))
            return structs.replace(step, code=MANUAL_WINDOWS_CODE)
        size = builder.remote_size(advice.url).bytes
        checksum = catalog.driver_checksum(advice.url)
        file = PlanFile(url=advice.url, name=_file_name(advice.url), sha256=checksum, bytes=size)
        return Step(
            id="driver",
            kind=self.name,
            code=WINDOWS_CODE,
            data={
                "version": version,
                "installed": advice.installed or "@driver.none",
                SIMILAR_BYTES: estimate_bytes(builder),
            },
            spec={"version": version},
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
            step = _manual_step(builder, advice, version, ())
            why = "modules" if is_sufficient(branch, advice.minimum or version) else "old"
            details = {"branch": branch, "minimum": advice.minimum, "why": f"@driver.source.{why}"}
            data = {**step.data, "commands": page, **details}
            can_enrol = machine.os.secure_boot is True and machine.cloud is None and is_key_known(machine.os, catalog)
            if not can_enrol:
                return structs.replace(step, code=REPOSITORY_CODE, data=data)
            command = enrollment_command(machine.os, catalog)
            data["enrol"] = " ".join(command)
            return structs.replace(step, code=REPOSITORY_KEY_CODE, data=data, commands=(command,))
        if advice.way != "packages":
            return _manual_step(builder, advice, version, run_file_commands(version, catalog))
        has_unknown_signature = machine.os.secure_boot is True and not has_signed_modules(names, machine, catalog)
        # Nobody sits before a rented computer's screen, where a key would have to be confirmed.
        enrols = has_unknown_signature and machine.cloud is None
        required_packages = prerequisites(machine, catalog)
        plain_code, key_code = (
            (LINUX_AFTER_CODE, SECURE_BOOT_AFTER_CODE) if required_packages else (LINUX_CODE, SECURE_BOOT_CODE)
        )
        return Step(
            id="driver",
            kind=self.name,
            code=key_code if enrols else plain_code,
            data={
                "version": version,
                "installed": advice.installed or "@driver.none",
                "packages": " ".join(names),
                "boot": None if enrols else secure_boot_text(names, machine, catalog),
                "enrol": " ".join(enrollment_command(machine.os, catalog)) if enrols else None,
                "needs": ", ".join(required_packages) or None,
                SIMILAR_BYTES: estimate_bytes(builder),
            },
            spec={"version": advice.minimum or version, "packages": list(names), **_upper_bound(advice)},
            bytes=None,
            needs_admin=True,
            needs_reboot=True,
            commands=install_commands(names, machine.os, catalog),
        )

    def is_awaited(self, step: Step, context: InstallContext) -> bool:
        # Which older driver is needed is unknown: the verification shows whether the installed one works.
        is_manual = step.code in MANUAL_CODES and step.code != DOWNGRADE_PAGE_CODE
        outcome = self.is_satisfied(step, context) if is_manual else None
        return outcome is not None and outcome.code != "progress.driver-here"

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """The installed driver is sufficient, or installing it is left to the user."""
        spec = parse_spec(step, DriverSpec)
        installed = self._installed_driver(context.system)
        # Which older driver is needed is unknown: the verification shows whether the installed one works.
        if step.code == DOWNGRADE_PAGE_CODE:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        # For a downgrade the installed driver must not be newer.
        if installed is not None and (
            is_sufficient(spec.version, installed) if step.code == DOWNGRADE_CODE else _satisfies(installed, spec)
        ):
            return Outcome(code="progress.driver-here", data={"version": installed})
        if step.code in MANUAL_CODES:
            return Outcome(code="progress.driver-by-hand", data={"commands": step.data.get("commands")})
        return None

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises ElevationDenied; AppError: driver-failed, -no-card, -not-served, -wrong-kind, -older,
        -no-module, and those of `download_files`, `ElevationClient` and `install_packages`.
        """
        spec = parse_spec(step, DriverSpec)
        previous = self._installed_driver(context.system)
        effect = ProgramInstalled(name=self.name, version=spec.version, previous_version=previous)
        return (
            self._run_package(step, context, effect) if step.files else self._run_packages(step, context, effect, spec)
        )

    def _run_package(self, step: Step, context: InstallContext, effect: ProgramInstalled) -> Outcome:
        facts, file = context.catalog.drivers.windows_install, step.files[0]
        if facts is None:
            raise plan_error(step.id)
        request = DownloadRequest(file=file.remote, path=context.data.files / file.name)
        try:
            (path,) = download_files(context.downloads, [request])
        except NetworkError as error:
            # An address without a checksum follows the pattern of NVIDIA's others, and may not be served.
            if error.code != "source-refused" or file.sha256 is not None:
                raise
            page = context.catalog.source_url(context.catalog.drivers, "nvidia")
            raise AppError("driver-not-served", version=effect.version, url=page) from error
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="consent", code="progress.driver-asking"
        )
        registered = _registered_version(context, facts)
        with context.effect(step, effect):
            answer = self._make_client(context).install_windows_driver(path, file.sha256)
            is_restart_needed = needs_restart(answer.exit_code or 0, effect.version, facts)
            check_installed_version(effect.version, registered, _registered_version(context, facts))
        suffix = "" if answer.restore_point else "-unnoted"
        return Outcome(code=f"progress.driver-installed{suffix}", restart=is_restart_needed)

    def _run_packages(self, step: Step, context: InstallContext, effect: ProgramInstalled, spec: DriverSpec) -> Outcome:
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="consent", code="progress.driver-packages"
        )
        client = self._make_client(context)
        # For a later removal: what is there already was not installed by this.
        added = client.planned_linux_packages(spec.packages)
        details: dict[str, Value] = {PACKAGES_KEY: " ".join(added)} if added else {}
        try:
            with context.effect(step, structs.replace(effect, details=details)):
                client.install_linux_packages(spec.packages, spec.version, context.catalog)
        except ElevationDenied as error:
            if error.code == "rights-no-way":
                system, catalog = context.system.operating_system(), context.catalog
                commands = install_commands(spec.packages, system, catalog)
                text = "; ".join(" ".join(command) for command in commands)
                raise ElevationDenied("driver-by-hand", commands=text) from error
            raise
        kernel = context.system.kernel_without_driver()
        if kernel is not None:
            raise AppError("driver-no-module", kernel=kernel)
        # At the restart Secure Boot asks whether to enroll the key.
        if step.code in (SECURE_BOOT_CODE, SECURE_BOOT_AFTER_CODE):
            enroll_command = " ".join(enrollment_command(context.system.operating_system(), context.catalog))
            return Outcome(code="progress.driver-restart-key", data={"enrol": enroll_command}, restart=True)
        return Outcome(code="progress.driver-restart", restart=True)

    def program_state(self, effect: ProgramInstalled, host: Host) -> EffectState:
        added = _added_packages(effect)
        if added:
            return "applied" if present_packages(added, host.system) else "absent"
        installed = self._installed_driver(host.system)
        if installed == effect.previous_version:
            # A new driver answers only after the restart: until then it cannot be called absent.
            return "applied" if host.system.pending_reboot() else "absent"
        return "applied" if installed is not None and is_sufficient(installed, effect.version) else "modified"

    def is_removable(self, effect: ProgramInstalled) -> bool:
        return bool(_added_packages(effect))

    def remove_program(self, effects: Sequence[ProgramInstalled], step: Step | None, context: RemovalContext) -> None:
        """Raises what `ElevationClient` and `remove_packages` raise."""
        added = tuple(dict.fromkeys(name for effect in effects for name in _added_packages(effect)))
        present = present_packages(added, context.system)
        requested = parse_spec(step, DriverSpec).packages if step is not None else ()
        names = tuple(name for name in requested if name in present)
        if names:
            self._make_client(context).remove_linux_packages(names, present, context.catalog)

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:
        """On Linux with the names of the packages."""
        step_data = step.data if step is not None else {}
        data: dict[str, Value] = {
            "version": step_data.get("version") or effect.version,
            "before": effect.previous_version or "@driver.none",
        }
        if step is None or not step.spec.get("packages"):
            return "leave-driver", data
        return "leave-driver-packages", data | {"packages": " ".join(parse_spec(step, DriverSpec).packages)}


def _added_packages(effect: ProgramInstalled) -> tuple[str, ...]:
    """The packages that came with a driver and go with it, as the untrusted journal says."""
    names = [name for name in str(effect.details.get(PACKAGES_KEY) or "").split() if name not in KEPT_PACKAGES]
    return tuple(names) if len(names) <= MAX_PACKAGES and all(map(_PACKAGE_NAME.match, names)) else ()


def _satisfies(installed_version: str, spec: DriverSpec) -> bool:
    """Whether a driver is new enough, and still supports the GPU of this step."""
    return is_sufficient(installed_version, spec.version) and not (
        spec.below is not None and is_sufficient(installed_version, spec.below)
    )


def _downgrade_step(builder: PlanBuilder, advice: DriverAdvice, version: str) -> Step:
    """An older driver in place of a newer one. Installers refuse it or do it incompletely: left to the user."""
    if builder.machine.os.system == "windows" or builder.machine.os.wsl:
        step = _manual_step(builder, advice, version, (), page=_download_page(builder, advice))
    else:
        if advice.way == "page":
            return structs.replace(_distribution_step(builder, advice), code=DOWNGRADE_CODE, spec={"version": version})
        system, names = builder.machine.os, advice.packages
        is_packaged = advice.way == "packages"
        commands = install_commands(names, system, builder.catalog) if is_packaged else advice.commands
        step = _manual_step(builder, advice, version, commands or run_file_commands(version, builder.catalog))
    return structs.replace(step, code=DOWNGRADE_CODE, spec={"version": version})


def _unknown_version_step(builder: PlanBuilder, advice: DriverAdvice, page: str | None) -> Step:
    """The distribution has packages whose driver version is unknown: the command shows it."""
    step = _manual_step(
        builder, advice, advice.recommended or advice.minimum or "", policy_commands(advice.packages[0])
    )
    details: dict[str, Value] = {
        "minimum": advice.minimum,
        "package": advice.packages[0],
        "packages": " ".join(advice.packages),
        "page": page or builder.catalog.source_url(builder.catalog.drivers, "nvidia"),
    }
    return structs.replace(step, code=_versioned_code(advice, UNKNOWN_VERSION_CODE), data={**step.data, **details})


def _distribution_step(builder: PlanBuilder, advice: DriverAdvice) -> Step:
    """The commands of the distribution's documentation, or its page."""
    step = _manual_step(builder, advice, advice.recommended or advice.minimum or "", advice.commands, page=advice.page)
    command_line = "; ".join(" ".join(command) for command in advice.commands)
    code, data = COMMANDS_KEY_CODE if advice.key else COMMANDS_CODE, {**step.data, "minimum": advice.minimum}
    if advice.way == "page":
        code = _versioned_code(advice, DISTRIBUTION_CODE)
    elif is_signing_unknown(advice, builder.machine.os, builder.catalog):
        code, data["page"] = COMMANDS_SECURE_BOOT_CODE, signing_page(builder.machine.os, builder.catalog)
    return structs.replace(step, code=code, data={**data, "commands": command_line or advice.page}, needs_reboot=False)


def _download_page(builder: PlanBuilder, advice: DriverAdvice) -> str | None:
    """NVIDIA's page of the driver."""
    return advice.url or builder.catalog.source_url(builder.catalog.drivers, "nvidia")


def _page_step(builder: PlanBuilder, advice: DriverAdvice, code: str) -> Step:
    """A driver of unknown version, or one for the Windows around WSL."""
    step = _manual_step(
        builder, advice, advice.recommended or advice.minimum or "", (), page=_download_page(builder, advice)
    )
    minimum = advice.minimum or advice.recommended or ""
    return structs.replace(step, code=_versioned_code(advice, code), data={**step.data, "minimum": minimum})


def _versioned_code(advice: DriverAdvice, code: str) -> str:
    """The code of the text that names the version to install, if it is known; else the text with its bounds."""
    if advice.recommended is not None:
        return NAMED_CODES.get(code, code)
    return BELOW_CODES.get(code, code) if advice.below is not None else code


def _upper_bound(advice: DriverAdvice) -> dict[str, Value]:
    return {} if advice.below is None else {"below": advice.below}


def _manual_step(
    builder: PlanBuilder, advice: DriverAdvice, version: str, commands: Commands, *, page: str | None = None
) -> Step:
    text, upper_bound = page or "; ".join(" ".join(command) for command in commands), _upper_bound(advice)
    return Step(
        id="driver",
        kind=NvidiaDriverInstall.name,
        code=MANUAL_CODE,
        data={
            "version": version,
            "installed": advice.installed or "@driver.none",
            "commands": text or None,
            SIMILAR_BYTES: estimate_bytes(builder),
            **upper_bound,
        },
        spec={"version": advice.minimum or version, **upper_bound},
        bytes=0,
        disk_bytes=0,
        minutes=0.0,
        commands=commands,
    )


def estimate_bytes(builder: PlanBuilder) -> int | None:
    """About the size of a driver for this system, as measured on another one; None where none was measured."""
    system, facts = builder.machine.os, _install_facts(builder.machine, builder.catalog)
    if system.wsl:
        return builder.catalog.driver_bytes("windows", None)
    return builder.catalog.driver_bytes(system.system, facts.distribution if facts is not None else None)


def _file_name(url: str) -> str:
    return PurePosixPath(unquote(urlsplit(url).path)).name


def installed_driver(system: Hardware) -> str | None:
    """The version of the loaded driver, or of one whose GPUs are asleep; None if there is none that answers."""
    sleeping = system.sleeping_driver()
    if sleeping is not None:
        return sleeping.version  # without waking the GPUs
    from ...system.nvml.monitor import NvmlMonitor

    snapshot = gather_with_timeout({"nvml": NvmlMonitor(system).snapshot}, NVML_TIMEOUT_S).get("nvml")
    return snapshot.driver.version if snapshot is not None else None


def is_sufficient(installed_version: str | None, required: str) -> bool:
    """Whether an installed version is the required one or newer."""
    installed_numbers, required_numbers = Version.parse(installed_version), Version.parse(required)
    return installed_numbers is not None and required_numbers is not None and installed_numbers >= required_numbers


def has_signed_modules(names: tuple[str, ...], machine: Machine, catalog: Catalog) -> bool:
    """Whether these packages include signed kernel modules, which Secure Boot loads."""
    facts = _install_facts(machine, catalog)
    patterns = [facts.packages.get(purpose) for purpose in SIGNED_PURPOSES] if facts is not None else []
    stems = tuple(pattern.partition("{branch}")[0] for pattern in patterns if pattern is not None)
    return bool(stems) and any(name.startswith(stems) for name in names)


def secure_boot_text(names: tuple[str, ...], machine: Machine, catalog: Catalog) -> str:
    """The text that says why Secure Boot will not ask about these packages at the restart, if that is known."""
    if machine.os.secure_boot is False:
        return "@driver.boot.off"
    if has_signed_modules(names, machine, catalog):
        return "@driver.boot.signed"
    is_rented = machine.os.secure_boot is True and machine.cloud is not None
    return "@driver.boot.cloud" if is_rented else "@driver.boot.unknown"


def distribution_branch(machine: Machine, catalog: Catalog) -> str | None:
    """The driver branch that the packages of a distribution's release contain; None if unknown."""
    facts = _install_facts(machine, catalog)
    return version_text(distributions.package_branch(facts, machine.os)) if facts is not None else None


def prerequisites(machine: Machine, catalog: Catalog) -> tuple[str, ...]:
    """The package sources and headers that must be set up before the driver's packages can be installed."""
    facts = _install_facts(machine, catalog)
    return facts.needs if facts is not None else ()


def nvidia_repository_page(machine: Machine, catalog: Catalog) -> str | None:
    """The page on installing from NVIDIA's own repository for a distribution."""
    facts = _install_facts(machine, catalog)
    if facts is None or facts.nvidia_source is None:
        return None
    return catalog.source_url(catalog.drivers, facts.nvidia_source)


def run_file_commands(version: str, catalog: Catalog) -> Commands:
    """The commands of NVIDIA's own installer, for an unknown distribution."""
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
    """The command that shows which version of a package the distribution has."""
    return (("apt-cache", "policy", name),)


def install_commands(names: tuple[str, ...], system: OperatingSystem, catalog: Catalog) -> Commands:
    """The command that installs packages, as a person would type it."""
    facts = distributions.find_install_method(catalog.drivers, system)
    replaced = distributions.replaced_packages(facts, names) if facts is not None else ()
    return (("sudo", "apt-get", "install", *names, *map(apt_removal, replaced)),)


def enrollment_command(system: OperatingSystem, catalog: Catalog) -> tuple[str, ...]:
    """The command that has the next start ask whether to enroll the modules' key; empty if the catalog has none."""
    return distributions.enroll_command(catalog.drivers, system)


def is_key_known(system: OperatingSystem, catalog: Catalog) -> bool:
    """Whether the catalog knows where this distribution keeps the key that signs its modules."""
    return distributions.signing_key_path(catalog.drivers, system) is not None


def is_signing_unknown(advice: DriverAdvice, system: OperatingSystem, catalog: Catalog) -> bool:
    """Whether Secure Boot may refuse the modules that a distribution's commands install: their signature is unknown,
    and the commands enroll no key.
    """
    rows = catalog.drivers.linux_commands
    is_signed = any(row.signed and distributions.fill_commands(row.commands, system) == advice.commands for row in rows)
    return system.secure_boot is True and advice.way == "commands" and not advice.key and not is_signed


def signing_page(system: OperatingSystem, catalog: Catalog) -> str | None:
    """The distribution's page on how its modules are signed; None if unknown."""
    source = distributions.secure_boot_page_source(catalog.drivers, system)
    return catalog.source_url(catalog.drivers, source) if source is not None else None


def _install_facts(machine: Machine, catalog: Catalog) -> LinuxDriverInstall | None:
    return distributions.find_install_method(catalog.drivers, machine.os)


def _registered_version(context: InstallContext, facts: WindowsDriverInstall) -> str | None:
    windows = context.system.windows
    return windows.installed_program(facts.uninstall_key) if windows is not None else None


def check_installed_version(wanted: str, before: str | None, after: str | None) -> None:
    """Raises AppError("driver-older") if the package put another, older driver there than the one that was wanted.

    Its publisher's signature does not say which driver a package holds. An entry that did not change says nothing: it
    may be written at the restart.
    """
    if after is not None and after != before and not is_sufficient(after, wanted):
        raise AppError("driver-older", version=wanted, installed=after)


def needs_restart(status: int, version: str, facts: WindowsDriverInstall) -> bool:
    """Whether NVIDIA's installer asks for a restart, by its exit code.

    Raises AppError: driver-no-card, driver-wrong-kind, driver-failed.
    """
    meaning = next(
        (exit_code.means for exit_code in facts.exit_codes if (exit_code.code, exit_code.of) == (status, "driver")),
        "failed",
    )
    if meaning in ("done", "restart"):
        return meaning == "restart"
    raise AppError(EXIT_CODE_ERRORS.get(meaning, "driver-failed"), version=version, status=status)

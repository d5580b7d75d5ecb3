"""What Windows writes about itself, from its words to ours. Nothing here touches the machine.

What a Windows is, from its registry, its list of devices, its variables and its files.

Nothing here calls Windows: the registry and the files come in, so that a recorded computer answers like a real one.

Windows' answers once its registry and files have been read; the same for a computer that was recorded.

How a conda environment lies on Windows: its Python at the root, its programs in Scripts, libraries in Library.

Sources: conda's activate.py (`_get_path_dirs`, `Scripts` and `shell/condabin`), menuinst's "Anaconda PowerShell
Prompt". Nothing here calls Windows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePath, PureWindowsPath
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from ...core.errors import AppError
from ...core.machine import Gpu
from .. import paths, probes
from ..base import PowerStatus, WslStatus
from ..paths import ONEDRIVE_VARIABLES

FIRST_WINDOWS_11_BUILD = 22000  # build; its registry goes on saying "Windows 10"
DISPLAY_CLASS = "{4d36e968-e325-11ce-bfc1-08002be10318}"

# Programs that know no long paths stop at 259 characters (MAX_PATH with its closing zero), and the longest
# path inside a torch wheel has 127. "Lib\site-packages\" and the environment's own name take some 40 more.
MAX_ENVIRONMENTS_PATH = 90
SHORT_ENVIRONMENTS_FOLDER = "C:\\AI"

# Windows' own window for environment variables takes no longer value: the user could not mend it there any more.
MAX_PATH_VARIABLE = 2047

# winbase.h, SYSTEM_POWER_STATUS
BATTERY_NONE, POWER_UNKNOWN = 128, 255

_PCI_ID = re.compile(r"VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.IGNORECASE)
_PCI_CLASS = re.compile(r"CC_([0-9A-F]{4,6})", re.IGNORECASE)
_GPU_INSTANCE = re.compile(r"pid_(\d+)_luid_0x([0-9A-F]+)_0x([0-9A-F]+)_phys_\d+.*", re.IGNORECASE)
_BASIC_DRIVER = "basicdisplay"

Luid = tuple[int, int]  # Windows' number of an adapter until the next start: low and high half


def windows_product_name(product: str | None, build: int) -> str | None:
    """The name that people know: "Windows 11 Pro" where the registry still says "Windows 10 Pro"."""
    if product and build >= FIRST_WINDOWS_11_BUILD:
        return product.replace("Windows 10", "Windows 11")
    return product or None


def parse_display_adapter(
    *,
    hardware_ids: Sequence[str],
    device_class: str | None,
    description: str | None,
    service: str | None,
    memory_bytes: int | None,
) -> Gpu | None:
    """A PCI device's entry as a display adapter; None for any other device.

    `hardware_ids` are its hardware and compatible ids. A device without a driver has no class, but its
    compatible ids tell the PCI class. Under Microsoft's basic driver the description is that driver's, not
    the card's: the name is then unknown.
    """
    pci_id = next((match for text in hardware_ids if (match := _PCI_ID.search(text))), None)
    if pci_id is None:
        return None
    vendor_id, device_id = pci_id[1].lower(), pci_id[2].lower()
    class_codes = [match[1] for text in hardware_ids if (match := _PCI_CLASS.search(text))]
    if (device_class or "").lower() != DISPLAY_CLASS and not any(
        probes.is_display_adapter(code, vendor_id) for code in class_codes
    ):
        return None
    has_vendor_driver = bool(service) and (service or "").lower() != _BASIC_DRIVER
    return Gpu(
        vendor=probes.vendor_by_id(vendor_id),
        name=description if has_vendor_driver else None,
        pci_id=f"{vendor_id}:{device_id}",
        memory_bytes=memory_bytes if has_vendor_driver else None,
    )


def environments_folder(data_root: str) -> str:
    """The folder for new environments: below our data where that path is plain, not synced and short enough."""
    folder = PureWindowsPath(data_root) / "environments"
    text = str(folder)
    synced = any(part.lower().startswith("onedrive") for part in folder.parts)
    return text if text.isascii() and not synced and len(text) <= MAX_ENVIRONMENTS_PATH else SHORT_ENVIRONMENTS_FOLDER


def quote_for_shell(path_text: str) -> str:
    """A path as one word for cmd and PowerShell."""
    return f'"{path_text}"' if re.search(r"[\s&()^;,=%]", path_text) else path_text


def append_to_path(path: str | None, folder: str, expand: bool, expand_names: Callable[[str], str]) -> str | None:
    """PATH's text with a folder at its end; None where the folder is in it already.

    `expand` tells whether Windows fills names in, `expanded` does so. What stands there stays as it is, and
    `path_without` finds the way back to it: a text that ends in ";" goes on doing so, and one that is empty
    (not None: not there at all) gets ";" first. Raises AppError("path-not-addable", "path-too-long").
    """

    def normalize(entry: str) -> str:
        text = (expand_names(entry) if expand else entry).strip().strip('"')
        return str(PureWindowsPath(text)).casefold() if text else ""

    if ";" in folder or '"' in folder or (expand and expand_names(folder) != folder):
        raise AppError("path-not-addable", folder=folder)
    normalized_folder = str(PureWindowsPath(folder)).casefold()
    if any(normalize(entry) == normalized_folder for entry in (path or "").split(";")):
        return None
    if path is None:
        text = folder
    elif path.endswith(";"):
        text = f"{path}{folder};"
    else:
        text = f"{path};{folder}"
    if len(text) > MAX_PATH_VARIABLE:
        raise AppError("path-too-long", folder=folder, length=len(text), limit=MAX_PATH_VARIABLE)
    return text


def remove_folder_from_path(path: str, folder: str) -> str | None:
    """PATH's text without the folder that `path_with` added; None where there was none before."""
    if path == folder:
        return None
    entries = path.split(";")
    if folder in entries:
        # The last one: ours was added at the end.
        del entries[len(entries) - 1 - entries[::-1].index(folder)]
    return ";".join(entries)


def parse_power_status(line: int, battery: int, percent: int, saver: int) -> PowerStatus:
    """SYSTEM_POWER_STATUS in our words."""
    return PowerStatus(
        source="battery" if line == 0 else "mains" if line == 1 else None,
        percent=None if percent == POWER_UNKNOWN or battery in (BATTERY_NONE, POWER_UNKNOWN) else percent,
        power_saving=saver == 1,
    )


def nvidia_driver_version(windows_version: str | None) -> str | None:
    """NVIDIA's number of a driver from Windows' number: "32.0.15.6603" is 566.03, its last five digits."""
    parts = (windows_version or "").split(".")
    if len(parts) != 4 or not all(part.isdecimal() for part in parts):
        return None
    digits = f"{parts[2]}{parts[3]:0>4}"[-5:]
    return f"{int(digits[:-2])}.{digits[-2:]}" if len(digits) == 5 else None


def parse_gpu_instance(name: str) -> tuple[int, Luid] | None:
    """Process and adapter of an instance of Windows' counters: "pid_1234_luid_0x00000000_0x0000C9D1_phys_0"."""
    match = _GPU_INSTANCE.fullmatch(name)
    return (int(match[1]), (int(match[3], 16), int(match[2], 16))) if match is not None else None


DEVICE_CLASSES_KEY = r"SYSTEM\CurrentControlSet\Control\Class"
VC_RUNTIME_KEYS = (
    r"SOFTWARE\Microsoft\VisualStudio\14.0\VC\Runtimes\X64",
    r"SOFTWARE\WOW6432Node\Microsoft\VisualStudio\14.0\VC\Runtimes\X64",
)
TOOLKITS_KEY = r"SOFTWARE\NVIDIA Corporation\GPU Computing Toolkit\CUDA"
INTERNET_SETTINGS_KEY = r"Software\Microsoft\Windows\CurrentVersion\Internet Settings"
REBOOT_KEYS = (
    r"SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending",
    r"SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired",
)
SECURE_BOOT_KEY = r"SYSTEM\CurrentControlSet\Control\SecureBoot\State"
FIRMWARE_KEY = r"HARDWARE\DESCRIPTION\System\BIOS"
HARDWARE_CONFIG_KEY = r"SYSTEM\HardwareConfig\Current"
ONEDRIVE_ACCOUNTS_KEY = r"Software\Microsoft\OneDrive\Accounts"
GIT_KEY = r"SOFTWARE\GitForWindows"
VS_2015_KEY = r"SOFTWARE\WOW6432Node\Microsoft\VisualStudio\14.0\Setup\VC"
WINDOWS_VERSION_KEY = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
SERVICES_KEY = r"SYSTEM\CurrentControlSet\Services"
# As WSL's own program asks whether the Virtual Machine Platform is there (microsoft/WSL, wslutil.cpp).
WSL_SERVICES, NEWER_WSL_SERVICES, OLDER_WSL_SERVICE = ("HNS", "vmcompute"), ("vfpext",), "LxssManager"
WINDOWS_11_22H2 = 22621
WSL_KEY, WSL_STATE_INSTALLED = r"SOFTWARE\Microsoft\Windows\CurrentVersion\Lxss", 1
CONDA_HOMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge")
# Where our data lies below a profile; environments are below it.
ENVIRONMENTS_BELOW_HOME = r"\AppData\Local\gpu-assistant\environments"


class RegistryReader(Protocol):
    """`windows_registry`, or a recorded one: what is missing or forbidden reads as None."""

    MACHINE: int
    USER: int

    def text(self, root: int, key: str, name: str) -> str | None:
        """One text value, trimmed; an empty one is None."""
        ...

    def number(self, root: int, key: str, name: str) -> int | None:
        """One number; drivers write some of them as bytes."""
        ...

    def exists(self, root: int, key: str) -> bool:
        """Whether there is such a key."""
        ...

    def children(self, root: int, key: str) -> list[str]:
        """The names of a key's sub-keys."""
        ...


class PciDeviceEntry(Struct, frozen=True, kw_only=True):
    r"""A PCI device as SetupAPI lists it; `hardware_ids` with the compatible ones, `driver` is its key below the
    class ("{4d36e968-…}\0000").
    """

    hardware_ids: tuple[str, ...]
    device_class: str | None = None
    driver: str | None = None
    friendly_name: str | None = None
    description: str | None = None
    service: str | None = None


class WindowsFacts:
    """One Windows. `files` turns a path as Windows writes it into one that can be opened here."""

    def __init__(
        self, registry: RegistryReader, environ: Mapping[str, str], *, local_path: Callable[[str], Path] = Path
    ) -> None:
        self._registry = registry
        self._environ = environ
        self._local_path = local_path

    def display_adapters(self, devices: Iterable[PciDeviceEntry]) -> tuple[Gpu, ...]:
        """Every display adapter on the PCI bus, in Windows' own order."""
        adapters = (gpu for device in devices if (gpu := self._display_adapter(device)) is not None)
        return tuple(replace(gpu, index=index) for index, gpu in enumerate(adapters))

    def _display_adapter(self, device: PciDeviceEntry) -> Gpu | None:
        registry, key = self._registry, f"{DEVICE_CLASSES_KEY}\\{device.driver}"
        driver_description = registry.text(registry.MACHINE, key, "DriverDesc") if device.driver else None
        memory = registry.number(registry.MACHINE, key, "HardwareInformation.qwMemorySize") if device.driver else None
        return parse_display_adapter(
            hardware_ids=device.hardware_ids,
            device_class=device.device_class,
            description=driver_description or device.friendly_name or device.description,
            service=device.service,
            memory_bytes=memory,
        )

    def cuda_folders(self) -> tuple[Path, ...]:
        """Where NVIDIA's installer puts toolkits, what it wrote down, and its variables (CUDA_PATH_V12_6 …)."""
        registry = self._registry
        default_folders = sorted(self._program_files().glob("NVIDIA GPU Computing Toolkit/CUDA/v*"))
        registered_folders = [
            self._local_path(folder)
            for version in sorted(registry.children(registry.MACHINE, TOOLKITS_KEY))
            if (folder := registry.text(registry.MACHINE, f"{TOOLKITS_KEY}\\{version}", "InstallDir"))
        ]
        variable_names = [
            *sorted(name for name in self._environ if name.startswith("CUDA_PATH_V")),
            *("CUDA_PATH", "CUDA_HOME"),
        ]
        folders_from_variables = [
            self._local_path(value) for name in variable_names if (value := self._environ.get(name))
        ]
        return paths.unique_folders([*default_folders, *registered_folders, *folders_from_variables])

    def cudnn_folders(self) -> tuple[Path, ...]:
        """NVIDIA's own folder and those inside toolkits: headers, and libraries."""
        cudnn_roots = sorted(self._program_files().glob("NVIDIA/CUDNN/v*"))
        cudnn_folders = [
            toolkit_folders
            for folder in cudnn_roots
            for part in ("include", "bin")
            for toolkit_folders in _with_subfolders(folder / part)
        ]
        toolkit_folders = [folder / part for folder in self.cuda_folders() for part in ("include", "bin")]
        return paths.unique_folders([*cudnn_folders, *toolkit_folders])

    def nvidia_smi(self) -> Path | None:
        """Beside Windows' own programs; older drivers had a folder of their own."""
        nvsmi_folder = self._program_files() / "NVIDIA Corporation" / "NVSMI"
        return next(
            (
                path
                for folder in (self.system32_folder(), nvsmi_folder)
                if (path := folder / "nvidia-smi.exe").is_file()
            ),
            None,
        )

    def system32_folder(self) -> Path:
        """System32."""
        return self._local_path(self._environ.get("SystemRoot") or "C:\\Windows") / "System32"

    def wsl(self) -> WslStatus:
        """Ready where the services of virtual machines are there, and the program or the older part of Windows; Docker
        keeps Linuxes of its own, which are for nobody else.
        """
        registry = self._registry
        build = registry.text(registry.MACHINE, WINDOWS_VERSION_KEY, "CurrentBuild") or ""
        required_services = [
            *WSL_SERVICES,
            *(NEWER_WSL_SERVICES if build.isdigit() and int(build) >= WINDOWS_11_22H2 else ()),
        ]
        has_virtualization = all(
            registry.exists(registry.MACHINE, f"{SERVICES_KEY}\\{name}") for name in required_services
        )
        has_program = registry.text(registry.MACHINE, f"{WSL_KEY}\\MSI", "InstallLocation") is not None
        has_lxss_service = registry.exists(registry.MACHINE, f"{SERVICES_KEY}\\{OLDER_WSL_SERVICE}")
        names = (
            registry.text(registry.USER, f"{WSL_KEY}\\{distribution_key}", "DistributionName")
            for distribution_key in registry.children(registry.USER, WSL_KEY)
            if registry.number(registry.USER, f"{WSL_KEY}\\{distribution_key}", "State") == WSL_STATE_INSTALLED
            and registry.number(registry.USER, f"{WSL_KEY}\\{distribution_key}", "Version") == 2
        )
        distributions = tuple(name for name in names if name is not None and not name.startswith("docker-desktop"))
        return WslStatus(ready=has_virtualization and (has_program or has_lxss_service), distributions=distributions)

    def visual_cpp(self) -> str | None:
        """As its installer wrote it down."""
        registry = self._registry
        for key in VC_RUNTIME_KEYS:
            major = registry.number(registry.MACHINE, key, "Major")
            minor = registry.number(registry.MACHINE, key, "Minor")
            if major is not None and minor is not None and registry.number(registry.MACHINE, key, "Installed") != 0:
                return f"{major}.{minor}"
        return None

    def vswhere(self) -> Path | None:
        """Visual Studio's own finder, which its installer puts into a fixed place."""
        program = self._program_files_x86() / "Microsoft Visual Studio/Installer/vswhere.exe"
        return program if program.is_file() else None

    def msvc_folders(self) -> tuple[Path, ...]:
        """Folders named VC of Visual Studios in their usual places, and of 2015's as the registry names it."""
        default_folders = [
            folder
            for program_files in (self._program_files(), self._program_files_x86())
            for folder in sorted(program_files.glob("Microsoft Visual Studio/*/*/VC"), reverse=True)
        ]
        vs_2015_folder = self._registry.text(self._registry.MACHINE, VS_2015_KEY, "ProductDir")
        return paths.unique_folders([*default_folders, *([self._local_path(vs_2015_folder)] if vs_2015_folder else [])])

    def find_program(self, name: str, home: Path) -> Path | None:
        """A program that is not on PATH where its own installer puts it: git and conda."""
        registry = self._registry
        candidates: Sequence[Path] = ()
        if name == "git":
            roots = (registry.MACHINE, registry.USER)
            install_folders = [
                self._local_path(text) for root in roots if (text := registry.text(root, GIT_KEY, "InstallPath"))
            ]
            candidates = [folder / "cmd" / "git.exe" for folder in (*install_folders, self._program_files() / "Git")]
        elif name == "conda":
            program_data = self._local_path(self._environ.get("ProgramData") or "C:\\ProgramData")
            local_app_data = home / "AppData" / "Local"
            conda_folders = [
                folder / folder_name for folder_name in CONDA_HOMES for folder in (home, local_app_data, program_data)
            ]
            conda_exe = self._environ.get("CONDA_EXE")
            candidates = [
                *([self._local_path(conda_exe)] if conda_exe else []),
                *(folder / "Scripts" / "conda.exe" for folder in conda_folders),
            ]
        return next((path for path in candidates if path.is_file()), None)

    def proxy(self) -> str | None:
        """From the environment, else from Windows' settings."""
        registry = self._registry
        if (from_environment := paths.proxy_from_environment(self._environ)) is not None:
            return from_environment
        if not registry.number(registry.USER, INTERNET_SETTINGS_KEY, "ProxyEnable"):
            return None
        servers = registry.text(registry.USER, INTERNET_SETTINGS_KEY, "ProxyServer") or ""
        # Either one address for all, or "http=host:port;https=host:port".
        by_scheme = dict(part.split("=", 1) for part in servers.split(";") if "=" in part)
        address = by_scheme.get("https") or by_scheme.get("http") or ("" if by_scheme else servers)
        return paths.strip_credentials(address) if address else None

    def pending_reboot(self) -> bool:
        """By the keys of servicing and Windows Update; pending renames alone are everyday."""
        return any(self._registry.exists(self._registry.MACHINE, key) for key in REBOOT_KEYS)

    def is_secure_boot_enabled(self) -> bool | None:
        """As the loader wrote it down; None where it did not (no UEFI, or an old Windows)."""
        enabled = self._registry.number(self._registry.MACHINE, SECURE_BOOT_KEY, "UEFISecureBootEnabled")
        return enabled != 0 if enabled is not None else None

    def is_laptop(self, has_battery: bool | None) -> bool | None:
        """By the chassis that the firmware names, else by a battery."""
        text = self._registry.text(self._registry.MACHINE, HARDWARE_CONFIG_KEY, "EnclosureType")
        number = self._registry.number(self._registry.MACHINE, HARDWARE_CONFIG_KEY, "EnclosureType")
        chassis = number if number is not None else int(text, 10) if text is not None and text.isdecimal() else None
        return probes.is_laptop(chassis, has_battery=has_battery)

    def virtual_machine(self) -> bool | None:
        """By the maker's words; the processor's own sign is there on real computers with Hyper-V too."""
        names = (
            self._registry.text(self._registry.MACHINE, FIRMWARE_KEY, name)
            for name in ("SystemManufacturer", "SystemProductName")
        )
        return probes.is_virtual_machine(*names)

    def onedrive_folders(self) -> tuple[str, ...]:
        """The folders that OneDrive keeps, from its variables and its accounts; each once."""
        registry = self._registry
        folders = [value for name in ONEDRIVE_VARIABLES if (value := self._environ.get(name))]
        accounts = registry.children(registry.USER, ONEDRIVE_ACCOUNTS_KEY)
        account_folders = (
            registry.text(registry.USER, f"{ONEDRIVE_ACCOUNTS_KEY}\\{account}", "UserFolder") for account in accounts
        )
        folders += [folder for folder in account_folders if folder]
        return tuple({str(PureWindowsPath(folder)).casefold(): folder for folder in reversed(folders)}.values())[::-1]

    def _program_files(self) -> Path:
        return self._local_path(
            self._environ.get("ProgramW6432") or self._environ.get("ProgramFiles") or "C:\\Program Files"
        )

    def _program_files_x86(self) -> Path:
        return self._local_path(self._environ.get("ProgramFiles(x86)") or "C:\\Program Files (x86)")


def is_home_too_long(home: str) -> bool:
    """Whether environments below this profile would pass the paths that programs take."""
    return len(home) + len(ENVIRONMENTS_BELOW_HOME) > MAX_ENVIRONMENTS_PATH


def _with_subfolders(folder: Path) -> list[Path]:
    return [folder, *sorted(subfolder for subfolder in folder.glob("*") if subfolder.is_dir())]


class WindowsFactAnswers:
    """Those of `base.System`'s questions that `WindowsFacts` answers alone."""

    _facts: WindowsFacts

    def nvidia_smi(self) -> Path | None:
        """In System32."""
        return self._facts.nvidia_smi()

    def cuda_folders(self) -> tuple[Path, ...]:
        """Of NVIDIA's installer, the registry and the variables."""
        return self._facts.cuda_folders()

    def cudnn_folders(self) -> tuple[Path, ...]:
        """NVIDIA's own and those inside toolkits."""
        return self._facts.cudnn_folders()

    def visual_cpp(self) -> str | None:
        """As its installer wrote it down."""
        return self._facts.visual_cpp()

    def system32_folder(self) -> Path | None:
        """System32."""
        return self._facts.system32_folder()

    def wsl(self) -> WslStatus:
        """By its services and what its program wrote down."""
        return self._facts.wsl()

    def vswhere(self) -> Path | None:
        """Of Visual Studio's installer."""
        return self._facts.vswhere()

    def msvc_folders(self) -> tuple[Path, ...]:
        """Visual Studio's usual places."""
        return self._facts.msvc_folders()

    def proxy(self) -> str | None:
        """From the environment, else from Windows' settings."""
        return self._facts.proxy()

    def pending_reboot(self) -> bool | None:
        """By the keys of servicing and Windows Update."""
        return self._facts.pending_reboot()

    def virtual_machine(self) -> bool | None:
        """By the maker's words."""
        return self._facts.virtual_machine()


CONDA_META_FOLDER = "conda-meta"
# In conda's own order: what it puts before PATH when it activates an environment.
_PATH_FOLDERS = (".", "Library/mingw-w64/bin", "Library/usr/bin", "Library/bin", "Scripts", "bin")
_CMD_SCRIPT = '@for %%I in ("%~dp0..") do @call "{start}" "%%~fI"\r\n'
_POWERSHELL_SCRIPT = "& '{hook}'\r\nconda activate (Split-Path -Parent $PSScriptRoot)\r\n"


def is_conda_environment(environment: Path) -> bool:
    """Whether conda made it."""
    return (environment / CONDA_META_FOLDER).is_dir()


def conda_library_folders(program: Path) -> tuple[PurePath, ...]:
    """What must stand before PATH for a program of a conda environment to find its libraries; () for all others."""
    for environment in (program.parent, program.parent.parent):
        if is_conda_environment(environment):
            return tuple(environment / subfolder for subfolder in _PATH_FOLDERS)
    return ()


def windows_activation_scripts(environment: PurePath, conda_root: PurePath) -> dict[PurePath, str]:
    """Files that activate an environment as a venv's do, for cmd and PowerShell; `root` is conda's own folder.

    They find the environment by where they lie, so that only conda's own folder is written down.
    """
    scripts = environment / "Scripts"
    activate_script = str(conda_root / "Scripts" / "activate.bat").replace("%", "%%")
    hook = str(conda_root / "shell" / "condabin" / "conda-hook.ps1").replace("'", "''")
    return {
        scripts / "activate.bat": _CMD_SCRIPT.format(start=activate_script),
        scripts / "Activate.ps1": _POWERSHELL_SCRIPT.format(hook=hook),
    }

"""What Linux writes about itself, from text to figures. Nothing here touches the machine.

Where Python interpreters lie on Linux.

How a conda environment is activated on Linux.

Source: conda's own `bin/activate`, which takes an environment's folder.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from ...core.machine import Cpu
from .. import paths

# File systems that hold people's files; everything else in the table of mounts is the kernel's or a package's.
_FILE_SYSTEMS = {
    "apfs", "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "fuseblk", "jfs", "ntfs", "ntfs3", "nilfs2",
    "overlay", "reiserfs", "vfat", "virtiofs", "xfs", "zfs", "9p", "drvfs", "nfs", "nfs4", "cifs", "smb3", "lustre",
    "ceph", "fuse.sshfs",
}  # fmt: skip
_EXCLUDED_MOUNT_POINTS = (
    "/boot",
    "/snap",
    "/var/snap",
    "/var/lib/docker",
    "/var/lib/containers",
    "/etc",
    "/dev",
    "/proc",
)


class Mount(NamedTuple):
    """One line of the table of mounts: `device` tells which disk it is."""

    device: str
    path: str
    file_system: str
    writable: bool


def parse_os_release(text: str) -> dict[str, str]:
    """The fields of /etc/os-release, unquoted as the freedesktop specification says."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, separator, value = line.strip().partition("=")
        if not separator or name.startswith("#"):
            continue
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        fields[name] = re.sub(r"\\([\"'$`\\])", r"\1", value)
    return fields


def distribution_codename(fields: Mapping[str, str]) -> str | None:
    """The name of the release that a distribution is built from ("noble"), which for Ubuntu and Debian is their own."""
    names = (fields.get(name) for name in ("UBUNTU_CODENAME", "DEBIAN_CODENAME", "VERSION_CODENAME"))
    return next((name for name in names if name), None)


def parse_kernel_version(release: str) -> str | None:
    """The number at the head of a kernel release: "6.1.0-18-amd64" is "6.1.0"."""
    match = re.match(r"\d+(\.\d+)*", release)
    return match[0] if match else None


def normalize_architecture(machine: str) -> Literal["x86_64", "arm64"] | None:
    """The processor's family by the name that `uname` or Windows uses; None for others."""
    names: dict[str, Literal["x86_64", "arm64"]] = {
        "x86_64": "x86_64",
        "amd64": "x86_64",
        "aarch64": "arm64",
        "arm64": "arm64",
    }
    return names.get(machine.lower())


def parse_cpuinfo(cpuinfo: str) -> Cpu:
    """Name and counts from /proc/cpuinfo. ARM kernels give neither name nor cores: those stay None."""
    name = None
    threads = 0
    cores = set()
    for block in re.split(r"\n\s*\n", cpuinfo):
        fields = {
            key.strip(): value.strip()
            for key, separator, value in (line.partition(":") for line in block.splitlines())
            if separator
        }
        if "processor" not in fields:
            continue
        threads += 1
        name = name or fields.get("model name") or None
        if "core id" in fields:
            cores.add((fields.get("physical id"), fields["core id"]))
    return Cpu(name=name, cores=len(cores) or None, threads=threads or None)


def parse_meminfo(meminfo: str) -> int:
    """Bytes from /proc/meminfo, which counts in units of 1024; raises ValueError."""
    match = re.search(r"^MemTotal:\s+(\d+) kB", meminfo, re.MULTILINE)
    if match is None:
        raise ValueError("no MemTotal in /proc/meminfo")
    return int(match[1]) * 1024


def parse_mounts(text: str) -> list[Mount]:
    """The mounts of /proc/self/mounts that can hold people's files, the last one on each path."""
    mounts_by_path: dict[str, Mount] = {}
    for line in text.splitlines():
        fields = line.split(" ")
        if len(fields) < 4 or fields[2] not in _FILE_SYSTEMS:
            continue
        path = _decode_octal_escapes(fields[1])
        if any(path == excluded or path.startswith(f"{excluded}/") for excluded in _EXCLUDED_MOUNT_POINTS):
            continue
        mounts_by_path[path] = Mount(fields[0], path, fields[2], "rw" in fields[3].split(","))
    return list(mounts_by_path.values())


def _decode_octal_escapes(text: str) -> str:
    """The kernel writes blanks and the like in paths as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


_INTERPRETER_NAME = re.compile(r"python(3(\.\d+)?)?")
_CONDA_HOMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba")


def linux_python_candidates(home: Path, environ: Mapping[str, str], root: Path = Path("/")) -> tuple[Path, ...]:
    """Interpreters worth asking, those on PATH first; each once."""
    return paths.unique_interpreters(_candidate_paths(home, environ, root))


def find_conda(home: Path, environ: Mapping[str, str], root: Path = Path("/")) -> Path | None:
    """The program conda where it is not on PATH: in the places of its installers."""
    programs = (prefix / "bin/conda" for prefix in _conda_prefixes(home, environ, root))
    return next((program for program in programs if program.is_file()), None)


def _candidate_paths(home: Path, environ: Mapping[str, str], root: Path) -> Iterator[Path]:
    folders = [*paths.absolute_path_folders(environ), root / "usr/bin", root / "usr/local/bin", home / ".local/bin"]
    for folder in dict.fromkeys(folders):
        yield from _interpreters_in(folder)
    data_home = Path(environ.get("XDG_DATA_HOME") or home / ".local/share")
    version_managers = (
        (data_home / "uv/python", "*/bin"),
        (Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions", "*/bin"),
        (home / ".asdf/installs/python", "*/bin"),
        (data_home / "mise/installs/python", "*/bin"),
    )
    for folder, pattern in version_managers:
        for bin_folder in sorted(folder.glob(pattern)):
            yield bin_folder / "python3"
    for prefix in _conda_prefixes(home, environ, root):
        yield prefix / "bin/python"


def _interpreters_in(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(path.name for path in folder.iterdir() if _INTERPRETER_NAME.fullmatch(path.name))
    except OSError:
        return
    # "python3" before "python3.11": the shorter name is the one that a person knows.
    yield from (folder / name for name in sorted(names, key=lambda name: (name != "python3", name)))


def _conda_prefixes(home: Path, environ: Mapping[str, str], root: Path) -> Iterator[Path]:
    if program := environ.get("CONDA_EXE"):
        yield Path(program).parent.parent
    for name in _CONDA_HOMES:
        yield from (home / name, root / "opt" / name)
    yield root / "opt/conda"
    # conda writes every environment that it makes into this list.
    try:
        text = (home / ".conda/environments.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    yield from (Path(line.strip()) for line in text.splitlines() if line.strip())


def linux_activation_script(environment: PurePath, conda_root: PurePath) -> dict[PurePath, str]:
    """A file that activates an environment as a venv's does, for bash and zsh; `root` is conda's own folder."""
    command = shlex.join([str(conda_root / "bin" / "activate"), str(environment)])
    return {environment / "bin" / "activate": f". {command}\n"}

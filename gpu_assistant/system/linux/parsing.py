"""The text files by which Linux describes the computer, parsed. Pure: nothing here reads a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...core.machine import Cpu

# File systems that hold users' files; all other mounts belong to the kernel or to a package.
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
    """One line of /proc/self/mounts; mounts of the same disk have the same `device`."""

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
    """The code name of the release that a distribution is based on ("noble"); Ubuntu's and Debian's is their own."""
    names = (fields.get(name) for name in ("UBUNTU_CODENAME", "DEBIAN_CODENAME", "VERSION_CODENAME"))
    return next((name for name in names if name), None)


def parse_kernel_version(release: str) -> str | None:
    """The version in a kernel release: "6.1.0-18-amd64" is "6.1.0"."""
    match = re.match(r"\d+(\.\d+)*", release)
    return match[0] if match else None


def parse_cpuinfo(cpuinfo: str) -> Cpu:
    """Name and counts from /proc/cpuinfo. ARM kernels give neither name nor cores: these are None."""
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
    """Bytes of memory from /proc/meminfo, whose kB are 1024 bytes; raises ValueError where it has no MemTotal."""
    match = re.search(r"^MemTotal:\s+(\d+) kB", meminfo, re.MULTILINE)
    if match is None:
        raise ValueError("no MemTotal in /proc/meminfo")
    return int(match[1]) * 1024


def parse_mounts(text: str) -> list[Mount]:
    """The mounts of /proc/self/mounts that can hold users' files, the last one on each path."""
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
    """The kernel writes spaces and similar characters in paths as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)

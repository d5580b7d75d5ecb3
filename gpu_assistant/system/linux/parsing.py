"""The text files by which Linux describes the computer, parsed. Pure: nothing here reads a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...core.machine import Container, Cpu

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
    """Name, counts and vector instructions from /proc/cpuinfo. ARM kernels give neither name, cores nor flags: None."""
    name = None
    flags: set[str] | None = None
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
        if flags is None and "flags" in fields:
            flags = set(fields["flags"].split())
        if "core id" in fields:
            cores.add((fields.get("physical id"), fields["core id"]))
    return Cpu(
        name=name,
        cores=len(cores) or None,
        threads=threads or None,
        avx="avx" in flags if flags is not None else None,
        avx2="avx2" in flags if flags is not None else None,
    )


# By the value of "container" in the environment of the first process, as systemd's container interface has it, and by
# the names in its control group (version 1). WSL calls itself a container; `os.wsl` tells that.
_CONTAINER_BY_NAME: dict[str, Container | None] = {
    "docker": "docker",
    "podman": "podman",
    "oci": "other",
    "lxc": "lxc",
    "lxc-libvirt": "lxc",
    "wsl": None,
}
_CONTAINER_BY_CGROUP: tuple[tuple[str, Container], ...] = (
    ("kubepods", "kubernetes"),
    ("libpod", "podman"),
    ("docker", "docker"),
    ("containerd", "docker"),
    ("/lxc", "lxc"),
)


def parse_container(
    *, names: Sequence[str], cgroup: str, docker_mark: bool, podman_mark: bool, kubernetes: bool
) -> Container | None:
    """The kind of container. `names` are values of "container" in environments, empty where there is none; `cgroup` is
    /proc/1/cgroup; the marks are /.dockerenv and /run/.containerenv; `kubernetes`: a pod's variable or secrets.
    """
    by_cgroup = next((kind for part, kind in _CONTAINER_BY_CGROUP if part in cgroup), None)
    if kubernetes or by_cgroup == "kubernetes":
        return "kubernetes"
    if podman_mark:
        return "podman"
    if docker_mark:
        return "docker"
    for name in filter(None, names):
        if (kind := _CONTAINER_BY_NAME.get(name.strip().lower(), "other")) is not None:
            return kind
    return by_cgroup


def parse_environ(environ: str, name: str) -> str:
    """The value of a variable in /proc/<pid>/environ, whose entries end with a zero; empty where it is not set."""
    return next((e.removeprefix(f"{name}=") for e in environ.split("\0") if e.startswith(f"{name}=")), "")


def parse_module_stream(text: str) -> str | None:
    """The enabled stream in a file of /etc/dnf/modules.d; None where none is enabled."""
    pairs = (line.partition("=") for line in text.splitlines())
    fields = {name.strip(): value.strip() for name, separator, value in pairs if separator}
    return (fields.get("stream") or None) if fields.get("state") == "enabled" else None


def is_image_based(fields: Mapping[str, str], mounts: str, *, ostree: bool, steamos: bool) -> bool:
    """Whether the system is an image that is replaced as a whole: OSTree's, SteamOS, or one whose /usr or root folder
    is read-only. `fields` are those of os-release, `mounts` is /proc/self/mounts.
    """
    if ostree or steamos or "OSTREE_VERSION" in fields:
        return True
    read_only = {
        parts[1] for line in mounts.splitlines() if len(parts := line.split(" ")) > 3 and "ro" in parts[3].split(",")
    }
    return not read_only.isdisjoint({"/", "/usr"})


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

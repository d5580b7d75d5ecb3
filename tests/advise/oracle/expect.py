"""The expected answer for a machine: accelerator, release, build and what to do about the driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import multi_gpu
from .published import PublishedFacts, Version, number, version
from .torch_rules import Box, Fit, cuda_of, loads, other_build


@dataclass(frozen=True)
class Answer:
    """What a recommendation must say; `None` for a field means that the facts leave it open."""

    accelerator: str | None
    torch: str | None
    variant: str | None
    driver: str | None
    fit: Fit | None = None
    shared: dict[str, Any] | None = None


def arch_of(machine: dict[str, Any]) -> str:
    """The processor type; a machine of the grid always names it."""
    return str(machine["os"]["arch"])


def glibc_of(machine: dict[str, Any]) -> Version | None:
    """The C library of a Linux."""
    return version(machine["os"].get("glibc")) if machine["os"]["system"] == "linux" else None


def nvidia(machine: dict[str, Any]) -> list[dict[str, Any]]:
    """The NVIDIA cards that count: none on a Mac."""
    if machine["os"]["system"] == "darwin":
        return []
    return [gpu for gpu in machine["gpus"] if gpu["vendor"] == "nvidia"]


def deciding(published: PublishedFacts, machine: dict[str, Any]) -> dict[str, Any] | None:
    """The card that decides: the newest chip, then the most memory; a chip that nobody knows comes last."""

    def strength(gpu: dict[str, Any]) -> tuple[tuple[int, int], int]:
        row = published.card(gpu) or {}
        return published.chip(gpu) or (0, 0), gpu.get("memory_bytes") or row.get("memory_bytes") or 0

    return max(nvidia(machine), key=strength, default=None)


def segment(published: PublishedFacts, gpu: dict[str, Any]) -> str:
    """How the card is sold: what the machine says of its case decides between desktop and laptop."""
    row = published.card(gpu)
    kind = str(row["segment"]) if row else "desktop"
    if kind == "mobile-workstation":
        return "workstation"  # One package serves both.
    if kind in ("desktop", "laptop") and gpu.get("laptop") is not None:
        return "laptop" if gpu["laptop"] else "desktop"
    return kind


def box_of(published: PublishedFacts, machine: dict[str, Any], channel: str, gpu: dict[str, Any]) -> Box:
    """What decides on this machine."""
    system = machine["os"]["system"]
    driver = machine.get("driver") or {}
    host = "windows" if system == "linux" and machine["os"].get("wsl") else system
    device = published.chip(gpu)
    return Box(
        system=system,
        arch=arch_of(machine),
        host=host,
        device=device,
        segment=segment(published, gpu),
        installed=driver.get("version"),
        readable=not driver or version(driver.get("version")) is not None,
        cuda_max=driver.get("cuda_max"),
        channel=channel,
        glibc=glibc_of(machine),
        dark=published.left_behind(host, device, version(driver.get("version"))),
    )


def driver_action(box: Box, fit: Fit) -> str:
    """Install where there is none, back where it left the card behind, update where it is too old, else leave it."""
    if box.installed is None:
        return "install"
    if box.dark:
        return "back"
    return "update" if box.driver is not None and box.driver < fit.floor else "keep"


def expected(published: PublishedFacts, machine: dict[str, Any], channel: str) -> Answer | None:
    """The right answer; None where PyTorch publishes nothing for this kind of computer."""
    system, arch = machine["os"]["system"], arch_of(machine)
    gpu = deciding(published, machine)
    if gpu is not None:
        box = box_of(published, machine, channel, gpu)
        if box.device is None:
            return Answer(None, None, None, None) if any_build(published, system, arch) else None
        others = [device for other in nvidia(machine) if (device := published.chip(other)) is not None]
        fit, shared = multi_gpu.answer(published, box, others)
        if fit is not None:
            return Answer("cuda", fit.release, fit.variant, driver_action(box, fit), fit, shared)
    for variant, accelerator in other_accelerators(published, machine):
        result = other_build(published, system, arch, variant, glibc_of(machine))
        if result is not None:
            return Answer(accelerator, result["version"], variant, "none")
    result = other_build(published, system, arch, "cpu", glibc_of(machine))
    if result is None:
        return None
    return Answer("mps" if result["record"].get("mps") else "cpu", result["version"], "cpu", "none")


def on_a_board(published: PublishedFacts, machine: dict[str, Any]) -> bool:
    """Whether this is one of NVIDIA's boards for devices: an ARM processor beside a chip of its own."""
    shut = {text for listed in published.torch["excluded_devices"].values() for text in listed}
    chips = {".".join(map(str, published.chip(gpu) or ())) for gpu in nvidia(machine)}
    return arch_of(machine) == "arm64" and bool(chips & shut)


def any_build(published: PublishedFacts, system: str, arch: str) -> bool:
    """Whether PyTorch publishes anything for this kind of computer."""
    return any(
        (v["system"], v["arch"]) == (system, arch) for release in published.releases for v in release["variants"]
    )


def other_accelerators(published: PublishedFacts, machine: dict[str, Any]) -> list[tuple[str, str]]:
    """Builds for cards that are not NVIDIA's, the best first: (variant, accelerator)."""
    if nvidia(machine) or machine["os"]["system"] == "darwin" or arch_of(machine) != "x86_64":
        return []
    result: list[tuple[str, str]] = []
    if machine["os"]["system"] == "linux" and not machine["os"].get("wsl"):
        chips = {gpu.get("gfx") for gpu in machine["gpus"] if gpu["vendor"] == "amd"} - {None}
        builds = [name for name, listed in published.facts["rocm"].items() if chips & set(listed)]
        newest = [
            (number(release["version"]), number(record["variant"].removeprefix("rocm")), record["variant"])
            for release in published.releases
            for record in release["variants"]
            if record["system"] == "linux"
            and record["variant"] in builds
            and loads(published, release["version"], record["variant"], "x86_64", glibc_of(machine))
        ]
        if newest:
            result.append((max(newest)[2], "rocm"))
    windows, build = published.facts["amd_windows"], machine["os"].get("build")
    lowest = windows["lowest_windows_build"]
    if machine["os"]["system"] == "windows" and (build or lowest) >= lowest:
        listed = (gpu for gpu in machine["gpus"] if gpu["vendor"] == "amd" and gpu.get("gfx") in windows["chips"])
        result += [(windows["build"], "rocm") for _gpu in listed]
    rules = published.facts["xpu"]
    new_enough = machine["os"]["system"] != "windows" or (build or 0) >= rules["lowest_windows_build"]
    if new_enough and any(gpu["vendor"] == "intel" and rules["name_has"] in gpu_words(gpu) for gpu in machine["gpus"]):
        result.append(("xpu", "xpu"))
    return result


def gpu_words(gpu: dict[str, Any]) -> list[str]:
    """The words of a card's name, without marks."""
    return str(gpu.get("name") or "").lower().replace("(", " ").replace(")", " ").split()


def is_cuda(recommendation: dict[str, Any]) -> bool:
    """Whether the recommended PyTorch computes with CUDA."""
    torch = recommendation["pytorch"]
    return torch is not None and cuda_of(torch["variant"]) is not None

"""Which PyTorch builds can work on a machine, and which of them is the right one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .published import PublishedFacts, Version, chip, number, version


@dataclass(frozen=True)
class Box:
    """What decides on a machine: the system, the driver's system, the deciding chip and how the card is sold.
    `dark`: the driver that is there has left the chip behind.
    """

    system: str
    arch: str
    host: str
    device: tuple[int, int] | None
    segment: str
    installed: str | None
    readable: bool
    cuda_max: str | None
    channel: str
    dark: bool = False
    glibc: Version | None = None

    @property
    def driver(self) -> Version | None:
        return version(self.installed)

    @property
    def works(self) -> Version | None:
        """The driver that is there, if the chip computes on it."""
        return None if self.dark else self.driver


@dataclass(frozen=True)
class Fit:
    """A build that can work, with the lowest driver for it."""

    release: str
    variant: str
    floor: Version
    default: bool

    @property
    def cuda(self) -> tuple[int, int]:
        return cuda_of(self.variant) or (0, 0)


@lru_cache(maxsize=128)
def cuda_of(variant: str) -> tuple[int, int] | None:
    """ "cu126" as (12, 6)."""
    digits = variant[2:]
    return (int(digits[:-1]), int(digits[-1])) if variant.startswith("cu") and digits.isdigit() else None


def runs(published: PublishedFacts, record: dict[str, Any], device: tuple[int, int]) -> str | None:
    """ "binary", "portable" (PTX, translated by the driver), "unseen" (nobody looked into the wheel) or None."""
    listed = record.get("arch_list")
    if listed is None:
        cuda = cuda_of(record["variant"]) or (0, 0)
        too_new = any(span.last >= cuda and span.newest < (device[0], 0) for span in published.spans())
        return None if too_new else "unseen"
    shut = published.torch["excluded_devices"]
    capability = f"{device[0]}.{device[1]}"
    for text in listed:
        code = chip(text)
        if code and code[0] == device[0] and code[1] <= device[1] and capability not in shut.get(text, ()):
            return "binary"
    return "portable" if any((c := chip(text)) and c <= device for text in record.get("ptx_for") or ()) else None


def cudnn_inside(release: dict[str, Any], record: dict[str, Any]) -> str | None:
    """The cuDNN in a wheel; where it is not named, the one in the same build for another system."""
    twins = (v.get("cudnn") for v in release["variants"] if v["variant"] == record["variant"])
    return record.get("cudnn") or next(filter(None, twins), None)


def cudnn_serves(published: PublishedFacts, cudnn: str | None, cuda: tuple[int, int], device: tuple[int, int]) -> bool:
    """Whether the cuDNN inside a wheel has code for the chip; one that is not named is not held against it."""
    blackwell = published.facts["blackwell"]
    if device >= (chip(blackwell["from_capability"]) or ()) and cuda < (chip(blackwell["lowest_cuda"]) or (0, 0)):
        return False
    inside = version(cudnn)
    if inside is None:
        return True
    for row in published.facts["cudnn_floors"]:
        if inside >= number(row["from"]):
            lowest = row.get("lowest_with_cuda_11") if cuda[0] == 11 else None
            return device >= (chip(lowest or row["lowest"]) or ())
    return True


def lowest_driver(published: PublishedFacts, host: str, cuda: tuple[int, int], portable: bool) -> Version | None:
    """The first driver for a build: the major's first one; for portable code the first that knows this CUDA."""
    row = next((r for r in published.cuda["minimum_drivers"] if r["major"] == cuda[0]), None)
    if row is None:
        return None
    major = number(row["windows" if host == "windows" else "linux"])
    if not portable:
        return major
    native = published.first_with(cuda)
    return None if native is None else max(native, major)


@lru_cache(maxsize=512)
def known_packages(
    published: PublishedFacts, host: str, device: tuple[int, int] | None, segment: str, channel: str
) -> tuple[dict[str, Any], ...]:
    """The drivers that exist for a kind of card, newest first; those of a new feature branch are not for everybody."""
    row = published.generation(device) if device is not None else None
    if row is None:
        return ()
    fitting = [
        p
        for p in published.drivers["packages"]
        if p["system"] == host
        and p["generation"] == row["id"]
        and p["segment"] in (None, segment)
        and p["channel"] in (None, channel)
        and p.get("line") != "new-feature"
    ]
    return tuple(sorted(fitting, key=lambda p: number(p["version"]), reverse=True))


def packages(published: PublishedFacts, box: Box) -> tuple[dict[str, Any], ...]:
    """The drivers that exist for this card, newest first."""
    return known_packages(published, box.host, box.device, box.segment, box.channel)


def ceiling(published: PublishedFacts, box: Box) -> Version:
    """The newest driver that the card has or can get; where none is known, the end of its last branch."""
    known = packages(published, box)
    if known:
        best_known = number(known[0]["version"])
    else:
        row = published.generation(box.device) if box.device else None
        last = None if row is None else row["last_branch"]
        best_known = () if row is None else (10**9,) if last is None else (last, 10**9)
    return max(best_known, box.works or ())


def loads(published: PublishedFacts, release: str, variant: str, arch: str, glibc: Version | None) -> bool:
    """Whether a Linux with this glibc (None: not known, or no Linux) can load a wheel."""
    for row in published.facts["glibc"]["pytorch"]:
        mine = variant in row.get("only", [variant]) and arch == row.get("arch", arch)
        if mine and number(release) >= number(row["from"]):
            return glibc is None or glibc >= number(row["lowest"])
    return True


@lru_cache(maxsize=2048)
def candidates(
    published: PublishedFacts, system: str, arch: str, host: str, device: tuple[int, int], glibc: Version | None = None
) -> tuple[Fit, ...]:
    """Every CUDA build with code for the chip, inside and in its cuDNN, newest release first; drivers aside."""
    mine = [
        (release, record, cuda)
        for release in published.releases
        for record in release["variants"]
        if (record["system"], record["arch"]) == (system, arch) and (cuda := cuda_of(record["variant"]))
        if loads(published, release["version"], record["variant"], arch, glibc)
    ]
    all_unseen = all(record.get("arch_list") is None for _, record, _ in mine)
    fits_found: list[Fit] = []
    for release, record, cuda in mine:
        code = runs(published, record, device)
        if code is None or (code == "unseen" and not all_unseen):
            continue
        oldest = next(
            (r["lowest_capability"] for r in published.cuda["minimum_drivers"] if r["major"] == cuda[0]), None
        )
        if oldest is None or device < (chip(oldest) or ()):
            continue
        if not cudnn_serves(published, cudnn_inside(release, record), cuda, device):
            continue
        floor = lowest_driver(published, host, cuda, code == "portable")
        if floor is not None:
            floor = max(floor, published.first_driver(host, device))
            default = release["default_variant"].get("linux") == record["variant"]
            fits_found.append(Fit(release["version"], record["variant"], floor, default))
    return tuple(fits_found)


def fits(published: PublishedFacts, box: Box) -> Iterator[Fit]:
    """Every CUDA build that can work here, newest release first."""
    if box.device is None:
        return
    highest = ceiling(published, box)
    for fit in candidates(published, box.system, box.arch, box.host, box.device, box.glibc):
        if fit.floor <= highest:
            yield fit


def choose(published: PublishedFacts, box: Box, advice: list[Fit], newest_driver: Version | None) -> Fit | None:
    """The newest release that works; of its builds one for which the driver may stay; of these one whose CUDA the
    driver implements by itself (its makers' default first, then the newest); where none is, the oldest CUDA.
    """
    if not advice:
        return None
    advice = [fit for fit in advice if fit.release == advice[0].release]
    stay = [fit for fit in advice if box.works is not None and box.works >= fit.floor]
    native = (chip(box.cuda_max) or published.native(box.driver)) if stay else published.native(newest_driver)
    pool = stay or advice
    own = [fit for fit in pool if native is not None and fit.cuda <= native]
    if own:
        return max(own, key=lambda fit: (fit.default, fit.cuda))
    return min(pool, key=lambda fit: fit.cuda)


def best(published: PublishedFacts, box: Box) -> Fit | None:
    """The right build for one card."""
    known = packages(published, box)
    return choose(published, box, list(fits(published, box)), number(known[0]["version"]) if known else None)


def other_build(
    published: PublishedFacts, system: str, arch: str, variant: str, glibc: Version | None = None
) -> dict[str, Any] | None:
    """The newest release with this build (no CUDA), as {"version", "record", "release"}."""
    for release in published.releases:
        for record in release["variants"]:
            kind = (record["system"], record["arch"], record["variant"])
            if kind == (system, arch, variant) and loads(published, release["version"], variant, arch, glibc):
                return {"version": release["version"], "record": record, "release": release}
    return None

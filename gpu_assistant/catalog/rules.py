"""What must be true of the catalog beyond the form of its fields.

A rule gets its file's subject and all subjects that could be read, and yields (where, what stands there).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, cast

from .accelerators import Accelerators
from .libraries import Cudnn, TensorFlow, VcRedist
from .places import Mirrors
from .records import Cuda, Drivers, Generation, Gpus, Pythons
from .subject import Subject
from .torch_builds import PyTorch
from .versions import capability, numbers

Findings = Iterator[tuple[str, str]]
Rule = Callable[[Any, dict[str, Subject]], Findings]

_CUDA_TAG = re.compile(r"cu(\d+)(\d)")
AMD, INTEL, NVIDIA = "1002:", "8086:", "10de:"


def _falling(values: Iterable[tuple[str, str]]) -> Findings:
    """(group, version): within a group each must be older than the one before; equal ones are twins."""
    before: dict[str, tuple[int, ...]] = {}
    for place, (group, version) in enumerate(values):
        now = numbers(version)
        if now is None or (group in before and before[group] <= now):
            yield str(place), f"{group} {version}".strip()
        if now is not None:
            before[group] = now


def _twins(values: Iterable[Any]) -> Findings:
    seen = set()
    for place, value in enumerate(values):
        if value in seen:
            yield str(place), str(value)
        seen.add(value)


def _gaps(ranges: Iterable[tuple[str, str | None]]) -> Findings:
    """(from, below), highest first: the first is open, each goes on where the one before begins."""
    expected: str | None = None
    for place, (low, below) in enumerate(ranges):
        floor, ceiling = capability(low), capability(below)
        if capability(expected) != ceiling or floor is None or (ceiling is not None and floor >= ceiling):
            yield str(place), f"{low}-{below}"
        expected = low


def newest_first(subject: Any, _all: dict[str, Subject]) -> Findings:  # noqa: ANN401 - any of the subjects below
    """Lists of versions begin with the newest, and name none twice."""
    lists: dict[str, Iterable[tuple[str, str]]] = {}
    match subject:
        case PyTorch():
            lists["releases"] = (("", r.version) for r in subject.releases)
            lists["glibc"] = ((f"{g.arch or ''} {' '.join(g.variants)}", g.from_release) for g in subject.glibc)
            lists["cudnn_floors"] = (("", f.from_version) for f in subject.cudnn_floors)
        case Cuda():
            lists["toolkits"] = (("", t.version) for t in subject.toolkits)
            lists["branches"] = (("", b.branch) for b in subject.branches)
            lists["host_compilers"] = (("", h.from_toolkit) for h in subject.host_compilers)
            lists["gnu_compilers"] = (("", g.from_toolkit) for g in subject.gnu_compilers)
            lists["minimum_drivers"] = (("", str(m.major)) for m in subject.minimum_drivers)
        case Cudnn():
            lists["releases"] = (("", r.version) for r in subject.releases)
        case TensorFlow():
            lists["builds"] = ((f"{b.system} {b.arch}", b.version) for b in subject.builds)
        case VcRedist():
            lists["needs"] = (("", n.from_release) for n in subject.needs)
            lists["tensorflow_needs"] = (("", n.from_release) for n in subject.tensorflow_needs)
        case Pythons():
            lists["builds"] = ((f"{b.system} {b.arch}", b.version) for b in subject.builds)
        case Drivers():
            lists["packages"] = (
                (f"{p.system} {p.generation} {p.segment} {p.channel}", p.version) for p in subject.packages
            )
    for name, values in lists.items():
        yield from ((f"{name}/{place}", detail) for place, detail in _falling(values))


def unique_ids(subject: Any, _all: dict[str, Subject]) -> Findings:  # noqa: ANN401
    """Device ids are sorted, stand once, and belong to their maker."""
    lists: dict[str, tuple[str, list[str]]] = {}
    match subject:
        case Gpus():
            lists["gpus"] = NVIDIA, [row.pci_id for row in subject.gpus]
        case Accelerators():
            lists["amd_devices"] = AMD, [device.pci_id for device in subject.amd_devices]
            lists["intel_devices"] = INTEL, [device.pci_id for device in subject.intel_devices]
    for name, (maker, ids) in lists.items():
        yield from ((f"{name}/{place}", detail) for place, detail in _twins(ids))
        yield from ((f"{name}/{place}", one) for place, one in enumerate(ids) if not one.startswith(maker))
        if ids != sorted(ids):
            yield name, "not sorted"


def chips(subject: Gpus, _all: dict[str, Subject]) -> Findings:
    """All cards of a chip compute alike, and what one architecture computes on is no other's."""
    alike: dict[str, tuple[str, str | None]] = {}
    levels: dict[str, set[tuple[int, int]]] = {}
    for place, row in enumerate(subject.gpus):
        said = row.architecture, row.compute_capability
        if alike.setdefault(row.chip, said) != said:
            yield f"gpus/{place}", f"{row.chip} {row.architecture} {row.compute_capability}"
        if (level := capability(row.compute_capability)) is not None:
            levels.setdefault(row.architecture, set()).add(level)
    ranges = sorted((min(found), max(found), name) for name, found in levels.items())
    for (_, top, older), (low, _, newer) in pairwise(ranges):
        if low <= top:
            yield "gpus", f"{older} {newer}"
    yield from _stretches(subject)


def _stretches(subject: Gpus) -> Findings:
    """Stretches of ids ascend without a common id, are NVIDIA's, and every card in one computes as it says."""
    end = ""
    for place, stretch in enumerate(subject.ranges):
        if not (end < stretch.first <= stretch.last and stretch.first[:5] == stretch.last[:5] == NVIDIA):
            yield f"ranges/{place}", f"{stretch.first}-{stretch.last}"
        end = max(end, stretch.last)
        for row in subject.gpus:
            inside = stretch.first <= row.pci_id <= stretch.last
            if inside and row.compute_capability not in (None, stretch.compute_capability):
                yield f"ranges/{place}", f"{row.pci_id} {row.compute_capability}"


def builds(subject: PyTorch, others: dict[str, Subject]) -> Findings:
    """A release names each build once, its index ends with its name, and its CUDA is the name's."""
    cuda = cast("Cuda | None", others.get("cuda"))
    majors = {minimum.major for minimum in cuda.minimum_drivers} if cuda is not None else None
    for release in subject.releases:
        keys = [(v.system, v.arch, v.variant) for v in release.variants]
        yield from ((f"{release.version}/{place}", detail) for place, detail in _twins(keys))
        for build in release.variants:
            where = f"{release.version}/{build.system}/{build.variant}"
            if build.index_url is not None and build.index_url.rstrip("/").rpartition("/")[2] != build.variant:
                yield where, build.index_url
            tag = _CUDA_TAG.fullmatch(build.variant)
            if tag is None:
                continue
            version = (int(tag[1]), int(tag[2]))
            if majors is not None and version[0] not in majors:
                yield where, "no lowest driver"
            inside = numbers(build.cuda)
            if inside is not None and (*inside, 0)[:2] != version:
                yield where, str(build.cuda)
        for system, variant in release.default_variant.items():
            if variant not in {v.variant for v in release.variants if v.system == system}:
                yield f"{release.version}/default_variant", f"{system} {variant}"


def generations(subject: Drivers, _all: dict[str, Subject]) -> Findings:
    """Generations of cards, and the kinds of kernel modules, have no gaps and do not overlap."""
    lists = {
        "generations": [(g.from_capability, g.below_capability) for g in subject.generations],
        "linux_modules": [(m.from_capability, m.below_capability) for m in subject.linux_modules],
    }
    for name, ranges in lists.items():
        yield from ((f"{name}/{place}", detail) for place, detail in _gaps(ranges))


def last_branches(subject: Drivers, others: dict[str, Subject]) -> Findings:
    """A generation's last branch is a branch that is known, and older than the first driver without it."""
    cuda = cast("Cuda | None", others.get("cuda"))
    known = {numbers(row.branch) for row in cuda.branches} if cuda is not None else None
    for place, generation in enumerate(subject.generations):
        last = generation.last_branch
        if last is None:
            continue
        where, branch = f"generations/{place}", (last,)
        if known is not None and branch not in known:
            yield where, str(last)
        for system, first in generation.first_without.items():
            limit = numbers(first)
            if limit is None or limit < branch:
                yield where, f"{last} {system} {first}"


def packages(subject: Drivers, _all: dict[str, Subject]) -> Findings:
    """A package belongs to a generation, is not past its last branch, and comes from a host of the lookup's."""
    known: dict[str, Generation] = {generation.id: generation for generation in subject.generations}
    for place, package in enumerate(subject.packages):
        where, generation = f"packages/{place}", known.get(package.generation)
        if generation is None:
            yield where, package.generation
            continue
        version = numbers(package.version)
        # R580 is 580 to 589 on Linux and 58x.yy on Windows.
        if version is None or (generation.last_branch is not None and version[0] // 10 > generation.last_branch // 10):
            yield where, package.version
        host = (package.url or "").partition("//")[2].partition("/")[0]
        if package.url is not None and subject.lookup is not None and not host.endswith(subject.lookup.hosts):
            yield where, package.url
    yield from ((f"products/{place}", detail) for place, detail in _twins(p.id for p in subject.products))


def floors_agree(subject: Cudnn, others: dict[str, Subject]) -> Findings:
    """The oldest chip of a cuDNN is the one that PyTorch's floors say."""
    torch = cast("PyTorch | None", others.get("pytorch"))
    floors = torch.cudnn_floors if torch is not None else ()
    for release in subject.releases:
        version = numbers(release.version) or ()
        floor = next((f for f in floors if version >= (numbers(f.from_version) or ())), None)
        said = release.lowest_capability.get("12")
        if floor is not None and said is not None and said != floor.lowest_capability:
            yield f"releases/{release.version}", said


def archives(subject: Cudnn, _all: dict[str, Subject]) -> Findings:
    """A yanked cuDNN has no wheels; archives are for a CUDA that the release is built for, and of its version."""
    for release in subject.releases:
        where = f"releases/{release.version}"
        if release.yanked and release.wheels:
            yield where, "yanked"
        for archive in release.archives:
            if archive.cuda not in release.cuda_majors or release.version not in archive.url:
                yield where, archive.url


def installers(subject: Cuda, _all: dict[str, Subject]) -> Findings:
    """An installer's address ends with its file, and its name holds the toolkit's version."""
    for toolkit in subject.toolkits:
        for installer in toolkit.installers:
            if installer.url.rpartition("/")[2] != installer.file or toolkit.version not in installer.file:
                yield f"toolkits/{toolkit.version}", installer.url


def pythons(subject: Pythons, _all: dict[str, Subject]) -> Findings:
    """A standalone Python's address names its version, and the version its series."""
    for place, build in enumerate(subject.builds):
        if not build.version.startswith(f"{build.series}.") or build.version not in build.url:
            yield f"builds/{place}", build.url


def lowest_drivers(subject: TensorFlow, others: dict[str, Subject]) -> Findings:
    """Every CUDA that a TensorFlow was built with has a lowest driver."""
    cuda = cast("Cuda | None", others.get("cuda"))
    majors = {minimum.major for minimum in cuda.minimum_drivers} if cuda is not None else None
    for place, build in enumerate(subject.builds):
        version = numbers(build.cuda)
        if build.gpu and (version is None or (majors is not None and version[0] not in majors)):
            yield f"builds/{place}", str(build.cuda)


def families(subject: Accelerators, others: dict[str, Subject]) -> Findings:
    """An Intel device is of a family that is described; an AMD chip's builds were published by some PyTorch."""
    named = {family.family for family in subject.intel.families}
    for place, device in enumerate(subject.intel_devices):
        if device.family not in named:
            yield f"intel_devices/{place}", device.family
    torch = cast("PyTorch | None", others.get("pytorch"))
    published = {v.variant for r in torch.releases for v in r.variants} if torch is not None else None
    for chip in subject.amd_chips:
        for variant in chip.variants:
            if published is not None and variant not in published:
                yield f"amd_chips/{chip.gfx}", variant


def publishers(subject: Mirrors, _all: dict[str, Subject]) -> Findings:
    """A mirror mirrors a publisher that is listed."""
    known = {publisher.id for publisher in subject.publishers}
    yield from (
        (f"mirrors/{place}", m.publisher) for place, m in enumerate(subject.mirrors) if m.publisher not in known
    )
    yield from ((f"publishers/{place}", detail) for place, detail in _twins(p.id for p in subject.publishers))


RULES: dict[str, tuple[Rule, ...]] = {
    "accelerators": (unique_ids, families),
    "cuda": (newest_first, installers),
    "cudnn": (newest_first, floors_agree, archives),
    "drivers": (newest_first, generations, last_branches, packages),
    "gpus": (unique_ids, chips),
    "mirrors": (publishers,),
    "pythons": (newest_first, pythons),
    "pytorch": (newest_first, builds),
    "tensorflow": (newest_first, lowest_drivers),
    "vc_redist": (newest_first,),
}

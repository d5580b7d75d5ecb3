"""What may be said about the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .expect import Answer, box_of, deciding, is_cuda, nvidia
from .parts import needs
from .published import PublishedFacts, Version, number, version
from .torch_rules import Box, candidates, cuda_of, fits, packages


def driver_faults(
    published: PublishedFacts,
    machine: dict[str, Any],
    goal: str,
    channel: str,
    recommendation: dict[str, Any],
    right: Answer | None,
) -> Iterator[str]:
    """An update only where it is needed, to a driver that exists for this card, of the right channel."""
    advice = recommendation["driver"]
    gpu = deciding(published, machine)
    if gpu is None or (recommendation["accelerator"] != "cuda" and recommendation["cuda_toolkit"]["action"] == "none"):
        if advice["action"] != "none" or advice["recommended"] is not None:
            yield f"driver {advice['action']} without CUDA"
        return
    box = box_of(published, machine, channel, gpu)
    if advice["installed"] != box.installed:
        yield f"driver {advice['installed']} said to be there, {box.installed} is"
    if box.device is None:
        yield from _unknown_card(box, advice)
        return
    floor = _floor(published, box, goal, recommendation, right)
    if floor is not None:
        yield from _action(box, advice, floor)
    shared = right.shared if right is not None else None
    # What older cards share for PyTorch does not hold back TensorFlow's own card.
    if shared is not None and goal == "tensorflow" and floor is not None and number(shared["version"]) < floor:
        shared = None
    known = [shared] if shared is not None else packages(published, box)
    brought = from_packages(published, machine["os"], box, known[0], floor) if known and floor is not None else ()
    if brought and advice["action"] in ("install", "update", "back"):
        wanted = brought[0] if brought[0] is not None or advice["action"] != "back" else known[0]["version"]
        if advice["recommended"] != wanted:
            yield f"driver {advice['recommended']}, but the distribution's packages bring {wanted}"
        return
    server = str(machine["os"].get("name")).startswith("Windows Server")
    yield from _number(published, box, known, advice, floor, server=server)


def taught(published: PublishedFacts, system: dict[str, Any], generation: str) -> tuple[str | None, ...]:
    """What a distribution's own commands bring: a branch, or None for what nobody can number; nothing at all where
    nothing is known of it.
    """
    release, arch = str(system.get("distro_version")), system.get("arch")
    for row in published.facts["taught"]:
        mine = system.get("distro") in row["distributions"] and generation in row["brings"] and arch == "x86_64"
        if mine and {release, release.partition(".")[0], "any"} & set(row["releases"]):
            return (row["brings"][generation],)
    family = {system.get("distro"), *system.get("distro_like", ())}
    return (None,) if family & set(published.facts["distribution_pages"]) else ()


def from_packages(
    published: PublishedFacts, system: dict[str, Any], box: Box, newest: dict[str, Any], floor: Version
) -> tuple[str | None, ...]:
    """The driver that a distribution's own packages bring: a branch, or None where nobody looked; nothing at all
    where they bring none that is new enough and serves the chip, or just the newest known one.
    """
    if box.host != "linux":
        return ()
    known, own = published.facts["distributions"], system.get("distro")
    base = next((name for name in (own, *system.get("distro_like", ())) if name in known), None)
    rules = known.get(base)
    if rules is None or not published.modules(box.device or (0, 0)):
        brought = taught(published, system, newest["generation"])
        same = brought and brought[0] is not None and int(brought[0]) == number(newest["version"])[0]
        return () if same else brought
    release = str(system.get("distro_version"))
    if base != own:
        release = rules["codenames"].get(system.get("distro_codename"), "unknown")
    last = next(row["last_branch"] for row in published.drivers["generations"] if row["id"] == newest["generation"])
    fitting = [b for b in rules["branches"] if b >= floor[0] and (last is None or b <= last)]
    if "release_branches" in rules:
        branch = rules["release_branches"].get(release.partition(".")[0])
        if branch is not None and branch < floor[0]:
            return ()
    elif not fitting:
        return ()
    else:
        branch = max(fitting) if release in rules["seen_in"] else None
    return () if branch is not None and branch == number(newest["version"])[0] else (branch and str(branch),)


def _unknown_card(box: Box, advice: dict[str, Any]) -> Iterator[str]:
    wanted = "install" if box.installed is None else "keep"
    if box.driver is not None and advice["action"] != wanted and advice["recommended"] is not None:
        floor = version(advice["minimum"])
        if floor is None or box.driver >= floor:
            yield f"driver {advice['action']} for a card that nobody knows"


def _floor(
    published: PublishedFacts, box: Box, goal: str, advice: dict[str, Any], right: Answer | None
) -> Version | None:
    """The lowest driver for everything that was chosen."""
    floors = list(needs(published, box, goal, advice))
    if right is not None and right.fit is not None and is_cuda(advice):
        floors.append(right.fit.floor)
    if floors:
        floors.append(published.first_driver(box.host, box.device))
    return max(floors, default=None)


def _action(box: Box, advice: dict[str, Any], floor: Version) -> Iterator[str]:
    wanted = "install" if box.installed is None else "update" if box.driver and box.driver < floor else "keep"
    if box.dark:
        wanted = "back"
    if advice["action"] != wanted:
        yield f"driver {advice['action']}, expected {wanted} ({box.installed}, at least {floor})"
    least = version(advice["minimum"])
    if least != floor:
        yield f"lowest driver {advice['minimum']}, expected {floor}"


def _number(
    published: PublishedFacts,
    box: Box,
    known: Sequence[dict[str, Any]],
    advice: dict[str, Any],
    floor: Version | None,
    *,
    server: bool,
) -> Iterator[str]:
    """The number that is named: real, for this card, new enough, no step back but where the driver is too new."""
    newest = known[0] if known else None
    text = version(advice["recommended"])
    if text is None:
        if advice["recommended"] is not None:
            if advice["action"] != "keep" or advice["recommended"] != box.installed:
                yield f"driver {advice['recommended']} is no number"
        elif newest is not None:
            yield f"driver {newest['version']} exists for this card and is not named"
        return
    if box.dark and published.left_behind(box.host, box.device, text):
        yield f"driver {advice['recommended']} leaves the card as dark as {box.installed}"
    if box.driver is not None and text < box.driver and not box.dark:
        yield f"a step back from {box.installed} to {advice['recommended']}"
    if floor is not None and text < floor:
        yield f"driver {advice['recommended']} is too old for the build"
    if text == box.driver:
        return
    if newest is None or advice["recommended"] != newest["version"]:
        yield f"driver {advice['recommended']}, expected {newest and newest['version']} ({box.segment}, {box.channel})"
    elif (advice["url"], advice["channel"]) != (address(published, box, newest, server=server), newest["channel"]):
        yield f"driver address or channel: {advice['url']}, {advice['channel']}"


def address(published: PublishedFacts, box: Box, package: dict[str, Any], *, server: bool = False) -> str | None:
    """Where a package lies: as seen, else as addresses of its kind are built, where the facts say how."""
    if package["url"] is not None or box.host != "windows":
        return str(package["url"]) if package["url"] else None
    kind = f"{box.segment}/{package['channel'] or 'null'}"
    kind += "/server" if server and box.segment == "datacenter" else ""
    pattern = published.facts["driver_addresses"].get(kind)
    return pattern.replace("{v}", package["version"]) if pattern else None


def alternatives_faults(
    published: PublishedFacts, machine: dict[str, Any], channel: str, advice: dict[str, Any]
) -> Iterator[str]:
    """What is offered beside must work, too; with the present driver where that is what it says."""
    gpu = deciding(published, machine)
    if gpu is None:
        return
    box = box_of(published, machine, channel, gpu)
    if box.device is None:
        return
    for other in advice["alternatives"]:
        variant = other["change"].get("variant")
        if not variant or cuda_of(variant) is None:
            continue
        label = (other["change"]["pytorch"], variant)
        fit = next((f for f in fits(published, box) if (f.release, f.variant) == label), None)
        if fit is None:
            yield f"alternative {other['code']}: {label[0]}+{label[1]} does not run on capability {box.device}"
        elif (wrong := _without_driver(published, machine, box, advice["driver"], other, fit.floor)) is not None:
            yield f"alternative {other['code']}: {label[0]}+{label[1]}: {wrong}"


def ways_faults(
    published: PublishedFacts, machine: dict[str, Any], channel: str, ways: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """Of the two ways the one with the driver that is there has the newest release that runs on it, and comes first
    where nobody but the user can install the other's.
    """
    gpu = deciding(published, machine)
    by_name = {way["id"]: way for way in ways}
    if gpu is None or set(by_name) != {"newest", "works-now"}:
        yield f"ways {sorted(by_name)}"
        return
    box, torch = box_of(published, machine, channel, gpu), by_name["works-now"]["pytorch"]
    if by_name["works-now"]["driver"]["action"] != "keep" or by_name["newest"]["driver"]["action"] != "update":
        yield f"driver {by_name['newest']['driver']['action']} beside {by_name['works-now']['driver']['action']}"
    running = [fit for fit in fits(published, box) if box.works is not None and box.works >= fit.floor]
    alone = len({published.chip(card) for card in nvidia(machine)}) == 1
    if box.device is not None and alone and (not running or running[0].release != torch["version"]):
        yield f"way works-now: {torch['version']}+{torch['variant']}, expected {running[0] if running else None}"
    advice = by_name["newest"]["driver"]
    package = f"/{advice['recommended']}-"
    ours = package in str(advice["url"]) if machine["os"]["system"] == "windows" else advice["way"] == "packages"
    first = "newest" if ours and not machine["os"].get("wsl") else "works-now"
    if ways[0]["id"] != first:
        yield f"way {ways[0]['id']} comes first, expected {first}"


def _without_driver(
    published: PublishedFacts,
    machine: dict[str, Any],
    box: Box,
    advice: dict[str, Any],
    other: dict[str, Any],
    floor: Version,
) -> str | None:
    """Why an alternative's build would have no driver: too old, or one that has left a card behind."""
    changes = advice["action"] in ("install", "update", "back")
    driver: Version | None
    if other["code"] == "distribution-driver":
        rules, release = published.facts["distributions"]["debian"], str(machine["os"]["distro_version"])
        if machine["os"]["distro"] != "debian":
            release = rules["codenames"][machine["os"]["distro_codename"]]
        driver = (int(rules["release_branches"][release.partition(".")[0]]),)
    else:
        named = other["change"].get("driver") or (advice["recommended"] if changes else box.installed)
        driver = version(named)
    if driver is None:
        return None
    if driver < floor:
        return f"driver {driver} is below {floor}"
    promised = nvidia(machine) if other["code"].startswith("all-cards") else [deciding(published, machine)]
    chips = [published.chip(gpu) for gpu in promised if gpu is not None]
    dark = [device for device in chips if published.left_behind(box.host, device, driver)]
    return f"driver {driver} has left capability {dark[0]} behind" if dark else None


def beside_faults(
    published: PublishedFacts, machine: dict[str, Any], channel: str, recommendation: dict[str, Any]
) -> Iterator[str]:
    """What is said of further cards: an environment of their own only where the driver serves them."""
    gpu = deciding(published, machine)
    if gpu is None:
        return
    box, advice = box_of(published, machine, channel, gpu), recommendation["driver"]
    changes = advice["action"] in ("install", "update", "back")
    after = version(advice["recommended"] if changes else box.installed)
    for warning in recommendation["warnings"]:
        others = [
            other for other in nvidia(machine) if other is not gpu and other.get("name") == warning["data"].get("gpu")
        ]
        device = published.chip(others[0]) if others else None
        if device is None or box.device is None:
            continue
        gone = published.left_behind(box.host, device, after)
        kinds = published.modules(box.device), published.modules(device)
        apart = box.host == "linux" and all(kinds) and not kinds[0] & kinds[1]
        runs = any(
            after is None or f.floor <= after
            for f in candidates(published, box.system, box.arch, box.host, device, box.glibc)
        )
        code = warning["code"]
        if code == "other-gpu-without-code" and (gone or apart or not runs):
            yield f"an environment of its own promised to capability {device} on driver {after}"
        if code == "other-gpu-never" and runs and not gone:
            yield f"nothing offered to capability {device}, though a build runs on driver {after}"
        if code.startswith("driver-drops-other") and published.left_behind(box.host, device, box.driver):
            yield f"driver {after} said to leave capability {device} behind, which {box.installed} has done"
        if code.startswith("other-gpu-dark") and not gone:
            yield f"capability {device} called dark on driver {after}"
        if code.startswith("other-gpu-modules") and not apart:
            yield f"capabilities {box.device} and {device} do have common kernel modules"

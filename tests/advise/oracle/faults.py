"""Everything that is wrong with a recommendation, as texts; an empty list if nothing is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .driver_rules import driver_faults
from .expect import Answer, box_of, deciding, expected
from .parts import cudnn_faults, tensorflow_faults, toolkit_faults
from .published import PublishedFacts, chip, number
from .reasons import reason_faults
from .torch_rules import cuda_of, cudnn_serves, fits

WITH_TORCH = ("pytorch", "cuda-dev", "all")
WITH_TENSORFLOW = ("tensorflow", "all")


def find_faults(
    published: PublishedFacts, machine: dict[str, Any], goal: str, channel: str, advice: dict[str, Any]
) -> list[str]:
    """The rules that a recommendation breaks."""
    right = expected(published, machine, channel)
    faults: list[str] = []
    if goal in WITH_TORCH:
        faults += torch_faults(published, machine, channel, advice, right)
    elif advice["pytorch"] is not None:
        faults.append("PyTorch was not asked for")
    faults += python_faults(published, machine, goal, advice)
    faults += driver_faults(published, machine, goal, channel, advice, right)
    faults += toolkit_faults(published, machine, goal, channel, advice)
    faults += cudnn_faults(published, machine, goal, channel, advice)
    faults += tensorflow_faults(published, machine, goal, channel, advice)
    faults += reason_faults(machine, goal, advice)
    return faults


def torch_faults(
    published: PublishedFacts, machine: dict[str, Any], channel: str, advice: dict[str, Any], right: Answer | None
) -> Iterator[str]:
    """PyTorch's release and build, and what goes with them."""
    torch = advice["pytorch"]
    if right is None or torch is None:
        yield f"an answer where none is published: {torch}" if torch else "no PyTorch"
        return
    text = (advice["accelerator"], torch["version"], torch["variant"])
    wanted = (right.accelerator, right.torch, right.variant)
    if right.torch is not None and text != wanted:
        yield f"PyTorch {text}, expected {wanted}"
    release = next((row for row in published.releases if row["version"] == torch["version"]), None)
    if release is None:
        yield f"PyTorch {torch['version']} does not exist"
        return
    system, arch = machine["os"]["system"], machine["os"]["arch"]
    record = next(
        (v for v in release["variants"] if (v["system"], v["arch"], v["variant"]) == (system, arch, torch["variant"])),
        None,
    )
    if record is None:
        yield f"{torch['version']}+{torch['variant']} is not published for {system} {arch}"
        return
    if torch["index_url"] != record["index_url"]:
        yield f"index {torch['index_url']} does not serve {torch['variant']}"
    yield from _companions(release, torch, alone=(system, arch) == ("windows", "arm64"))
    yield from _inside(record, torch)
    gpu = deciding(published, machine)
    cuda = cuda_of(torch["variant"])
    if cuda is not None and gpu is None:
        yield "a CUDA build without an NVIDIA card"
    elif cuda is not None and gpu is not None:
        yield from _runs(published, machine, channel, gpu, torch)


def _companions(release: dict[str, Any], torch: dict[str, Any], *, alone: bool) -> Iterator[str]:
    if torch["torchvision"] != (None if alone else release["torchvision"]):
        yield f"torchvision {torch['torchvision']} beside torch {release['version']}"
    audio = release["torchaudio"]
    same_series = audio is not None and number(audio)[:2] == number(release["version"])[:2]
    if torch["torchaudio"] != (audio if same_series and not alone else None):
        yield f"torchaudio {torch['torchaudio']} beside torch {release['version']}"


def _inside(record: dict[str, Any], torch: dict[str, Any]) -> Iterator[str]:
    cuda = cuda_of(record["variant"])
    if torch.get("cudnn") != record.get("cudnn"):
        yield f"cuDNN {torch.get('cudnn')} said to be inside {record['variant']}"
    inside = torch.get("cuda")
    if (cuda is None) != (inside is None) or (cuda and inside and chip(".".join(inside.split(".")[:2])) != cuda):
        yield f"CUDA {torch.get('cuda')} said to be inside {record['variant']}"


def _runs(
    published: PublishedFacts, machine: dict[str, Any], channel: str, gpu: dict[str, Any], torch: dict[str, Any]
) -> Iterator[str]:
    box = box_of(published, machine, channel, gpu)
    if box.device is None:
        return
    label = (torch["version"], torch["variant"])
    if label not in {(fit.release, fit.variant) for fit in fits(published, box)}:
        cuda = cuda_of(torch["variant"]) or (0, 0)
        why = "" if cudnn_serves(published, torch.get("cudnn"), cuda, box.device) else ", its cuDNN does not"
        yield f"{label[0]}+{label[1]} does not run on capability {box.device}{why}"


def python_faults(
    published: PublishedFacts, machine: dict[str, Any], goal: str, advice: dict[str, Any]
) -> Iterator[str]:
    """The newest Python that all chosen packages support of those that are here, else the best one to download."""
    allowed: set[str] | None = None
    system, arch = machine["os"]["system"], machine["os"]["arch"]
    torch, flow = advice["pytorch"], advice["tensorflow"]
    if torch is not None:
        release = next((row for row in published.releases if row["version"] == torch["version"]), None)
        allowed = set(release["python"]) if release else set()
        if (system, arch) == ("windows", "arm64"):
            allowed = set(published.facts["arm"]["windows"]["pythons"])
        if system == "darwin":
            allowed = set(published.facts["old_macos_pythons"].get(torch["version"], allowed))
        if torch["variant"] == published.facts["amd_windows"]["build"]:
            allowed = set(published.facts["amd_windows"]["pythons"])
    if flow is not None and goal in WITH_TENSORFLOW:
        rules = published.facts["tensorflow"]
        listed = set(rules["newest_elsewhere"].get(f"{system} {arch}", rules)["pythons"])
        allowed = listed if allowed is None else allowed & listed
    if allowed is None:
        return
    here = {
        ".".join(p["version"].split(".")[:2])
        for p in machine.get("pythons") or ()
        if p.get("kind") in ("system", "managed") and p.get("arch") in (None, arch) and len(p["version"].split(".")) > 1
    }
    there = {b["series"] for b in published.pythons["builds"] if (b["system"], b["arch"]) == (system, arch)}
    preferred = [series for series in published.pythons["preferred"] if series in there & allowed]
    to_download = preferred[0] if preferred else max(there & allowed, key=number, default=None)
    wanted = max(here & allowed, key=number, default=to_download)
    if advice["python"] != wanted:
        yield f"Python {advice['python']}, expected {wanted}"

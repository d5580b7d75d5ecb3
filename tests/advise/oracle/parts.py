"""TensorFlow, the CUDA Toolkit and a separate cuDNN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .expect import box_of, deciding, glibc_of
from .published import PublishedFacts, Version, chip, number, version
from .torch_rules import Box, cuda_of, lowest_driver

WITH_TOOLKIT = ("cuda-dev", "all")
# Warnings that say that the card may not work with TensorFlow.
SAYS_SO = ("tensorflow", "gpu-unknown")
WITH_TENSORFLOW = ("tensorflow", "all")


def needs(published: PublishedFacts, box: Box, goal: str, advice: dict[str, Any]) -> Iterator[Version]:
    """The lowest drivers that what was chosen beside PyTorch asks for."""
    flow, toolkit = advice["tensorflow"], advice["cuda_toolkit"]
    if goal in WITH_TENSORFLOW and flow is not None and flow["gpu"]:
        rules = published.facts["tensorflow"]
        yield number(rules["lowest_driver"][box.host])
        if box.device is not None and _flow_code(published, box.device) == "portable":
            native = published.first_with(chip(rules["cuda"]) or (0, 0))
            if native is not None:
                yield native
    series = version(toolkit["version"])
    if goal in WITH_TOOLKIT and toolkit["action"] != "none" and series is not None:
        floor = lowest_driver(published, box.host, (series[0], series[1] if len(series) > 1 else 0), portable=False)
        if floor is not None:
            yield floor


def _compilers(
    published: PublishedFacts,
    arch: str,
    device: tuple[int, int] | None,
    major: int | None,
    glibc: tuple[int, ...] | None,
) -> bool:
    """Whether any toolkit compiles for the chip on this processor type; those of CUDA 12 do not with glibc 2.41."""
    return arch == "x86_64" and any(
        (device is None or span.oldest <= device <= span.newest)
        and major in (None, span.first[0])
        and not (glibc is not None and glibc >= (2, 41) and span.first[0] <= 12)
        for span in published.spans()
    )


def toolkit_faults(
    published: PublishedFacts, machine: dict[str, Any], goal: str, channel: str, advice: dict[str, Any]
) -> Iterator[str]:
    """A toolkit only for compiling, of the wheel's CUDA major, that compiles for the chip."""
    part = advice["cuda_toolkit"]
    gpu = deciding(published, machine)
    if goal not in WITH_TOOLKIT or gpu is None:
        if part["action"] == "install":
            yield f"a CUDA Toolkit for {goal} where nothing asks for one"
        return
    device = box_of(published, machine, channel, gpu).device
    cuda = cuda_of(advice["pytorch"]["variant"])
    if part["action"] == "none":
        if _compilers(published, machine["os"]["arch"], device, cuda[0] if cuda else None, glibc_of(machine)):
            yield "no CUDA Toolkit, though CUDA code is to be compiled"
        return
    toolkit = version(part["version"])
    if toolkit is None:
        yield f"CUDA Toolkit {part['version']} is no number"
        return
    real = {t["version"] for t in published.cuda["toolkits"]} - set(published.facts["toolkits_no_release"])
    if part["action"] == "install" and part["version"] not in real:
        yield f"CUDA Toolkit {part['version']} does not exist"
    here = {there.get("version") for there in machine.get("cuda_toolkits") or ()}
    if part["action"] == "keep" and part["version"] not in here:
        yield f"CUDA Toolkit {part['version']} is not there to be kept"
    # With glibc 2.41 nothing compiles with a toolkit of CUDA 12: a newer one compiles programs, if no extensions.
    is_only_one = cuda is not None and cuda[0] <= 12 and (glibc_of(machine) or (0,)) >= (2, 41)
    if cuda is not None and toolkit[0] != cuda[0] and not is_only_one:
        yield f"CUDA Toolkit {part['version']} beside a PyTorch for CUDA {cuda[0]}: extensions do not compile"
    span = next((s for s in published.spans() if s.first <= (*toolkit, 0)[:2] <= s.last), None)
    if device is not None and span is not None and not span.oldest <= device <= span.newest:
        yield f"CUDA Toolkit {part['version']} cannot compile for capability {device}"


def cudnn_faults(
    published: PublishedFacts, machine: dict[str, Any], goal: str, channel: str, advice: dict[str, Any]
) -> Iterator[str]:
    """A cuDNN of its own only for compiling, for the toolkit's major and with code for the chip."""
    part, toolkit = advice["cudnn"], version(advice["cuda_toolkit"]["version"])
    if goal not in WITH_TOOLKIT or toolkit is None or advice["cuda_toolkit"]["action"] == "none":
        if part["action"] == "install":
            yield f"a cuDNN for {goal} where nothing asks for one"
        return
    gpu = deciding(published, machine)
    nobody_knows = gpu is not None and published.chip(gpu) is None
    if part["action"] == "install" and nobody_knows:
        yield f"cuDNN {part['version']} for a chip that nobody knows"
    if part["action"] == "none":
        if not nobody_knows:
            yield "no cuDNN beside the CUDA Toolkit"
        return
    text = version(part["version"])
    if text is None or gpu is None:
        yield f"cuDNN {part['version']} is no number"
        return
    device = box_of(published, machine, channel, gpu).device
    if toolkit[0] == 13 and text < (9, 12):
        yield f"cuDNN {part['version']} has no build for CUDA 13"
    if toolkit[0] == 11 and text >= (9, 11):
        yield f"cuDNN {part['version']} has no build for CUDA 11"
    for row in published.facts["cudnn_floors"]:
        if text >= number(row["from"]):
            lowest = row.get("lowest_with_cuda_11") if toolkit[0] == 11 else None
            if device is not None and device < (chip(lowest or row["lowest"]) or ()):
                yield f"cuDNN {part['version']} has no code for capability {device}"
            break


def _flow_code(published: PublishedFacts, device: tuple[int, int]) -> str | None:
    rules = published.facts["tensorflow"]
    shut = published.torch["excluded_devices"]
    capability = f"{device[0]}.{device[1]}"
    for text in rules["code"]:
        code = chip(text)
        if code and code[0] == device[0] and code[1] <= device[1] and capability not in shut.get(text, ()):
            return "binary"
    portable = chip(rules["portable"])
    return "portable" if portable and portable <= device else None


def flow_newest(published: PublishedFacts, machine: dict[str, Any]) -> str:
    """The newest TensorFlow that this system's C library can load."""
    other = published.facts["tensorflow"]["newest_elsewhere"].get(f"{machine['os']['system']} {machine['os']['arch']}")
    if other is not None:
        return str(other["newest"])
    rules, glibc = published.facts["glibc"]["tensorflow"], glibc_of(machine)
    newest = str(published.facts["tensorflow"]["newest"])
    return newest if glibc is None or glibc >= number(rules["newest_needs"]) else str(rules["before"])


def flow_on_gpu(published: PublishedFacts, machine: dict[str, Any], channel: str) -> bool | None:
    """Whether TensorFlow's newest release computes on this machine's card; None: cannot be promised."""
    gpu = deciding(published, machine)
    if gpu is None or machine["os"]["system"] != "linux" or machine["os"]["arch"] != "x86_64":
        return False
    device = box_of(published, machine, channel, gpu).device
    if device is None or device >= (chip(published.facts["tensorflow"]["not_promised_from"]) or ()):
        return None
    return _flow_code(published, device) is not None


def tensorflow_faults(
    published: PublishedFacts, machine: dict[str, Any], goal: str, channel: str, advice: dict[str, Any]
) -> Iterator[str]:
    """TensorFlow: the newest; on the card only on Linux, for a chip with code in it."""
    flow = advice["tensorflow"]
    if goal not in WITH_TENSORFLOW:
        if flow is not None:
            yield "TensorFlow was not asked for"
        return
    kind = f"{machine['os']['system']} {machine['os']['arch']}"
    if (flow is None) != (kind in published.facts["tensorflow"]["nowhere"]):
        yield f"TensorFlow {flow['version']} for {kind}" if flow else "no TensorFlow, though there is one"
    if flow is None:
        return
    able = flow_on_gpu(published, machine, channel)
    if flow["gpu"] and able is False:
        yield "TensorFlow promised on a card that it does not run on"
    if flow["gpu"] and able is None and not any(w["code"].startswith(SAYS_SO) for w in advice["warnings"]):
        yield "TensorFlow promised on a card that nobody can promise it for"
    if not flow["gpu"] and able is True:
        yield "TensorFlow without the card that it runs on"
    newest = flow_newest(published, machine)
    if flow["version"] not in (newest, newest.rsplit(".", 1)[0]):
        yield f"TensorFlow {flow['version']}, expected {newest}"
    bundle = "[and-cuda]" in flow["requirement"]
    if bundle != flow["gpu"]:
        yield f"{flow['requirement']} for gpu={flow['gpu']}"
    yield from _flow_cudnn(published, machine, channel, advice)
    series = ".".join(flow["version"].split(".")[:2])
    if not flow["requirement"].startswith("tensorflow") or f"=={series}" not in flow["requirement"]:
        yield f"{flow['requirement']} does not install {flow['version']}"


def _flow_cudnn(
    published: PublishedFacts, machine: dict[str, Any], channel: str, advice: dict[str, Any]
) -> Iterator[str]:
    """TensorFlow takes the newest cuDNN, which has no code for old chips, unless something holds it back."""
    flow, gpu = advice["tensorflow"], deciding(published, machine)
    if gpu is None or not flow["gpu"]:
        return
    device = box_of(published, machine, channel, gpu).device
    newest = chip(published.facts["cudnn_floors"][0]["lowest"]) or (0, 0)
    held = version((advice["pytorch"] or {}).get("cudnn"))
    pinned = held is not None and held < number(published.facts["cudnn_floors"][0]["from"])
    text = "cudnn" in flow["requirement"] or any("cudnn" in warning["code"] for warning in advice["warnings"])
    if device is not None and device < newest and not pinned and not text:
        yield f"TensorFlow's newest cuDNN has no code for capability {device}"

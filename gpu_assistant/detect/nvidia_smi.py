"""The driver and its cards as nvidia-smi tells them where its library does not answer us.

Read from `nvidia-smi -q -x`; the table that it shows to people changes its words from release to release.
From driver 610 on "KMD" and "CUDA UMD" stand where "driver" and "CUDA" stood.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Final, Literal
from xml.etree import ElementTree

from ..core.errors import AppError
from ..core.machine import Driver, Gpu
from ..system.base import System
from ..system.nvml import NvmlSnapshot

NVIDIA_SMI_TIMEOUT_S: Final = 2.0
MIB: Final = 2**20

_VERSION = re.compile(r"\d+(\.\d+)+")
_DRIVER_MODELS: dict[str, Literal["WDDM", "TCC", "MCDM"]] = {"WDDM": "WDDM", "TCC": "TCC", "MCDM": "MCDM"}


def query_nvidia_smi(system: System, program: Path, stop: threading.Event) -> NvmlSnapshot | None:
    """Run it; None where it says nothing of use. Raises AppError("program-timeout")."""
    try:
        completed = system.run([program, "-q", "-x"], timeout=NVIDIA_SMI_TIMEOUT_S, cancel=stop)
    except AppError as error:
        if error.code == "program-timeout":
            raise
        return None
    return parse_nvidia_smi(completed.stdout) if completed.returncode == 0 else None


def parse_nvidia_smi(text: str) -> NvmlSnapshot | None:
    """From its XML; None where that is none, or names no driver."""
    try:
        root = ElementTree.fromstring(text.strip())  # noqa: S314 - written by NVIDIA's own program, started by its full path
    except (ElementTree.ParseError, ValueError):
        return None
    version = _first_version(root, "kmd_version", "driver_version")
    if version is None:
        return None
    cards = root.findall("gpu")
    models = [_DRIVER_MODELS[name] for card in cards if (name := _element_text(card, "driver_model/current_dm") or "") in _DRIVER_MODELS]
    return NvmlSnapshot(
        driver=Driver(
            version=version,
            cuda_max=_major_minor(_first_version(root, "cuda_umd_version", "cuda_version")),
            model=models[0] if models else None,
        ),
        gpus=tuple(_parse_gpu(index, card) for index, card in enumerate(cards)),
    )


def _parse_gpu(index: int, card: ElementTree.Element) -> Gpu:
    device_and_vendor = (_element_text(card, "pci/pci_device_id") or "").lower().removeprefix("0x")
    is_valid = re.fullmatch(r"[0-9a-f]{8}", device_and_vendor) is not None
    memory_match = re.fullmatch(r"(\d+) MiB", _element_text(card, "fb_memory_usage/total") or "")
    uuid = _element_text(card, "uuid")
    return Gpu(
        index=index,
        vendor="nvidia",
        name=_element_text(card, "product_name"),
        # Device and vendor in one number: 288210DE.
        pci_id=f"{device_and_vendor[4:]}:{device_and_vendor[:4]}" if is_valid else None,
        uuid=uuid if (uuid or "").startswith("GPU-") else None,
        memory_bytes=int(memory_match[1]) * MIB if memory_match else None,
    )


def _element_text(element: ElementTree.Element, path: str) -> str | None:
    text = (element.findtext(path) or "").strip()
    return None if not text or text in ("N/A", "[N/A]", "Unknown Error") else text


def _first_version(root: ElementTree.Element, *names: str) -> str | None:
    # A field that is on its way out holds a sentence that says so.
    return next((text for name in names if _VERSION.fullmatch(text := _element_text(root, name) or "")), None)


def _major_minor(version: str | None) -> str | None:
    return ".".join(version.split(".")[:2]) if version else None


def parse_kernel_module(text: str) -> Driver | None:
    """From /proc/driver/nvidia/version: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu …".

    The open module says "NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build".
    """
    line = next((line for line in text.splitlines() if line.startswith("NVRM version:")), "")
    match = re.search(r"Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)\b", line)
    return Driver(version=match[1]) if match else None

"""Wheel variants of PyTorch 2.8.0, its real metadata: what uv's preview feature selects of them, and what we advise.

uv is asked itself, on an index on loopback; what its provider for NVIDIA would find on a computer is given to it in the
variables that it has for that. `uv_variants.json` has the computers, uv's recorded answers and why they differ.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core import json as core_json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.install.packages.uv import find_uv
from gpu_assistant.refresh.job import RefreshJob
from tests.fakes.fault_server import fault_server
from tests.fakes.wheel_variants import PUBLISHED, current_metadata, published_metadata, variant_index
from tests.refresh.publisher_pages import Publishers

RECORDED = json.loads(Path(__file__).with_name("uv_variants.json").read_text(encoding="utf-8"))
RELEASE = "2.8.0"
PREVIEW = ("--preview-features", "wheel-variants")


class Answer(NamedTuple):
    """What uv did: the wheel that it selected, by its label ("plain": without one), or why it selected none."""

    selected: str | None
    error: str


def run_uv(
    index: str, arguments: tuple[str, ...], folder: Path, environ: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    base = {k: v for k, v in os.environ.items() if not k.upper().startswith(("UV_", "NV_VARIANT_"))}
    return subprocess.run(
        [find_uv(), "pip", "compile", "-", "--no-config", "--no-cache", "--default-index", index, "--no-header", "-v",
         "--python", sys.executable, "--python-version", "3.12", *arguments],
        input=f"torch=={RELEASE}", capture_output=True, text=True, env={**base, **environ}, cwd=folder, timeout=120,
        check=False,
    )  # fmt: skip


def ask_uv(
    case: dict[str, Any], *, preview: bool, published: bool = False, lock: bool = False, plain: bool = True
) -> Answer:
    """uv's answer for one computer; `published`: with the metadata in its first form, `lock`: written to pylock.toml,
    `plain`: the index has a wheel without a label, too.
    """
    environ = {}
    if case["uv_cuda"] is not None:
        environ["NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"] = case["uv_cuda"]
        environ["NV_VARIANT_PROVIDER_FORCE_SM_ARCH"] = case["uv_chip"]
    metadata = published_metadata() if published else current_metadata()
    with fault_server() as server, tempfile.TemporaryDirectory() as folder:
        arguments = PREVIEW if preview else ()
        if lock:
            arguments = (*arguments, "--format", "pylock.toml", "--output-file", "pylock.toml")
        done = run_uv(variant_index(server, metadata, plain=plain), arguments, Path(folder), environ)
    wheel = next((line for line in done.stderr.splitlines() if "Selecting: torch==" in line), None)
    if done.returncode != 0 or wheel is None:
        return Answer(None, " ".join(done.stderr.split()))
    name = wheel.rpartition("(")[2].rstrip(")").removesuffix(".whl")
    return Answer(name.split("-")[5] if name.count("-") == 5 else "plain", "")


@cache
def stated_catalog() -> Catalog:
    """Our catalog after a refresh from an index with this metadata."""
    floor = resources_dir() / "catalog"
    with fault_server() as server, tempfile.TemporaryDirectory() as folder:
        publishers = Publishers(server, load_catalog(floor))
        names = [
            f"torch-{RELEASE}-cp312-cp312-manylinux_2_28_x86_64-{label}.whl" for label in ("cu126", "cu128", "cu129")
        ]
        server.add(f"{publishers.wheels}torch-{RELEASE}-variants.json", PUBLISHED.read_bytes())
        links = "".join(f'<a href="{name}">{name}</a>' for name in (*names, f"torch-{RELEASE}-variants.json"))
        publishers.serve(publishers.wheels, f"<html><body>{links}</body></html>".encode())
        stored = Path(folder) / "current"
        RefreshJob(load_catalog(floor), publishers.source, stored, today=date(2026, 12, 1)).run(JobContext())
        catalog = load_catalog(floor, stored, today=date(2026, 12, 1))
        assert any(build.stated for release in catalog.releases for build in release.variants)
        return catalog


def our_advice(case: dict[str, Any]) -> str:
    """The build of this release that we advise, and what happens to the driver; or the code of a refusal."""
    machine = core_json.convert({"schema": "gpu-assistant/machine/1", **case["machine"]}, Machine)
    try:
        found = recommend(machine, stated_catalog(), choice=Choice(pytorch=RELEASE))
    except AppError as error:
        return f"refused ({error.code})"
    assert found.pytorch is not None
    driver = found.driver
    number = driver.installed if driver.action == "keep" else driver.recommended
    return found.pytorch.variant + (f", driver: {driver.action} {number}" if driver.action != "none" else "")


def section() -> list[str]:
    """The part of the page about wheel variants."""
    lines = [
        "## Wheel variants",
        "",
        *RECORDED["introduction"],
        "",
        f"uv {RECORDED['uv']} with `--preview-features wheel-variants`, asked itself on an index on loopback with",
        f"PyTorch {RELEASE} and its real metadata; what its NVIDIA provider would find is given to it in",
        "`NV_VARIANT_PROVIDER_FORCE_…`.",
        "",
        "| computer | uv selects | we advise | why |",
        "| --- | --- | --- | --- |",
    ]
    for case in RECORDED["cases"]:
        why = RECORDED["why"][case["why"]] if case["why"] is not None else "the same"
        lines.append(f"| {case['name']} | {case['uv']} | {our_advice(case)} | {why} |")
    return [*lines, "", *RECORDED["further"], "", f"- Source: {RECORDED['source']}"]

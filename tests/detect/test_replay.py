"""Recorded computers, looked at by the real probes: what comes out is the machine beside each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core import json as core_json
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.detect.job import DetectJob
from tests.fakes import recorded_machine

CATALOG = load_catalog(resources_dir() / "catalog")
SCHEMA = json.loads((resources_dir() / "schemas/machine.schema.json").read_text(encoding="utf-8"))


def looked_at(folder: Path, root: Path) -> Any:
    """The machine as JSON, with the recorded computer's own paths."""
    system = recorded_machine.replayed(folder, root)
    # No library answers in NVML's place: what nvidia-smi printed does, or what the kernel wrote down.
    machine = DetectJob(system, CATALOG, snapshot=lambda: None).run(JobContext())
    data = json.loads(core_json.encode(machine))
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    return recorded_machine.all_shown(data, root, windows=system.name == "windows")


@pytest.mark.parametrize("folder", recorded_machine.recorded(), ids=lambda folder: folder.name)
def test_recorded_machines_are_detected(folder: Path, tmp_path: Path) -> None:
    wanted = recorded_machine.expected(folder)
    if wanted["os"]["system"] == "linux" and sys.platform == "win32":
        pytest.skip("Linux's paths; Windows' computers are replayed everywhere")
    root = tmp_path / "root"
    root.mkdir()
    assert looked_at(folder, root) == wanted


def test_required_machines_are_recorded() -> None:
    names = {folder.name for folder in recorded_machine.recorded()}
    assert names >= {
        *("windows11-rtx4060-nodriver", "windows11-rtx4060-566", "windows11-rtx4060-laptop-amd"),
        *("windows10-gtx1060", "windows11-rtx5090", "windows11-quadro", "ubuntu22-h100", "ubuntu24-wsl2"),
        *("ubuntu22-broken-toolkits", "nothing-at-all"),
    }

"""What a user changed in a toolkit or in cuDNN, or put there, stays with its name; nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_assistant.core.plan import StepEvent
from gpu_assistant.install.files import inventory
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.texts.localized import Texts

from ...fakes.fault_server import fault_server
from ..toolkit_sandbox import ToolkitSandbox


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ToolkitSandbox]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as server:
        created = ToolkitSandbox(tmp_path, server.url)
        created.serve(server)
        yield created


def shown(sandbox: ToolkitSandbox) -> dict[str, str]:
    """What stays of each thing, by what is said of it."""
    steps = UninstallJob(sandbox.environment, sandbox.data, sandbox.system).steps()
    for step in steps:
        for part in ("title", "what", "undo"):
            assert "{" not in Texts("en").translate(f"step.{step.code}.{part}", step.data)
    return {step.code: str(step.data.get("files") or "") for step in steps}


def test_unmodified_toolkit_is_removed_completely(sandbox: ToolkitSandbox) -> None:
    before = sandbox.seen()
    sandbox.install()
    items = shown(sandbox)
    assert {"remove-files", "remove-folder", "remove-empty"} <= set(items)
    assert not [code for code in items if code.endswith("-files") and code != "remove-files"]
    sandbox.uninstall()
    assert sandbox.seen() == before


def test_changed_and_added_files_are_kept(sandbox: ToolkitSandbox) -> None:
    sandbox.install()
    for name in ("libcufft.h", "cudnn.h"):
        with (sandbox.tree / "include" / name).open("a", encoding="utf-8") as file:
            file.write("// mine\n")
    (sandbox.tree / "samples" / "none").mkdir(parents=True)
    items = shown(sandbox)
    assert items["remove-files-files"] == "include/cudnn.h"
    assert set(items["remove-folder-files"].split(", ")) == {"include/cudnn.h", "include/libcufft.h", "samples/"}
    # The folder above it stays for what stays in it.
    assert items["leave-filled"] == f"{sandbox.tree.name}/"
    events = sandbox.uninstall()
    ends = [event for event in events if isinstance(event, StepEvent) and event.code is not None]
    assert [event.code for event in ends] == ["progress.left-files", "progress.left-files", "progress.left-filled"]
    assert [event.data["files"] for event in ends] == [
        items["remove-files-files"],
        items["remove-folder-files"],
        items["leave-filled"],
    ]
    assert sorted(inventory.walk(sandbox.tree)) == ["include/cudnn.h", "include/libcufft.h", "samples/none/"]


def test_empty_user_folder_survives_repair(sandbox: ToolkitSandbox) -> None:
    sandbox.install()
    (sandbox.tree / "samples").mkdir()
    (sandbox.tree / "include" / "libcufft.h").unlink()
    sandbox.install()
    assert shown(sandbox)["remove-folder-files"] == "samples/"
    sandbox.uninstall()
    assert list(inventory.walk(sandbox.tree)) == ["samples/"]

"""The CUDA Toolkit: planned, fetched, merged, proven, repaired, killed, and taken away again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError, Cancelled, UsageError
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.plan import LogEvent, Plan, Step
from gpu_assistant.core.plan_cost import minimum_disk_bytes
from gpu_assistant.core.recommendation import PartAdvice
from gpu_assistant.install.files import archives
from gpu_assistant.install.files.staging import partial_path
from gpu_assistant.install.plan.validation import check_same_steps
from gpu_assistant.install.steps import context
from gpu_assistant.install.steps.cuda_redist import (
    PARTS_FOLDER,
    TOOLKIT_RECEIPT,
    installer_hint,
)
from gpu_assistant.system import current_system

from ...fakes.fault_server import FaultServer, fault_server
from ...fakes.redist import SAYS, Redist, sha256
from ..child_process import ChildProcess
from ..fault_points import COMPILER
from ..sandbox import end, states
from ..toolkit_sandbox import ToolkitSandbox

NONE = PartAdvice(action="none")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as served:
        yield served


@pytest.fixture
def sandbox(tmp_path: Path, server: FaultServer) -> ToolkitSandbox:
    created = ToolkitSandbox(tmp_path, server.url)
    created.serve(server)
    return created


def nvcc(sandbox: ToolkitSandbox) -> Path:
    return sandbox.tree / "bin" / ("nvcc.exe" if sandbox.redist.windows else "nvcc")


def code_of(sandbox: ToolkitSandbox, plan: Plan | None = None) -> str:
    with pytest.raises(AppError) as caught:
        sandbox.install(plan)
    return caught.value.code


def test_toolkit_folder_has_expected_layout(sandbox: ToolkitSandbox) -> None:
    events = sandbox.install(sandbox.plan(cudnn=NONE))
    assert states(events) == {"cuda-toolkit": "done", "variables": "done"}
    completed = subprocess.run([nvcc(sandbox), "--version"], capture_output=True, text=True, check=True)
    assert SAYS in completed.stdout
    assert (sandbox.tree / "include" / "libcublas.h").is_file()
    assert (sandbox.tree / "licenses" / "cuda_nvcc" / "LICENSE").is_file()
    if not sandbox.redist.windows:
        assert (sandbox.tree / "lib64" / "libcuda_cudart.so").resolve() == sandbox.tree / "lib" / "libcuda_cudart.so.13"
    values = {name: sandbox.variables.get(name) for name in ("CUDA_PATH", "CUDA_HOME")}
    assert {value.value for value in values.values() if value is not None} == {str(sandbox.tree)}
    inner = ["bin", "bin/x64"] if sandbox.redist.windows else ["bin"]
    assert all(sandbox.variables.is_on_path(sandbox.tree / name) for name in inner)
    there = archives.read_receipt(sandbox.tree / TOOLKIT_RECEIPT)
    assert there is not None
    assert there.index is not None
    assert there.index.pinned
    assert not (sandbox.tree / PARTS_FOLDER).exists()


def test_folders_for_cpp_extension_exist(sandbox: ToolkitSandbox) -> None:
    """torch.utils.cpp_extension takes CUDA_HOME, and lib64 or lib\\x64 and include below it."""
    sandbox.install(sandbox.plan(cudnn=NONE))
    assert (sandbox.tree / ("lib/x64" if sandbox.redist.windows else "lib64")).is_dir()
    assert (sandbox.tree / "include" / "cuda_cudart.h").is_file()


def test_damaged_file_is_found_by_hash_and_repaired(sandbox: ToolkitSandbox, server: FaultServer) -> None:
    sandbox.install()
    own = sandbox.tree / "include" / "mine.h"
    own.write_text("the user's", encoding="utf-8")
    before = sandbox.seen()
    server.seen.clear()
    events = sandbox.install()
    assert set(states(events).values()) == {"skipped"}
    assert not server.seen
    (sandbox.tree / "include" / "libcufft.h").write_bytes(b"// something else")
    nvcc(sandbox).unlink()
    events = sandbox.install()
    assert states(events) == {"cuda-toolkit": "done", "cudnn": "skipped", "variables": "skipped"}
    assert sandbox.seen() == before
    sandbox.uninstall()
    assert [path.name for path in sandbox.tree.rglob("*") if path.is_file()] == ["mine.h"]


def test_unpinned_index_is_logged_and_recorded(tmp_path: Path, server: FaultServer) -> None:
    sandbox = ToolkitSandbox(tmp_path, server.url, pinned=False)
    sandbox.serve(server)
    events = sandbox.install(sandbox.plan(cudnn=NONE))
    digest = sha256(sandbox.redist.files[sandbox.redist.cuda_index])
    assert any(digest in event.line for event in events if isinstance(event, LogEvent))
    there = archives.read_receipt(sandbox.tree / TOOLKIT_RECEIPT)
    assert there is not None
    assert there.index == archives.IndexSource(url=server.url + sandbox.redist.cuda_index, sha256=digest, pinned=False)


def test_index_with_wrong_hash_is_refused(sandbox: ToolkitSandbox, server: FaultServer) -> None:
    path = sandbox.redist.cuda_index
    server.add(path, sandbox.redist.files[path] + b" ")
    assert code_of(sandbox) == "hash-mismatch"
    assert not sandbox.tree.exists()


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("relative_path", "../../../evil.zip", "redist-index-broken"),
        ("relative_path", "https://example.com/evil.zip", "redist-index-broken"),
        ("relative_path", "/evil.zip", "redist-index-broken"),
        ("sha256", "0" * 63, "redist-index-broken"),
        ("sha256", "0" * 64, "hash-mismatch"),
        ("size", "many", "redist-index-broken"),
        ("size", 5, "redist-index-broken"),
    ],
)
def test_index_with_invalid_entries_is_refused(
    tmp_path: Path, server: FaultServer, field: str, value: object, code: str
) -> None:
    sandbox = ToolkitSandbox(tmp_path, server.url, pinned=False)
    sandbox.serve(server)
    index = json.loads(sandbox.redist.files[sandbox.redist.cuda_index])
    index["libcufft"][sandbox.redist.platform][field] = value
    server.add(sandbox.redist.cuda_index, json.dumps(index).encode())
    assert code_of(sandbox) == code
    assert not sandbox.tree.exists()


def test_index_without_part_is_an_error(tmp_path: Path, server: FaultServer) -> None:
    sandbox = ToolkitSandbox(tmp_path, server.url, pinned=False)
    sandbox.serve(server)
    index = json.loads(sandbox.redist.files[sandbox.redist.cuda_index])
    del index["libnvvm"]
    server.add(sandbox.redist.cuda_index, json.dumps(index).encode())
    assert code_of(sandbox) == "redist-part-missing"
    server.add(sandbox.redist.cuda_index, b"<html>")
    assert code_of(sandbox) == "redist-index-broken"


def test_broken_compiler_is_not_committed(tmp_path: Path, server: FaultServer) -> None:
    sandbox = ToolkitSandbox(tmp_path, server.url)
    broken = Redist(
        server.url, current_system().name, nvcc=b"#!/bin/sh\nexit 3\n" if sys.platform != "win32" else b"MZ"
    )
    broken.catalog(sandbox.catalog)
    broken.serve(server)
    assert code_of(sandbox) in ("toolkit-broken", "program-missing")
    assert not sandbox.tree.exists()


def test_foreign_folder_is_refused(sandbox: ToolkitSandbox) -> None:
    sandbox.tree.mkdir(parents=True)
    (sandbox.tree / "mine").write_text("1", encoding="utf-8")
    assert code_of(sandbox) == "toolkit-occupied"
    assert [path.name for path in sandbox.tree.iterdir()] == ["mine"]


def test_cancelled_install_resumes(
    sandbox: ToolkitSandbox, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancel, plan, opened = threading.Event(), sandbox.plan(cudnn=NONE), []

    def third(archive: Path, *args: Any, **more: Any) -> dict[str, str]:
        opened.append(archive.name)
        if len(opened) == 3:
            cancel.set()
        return archives.unpack(archive, *args, **more)

    monkeypatch.setattr(context, "unpack", third)
    with pytest.raises(Cancelled):
        sandbox.install(plan, cancel=cancel)
    assert not sandbox.tree.exists()
    assert len(list((partial_path(sandbox.tree) / PARTS_FOLDER).glob("*.json"))) == 2
    server.seen.clear()
    assert end(sandbox.install(plan)).state == "done"
    # Two were whole; the third was begun and is unpacked anew; none is fetched again.
    assert opened[3] == opened[2]
    assert sorted(set(opened)) == sorted([*opened[:2], *opened[3:]])
    assert not [seen for seen in server.seen if "-archive." in seen.path]


def test_tampered_plan_is_refused(sandbox: ToolkitSandbox) -> None:
    plan = sandbox.plan(cudnn=NONE)
    step = plan.steps[0]
    other = "linux-x86_64" if sandbox.redist.windows else "windows-x86_64"
    file = step.files[0]
    for bad in (
        {"files": ()},
        {"files": (msgspec.structs.replace(file, url="https://example.com/redistrib_13.2.2.json"),)},
        {"files": (msgspec.structs.replace(file, sha256="0" * 64),)},
        {"files": (msgspec.structs.replace(file, name="../x"),)},
        {"spec": {**step.spec, "version": "13.2.1"}},
        {"spec": {**step.spec, "version": "../../x"}},
        {"spec": {**step.spec, "platform": other}},
        {"spec": {**step.spec, "platform": "linux-x86_64/../.."}},
        {"spec": {**step.spec, "more": 1}},
    ):
        tampered = msgspec.structs.replace(plan, steps=(msgspec.structs.replace(step, **bad), *plan.steps[1:]))
        with pytest.raises(UsageError) as caught:
            check_same_steps(tampered, plan)
        assert caught.value.code == "plan-differs"


def run_until(root: str, base: str, what: str, stop: str) -> int:
    """Install or uninstall; die at the `stop`th change below the toolkits' folder: a rename, a removal, a new folder, a
    file that is opened for writing. Returns how many changes there were.
    """
    sandbox = ToolkitSandbox(Path(root), base)
    plan = sandbox.plan()
    count, below = 0, str(sandbox.data.toolkits)

    def count_change(event: str, args: tuple[Any, ...]) -> None:
        nonlocal count
        changes = event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.symlink")
        writes = event == "open" and isinstance(args[1], str) and args[1][:1] in "xw"
        if (changes or writes) and str(args[0]).startswith(below):
            count += 1
            if count == int(stop):
                os._exit(9)

    sys.addaudithook(count_change)
    sandbox.install(plan) if what == "install" else sandbox.uninstall()
    return count


@pytest.fixture(scope="module")
def child() -> Iterator[ChildProcess]:
    with ChildProcess(__name__, "run_until") as process:
        yield process


STOPS_APART = 13 if sys.platform == "linux" and COMPILER is None else 61


@pytest.mark.timeout(600)
@pytest.mark.parametrize("what", ["install", "uninstall"])
def test_kill_at_each_change_is_recovered(child: ChildProcess, tmp_path: Path, server: FaultServer, what: str) -> None:
    def furnished(name: str) -> ToolkitSandbox:
        sandbox = ToolkitSandbox(tmp_path / name, server.url)
        sandbox.variables.set("CUDA_PATH", "%OLD%", expand=True)
        sandbox.variables.set("PATH", "first;;second;", expand=True)
        return sandbox

    model = furnished("model")
    model.serve(server)
    before = model.seen()
    counted = furnished("counted")
    if what == "uninstall":
        counted.install()
    model.install()
    complete = {name: data for name, data in model.seen().items() if name.startswith("data")}
    done = child.run(counted.root, server.url, what, 0)
    assert done.returncode == 0
    count = int(done.output)
    assert count > 60
    # Primes apart, so that every sort of change has its turn; where a library can be preloaded, `test_fault_points.py`
    # kills the same work at changes of every sort, too.
    for stop in range(2, count, STOPS_APART):
        sandbox = furnished(str(stop))
        if what == "uninstall":
            sandbox.install()
        assert child.run(sandbox.root, server.url, what, stop).returncode == 9
        if what == "install":
            assert end(sandbox.install()).state == "done"
            assert {name: data for name, data in sandbox.seen().items() if name.startswith("data")} == complete, stop
        assert end(sandbox.uninstall()).state == "done"
        assert sandbox.seen() == before, stop


@pytest.mark.parametrize("system", ["windows", "linux"])
@pytest.mark.parametrize("version", ["13.2.2", "13.0.3", "12.6.3"])
def test_plan_has_exact_sizes(system: str, version: str) -> None:
    catalog = load_catalog(resources_dir() / "catalog")
    redist = catalog.cuda.redist
    assert redist is not None
    sizes = next(s for s in redist.sizes if (s.version.text, s.system) == (version, system))
    wanted = {part.names[0] for part in redist.toolkit_parts(int(version[:2]))}
    assert set(sizes.bytes) == wanted
    assert redist.toolkit_bytes(sizes.version, sizes.system, "x86_64") == sum(sizes.bytes.values())
    toolkit = catalog.cuda.toolkit(version)
    assert toolkit is not None
    other = installer_hint(catalog, toolkit, system, "x86_64")
    command = str(other["command"])
    assert (f" nvcc_{version[:4]} " in command) == (system == "windows")
    assert ("visual_studio_integration" in command, "--driver" in command) == (False, False)


def test_plan_names_nvidia_installer_too(sandbox: ToolkitSandbox) -> None:
    step = sandbox.plan().steps[0]
    assert step.data["installer"] == "https://developer.nvidia.com/cuda-toolkit-archive"
    assert step.needs_admin is False


def test_archive_sizes_count_as_minimum_disk_space(sandbox: ToolkitSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much they unpack to nobody tells; the check of the space must not leave them out for that."""
    created = sandbox.plan()
    counted = [step for step in created.steps if step.kind in ("cuda-toolkit", "cudnn")]
    assert [step.disk_bytes for step in counted] == [None, None]
    least = sum(minimum_disk_bytes(step) or 0 for step in counted)
    assert least == sum(step.bytes or 0 for step in counted) > 0
    assert all(step.minutes is not None for step in counted)
    space = Step(id="space", kind="check-space", code="check-space", bytes=0, disk_bytes=0, minutes=0.0)
    plan = msgspec.structs.replace(created, steps=(space, *created.steps))
    usage = shutil.disk_usage(sandbox.root)
    # The archives themselves lie there, too.
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage._replace(free=2 * least - 1))
    assert code_of(sandbox, plan) == "disk-too-small"
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage)
    assert end(sandbox.install(plan)).state == "done"

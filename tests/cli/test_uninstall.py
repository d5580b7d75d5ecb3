"""A removal in a terminal: every step ends with what became of it, and the last line does not say more than is true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_assistant.core.paths import DataDir
from gpu_assistant.install.files import inventory
from gpu_assistant.install.journal.log import Journal, TreeCreated
from tests.cli.conftest import Call


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """One that an install made, as far as a removal looks."""
    made = tmp_path / "env"
    (made / "bin").mkdir(parents=True)
    for name in ("activate", "deactivate"):
        (made / "bin" / name).write_text(name, encoding="utf-8")
    inventory.write_file_manifest(made)
    with (
        Journal(DataDir(tmp_path / "data"), environment=str(made)) as book,
        book.effect("python-packages", TreeCreated(path=str(made))),
    ):
        pass
    return made


def test_everything_is_removed(call: Call, environment: Path) -> None:
    done = call("uninstall", "--env", str(environment), "--yes")
    assert (done.returncode, done.stdout.strip()) == (0, f"{environment} was removed.")
    assert not environment.exists()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_remaining_files_are_reported(call: Call, environment: Path, language: str) -> None:
    (environment / "thesis.txt").write_text("all of it", encoding="utf-8")
    (environment / "bin" / "activate").write_text("mine", encoding="utf-8")
    done = call("--lang", language, "uninstall", "--env", str(environment), "--yes")
    assert done.returncode == 0
    assert all(name in done.stderr for name in ("thesis.txt", "bin/activate"))
    assert {"en": "your own files there stay", "zh_CN": "你自己的文件保留在里面"}[language] in done.stdout
    assert sorted(inventory.walk(environment)) == ["bin/activate", "thesis.txt"]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_dry_run_removes_nothing(call: Call, environment: Path, tmp_path: Path, language: str) -> None:
    stays = tmp_path / "data" / "thesis.txt"
    stays.write_text("all of it", encoding="utf-8")
    shown = call("--lang", language, "uninstall", "--all", "--dry-run", "--yes")
    assert shown.returncode == 0
    assert str(environment) in shown.stdout
    journal = {"en": "Remove the installation journal", "zh_CN": "删除安装的操作记录"}[language]
    assert journal in shown.stdout
    assert "thesis.txt" in shown.stdout
    assert environment.is_dir()
    events = [json.loads(line) for line in call("uninstall", "--all", "--dry-run", "--json").stdout.splitlines()]
    assert (events[0]["event"], events[-1]["event"], events[-1]["state"]) == ("plan", "end", "done")
    data_step = next(step for step in events[0]["steps"] if step["id"] == "data")
    assert (data_step["code"], "thesis.txt" in data_step["what"]) == ("leave-filled", True)
    one = call("uninstall", "--env", str(environment), "--dry-run")
    assert (one.returncode, f"Deletes {environment}." in one.stdout) == (0, True)
    assert environment.is_dir()


def test_list_is_shown_without_terminal(call: Call, environment: Path) -> None:
    refused = call("uninstall", "--env", str(environment))
    assert refused.returncode == 2
    assert "The environment env, " in refused.stderr
    assert "--yes" in refused.stderr.splitlines()[-1]
    assert environment.is_dir()

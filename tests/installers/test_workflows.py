"""The workflows: right by GitHub's schema, every foreign action named by its commit, rights no wider than needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

WORKFLOWS = sorted((Path(__file__).resolve().parents[2] / ".github/workflows").glob("*.yml"))


def load(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    return content


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in load(path)["jobs"].values() for step in job["steps"]]


def test_there_are_two() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "release.yml"]


def test_githubs_schema_holds() -> None:
    program = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*program, *map(str, WORKFLOWS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_named_by_commit(path: Path) -> None:
    used = re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d[\d.]*", comment), f"{action}: which version is it?"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_nothing_may_write_but_the_draft(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] in ({}, {"contents": "read"})
    writing = [name for name, job in workflow["jobs"].items() if "write" in (job.get("permissions") or {}).values()]
    assert writing == (["draft"] if path.stem == "release" else [])
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"] == {"persist-credentials": False}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_foreign_word_is_pasted_into_a_script(path: Path) -> None:
    # What stands in ${{ }} inside "run" is pasted as text: a tag's name could be a command.
    for step in steps(path):
        assert "${{" not in step.get("run", ""), step


def test_what_needs_an_identity_sleeps_without_one() -> None:
    release = next(path for path in WORKFLOWS if path.stem == "release")
    secret = [step for step in steps(release) if "secrets." in str(step)]
    assert len(secret) == 2
    assert all(re.fullmatch(r"vars\.\w+ != ''", step["if"]) for step in secret)

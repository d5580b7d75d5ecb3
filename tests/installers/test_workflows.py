"""The workflows: right by GitHub's schema, every foreign action named by its commit, rights no wider than needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the steps run in a Linux shell")
WORKFLOWS = sorted((Path(__file__).resolve().parents[2] / ".github/workflows").glob("*.yml"))


def load(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    return content


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in load(path)["jobs"].values() for step in job.get("steps", ())]


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
        if action == "./.github/workflows/ci.yml":
            continue
        assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d[\d.]*", comment), f"{action}: which version is it?"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_nothing_may_write_but_the_draft(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] in ({}, {"contents": "read"})
    writing = [name for name, job in workflow["jobs"].items() if "write" in (job.get("permissions") or {}).values()]
    assert writing == (["draft"] if path.stem == "release" else [])
    # A job that is another workflow has that one's limits.
    assert all("timeout-minutes" in job or "uses" in job for job in workflow["jobs"].values())
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
    assert len(secret) == 4
    assert all(re.fullmatch(r"vars\.\w+ != ''", step["if"]) for step in secret)


def before(job: str, jobs: dict[str, Any]) -> set[str]:
    """The jobs that must have passed before this one begins."""
    needs = jobs[job].get("needs", [])
    names = {needs} if isinstance(needs, str) else set(needs)
    return names.union(*(before(name, jobs) for name in names))


def test_build_needs_passed_tests_and_right_tag() -> None:
    tests, release = (load(path) for path in WORKFLOWS)
    jobs = release["jobs"]
    assert jobs["tests"]["uses"] == "./.github/workflows/ci.yml"
    assert "workflow_call" in tests["on"]
    assert {"tests", "lint"} <= set(tests["jobs"])
    for name in set(jobs) - {"tag", "tests"}:
        assert before(name, jobs) >= {"tag", "tests"}, name


def test_draft_takes_setup_from_the_signature_check_job() -> None:
    jobs = load(WORKFLOWS[1])["jobs"]
    uploads = {
        step["with"]["name"]: (name, place)
        for name, job in jobs.items()
        for place, step in enumerate(job.get("steps", ()))
        if step.get("uses", "").startswith("actions/upload-artifact@")
    }
    (taken,) = (s["with"] for s in jobs["draft"]["steps"] if s.get("uses", "").startswith("actions/download-artifact@"))
    assert taken["pattern"] == "release-*"
    assert "setup" in before("draft", jobs)
    intermediate = [name for name in uploads if not name.startswith("release-")]
    assert intermediate == ["plugins-as-built", "plugins-signed", "inside-as-built", "inside-signed", "setup-as-built"]
    job, place = uploads["release-setup"]
    looked = [at for at, step in enumerate(jobs[job]["steps"]) if "Get-AuthenticodeSignature" in step.get("run", "")]
    assert looked
    assert looked[0] < place


def test_the_windows_program_is_built_on_debian_and_tried_on_windows_before_it_is_signed() -> None:
    jobs = load(WORKFLOWS[1])["jobs"]
    for name in ("plugins", "inside", "windows"):
        assert jobs[name]["container"].startswith("debian:"), name
        scripts = "\n".join(step.get("run", "") for step in jobs[name]["steps"])
        assert re.search(r"apt-get install .*\bnsis\b", scripts), name
        assert "installers/windows/build.py" in scripts
    assert all("build.py" not in step.get("run", "") for step in jobs["windows-test"]["steps"])
    assert jobs["windows-test"]["runs-on"].startswith("windows-")
    assert before("setup", jobs) >= {"windows", "windows-test"}
    assert before("draft", jobs) >= {"windows-test", "setup"}


def test_files_inside_are_signed_before_they_are_packed() -> None:
    jobs = load(WORKFLOWS[1])["jobs"]
    # The uninstaller, which is signed with the files inside, holds plug-ins.
    assert before("inside", jobs) >= {"plugins", "plugins-signed"}
    assert before("windows", jobs) >= {"inside", "inside-signed"}
    signed = {"inside": "${SIGNER:+--plugins plugins}", "windows": "${SIGNER:+--signed inside --plugins plugins}"}
    for name, options in signed.items():
        (build,) = (step for step in jobs[name]["steps"] if "build.py" in step.get("run", ""))
        assert options in build["run"], name
        assert build["env"]["SIGNER"] == "${{ vars.SIGNPATH_ORGANIZATION_ID }}"
        taken = {s["with"]["name"] for s in jobs[name]["steps"] if "download-artifact" in s.get("uses", "")}
        assert taken == {"plugins-signed", *(["inside-signed"] if name == "windows" else [])}
    assert any("--unsigned inside" in step.get("run", "") for step in jobs["inside"]["steps"])
    assert any("--unsigned-plugins plugins" in step.get("run", "") for step in jobs["plugins"]["steps"])


def test_signing_waits_for_a_persons_approval_and_its_configurations_are_described() -> None:
    jobs = load(WORKFLOWS[1])["jobs"]
    signing = {
        name: step["with"]
        for name, job in jobs.items()
        for step in job.get("steps", ())
        if step.get("uses", "").startswith("signpath/")
    }
    decision = (WORKFLOWS[0].parents[2] / "docs/decisions/0005-signing-by-signpath.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `(\w+)` \|", decision, re.MULTILINE)
    assert [given["artifact-configuration-slug"] for given in signing.values()] == described
    for name, given in signing.items():
        waited_s = int(given["wait-for-completion-timeout-in-seconds"])
        assert 3600 <= waited_s < 60 * jobs[name]["timeout-minutes"] <= 6 * 3600, name


@pytest.mark.linux
@on_linux
@pytest.mark.parametrize(
    ("tag", "early"), [("v1.2.3", False), ("v1.2.3rc1", True), ("v2.0a1", True), ("v2.0b3", True), ("v1.0.dev4", True)]
)
def test_a_version_before_the_version_is_drafted_as_one(tmp_path: Path, tag: str, early: bool) -> None:
    (step,) = (s for s in load(WORKFLOWS[1])["jobs"]["draft"]["steps"] if "gh release create" in s.get("run", ""))
    program = tmp_path / "gh"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_REF_NAME": tag, "GITHUB_REPOSITORY": "o/r"}
    command = ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ("--prerelease" in done.stdout.split()) is early
    assert done.stdout.startswith(f"release\ncreate\n{tag}\n")


@pytest.mark.linux
@on_linux
def test_another_tag_than_the_versions_stops_it() -> None:
    import gpu_assistant

    step = load(WORKFLOWS[1])["jobs"]["tag"]["steps"][-1]
    root = WORKFLOWS[0].parents[2]
    command = ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    for tag, code in ((f"v{gpu_assistant.__version__}", 0), (gpu_assistant.__version__, 1), ("v999", 1)):
        environ = {"PATH": "/usr/bin:/bin", "GITHUB_REF_NAME": tag, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, env=environ, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr

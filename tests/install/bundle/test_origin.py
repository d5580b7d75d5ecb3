"""Whose bundle it is: the list's hash, or a signature; what changed after the question is not installed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.cli.main import run
from gpu_assistant.core.errors import UsageError
from gpu_assistant.install.bundle.format import LIST_FILE, SIGNATURE_FILE, list_hash

from ..bundle_sandbox import create, offline
from ..sandbox import Sandbox, end
from .test_minisign import PUBLIC_KEY, SECRET_KEY, read_key

OTHER_HASH = "0" * 64


@pytest.fixture
def signed(sandbox: Sandbox, tmp_path: Path) -> Path:
    folder = tmp_path / "stick"
    create(sandbox, folder, signing_key=read_key(tmp_path, SECRET_KEY))
    return folder


def check(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> tuple[int, str]:
    code = run(["bundle", "check", *arguments, "--data-dir", str(tmp_path / "data")])
    return code, capsys.readouterr().err


def touch_list(folder: Path) -> None:
    """Another list that names the same files."""
    path = folder / LIST_FILE
    path.write_bytes(path.read_bytes() + b"\n")


def test_signed_bundle_is_checked_by_public_key(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, signed: Path
) -> None:
    key = PUBLIC_KEY.splitlines()[1]
    assert check(capsys, tmp_path, str(signed), "--public-key", key)[0] == 0
    touch_list(signed)
    code, told = check(capsys, tmp_path, str(signed), "--public-key", key)
    assert (code, "was not signed with this key" in told) == (2, True)
    (signed / SIGNATURE_FILE).unlink()
    code, told = check(capsys, tmp_path, str(signed), "--public-key", key)
    assert (code, "has no signature" in told) == (2, True)


def test_bundle_made_again_without_key_has_no_signature(sandbox: Sandbox, signed: Path) -> None:
    create(sandbox, signed)
    assert not (signed / SIGNATURE_FILE).exists()


def test_bundle_with_other_hash_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, signed: Path) -> None:
    assert check(capsys, tmp_path, str(signed), "--expect", list_hash(signed).upper())[0] == 0
    code, told = check(capsys, tmp_path, str(signed), "--expect", OTHER_HASH)
    assert (code, OTHER_HASH in told) == (2, True)


@pytest.mark.parametrize("origin", ["--expect", "--public-key"])
def test_install_refuses_bundle_of_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, bundle: Path, origin: str
) -> None:
    given = OTHER_HASH if origin == "--expect" else PUBLIC_KEY.splitlines()[1]
    assert run(["install", "--bundle", str(bundle), origin, given, "--yes", "--data-dir", str(tmp_path / "data")]) == 2
    assert not (tmp_path / "data" / "journal").exists()
    assert str(bundle) in capsys.readouterr().err


@pytest.mark.parametrize("origin", ["--expect", "--public-key"])
def test_origin_without_bundle_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, origin: str) -> None:
    assert run(["install", origin, OTHER_HASH, "--dry-run", "--data-dir", str(tmp_path / "data")]) == 2
    assert "--bundle" in capsys.readouterr().err


def test_bundle_that_changes_after_question_is_not_installed(sandbox: Sandbox, bundle: Path) -> None:
    plan = replace(offline(sandbox, bundle), bundle_sha256=list_hash(bundle))
    touch_list(bundle)
    with pytest.raises(UsageError, match="bundle-differs"):
        sandbox.install(plan)
    assert not sandbox.environment.exists()
    sandbox.install(replace(plan, bundle_sha256=list_hash(bundle)))
    assert sandbox.environment.is_dir()


def test_key_with_password_needs_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("thesis", encoding="utf-8")
    command = ["bundle", "create", str(tmp_path / "stick"), "--sign", str(key), "--dry-run"]
    assert run([*command, "--data-dir", str(tmp_path / "data")]) == 2
    assert "not a minisign secret key" in capsys.readouterr().err


# Plan files with folders.


def write_plan(capsys: pytest.CaptureFixture[str], tmp_path: Path, wheelhouse: Path, **changes: Any) -> Path:
    path = tmp_path / "plan.json"
    path.unlink(missing_ok=True)
    command = ["plan", "--wheelhouse", str(wheelhouse), "--env", str(tmp_path / "env"), "--offline"]
    assert run([*command, "--output", str(path), "--data-dir", str(tmp_path / "data")]) == 0
    capsys.readouterr()
    plan = json.loads(path.read_bytes())
    plan |= changes
    path.write_text(json.dumps({name: value for name, value in plan.items() if value is not None}), encoding="utf-8")
    return path


@pytest.fixture
def wheelhouse(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "thesis-1.0-py3-none-any.whl").write_bytes(b"as planned")
    (folder / "notes.txt").write_bytes(b"no package")
    return folder


def carry_out(capsys: pytest.CaptureFixture[str], tmp_path: Path, plan: Path, *options: str) -> tuple[int, str]:
    code = run(["install", "--plan", str(plan), *options, "--data-dir", str(tmp_path / "data")])
    return code, capsys.readouterr().err


def test_plan_file_names_checksums_of_its_wheelhouse(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, wheelhouse: Path
) -> None:
    path = write_plan(capsys, tmp_path, wheelhouse)
    digest = hashlib.sha256(b"as planned").hexdigest()
    assert json.loads(path.read_bytes())["wheelhouse_files"] == {"thesis-1.0-py3-none-any.whl": digest}
    assert carry_out(capsys, tmp_path, path, "--dry-run")[0] == 0


@pytest.mark.parametrize("name", ["thesis-1.0-py3-none-any.whl", "thesis-2.0-py3-none-any.whl"])
def test_wheelhouse_that_changed_since_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, wheelhouse: Path, name: str
) -> None:
    path = write_plan(capsys, tmp_path, wheelhouse)
    (wheelhouse / name).write_bytes(b"changed!!!")
    code, told = carry_out(capsys, tmp_path, path, "--dry-run")
    assert (code, name in told) == (2, True)


class Terminal:
    """A person who says no."""

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return "n\n"


def test_folder_without_checksums_is_asked_for_by_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_plan(capsys, tmp_path, wheelhouse, wheelhouse_files=None)
    code, told = carry_out(capsys, tmp_path, path, "--yes")
    assert (code, str(wheelhouse) in told) == (2, True)
    monkeypatch.setattr("sys.stdin", Terminal())
    code, told = carry_out(capsys, tmp_path, path)
    assert (code, f"{wheelhouse} without checksums" in told) == (3, True)
    assert not (tmp_path / "data" / "journal").exists()


def test_installed_wheel_must_be_the_planned_one(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "wheels"
    folder.mkdir()
    for wheel in (sandbox.torch, *sandbox.others):
        (folder / wheel.name).write_bytes(wheel.data)
    known = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    plan = replace(sandbox.plan(wheelhouse=folder), wheelhouse_files={**known, sandbox.torch.name: OTHER_HASH})
    with pytest.raises(UsageError, match="wheelhouse-differs"):
        sandbox.install(plan)
    assert not sandbox.environment.exists()
    assert end(sandbox.install(replace(plan, wheelhouse_files=known))).state == "done"

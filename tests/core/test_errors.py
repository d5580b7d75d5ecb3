"""What the system refuses is said in our own words where there are some, in both languages."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gpu_assistant.core import json
from gpu_assistant.core.errors import OS_ERROR_KEYS, WINERROR_KEYS, AppError, UsageError, os_error_text, storage_errors
from gpu_assistant.texts.localized import Texts
from gpu_assistant.texts.translate import load_texts


def test_write_below_a_file_reports_the_os_error(tmp_path: Path) -> None:
    tmp_path.joinpath("file").touch()
    with pytest.raises(AppError) as caught:
        json.write_file(tmp_path / "file" / "result.json", b"{}")
    texts = {code: Texts(code).error_text(caught.value) for code in ("en", "zh_CN")}
    assert caught.value.code == "storage"
    assert os.strerror(errno.ENOTDIR) not in "".join(texts.values())
    assert any(load_texts()[f"os.{word}"]["zh_CN"] in texts["zh_CN"] for word in ("no-folder", "there", "missing"))


def test_missing_file_is_reported_in_chinese(tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught:
        json.read_file(tmp_path / "没有 这个.json", dict, code="file-broken")
    text = Texts("zh_CN").error_text(caught.value)
    assert "文件或文件夹不存在" in text
    # Our words have no gap of Latin letters before them; somebody's name keeps its own.
    assert "没有 这个.json（" in text


def test_every_os_error_key_has_text_rare_ones_use_strerror() -> None:
    # "closed" is our own word for a stream, not an error of the system.
    assert {f"os.{word}" for word in (*OS_ERROR_KEYS.values(), *WINERROR_KEYS.values(), "closed")} == {
        code for code in load_texts() if code.startswith("os.")
    }
    assert os_error_text(OSError(errno.EDOM, "out of domain")) == "out of domain"
    assert os_error_text(OSError("no number")) == "no number"
    # learn.microsoft.com/windows/win32/debug/system-error-codes
    blocked = [(errno.EINVAL, winerror, "@os.blocked") for winerror in (1260, 4551)]
    viruses = [(errno.EINVAL, winerror, "@os.virus") for winerror in (225, 226)]
    for number, winerror, text in ((errno.EACCES, 32, "@os.in-use"), *blocked, *viruses):
        error = OSError(number, "what Windows says")
        error.winerror = winerror  # type: ignore[attr-defined, unused-ignore]
        assert os_error_text(error) == text


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "disk-full"),
        (errno.EDQUOT, "disk-full"),
        (errno.EROFS, "disk-read-only"),
        (errno.EACCES, "folder-unwritable"),
        (errno.EIO, "storage"),
    ],
)
def test_storage_errors_have_codes(tmp_path: Path, number: int, code: str) -> None:
    with pytest.raises(AppError) as caught, storage_errors(tmp_path):
        raise OSError(number, os.strerror(number))
    assert (caught.value.code, caught.value.data["path"]) == (code, str(tmp_path))
    assert isinstance(caught.value.__cause__, OSError)


def test_storage_errors_name_long_names(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300)
    with pytest.raises(UsageError) as caught, storage_errors(path):
        path.touch()
    assert caught.value.code == "name-too-long"


def test_permission_code_replaces_permission_error(tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught, storage_errors(tmp_path, permission_code="environment-in-use"):
        raise PermissionError(errno.EACCES, "used by another process")
    assert (caught.value.code, caught.value.data) == ("environment-in-use", {"path": str(tmp_path)})

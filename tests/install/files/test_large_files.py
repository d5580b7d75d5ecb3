"""The large files of new wheels are compared while their environment's folder is looked through."""

from __future__ import annotations

import os
import threading
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from gpu_assistant.core.errors import Cancelled
from gpu_assistant.install.files import wheel_files
from gpu_assistant.install.files.installed_packages import ContentHash, has_hash
from gpu_assistant.install.files.inventory import scan_folder
from gpu_assistant.install.files.wheel_files import LARGE_FILE_BYTES, LargeFiles, WheelFiles, read_wheel

LIBRARY = bytes(range(256)) * (LARGE_FILE_BYTES // 256)
PLACE = "lib/python3.11/site-packages"
NAME = f"{PLACE}/torch/lib/library.so"


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    folder = tmp_path / "env"
    (folder / NAME).parent.mkdir(parents=True)
    (folder / NAME).write_bytes(LIBRARY)
    (folder / PLACE / "torch/__init__.py").write_bytes(b"")
    return folder


@pytest.fixture
def wheel(tmp_path: Path) -> WheelFiles:
    path = tmp_path / "torch-1.0-py3-none-any.whl"
    digests = {
        "torch/lib/library.so": sha256(LIBRARY).digest(),
        "torch/__init__.py": sha256(b"").digest(),
    }
    rows = [f"{name},sha256={urlsafe_b64encode(each).rstrip(b'=').decode()},\n" for name, each in digests.items()]
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("torch/lib/library.so", LIBRARY)
        file.writestr("torch/__init__.py", b"")
        file.writestr("torch-1.0.dist-info/RECORD", "".join(rows))
    return read_wheel(path)


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set as soon as a file is being read."""
    begun = threading.Event()

    def noted(path: str, expected: ContentHash | None, cancel: threading.Event | None = None) -> bool:
        begun.set()
        return has_hash(path, expected, cancel)

    monkeypatch.setattr(wheel_files, "has_hash", noted)
    return begun


def test_large_file_with_its_wheels_content_is_compared(
    environment: Path, wheel: WheelFiles, reading: threading.Event
) -> None:
    with LargeFiles(environment, [wheel], threading.Event()) as large:
        assert reading.wait(60)
        scan = scan_folder(environment)
        assert large.is_compared(NAME, scan)
        assert not large.is_compared(f"{PLACE}/torch/__init__.py", scan)


def swap_in(path: Path) -> None:
    """The size and time stay: only the content is another."""
    status = path.stat()
    path.write_bytes(b"!" + LIBRARY[1:])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("change", [swap_in, Path.unlink])
def test_file_with_other_content_or_none_is_not_compared(
    environment: Path, wheel: WheelFiles, reading: threading.Event, change: Callable[[Path], object]
) -> None:
    change(environment / NAME)
    with LargeFiles(environment, [wheel], threading.Event()) as large:
        assert change is not swap_in or reading.wait(60)
        assert not large.is_compared(NAME, scan_folder(environment))


def test_file_that_changed_between_comparison_and_scan_is_not_compared(
    environment: Path, wheel: WheelFiles, reading: threading.Event
) -> None:
    with LargeFiles(environment, [wheel], threading.Event()) as large:
        assert reading.wait(60)
        assert large.is_compared(NAME, scan_folder(environment))
        (environment / NAME).write_bytes(b"!" + LIBRARY[1:])
        os.utime(environment / NAME, ns=(0, 0))
        assert not large.is_compared(NAME, scan_folder(environment))


def test_file_that_nobody_began_is_left_to_the_caller(
    environment: Path, wheel: WheelFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def held(path: str, expected: ContentHash | None, cancel: threading.Event | None = None) -> bool:
        begun.set()
        assert go_on.wait(60)
        return has_hash(path, expected, cancel)

    monkeypatch.setattr(wheel_files, "has_hash", held)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    second = environment / PLACE / "torch/lib/second.so"
    second.write_bytes(LIBRARY)
    files = {**wheel.files, "torch/lib/second.so": wheel.files["torch/lib/library.so"]}
    both = WheelFiles(
        dist_info=wheel.dist_info, files=files, large={**wheel.large, "torch/lib/second.so": LARGE_FILE_BYTES}
    )
    scan = scan_folder(environment)
    with LargeFiles(environment, [both], threading.Event()) as large:
        assert begun.wait(60)
        assert not large.is_compared(f"{PLACE}/torch/lib/second.so", scan)
        go_on.set()
        assert large.is_compared(NAME, scan)


def test_cancelled_comparison_raises(environment: Path, wheel: WheelFiles, reading: threading.Event) -> None:
    cancel = threading.Event()
    cancel.set()
    with LargeFiles(environment, [wheel], cancel) as large:
        assert reading.wait(60)
        with pytest.raises(Cancelled):
            large.is_compared(NAME, scan_folder(environment))

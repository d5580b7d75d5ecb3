"""A folder that nothing counts as whole goes, also while what a killed run had started still writes into it."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from gpu_assistant.install.removal import delete


def test_a_folder_goes_while_files_in_it_come_and_go(tmp_path: Path) -> None:
    for _ in range(30):
        folder = tmp_path / "made"
        for name in range(40):
            (folder / f"{name % 4}" / f"{name}").mkdir(parents=True, exist_ok=True)
            (folder / f"{name % 4}" / f"{name}" / "file").write_bytes(b"1")
        begun = threading.Event()

        def ending(folder: Path = folder, begun: threading.Event = begun) -> None:
            begun.set()
            for name in reversed(range(40)):
                with suppress(OSError):
                    (folder / f"{name % 4}" / f"{name}" / "file").unlink()

        other = threading.Thread(target=ending)
        other.start()
        begun.wait(10)
        delete(folder)
        other.join(10)
        assert not folder.exists()

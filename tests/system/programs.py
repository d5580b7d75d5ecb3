"""Files that look like programs."""

from __future__ import annotations

from pathlib import Path


def program(folder: Path, name: str, content: bytes = b"\x7fELF") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    path.chmod(0o755)
    return path

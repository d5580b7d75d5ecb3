"""Tiny wheels and package indexes to serve them from."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from tests.fakes.fault_server import FaultServer


class Wheel(NamedTuple):
    """A wheel's file name, its bytes and its metadata."""

    name: str
    data: bytes
    metadata: bytes

    @property
    def project(self) -> str:
        return self.name.partition("-")[0].replace("_", "-")

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def wheel(
    project: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    source: str = "",
    script: str | None = None,
    tag: str = "py3-none-any",
    ballast: bytes = b"",
    label: str | None = None,
    variant: bytes = b"{}",
    extras: Sequence[str] = (),
    content: Mapping[str, bytes] | None = None,
) -> Wheel:
    """A wheel with one module, or with the files of `content`; `script` names a function of it that becomes a program
    of the project's name. With a `label` it is a wheel variant, and `variant` is its metadata.
    """
    name = project.replace("-", "_")
    info = f"{name}-{version}.dist-info"
    rows = ["Metadata-Version: 2.1", f"Name: {project}", f"Version: {version}"]
    rows += [f"Provides-Extra: {extra}" for extra in extras]
    metadata = "\n".join([*rows, *(f"Requires-Dist: {need}" for need in requires), ""]).encode()
    module = {f"{project}/__init__.py": f"__version__ = {version!r}\n{source}".encode()}
    files = {
        **(module if content is None else content),
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
    }
    if ballast:
        files[f"{project}/ballast.bin"] = ballast
    if script is not None:
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{project} = {project}:{script}\n".encode()
    if label is not None:
        files[f"{info}/variant.json"] = variant
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, data in files.items():
            member = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
            member.external_attr = (0o755 if "/bin/" in path else 0o644) << 16
            archive.writestr(member, data)
    suffix = "" if label is None else f"-{label}"
    return Wheel(f"{name}-{version}-{tag}{suffix}.whl", packed.getvalue(), metadata)


def _record(files: Mapping[str, bytes], own: str) -> bytes:
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}")
    return "\n".join([*rows, f"{own},,", ""]).encode()


def torch(version: str, **more: object) -> Wheel:
    return wheel("torch", version, requires=["tinydep"], **more)  # type: ignore[arg-type]


def others() -> list[Wheel]:
    """What the general index holds: pip with a program of its own, and what torch needs."""
    pip = wheel("pip", "1.0", source="def main():\n    print('pip 1.0')\n", script="main")
    return [pip, wheel("numpy", "1.0"), wheel("tinydep", "1.0")]


def build_tools() -> list[Wheel]:
    """What PyTorch's extensions are built with."""
    return [wheel(name, "1.0") for name in ("setuptools", "wheel", "ninja")]


def index(server: FaultServer, name: str, wheels: Sequence[Wheel], *, lies: Mapping[str, str] | None = None) -> str:
    """A PEP 503 index with PEP 658 metadata; `lies` are sha256s to tell instead of the true ones."""
    pages: dict[str, list[str]] = {}
    for one in wheels:
        path = f"/files/{name}/{quote(one.name, safe='')}"
        if path not in server.files:
            server.add(path, one.data)
        server.add(f"{path}.metadata", one.metadata)
        text = (lies or {}).get(one.name, one.sha256)
        meta = f'data-core-metadata="sha256={hashlib.sha256(one.metadata).hexdigest()}"'
        pages.setdefault(one.project, []).append(f'<a href="{path}#sha256={text}" {meta}>{one.name}</a>')
    for project, anchors in pages.items():
        page = "<!DOCTYPE html><html><body>" + "".join(anchors) + "</body></html>"
        server.add(f"/{name}/{project}/", page.encode(), media="text/html", etag=None)
    return f"{server.url}/{name}"


def file_path(name: str, one: Wheel) -> str:
    """Where an index serves a wheel."""
    return f"/files/{name}/{quote(one.name, safe='')}"


def folder(path: Path, wheels: Sequence[Wheel]) -> Path:
    """A wheelhouse."""
    path.mkdir(parents=True, exist_ok=True)
    for one in wheels:
        (path / one.name).write_bytes(one.data)
    return path

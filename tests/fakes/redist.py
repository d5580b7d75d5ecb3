"""NVIDIA's redistributable archives as its server lays them out, with small archives and a compiler that runs.

The same address gives the same bytes: another process can make the same catalog for itself.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gpu_assistant.catalog.records.libraries import CudnnArchive
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.install.steps.cuda_redist import major_version

from .fault_server import FaultServer

CUDA = "/compute/cuda/redist/"
CUDNN = "/compute/cudnn/redist/"
TOOLKIT = "13.2.2"
CUDNN_VERSION = "9.27.0.42"
NVCC = Path(__file__).with_name("nvcc") / "nvcc.exe"
SAYS = "Cuda compilation tools, release 13.2, V13.2.86"
# Says its version; what it compiles answers as the proof does on a computer without a card.
COMPILER = f"""#!/bin/sh
echo '{SAYS}'
while [ $# -gt 1 ]; do
    if [ "$1" = -o ]; then
        printf '%s\\n' '#!/bin/sh' 'echo runtime 13020' 'echo cudnn 92600 92600' \\
            'echo none 100 13020 no CUDA-capable device is detected' >"$2"
        chmod +x "$2"
    fi
    shift
done
"""
BALLAST = bytes(range(256)) * 400


class Redist:
    """What lies on the server at `base`, by path; `platform` is NVIDIA's name of the computer's kind."""

    def __init__(self, base: str, system: str, *, toolkit: str = TOOLKIT, nvcc: bytes | None = None) -> None:
        self.base = base
        self.windows = system == "windows"
        self.platform = f"{system}-x86_64"
        self.toolkit = toolkit
        self.files: dict[str, bytes] = {}
        self._nvcc = nvcc
        self.cuda_index = self._toolkit()
        self.cudnn_archive, self.cudnn_index = self._cudnn()

    def serve(self, server: FaultServer) -> None:
        """Let the server give all of it."""
        for path, data in self.files.items():
            server.add(path, data)

    def catalog(self, catalog: Catalog, *, pinned: bool = True, archives: bool = True) -> Catalog:
        """The catalog with these addresses; without `pinned` no index's sha256 is known, without `archives` no
        archive of cuDNN.
        """
        index = self.files[self.cuda_index]
        toolkits = tuple(
            msgspec.structs.replace(
                toolkit, redist_index=self.base + self.cuda_index, redist_sha256=sha256(index) if pinned else None
            )
            if toolkit.version.text == self.toolkit
            else toolkit
            for toolkit in catalog.cuda.toolkits
        )
        vars(catalog)["cuda"] = msgspec.structs.replace(catalog.cuda, toolkits=toolkits)
        packed = self.files[self.cudnn_archive]
        archive = CudnnArchive(
            system="windows" if self.windows else "linux",
            arch="x86_64",
            cuda=13,
            url=self.base + self.cudnn_archive,
            sha256=sha256(packed),
            md5=None,
            bytes=len(packed),
        )
        releases = tuple(
            msgspec.structs.replace(
                release,
                archives=(archive,) if archives else (),
                index_url=self.base + self.cudnn_index,
                index_sha256=sha256(self.files[self.cudnn_index]) if pinned else None,
            )
            if release.version.text == CUDNN_VERSION
            else release
            for release in catalog.cudnn.releases
        )
        vars(catalog)["cudnn"] = msgspec.structs.replace(catalog.cudnn, releases=releases)
        return catalog

    def _toolkit(self) -> str:
        redist = load_catalog(resources_dir() / "catalog").cuda.redist
        assert redist is not None
        index: dict[str, Any] = {"release_date": "2026-07-16", "release_label": self.toolkit, "release_product": "cuda"}
        for part in redist.toolkit_parts(major_version(self.toolkit)):
            # Of a part with two names the newer one, as in the newest indexes.
            name = part.names[-1]
            index[name] = self._component(CUDA, name, "13.2.86", self._members(part.names[0]))
        path = f"{CUDA}redistrib_{self.toolkit}.json"
        self.files[path] = json.dumps(index, indent=4).encode()
        return path

    def _members(self, part: str) -> dict[str, bytes]:
        members = {"LICENSE": f"licence of {part}".encode(), f"include/{part}.h": f"// {part}\n".encode()}
        library = f"lib/x64/{part}.lib" if self.windows else f"lib/lib{part}.so.13"
        members[library] = BALLAST + part.encode()
        if part == "cuda_nvcc":
            program = COMPILER.encode() if not self.windows else NVCC.read_bytes()
            members["bin/nvcc.exe" if self.windows else "bin/nvcc"] = self._nvcc or program
        if part == "libcublas":
            # A header that another part brings, too.
            members["include/cuda_cudart.h"] = b"// cuda_cudart\n"
        return members

    def _cudnn(self) -> tuple[str, str]:
        folder = "bin/x64" if self.windows else "lib"
        members = {
            "LICENSE": b"licence of cuDNN",
            "include/cudnn.h": b"// cuDNN",
            f"{folder}/cudnn64_9.dll" if self.windows else "lib/libcudnn.so.9": BALLAST,
        }
        entry = self._component(CUDNN, "cudnn", CUDNN_VERSION, members, variant="cuda13")
        path = f"{CUDNN}redistrib_9.27.0.json"
        self.files[path] = json.dumps({"release_label": "9.27.0", "cudnn": entry}).encode()
        return CUDNN + entry[self.platform]["cuda13"]["relative_path"], path

    def _component(
        self, root: str, name: str, version: str, members: Mapping[str, bytes], *, variant: str | None = None
    ) -> dict[str, Any]:
        top = f"{name}-{self.platform}-{version}{f'_{variant}' if variant else ''}-archive"
        relative = f"{name}/{self.platform}/{top}.{'zip' if self.windows else 'tar.xz'}"
        data = zipped(top, members) if self.windows else tarred(top, members)
        self.files[root + relative] = data
        entry: dict[str, Any] = {"relative_path": relative, "sha256": sha256(data), "md5": "", "size": str(len(data))}
        return {"name": name, "version": version, self.platform: {variant: entry} if variant else entry}


def tarred(top: str, members: Mapping[str, bytes]) -> bytes:
    """As NVIDIA's for Linux: one folder, libraries with a link beside them."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", preset=0) as tar:
        for name, data in members.items():
            made = tarfile.TarInfo(f"{top}/{name}")
            made.size, made.mode = len(data), 0o755 if name.startswith("bin/") else 0o644
            tar.addfile(made, io.BytesIO(data))
            if ".so." in name:
                link = tarfile.TarInfo(f"{top}/{name.partition('.so')[0]}.so")
                link.type, link.linkname = tarfile.SYMTYPE, name.rpartition("/")[2]
                tar.addfile(link)
    return packed.getvalue()


def zipped(top: str, members: Mapping[str, bytes]) -> bytes:
    """As NVIDIA's for Windows."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo(f"{top}/include/", (2026, 1, 1, 0, 0, 0)), b"")
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(f"{top}/{name}", (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def sha256(data: bytes) -> str:
    """Lower-case hex."""
    return hashlib.sha256(data).hexdigest()

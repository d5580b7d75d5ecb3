"""Pages in the publishers' own layouts, on a loopback server."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from msgspec.structs import replace

from gpu_assistant.catalog.records.updates import DriverLookupQuery
from gpu_assistant.catalog.store import Catalog
from tests.fakes.fault_server import FaultServer

HASH = "38bee9f2a2ccfc6898172a5075e4ba52522fbe143eeb099674fc67ab390e858d"
QUESTION = DriverLookupQuery(
    system="windows", system_id=135, generation="current", segment="desktop", channel="studio", product=1023
)


def wheel_page(*wheels: str) -> bytes:
    """A PEP 503 page as PyTorch's index writes it: absolute paths, "+" as %2B, sha256 in the fragment."""
    links = "".join(
        f'    <a href="/whl/cu130/{name.replace("+", "%2B")}#sha256={HASH}" '
        f'data-dist-info-metadata="sha256={HASH}">{name}</a><br/>\n'
        for name in wheels
    )
    return f"<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for torch</h1>\n{links}  </body>\n</html>\n".encode()


def listing(*versions: str) -> bytes:
    """A folder of NVIDIA's redistributable server."""
    links = "".join(f"<a href='redistrib_{v}.json'>redistrib_{v}.json</a><br>" for v in versions)
    return f"<html><body><a href='../'>..</a><a href='cuda_nvcc/'>cuda_nvcc</a>{links}</body></html>".encode()


def toolkit_index(day: str = "2026-11-25") -> bytes:
    """The head of a toolkit's index with one part."""
    part = {
        "name": "CUDA NVCC",
        "license": "CUDA Toolkit",
        "version": "13.9.92",
        "linux-x86_64": {
            "relative_path": "cuda_nvcc/linux-x86_64/cuda_nvcc-linux-x86_64-13.9.92-archive.tar.xz",
            "sha256": HASH,
            "size": "33304524",
        },
    }
    return json.dumps({"release_date": day, "release_label": "13.9.1", "cuda_nvcc": part}).encode()


def cudnn_index(version: str = "9.99.0.7", day: str = "2026-11-25") -> bytes:
    """An index of cuDNN."""
    archive = {
        "relative_path": f"cudnn/windows-x86_64/cudnn-windows-x86_64-{version}_cuda13-archive.zip",
        "sha256": HASH,
        "md5": "1b4a1f17afda9b80fc71b6954d678ea1",
        "size": "1330803635",
    }
    part = {"name": "cuDNN", "version": version, "cuda_variant": ["12", "13"], "windows-x86_64": {"cuda13": archive}}
    return json.dumps({"release_date": day, "cudnn": part}).encode()


def lookup_answer(version: str = "699.10", host: str = "us.download.nvidia.com", studio: str = "1") -> bytes:
    """The driver lookup's answer with one driver."""
    info = {
        "Success": "1",
        "ID": "240000",
        "Name": "NVIDIA%20Studio%20Driver",
        "Version": version,
        "IsBeta": "0",
        "IsCRD": studio,
        "ReleaseDateTime": "Wed Nov 25, 2026",
        "DownloadURL": f"https://{host}/Windows/{version}/{version}-desktop-win10-win11-64bit-international-nsd-dch-whql.exe",
        "DownloadURLFileSize": "850.11 MB",
    }
    return json.dumps({"Success": "1", "IDS": [{"downloadInfo": info}]}).encode()


class Publishers:
    """All four sources on one server; each path may be given faults or other bytes."""

    wheels, cuda, cudnn = "/whl/torch/", "/cuda/", "/cudnn/"

    def __init__(self, server: FaultServer, catalog: Catalog, *, most: int = 1 << 20) -> None:
        self.server = server
        lookup = catalog.drivers.lookup
        assert lookup is not None
        query = {"func": lookup.func, "pfid": "1023", "osID": "135", **lookup.fixed, "upCRD": "1"}
        self.lookup = f"/lookup?{urlencode(query)}"
        server.add(
            self.wheels,
            wheel_page(
                "torch-9.1.0+cu139-cp313-cp313-win_amd64.whl",
                "torch-9.1.0+cu139-cp314-cp314-manylinux_2_28_x86_64.whl",
            ),
        )
        server.add(self.cuda, listing("11.8.0", "13.9.1"))
        server.add(self.cuda + "redistrib_13.9.1.json", toolkit_index())
        server.add(self.cudnn, listing("9.10.2", "9.99.0"))
        server.add(self.cudnn + "redistrib_9.99.0.json", cudnn_index())
        server.add(self.lookup, lookup_answer())
        self.source = replace(
            catalog.refresh_settings,
            wheels=server.url + self.wheels,
            cuda=server.url + self.cuda,
            cudnn=server.url + self.cudnn,
            lookup=server.url + "/lookup",
            drivers=(QUESTION,),
            answer_bytes=most,
            answer_seconds=10.0,
        )

    def serve(self, path: str, data: bytes) -> None:
        """Other bytes at a path."""
        self.server.files[path].data = data

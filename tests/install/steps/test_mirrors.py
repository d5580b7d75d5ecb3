"""Which mirrors a publisher's file has, by the real catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core import paths
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.fetch.request import DownloadRequest
from gpu_assistant.install.steps.context import with_mirrors

WHEEL = "whl/cu126/torch-2.9.1%2Bcu126-cp312-cp312-win_amd64.whl"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(paths.resources_dir() / "catalog")


def wanted(url: str, sha256: str | None = "0" * 64) -> DownloadRequest:
    return DownloadRequest(file=RemoteFile(urls=(url,), name="file", sha256=sha256), path=Path("file"))


@pytest.mark.parametrize("publisher", ["pytorch-wheels", "python-builds", "nvidia-developer", "nvidia-drivers"])
def test_each_publisher_has_mirrors(catalog: Catalog, publisher: str) -> None:
    (official,) = (p.url for p in catalog.mirrors.publishers if p.id == publisher)
    assert official is not None
    for path, value in (("{variant}", "cu126"), ("{tag}", "20260101"), ("{file}", "a.zip"), ("{path}", "x/y.zip")):
        official = official.replace(path, value)
    result = with_mirrors(wanted(official), catalog, "when-slow")
    assert len(result.reserve) == len(catalog.mirrors_of(publisher)) > 0
    assert result.file.urls[1:] == ()
    assert result.slow_bytes == catalog.mirrors.slow.bytes_per_second


def test_every_publisher_host_is_mirrored(catalog: Catalog) -> None:
    (pytorch,) = (p for p in catalog.mirrors.publishers if p.id == "pytorch-wheels")
    result = {with_mirrors(wanted(f"https://{host}/{WHEEL}"), catalog, "when-slow").reserve for host in pytorch.hosts}
    assert len(result) == 1
    assert all(url.endswith("/cu126/torch-2.9.1%2Bcu126-cp312-cp312-win_amd64.whl") for url in result.pop())


def test_general_index_files_are_matched_by_path(catalog: Catalog) -> None:
    result = with_mirrors(
        wanted("https://files.example/packages/ab/cd/ef01/six-1.0-py3-none-any.whl"), catalog, "first"
    )
    assert len(result.file.urls[1:]) == len(catalog.mirrors_of("package-index")) > 0
    assert all(url.endswith("/packages/ab/cd/ef01/six-1.0-py3-none-any.whl") for url in result.file.urls[1:])
    assert result.mirrors_first
    assert result.reserve == ()


def test_no_mirror_without_hash_or_if_disabled(catalog: Catalog) -> None:
    without = wanted(f"https://download.pytorch.org/{WHEEL}", None)
    assert with_mirrors(without, catalog, "first") == without
    never = wanted(f"https://download.pytorch.org/{WHEEL}")
    assert with_mirrors(never, catalog, "never") == never
    elsewhere = wanted("https://elsewhere.example/file.zip")
    assert with_mirrors(elsewhere, catalog, "first").file.urls[1:] == ()

"""What README says of the checks is true of every file that the catalog names."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.paths import resources_dir

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(resources_dir() / "catalog", None)


def test_pythons_and_cudnn_archives_have_a_sha256(catalog: Catalog) -> None:
    assert all(build.sha256 for build in catalog.pythons.builds)
    assert all(archive.sha256 for release in catalog.cudnn.releases for archive in release.archives)


def test_cuda_installer_without_checksum_is_not_offered(catalog: Catalog) -> None:
    without = [
        (toolkit, installer)
        for toolkit in catalog.cuda.toolkits
        for installer in toolkit.installers
        if installer.checksum is None
    ]
    assert without
    for toolkit, installer in without:
        assert catalog.cuda.installer(toolkit.version, installer.system, installer.arch) != installer


def test_installers_for_windows_have_a_signer(catalog: Catalog) -> None:
    driver, toolkit = catalog.drivers.windows_install, catalog.cuda.installer_settings("windows")
    assert driver is not None
    assert toolkit is not None
    assert (driver.signer, toolkit.signer, catalog.vc_redist.package.signer) == (
        "NVIDIA Corporation",
        "NVIDIA Corporation",
        "Microsoft Corporation",
    )
    assert {package.system for package in catalog.drivers.packages if package.url is not None} == {"windows"}


@pytest.mark.parametrize(
    ("page", "chapter", "blanket_promise"),
    [
        ("README.md", "## How each file is checked", "checked against its index's sha256"),
        ("README.zh-CN.md", "## 各种文件怎样核对", "下载的每个文件都会核对 SHA-256"),
    ],
)
def test_readme_names_each_kind_of_file(page: str, chapter: str, blanket_promise: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert blanket_promise not in text
    rows = [line for line in text.partition(chapter)[2].partition("\n## ")[0].splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + 12
    assert any("MD5" in row for row in rows)

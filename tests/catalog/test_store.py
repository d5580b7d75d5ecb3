"""Looking things up, and what a broken catalog gets."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from gpu_assistant.catalog.records.hardware import normalize_name
from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.versions import Capability, Version
from gpu_assistant.texts.localized import Texts

FOLDER = resources_dir() / "catalog"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(FOLDER)


def test_gpu_by_id(catalog: Catalog) -> None:
    card = catalog.gpu("10DE:2882")
    assert card is not None
    assert (card.name, card.compute_capability, card.is_laptop) == ("NVIDIA GeForce RTX 4060", Capability("8.9"), False)
    assert card.memory_bytes == 8 * 2**30
    laptop = catalog.gpu("10de:28a0")
    assert laptop is not None
    assert laptop.is_laptop
    assert catalog.gpu("10de:ffff") is None
    assert catalog.gpu("1002:744c") is None


def test_capability_by_id_range(catalog: Catalog) -> None:
    for row in catalog.gpus.gpus:
        assert catalog.gpu_capability(row.pci_id.upper()) == row.compute_capability
    for stretch in catalog.gpus.ranges:
        assert catalog.gpu_capability(stretch.first) == catalog.gpu_capability(stretch.last)
    assert catalog.gpu_capability("10de:2c80") == Capability("12.0")
    for unknown in ("10de:ffff", "10de:0000", "10de:2dfa", "10de:2dff", "1002:2c80", "10de:2c8", "10de:2c800", ""):
        assert catalog.gpu_capability(unknown) is None, unknown


def test_gpu_by_name(catalog: Catalog) -> None:
    card = catalog.gpu_by_name("NVIDIA  GeForce RTX 4060")
    assert card is not None
    assert card.compute_capability == Capability("8.9")
    assert catalog.gpu_by_name("GeForce RTX 4060") == card
    assert catalog.gpu_by_name("Voodoo 2") is None


def test_ambiguous_name_finds_nothing(catalog: Catalog) -> None:
    by_name: dict[str, set[Capability | None]] = {}
    for row in catalog.gpus.gpus:
        by_name.setdefault(normalize_name(row.name), set()).add(row.compute_capability)
    ambiguous = [name for name, matches in by_name.items() if len(matches) > 1]
    for name in ambiguous:
        assert catalog.gpu_by_name(name) is None
    unique = next(name for name, matches in by_name.items() if len(matches) == 1)
    assert catalog.gpu_by_name(unique) is not None


def test_default_variant_is_what_the_general_index_serves(catalog: Catalog) -> None:
    assert catalog.default_variant("2.15.0", "windows", "x86_64") == "cpu"
    assert catalog.default_variant("2.15.0", "linux", "x86_64") == "cu132"
    assert catalog.default_variant("2.14.1", "linux", "x86_64") == "cu130"
    assert catalog.default_variant("0.0.1", "linux", "x86_64") is None


def test_default_variant_on_arm(catalog: Catalog) -> None:
    assert catalog.default_variant("2.15.0", "linux", "arm64") == "cu132"
    assert catalog.default_variant("2.14.1", "linux", "arm64") == "cu130"
    assert catalog.default_variant("2.10.0", "linux", "arm64") == "cpu"
    assert catalog.default_variant("2.13.0", "windows", "arm64") is None


def test_standalone_python(catalog: Catalog) -> None:
    build = catalog.standalone_python("3.13", "linux", "x86_64")
    assert build is not None
    assert build.version.series.text == "3.13"
    assert len(build.sha256) == 64
    assert catalog.standalone_python("2.7", "linux", "x86_64") is None


def test_sizes_are_known_or_none(catalog: Catalog) -> None:
    assert catalog.sizes("cpu", "linux").download_bytes == 191_794_682
    measured = catalog.sizes("cpu", "linux", "2.13.0")
    assert (measured.release, measured.approximate) == (Version("2.13.0"), False)
    other = catalog.sizes("cpu", "linux", "2.15.0")
    assert (other.download_bytes, other.release, other.approximate) == (
        measured.download_bytes,
        Version("2.13.0"),
        True,
    )
    assert catalog.sizes("cpu", "linux").approximate
    near = catalog.sizes("cu999", "linux")
    assert (near.download_bytes, near.approximate) == (catalog.sizes("cu132", "linux").download_bytes, True)
    amd = catalog.sizes("rocm7.2", "linux", "2.15.0")
    assert (amd.download_bytes, amd.approximate) == (catalog.sizes("rocm7.1", "linux").download_bytes, True)
    # What was only downloaded takes no less once it is unpacked.
    assert catalog.estimate_disk_bytes("rocm7.2") == amd.download_bytes
    assert catalog.estimate_disk_bytes("cu126") == catalog.sizes("cu132", "linux").disk_bytes
    assert catalog.estimate_disk_bytes("xpu") is None
    unknown = catalog.sizes("xpu", "linux")
    assert (unknown.download_bytes, unknown.disk_bytes) == (None, None)


def test_files_are_read_lazily(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "gpus.json", tmp_path / "gpus.json")
    assert load_catalog(tmp_path).gpu("10de:2882") is not None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"subject": "x"}', b"\xff\xfe\x00", b'{"releases": 1}', b"[" * 5000],
    ids=["empty", "cut", "list", "bare", "bytes", "type", "deep"],
)
def test_broken_file_raises_app_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "pytorch.json").write_bytes(content)
    with pytest.raises(AppError) as caught:
        _ = load_catalog(tmp_path).releases
    assert caught.value.code == "catalog-broken"
    for language in ("en", "zh_CN"):
        text = Texts(language).error_text(caught.value)
        assert "pytorch.json" in text
        # The library's own words are English and no help.
        assert not re.search(r"Object|Expected|JSON is malformed|codec|`", text), text


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(AppError, match="catalog-broken"):
        load_catalog(tmp_path).gpu("10de:2882")
    with pytest.raises(AppError, match="catalog-broken"):
        load_catalog(tmp_path / "absent")

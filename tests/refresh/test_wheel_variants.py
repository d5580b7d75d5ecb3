"""PyTorch's index with wheel variants: what their metadata states comes before what was inferred, and none is dropped
without a word.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.advise.builds import list_builds, list_labelled_builds
from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.store import Catalog
from gpu_assistant.catalog.validation import validate_catalog
from gpu_assistant.core.machine import Gpu
from gpu_assistant.core.recommendation import Choice, Recommendation
from gpu_assistant.core.versions import Capability, Version
from gpu_assistant.refresh.job import RefreshResult
from tests.advise.build import codes, machine, nvidia
from tests.fakes.wheel_variants import PUBLISHED, current_metadata
from tests.refresh.conftest import FLOOR
from tests.refresh.publisher_pages import HASH, Publishers

Run = Callable[..., RefreshResult]
Load = Callable[[], Catalog]
LINUX = "cp313-cp313-manylinux_2_28_x86_64"
NEW = "9.1.0"


def wheel_names(version: str, labels: tuple[str, ...], plain: tuple[str, ...] = ()) -> list[str]:
    tags = [f"torch-{version}+{tag}-{LINUX}.whl" for tag in plain]
    return [*tags, *(f"torch-{version}-{LINUX}-{label}.whl" for label in labels)]


def serve_page(publishers: Publishers, names: list[str], metadata: dict[str, tuple[bytes, str | None]]) -> None:
    """A page with these wheels and files of metadata: their bytes, and the hash that the page tells (None: the true
    one).
    """
    links = "".join(f'<a href="{name.replace("+", "%2B")}#sha256={HASH}">{name}</a>' for name in names)
    for name, (data, said) in metadata.items():
        publishers.server.add(publishers.wheels + name, data)
        links += f'<a href="{name}#sha256={said or hashlib.sha256(data).hexdigest()}">{name}</a>'
    publishers.serve(publishers.wheels, f"<html><body>{links}</body></html>".encode())


def pytorch_update(done: RefreshResult) -> tuple[str, int, int]:
    update = next(one for one in done.subjects if one.subject == "pytorch")
    return update.state, update.added, update.unread


def rtx(chip: str = "8.9", **fields: Any) -> Gpu:
    return nvidia(None, name=fields.pop("name", "NVIDIA GeForce RTX 4090"), compute_capability=chip, **fields)


def advice(catalog: Catalog, *gpus: Gpu, driver: str | None, choice: Choice | None = None) -> Recommendation:
    return recommend(machine("linux", *gpus, driver=driver), catalog, choice=choice)


def test_new_release_with_statement_is_recommended(publishers: Publishers, refresh: Run, refreshed: Load) -> None:
    metadata = {**current_metadata(), "variants": {"cu132": {"nvidia": {
        "cuda_version_lower_bound": ["13.2"], "sm_arch": ["89_real", "120_real"]}}}}  # fmt: skip
    serve_page(
        publishers,
        wheel_names(NEW, ("cu132",), plain=("cu132", "cpu")),
        {f"torch-{NEW}-variants.json": (json.dumps(metadata).encode(), None)},
    )
    assert pytorch_update(refresh()) == ("updated", 2, 0)
    found = advice(refreshed(), rtx(), driver=None)
    assert found.pytorch is not None
    assert (found.pytorch.version, found.pytorch.variant) == (NEW, "cu132")
    assert "build-stated" in codes(found.reasons)
    stated = next(reason for reason in found.reasons if reason.code == "build-stated")
    assert stated.source == publishers.source.sources["pytorch"].url
    assert found.driver.action == "install"
    other = advice(refreshed(), rtx("8.6", name="NVIDIA GeForce RTX 3090"), driver=None)
    assert other.pytorch is not None
    assert other.pytorch.version != NEW
    assert validate_catalog(publishers_folder(refreshed()), FLOOR) == ()


def publishers_folder(catalog: Catalog) -> Path:
    assert catalog.refreshed_catalog is not None
    return catalog.refreshed_catalog.folder


def test_page_without_metadata_says_what_it_cannot_read(publishers: Publishers, refresh: Run, refreshed: Load) -> None:
    serve_page(publishers, wheel_names(NEW, ("cu132", "null", "v3_mkl"), plain=("cu132",)), {})
    assert pytorch_update(refresh()) == ("updated", 1, 3)
    build = refreshed().build(NEW, "cu132", "linux", "x86_64")
    assert build is not None
    assert (build.arch_list, build.stated) == (None, None)


@pytest.mark.parametrize("draft", ["published", "current"])
def test_real_metadata_of_known_release(publishers: Publishers, refresh: Run, refreshed: Load, draft: str) -> None:
    data = PUBLISHED.read_bytes() if draft == "published" else json.dumps(current_metadata()).encode()
    labels = ("cu126", "cu128", "cu129")
    serve_page(publishers, wheel_names("2.8.0", labels), {"torch-2.8.0-variants.json": (data, None)})
    assert pytorch_update(refresh()) == ("updated", 3, 0)
    catalog = refreshed()
    assert pytorch_update(refresh()) == ("unchanged", 0, 0)
    linux = {b.variant: b.record for b in list_builds(catalog, "linux", "x86_64") if b.version == "2.8.0"}
    # Of a list that was read only what both say stays: the publisher does not state Volta.
    assert linux["cu129"].arch_list == tuple(map(Capability, ("7.5", "8.0", "8.6", "9.0", "10.0", "12.0")))
    assert linux["cu129"].lowest_cuda == Version("12.9")
    assert linux["cu126"].stated == "live"
    # No wheel variant is there for Windows.
    windows = catalog.build("2.8.0", "cu126", "windows", "x86_64")
    assert windows is not None
    assert windows.stated is None
    volta = nvidia(None, name="Tesla V100", compute_capability="7.0")
    found = advice(catalog, volta, driver="570.86.15", choice=Choice(pytorch="2.8.0"))
    assert found.pytorch is not None
    assert found.pytorch.variant == "cu126"


def test_stated_driver_comes_before_compatibility(publishers: Publishers, refresh: Run, refreshed: Load) -> None:
    """A driver for CUDA 12.7 runs CUDA 12.9 by minor version compatibility; the publisher asks for more."""
    data = PUBLISHED.read_bytes()
    serve_page(
        publishers,
        wheel_names("2.8.0", ("cu126", "cu128", "cu129")),
        {"torch-2.8.0-variants.json": (data, None)},
    )
    refresh()
    choice = Choice(pytorch="2.8.0", variant="cu129")
    found = advice(refreshed(), rtx(), driver="565.57.01", choice=choice)
    assert (found.driver.action, found.driver.minimum) == ("update", "575")


def test_build_that_is_only_a_variant_is_told(publishers: Publishers, refresh: Run, refreshed: Load) -> None:
    metadata = {**current_metadata(), "variants": {"hopper": {"nvidia": {
        "cuda_version_lower_bound": ["13.2"], "sm_arch": ["89_real"]}}}}  # fmt: skip
    serve_page(
        publishers, wheel_names(NEW, ("hopper",)), {f"torch-{NEW}-variants.json": (json.dumps(metadata).encode(), None)}
    )
    assert pytorch_update(refresh()) == ("updated", 1, 0)
    catalog = refreshed()
    labelled = list_labelled_builds(catalog, "linux", "x86_64")
    assert [(b.version, b.variant, b.record.label) for b in labelled] == [(NEW, "cu132", "hopper")]
    assert all(build.version != NEW for build in list_builds(catalog, "linux", "x86_64"))
    found = advice(catalog, rtx(), driver=None)
    assert found.pytorch is not None
    assert found.pytorch.version == "2.15.0"
    told = next(warning for warning in found.warnings if warning.code == "wheel-variants")
    assert told.data == {"newer": NEW, "label": "hopper", "build": "2.15.0+cu132"}
    for gpus, driver in (([rtx("8.6")], None), ([rtx(), rtx("6.1")], "565.57.01"), ([], None)):
        assert "wheel-variants" not in codes(advice(catalog, *gpus, driver=driver).warnings)


def test_wheel_that_came_later_takes_the_variants_place(publishers: Publishers, refresh: Run, refreshed: Load) -> None:
    metadata = {**current_metadata(), "variants": {"cu132": {"nvidia": {
        "cuda_version_lower_bound": ["13.2"], "sm_arch": ["89_real"]}}}}  # fmt: skip
    file = {f"torch-{NEW}-variants.json": (json.dumps(metadata).encode(), None)}
    serve_page(publishers, wheel_names(NEW, ("cu132",)), file)
    refresh()
    serve_page(publishers, wheel_names(NEW, ("cu132",), plain=("cu132",)), file)
    assert pytorch_update(refresh()) == ("updated", 1, 0)
    assert list_labelled_builds(refreshed(), "linux", "x86_64") == ()
    build = refreshed().build(NEW, "cu132", "linux", "x86_64")
    assert build is not None
    assert build.arch_list == (Capability("8.9"),)


@pytest.mark.parametrize("fault", ["hash", "garbage", "missing", "unknown-label"])
def test_metadata_that_cannot_be_used(publishers: Publishers, refresh: Run, fault: str) -> None:
    name, data = f"torch-{NEW}-variants.json", json.dumps(current_metadata()).encode()
    said = HASH if fault == "hash" else None
    label = "cu131" if fault == "unknown-label" else "cu129"
    serve_page(
        publishers,
        wheel_names(NEW, (label,), plain=("cpu",)),
        {name: (b"<html>" if fault == "garbage" else data, said)},
    )
    if fault == "missing":
        del publishers.server.files[publishers.wheels + name]
    assert pytorch_update(refresh()) == ("updated", 1, 1)

"""The built-in catalog: every file valid, every record with a source and a date, nothing contradicting itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpu_assistant.advise.builds import parse_cuda_tag
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir

FOLDER = resources_dir() / "catalog"
FILES = sorted(FOLDER.glob("*.json"))
CATALOG = load_catalog(FOLDER)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_files_are_there() -> None:
    assert {path.stem for path in FILES} >= {"gpus", "drivers", "cuda", "pytorch", "pythons", "sizes"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_fits_its_schema(path: Path) -> None:
    schema = read(resources_dir() / "schemas" / f"catalog-{path.stem}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(read(path), schema)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_sources_are_named_and_used_ones_exist(path: Path) -> None:
    data = read(path)
    assert data["sources"]
    assert any(source["url"] for source in data["sources"].values())

    def used(node: Any) -> set[str]:
        if isinstance(node, dict):
            own = {node["source"]} if isinstance(node.get("source"), str) else set()
            return own.union(*(used(value) for value in node.values()), set())
        return set().union(*(used(value) for value in node), set()) if isinstance(node, list) else set()

    assert used({key: value for key, value in data.items() if key != "sources"}) <= set(data["sources"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_url_is_from_a_known_host(path: Path) -> None:
    hosts = set(re.findall(r"https?://([^/\"\s]+)", path.read_text(encoding="utf-8")))
    if path.stem == "mirrors":
        return  # is about others
    publishers = (".pytorch.org", "pytorch.org", "github.com", ".nvidia.com", "gfwsl.geforce.com", ".amd.com")
    publishers += ("www.intel.com",)
    makers = ("aka.ms", "learn.microsoft.com", "wiki.debian.org", "packages.debian.org", "packages.ubuntu.com")
    # What a distribution teaches its users to type, and the pages where it does.
    fedora = (".rpmfusion.org", "rpmfusion.org", "dl.fedoraproject.org", "docs.rockylinux.org")
    others = ("wiki.archlinux.org", "wiki.manjaro.org", "en.opensuse.org", "support.system76.com")
    others += ("docs.bazzite.gg", "nobaraproject.org", "wiki.cachyos.org", "store.steampowered.com", "archlinux.org")
    others += ("www.devuan.org",)
    others += ("raw.githubusercontent.com",)  # Microsoft's list of drivers for rented computers
    distributions = (*fedora, *others, "wiki.gentoo.org", "wiki.nixos.org") if path.stem == "drivers" else ()
    if path.stem == "accelerators":
        distributions = ("packages.fedoraproject.org", "archlinux.org")
    # Where a maker's own page could not be read, who quotes it: figures to compare with, nothing that is fetched.
    quoting = (
        "glennklockwood.com",
        "hpc-notes.pages.dev",
        "www.hardwaretimes.com",
        "data-check.eu",
        "www.techspot.com",
    )
    quoting = quoting if path.stem == "reference" else ("arxiv.org", "huggingface.co") if path.stem == "models" else ()
    assert all(host.endswith((*publishers, *makers, *distributions, *quoting)) for host in hosts), hosts


def test_gpu_rows_are_unique_and_sorted() -> None:
    ids = [row.pci_id for row in CATALOG.gpus.gpus]
    assert ids == sorted(set(ids))
    assert len(ids) > 500


def test_releases_are_newest_first_and_unique() -> None:
    versions = [release.version for release in CATALOG.releases]
    assert versions == sorted(set(versions), reverse=True)
    dates = {release.version.text: release.date for release in CATALOG.releases}
    assert (dates["2.14.0"] or "") < (dates["2.15.0"] or "")


def test_build_tag_and_cuda_agree() -> None:
    for release in CATALOG.releases:
        seen = set()
        for build in release.variants:
            key = (build.system, build.arch, build.variant)
            assert key not in seen, (release.version, key)
            seen.add(key)
            tag = parse_cuda_tag(build.variant)
            if tag is not None and build.cuda is not None:
                assert build.cuda.series == tag, (release.version, build)
            is_pytorchs = build.index_url is not None and build.chip_extra is None
            assert not is_pytorchs or (build.index_url or "").endswith(build.variant), (release.version, build)


def test_every_cuda_build_has_a_minimum_driver() -> None:
    majors = {minimum.major for minimum in CATALOG.cuda.minimum_drivers}
    tags = {tag for r in CATALOG.releases for v in r.variants if (tag := parse_cuda_tag(v.variant))}
    assert {tag.major for tag in tags} <= majors


def test_driver_packages_never_pass_their_branch() -> None:
    last = {generation.id: generation.last_branch for generation in CATALOG.drivers.generations}
    for package in CATALOG.drivers.packages:
        branch = last[package.generation]
        # R580 is 580 to 589 on Linux and 58x.yy on Windows.
        assert branch is None or branch // 10 == package.version.major // 10, package


def test_preferred_python_is_one_that_tensorflow_has_and_every_system_gets() -> None:
    newest = [build for build in CATALOG.tensorflow.builds if build.version == CATALOG.tensorflow.newest]
    for series in CATALOG.pythons.preferred:
        assert all(series in build.python for build in newest)
        systems = {build.system for build in CATALOG.pythons.builds if build.series == series}
        assert systems == {"windows", "linux", "darwin"}


def test_python_builds_name_their_version_and_system() -> None:
    for build in CATALOG.pythons.builds:
        assert build.version.series.text == build.series
        assert build.version.text in build.url
        assert {"windows": "windows", "linux": "linux", "darwin": "apple-darwin"}[build.system] in build.url

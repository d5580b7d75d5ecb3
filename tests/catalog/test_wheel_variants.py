"""Wheel variants: names of files, and what a publisher's metadata states."""

from __future__ import annotations

import json

import pytest

from gpu_assistant.catalog.wheel_variants import (
    UnreadableVariantMetadata,
    VariantMetadata,
    VariantStatement,
    parse_metadata_name,
    parse_variant_metadata,
    split_variant_label,
    variant_of,
)
from gpu_assistant.core.versions import Capability, Version
from tests.fakes.wheel_variants import PUBLISHED, current_metadata


@pytest.mark.parametrize(
    ("name", "plain", "label"),
    [
        ("torch-2.8.0-cp313-cp313-linux_x86_64-cu129.whl", "torch-2.8.0-cp313-cp313-linux_x86_64.whl", "cu129"),
        ("torch-2.8.0-1-cp313-cp313-win_amd64-cu129.whl", "torch-2.8.0-1-cp313-cp313-win_amd64.whl", "cu129"),
        ("torch-2.8.0-cp313-cp313-win_amd64-null.whl", "torch-2.8.0-cp313-cp313-win_amd64.whl", "null"),
        ("torch-2.8.0+cu129-cp313-cp313-win_amd64.whl", "torch-2.8.0+cu129-cp313-cp313-win_amd64.whl", None),
        ("torch-2.8.0-1-cp313-cp313-win_amd64.whl", "torch-2.8.0-1-cp313-cp313-win_amd64.whl", None),
        ("torch-2.8.0-cp313-cp313-win_amd64-CU129.whl", "torch-2.8.0-cp313-cp313-win_amd64-CU129.whl", None),
        ("torch-2.8.0.tar.gz", "torch-2.8.0.tar.gz", None),
        ("", "", None),
    ],
)  # fmt: skip
def test_label_of_wheel(name: str, plain: str, label: str | None) -> None:
    assert split_variant_label(name) == (plain, label)


def test_names_of_metadata() -> None:
    assert parse_metadata_name("torch-2.8.0-variants.json") == ("torch", "2.8.0")
    assert parse_metadata_name("torch-2.8.0.json") is None


def chips(text: str) -> tuple[Capability, ...]:
    return tuple(map(Capability, text.split()))


@pytest.mark.parametrize("draft", ["published", "current"])
def test_real_metadata_is_read(draft: str) -> None:
    data = PUBLISHED.read_bytes() if draft == "published" else json.dumps(current_metadata()).encode()
    metadata = parse_variant_metadata(data)
    assert metadata.labels[-3:] == ("cu126", "cu128", "cu129") or metadata.labels[:3] == ("cu126", "cu128", "cu129")
    assert metadata.statement("cu126") == VariantStatement(
        arch_list=chips("5.0 6.0 7.0 7.5 8.0 8.6 9.0"), lowest_cuda=Version("12.6")
    )
    assert metadata.statement("cu129") == VariantStatement(
        arch_list=chips("7.5 8.0 8.6 9.0 10.0 12.0"), ptx_for=chips("12.0"), lowest_cuda=Version("12.9")
    )
    assert metadata.statement("cu999") is None


def statement_of(properties: dict[str, dict[str, list[str]]], *namespaces: str) -> VariantStatement | None:
    content = {"$schema": "x", "default-priorities": {"namespace": list(namespaces)}, "variants": {"one": properties}}
    return parse_variant_metadata(json.dumps(content).encode()).statement("one")


def test_amd_properties_are_read() -> None:
    stated = statement_of({"amd": {"gfx_arch": ["gfx1100", "gfx90a"], "rocm_version": ["7.2"]}}, "amd")
    assert stated == VariantStatement(gfx=("gfx1100", "gfx90a"), rocm=(Version("7.2"),))
    assert variant_of("amd_all", stated) == "rocm7.2"


def test_unknown_demands_are_named() -> None:
    stated = statement_of({"x86_64": {"level": ["v3"]}, "nvidia": {"sm_arch": ["90a_real"]}}, "x86_64", "nvidia")
    assert stated is not None
    assert stated.unread == ("nvidia :: sm_arch", "x86_64 :: level")


def test_upper_bound_is_read() -> None:
    bounds = {"cuda_version_lower_bound": ["12.0"], "cuda_version_upper_bound": ["13"]}
    assert statement_of({"nvidia": bounds}, "nvidia") == VariantStatement(
        lowest_cuda=Version("12.0"), below_cuda=Version("13")
    )


def test_tag_of_build() -> None:
    cuda = VariantStatement(arch_list=chips("9.0"), lowest_cuda=Version("13.2"))
    assert variant_of("cu126", None) == "cu126"
    assert variant_of("hopper", cuda) == "cu132"
    assert variant_of("null", VariantStatement()) is None
    assert variant_of("v3", None) is None


@pytest.mark.parametrize(
    "change",
    [
        {"variants": {"null": {"nvidia": {"sm_arch": ["90_real"]}}}},
        {"variants": {"cu126": {"amd": {"gfx_arch": ["gfx1100"]}}}},
        {"variants": {"cu126": {"nvidia": {"sm_arch": []}}}},
        {"variants": {"CU126": {}}},
        {"variants": []},
        {"$schema": "https://packaging.python.org/variants/v2.0.0.json"},
        {"default-priorities": None},
    ],
)
def test_contradictions_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(UnreadableVariantMetadata):
        parse_variant_metadata(json.dumps({**current_metadata(), **change}).encode())


@pytest.mark.parametrize("data", [b"", b"<html>", b"\xff", b"[" * 5000])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableVariantMetadata):
        parse_variant_metadata(data)


def test_final_format_is_read() -> None:
    content = {**current_metadata(), "$schema": "https://packaging.python.org/variants/v1.2.0.json", "more": 1}
    assert isinstance(parse_variant_metadata(json.dumps(content).encode()), VariantMetadata)

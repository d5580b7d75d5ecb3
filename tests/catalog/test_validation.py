"""The check: the built-in catalog is whole, and each rule notices a file that breaks it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpu_assistant.catalog.validation import FILE_TYPES, json_schema, validate_catalog
from gpu_assistant.core.paths import resources_dir

FOLDER = resources_dir() / "catalog"
Break = Callable[[dict[str, Any]], object]


def test_builtin_catalog_is_valid() -> None:
    assert validate_catalog(FOLDER) == ()


def test_every_known_file_exists() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(FILE_TYPES)


@pytest.mark.parametrize("name", FILE_TYPES)
def test_schemas_match_structs(name: str) -> None:
    stored = json.loads((resources_dir() / f"schemas/catalog-{name}.schema.json").read_text(encoding="utf-8"))
    assert stored == json_schema(name)
    jsonschema.Draft202012Validator.check_schema(stored)


def torch(data: dict[str, Any]) -> dict[str, Any]:
    return next(release for release in data["releases"] if len(release["variants"]) > 2)


def move(values: list[Any]) -> None:
    values.append(values.pop(0))


BROKEN: list[tuple[str, str, Break]] = [
    ("gpus", "schema", lambda d: d["gpus"][0].update(pci_id="10DE:1340")),
    ("gpus", "schema", lambda d: d["gpus"][0].update(pci_id="1340")),
    ("gpus", "schema", lambda d: d["gpus"][0].update(compute_capability="sm_50")),
    ("gpus", "schema", lambda d: d.update(as_of="2026-13-01")),
    ("gpus", "schema", lambda d: d["gpus"][0].update(colour="green")),
    ("gpus", "schema", lambda d: d["gpus"][0].pop("chip")),
    ("gpus", "unique-ids", lambda d: d["gpus"].insert(0, d["gpus"][0])),
    ("gpus", "unique-ids", lambda d: move(d["gpus"])),
    ("gpus", "unique-ids", lambda d: d["gpus"][0].update(pci_id="1002:1340")),
    ("gpus", "chips", lambda d: next(r for r in d["gpus"] if r["chip"] == "GP104").update(compute_capability="12.0")),
    ("gpus", "chips", lambda d: [r.update(compute_capability="12.0") for r in d["gpus"] if r["chip"] == "GP104"]),
    ("gpus", "chips", lambda d: d["ranges"][0].update(first="10de:0500", last="10de:0400")),
    ("gpus", "chips", lambda d: d["ranges"].append(d["ranges"][0])),
    ("gpus", "chips", lambda d: d["ranges"][-1].update(last="1002:ffff")),
    ("gpus", "chips", lambda d: d["ranges"][-1].update(compute_capability="9.0")),
    ("pytorch", "schema", lambda d: d["releases"][0].update(version="2.x")),
    ("pytorch", "schema", lambda d: torch(d)["variants"][0].update(index_url="http://download.pytorch.org/whl/cpu")),
    ("pytorch", "schema", lambda d: torch(d)["variants"][0].update(variant="cuda")),
    ("pytorch", "newest-first", lambda d: move(d["releases"])),
    ("pytorch", "newest-first", lambda d: d["releases"].insert(0, d["releases"][0])),
    ("pytorch", "date", lambda d: d["releases"][0].update(date="2999-01-01")),
    ("pytorch", "source", lambda d: torch(d)["variants"][0].update(source="hearsay")),
    ("pytorch", "builds", lambda d: torch(d)["variants"].append(torch(d)["variants"][0])),
    ("pytorch", "builds", lambda d: torch(d)["variants"][0].update(index_url="https://download.pytorch.org/whl/other")),
    ("pytorch", "builds", lambda d: torch(d)["variants"][0].update(cuda="9.9")),
    ("pytorch", "builds", lambda d: torch(d)["default_variant"].update(windows="cu999")),
    ("pytorch", "capability", lambda d: torch(d)["variants"][0].update(arch_list=["7.5", "99.9"])),
    ("pytorch", "capability", lambda d: d["excluded_devices"].update({"8.0": ["13.9"]})),
    ("gpus", "capability", lambda d: d["gpus"][0].update(compute_capability="0.9")),
    ("cuda", "capability", lambda d: d["toolkits"][0].update(highest_capability="99.9")),
    ("pytorch", "no-day", lambda d: d["releases"][0].update(date="2026-02-31")),
    ("cuda", "newest-first", lambda d: move(d["toolkits"])),
    ("cuda", "newest-first", lambda d: move(d["branches"])),
    (
        "cuda",
        "installers",
        lambda d: next(t for t in d["toolkits"] if "installers" in t)["installers"][0].update(file="x"),
    ),
    ("cuda", "schema", lambda d: d["toolkits"][0].update(redist_sha256="abc")),
    ("cudnn", "newest-first", lambda d: move(d["releases"])),
    ("cudnn", "archives", lambda d: next(r for r in d["releases"] if r.get("yanked")).update(wheels=[12])),
    ("cudnn", "archives", lambda d: next(r for r in d["releases"] if r["archives"]).update(cuda_majors=[])),
    ("cudnn", "floors-agree", lambda d: d["releases"][0]["lowest_capability"].update({"12": "5.0"})),
    ("tensorflow", "newest-first", lambda d: d["builds"].reverse()),
    ("tensorflow", "lowest-drivers", lambda d: d["builds"][0].update(cuda=None)),
    ("drivers", "generations", lambda d: d["generations"].pop(1)),
    ("drivers", "generations", lambda d: d["generations"][0].update(from_capability="8.0")),
    ("drivers", "generations", lambda d: d["linux_modules"].pop(0)),
    ("drivers", "last-branches", lambda d: d["generations"][1].update(last_branch=9999)),
    ("drivers", "last-branches", lambda d: d["generations"][1].update(last_branch=595)),
    ("drivers", "packages", lambda d: d["packages"][0].update(generation="r999")),
    ("drivers", "packages", lambda d: d["packages"][0].update(generation="r580")),
    ("drivers", "packages", lambda d: d["packages"][0].update(url="https://download.example.org/driver.exe")),
    ("drivers", "packages", lambda d: d["products"].append(d["products"][0])),
    ("drivers", "newest-first", lambda d: d["packages"].insert(0, d["packages"][0] | {"version": "600.1"})),
    ("drivers", "source", lambda d: d.update(products_source="hearsay")),
    ("accelerators", "unique-ids", lambda d: d["amd_devices"].reverse()),
    ("accelerators", "families", lambda d: d["intel_devices"][0].update(family="Larrabee")),
    ("accelerators", "families", lambda d: d["amd_chips"][0]["variants"].append("rocm1.0")),
    ("mirrors", "publishers", lambda d: d["mirrors"][0].update(publisher="nobody")),
    ("mirrors", "schema", lambda d: d["mirrors"][0].update(url="http://mirror.example.org/")),
    ("pythons", "pythons", lambda d: d["builds"][0].update(series="3.9")),
    ("vc_redist", "newest-first", lambda d: d["needs"].reverse()),
]


@pytest.mark.parametrize(("name", "rule", "harm"), BROKEN, ids=lambda value: value if isinstance(value, str) else "")
def test_invalid_file_is_reported(tmp_path: Path, name: str, rule: str, harm: Break) -> None:
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    harm(data)
    (tmp_path / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    findings = {(finding.file, finding.rule) for finding in validate_catalog(tmp_path, FOLDER)}
    assert (name, rule) in findings
    assert {file for file, _ in findings} == {name}


def test_future_date_is_reported_when_today_is_known(tmp_path: Path) -> None:
    data = json.loads((FOLDER / "pytorch.json").read_text(encoding="utf-8"))
    day = max(
        date.fromisoformat(json.loads(path.read_text(encoding="utf-8"))["as_of"]) for path in FOLDER.glob("*.json")
    )
    (tmp_path / "pytorch.json").write_text(json.dumps(data | {"as_of": "2036-01-01"}), encoding="utf-8")
    assert validate_catalog(tmp_path, FOLDER) == ()
    findings = validate_catalog(tmp_path, FOLDER, today=day)
    assert [(f.file, f.rule, f.where, f.detail) for f in findings] == [("pytorch", "future", "/as_of", "2036-01-01")]
    assert validate_catalog(FOLDER, today=day) == ()
    assert validate_catalog(FOLDER, today=day - timedelta(days=1))


def test_missing_unknown_and_unreadable_files(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / "gpus.json").unlink()
    (tmp_path / "cuda.json").write_bytes(b"[" * 100_000)
    (tmp_path / "extra.json").write_text("{}", encoding="utf-8")
    findings = {(finding.file, finding.rule) for finding in validate_catalog(tmp_path)}
    assert findings == {("gpus", "readable"), ("cuda", "schema"), ("extra", "unknown-file")}


def test_every_invalid_record_is_reported(tmp_path: Path) -> None:
    data = json.loads((FOLDER / "gpus.json").read_text(encoding="utf-8"))
    data["gpus"][3]["compute_capability"] = "sm_50"
    data["gpus"][7]["segment"] = "toaster"
    (tmp_path / "gpus.json").write_text(json.dumps(data), encoding="utf-8")
    findings = [(finding.rule, finding.where, finding.fault) for finding in validate_catalog(tmp_path, FOLDER)]
    assert findings == [
        ("schema", "/gpus/3/compute_capability", "@file.fault.form"),
        ("schema", "/gpus/7/segment", "@file.fault.choice"),
    ]

"""The list of the user's own packages that a removal leaves: true to where each came from, and pip takes it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.ownership import MARKER_NAME
from gpu_assistant.core.plan import Step
from gpu_assistant.install.files import installed_packages
from gpu_assistant.install.jobs.purge import PurgeJob
from gpu_assistant.texts.localized import Texts

from .. import tiny_wheels
from ..jobs.test_repair import damage
from ..jobs.test_uninstall import uninstall
from ..sandbox import Sandbox, end
from .test_foreign_files import added_to, last, put, shown, site, step_text, upgraded

COMMIT = "db770d0cc737309a1dd8af89a19289c6b749eab4"


def came_from(sandbox: Sandbox, package: str, origin: dict[str, Any]) -> None:
    """As pip writes it down of what it did not find in an index."""
    (site(sandbox) / f"{package}.dist-info" / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")


def lines(path: Path) -> list[str]:
    first, *others = path.read_text(encoding="utf-8").splitlines()
    assert first == "# -*- coding: utf-8 -*-"
    return others


def beside(sandbox: Sandbox) -> list[str]:
    return sorted(path.name for path in sandbox.environment.parent.iterdir())


def test_list_is_kept_and_named_in_preview_and_result(sandbox: Sandbox) -> None:
    sandbox.install()
    put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    upgraded(sandbox)
    remaining = sandbox.environment.with_name("env-packages.txt")
    environment, folder = shown(sandbox)
    assert (environment.data["list"], folder.code, folder.data["files"]) == (
        str(remaining),
        "leave-filled",
        remaining.name,
    )
    assert not remaining.exists()
    events = uninstall(sandbox)
    for language in ("en", "zh_CN"):
        texts = Texts(language)
        message = str(texts.localize_event(last(events, "environment")).message)  # type: ignore[union-attr]
        assert f'pip install -r "{remaining}"' in step_text(texts, environment)
        assert f'pip install -r "{remaining}"' in message
    assert lines(remaining) == ["numpy==2.0", "tinyhat==3.0"]
    assert beside(sandbox) == [remaining.name]


def test_each_line_names_the_source_of_package(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.install()
    project, wheel = tmp_path / "project", tmp_path / "my wheel.whl"
    project.mkdir()
    added_to(project / "mine.py")
    wheel.write_bytes(b"wheel")
    origins: dict[str, dict[str, Any]] = {
        "a-1.0": {"url": project.as_uri(), "dir_info": {"editable": True}},
        "b-1.0": {"url": project.as_uri(), "dir_info": {}},
        "c-1.0": {"url": "https://example.org/c.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
        "d-1.0": {"url": wheel.as_uri(), "archive_info": {}},
        "e-1.0": {"url": (tmp_path / "gone").as_uri(), "dir_info": {"editable": True}},
    }
    origins["f-1.0"] = {**origins["c-1.0"], "subdirectory": "python"}
    for name, origin in origins.items():
        put(sandbox, tiny_wheels.wheel(*name.split("-")))
        came_from(sandbox, name, origin)
    put(sandbox, tiny_wheels.wheel("g", "1.0+cu126"))
    # pip holds torch where it is in every environment of ours.
    shutil.rmtree(next(site(sandbox).glob("torch-*.dist-info")))
    put(sandbox, tiny_wheels.wheel("torch", "8.0"))
    uninstall(sandbox)
    assert lines(sandbox.environment.with_name("env-packages.txt")) == [
        f"-e {project.as_uri()}",
        f"b @ {project.as_uri()}",
        f"c @ git+https://example.org/c.git@{COMMIT}",
        f"d @ {wheel.as_uri()}",
        f"f @ git+https://example.org/c.git@{COMMIT}#subdirectory=python",
        f"# -e {(tmp_path / 'gone').as_uri()}",
        "# g==1.0+cu126",
        "# torch==8.0",
    ]
    assert (project / "mine.py").read_text(encoding="utf-8") == "# mine\n"
    assert wheel.is_file()


@pytest.mark.parametrize(
    "origin",
    ["no json", '{"url": "https://x\\n--index-url https://evil"}', '{"url": 3}', '{"url": "file:///a\\u0000b"}'],
)
def test_malformed_metadata_adds_no_line(sandbox: Sandbox, origin: str) -> None:
    sandbox.install()
    put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    (site(sandbox) / "tinyhat-3.0.dist-info" / "direct_url.json").write_text(origin, encoding="utf-8")
    uninstall(sandbox)
    (line,) = lines(sandbox.environment.with_name("env-packages.txt"))
    assert line in ("tinyhat==3.0", "# tinyhat==3.0")


def test_different_list_is_not_overwritten_same_is_reused(sandbox: Sandbox) -> None:
    sandbox.install()
    put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    sandbox.environment.with_name("env-packages.txt").write_text("thesis", encoding="utf-8")
    for _turn in range(2):
        uninstall(sandbox)
        assert beside(sandbox) == ["env-packages-2.txt", "env-packages.txt"]
        sandbox.install()
        put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    assert sandbox.environment.with_name("env-packages.txt").read_text(encoding="utf-8") == "thesis"


def test_conda_packages_are_listed_as_comments(tmp_path: Path) -> None:
    folder = tmp_path / "env"
    info = folder / "lib" / "python3.11" / "site-packages" / "numpy-2.4.dist-info"
    record = "lib/python3.11/site-packages/numpy-2.4.dist-info/RECORD"
    for path, text in (
        (info / "RECORD", "numpy-2.4.dist-info/RECORD,,\n"),
        (
            folder / "conda-meta" / "numpy-2.4-0.json",
            json.dumps({"name": "numpy", "version": "2.4", "files": [record]}),
        ),
    ):
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    remaining = installed_packages.write_user_packages(folder, (record, "conda-meta/numpy-2.4-0.json"))
    assert remaining == tmp_path / "env-packages.txt"
    assert lines(remaining) == ["# conda install numpy=2.4"]


def test_purge_keeps_the_list(sandbox: Sandbox) -> None:
    sandbox.environment = sandbox.data.environments / "env"
    sandbox.install()
    put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    job = PurgeJob(sandbox.data, sandbox.system, keep_environments=False)
    steps = {each.id: each for each in job.steps()}
    root: Step = steps["data"]
    assert (root.code, root.data["files"]) == ("leave-filled", "environments/")
    job.run(JobContext())
    assert lines(sandbox.environment.with_name("env-packages.txt")) == ["tinyhat==3.0"]
    left = [path.relative_to(sandbox.data.root).as_posix() for path in sandbox.data.root.rglob("*") if path.is_file()]
    assert sorted(left) == [MARKER_NAME, "environments/env-packages.txt"]


def test_repair_lists_replaced_versions(sandbox: Sandbox) -> None:
    sandbox.install()
    put(sandbox, tiny_wheels.wheel("tinyhat", "3.0"))
    upgraded(sandbox)
    damage(sandbox)
    events = sandbox.install()
    assert end(events).state == "done"
    event: Any = last(events, "verify")
    remaining = sandbox.environment.with_name("env-packages.txt")
    assert (event.code, event.data["list"]) == ("progress.repaired-packages-kept", str(remaining))
    assert lines(remaining) == ["numpy==2.0"]
    assert (site(sandbox) / "tinyhat" / "__init__.py").is_file()
    for language in ("en", "zh_CN"):
        assert str(remaining) in str(Texts(language).localize_event(event).message)  # type: ignore[union-attr]

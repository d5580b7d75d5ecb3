"""uv's cache is not believed: what somebody put there beside a wheel's own files does not come into an environment."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError

from ..files.test_foreign_files import site
from ..sandbox import Sandbox, end
from .test_uninstall import uninstall

EVIL = b"import os; os.environ['EVIL'] = '1'\n"


def unpacked(sandbox: Sandbox, project: str) -> Path:
    """Where uv keeps a package unpacked."""
    (found,) = {path.parent.parent for path in sandbox.data.uv_cache.rglob(f"{project}-*.dist-info/METADATA")}
    return found


def record(folder: Path, name: str, data: bytes) -> None:
    """Names a file in the RECORD that lies there, as a wheel would."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    (path,) = folder.glob("*.dist-info/RECORD")
    text = path.read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if not row.startswith(f"{name},")]
    path.unlink()
    path.write_text("\n".join([*rows, f"{name},sha256={digest},{len(data)}", ""]), encoding="utf-8")


def put(folder: Path, name: str, data: bytes = EVIL) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def add_startup_file(folder: Path) -> None:
    put(folder, "evil.pth")


def add_module(folder: Path) -> None:
    put(folder, "torch/backdoor.py")


def add_compiled_copy(folder: Path) -> None:
    put(folder, "torch/__pycache__/__init__.cpython-311.pyc")


def add_recorded_startup_file(folder: Path) -> None:
    put(folder, "evil.pth")
    record(folder, "evil.pth", EVIL)


def change_recorded_module(folder: Path) -> None:
    put(folder, "torch/__init__.py")
    record(folder, "torch/__init__.py", EVIL)


def add_entry_points(folder: Path) -> None:
    (info,) = folder.glob("*.dist-info")
    text = b"[torch.backends]\nevil = torch:evil\n"
    put(folder, f"{info.name}/entry_points.txt", text)
    record(folder, f"{info.name}/entry_points.txt", text)


def add_package(folder: Path) -> None:
    put(folder, "evil.pth")
    put(folder, "evil-1.0.dist-info/METADATA", b"Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    put(folder, "evil-1.0.dist-info/RECORD", b"evil.pth,,\nevil-1.0.dist-info/METADATA,,\n")


def put_link_in_a_files_place(folder: Path) -> None:
    module = folder / "torch" / "__init__.py"
    elsewhere = folder.parent / "elsewhere.py"
    elsewhere.write_bytes(module.read_bytes())
    module.unlink()
    module.symlink_to(elsewhere)


def add_program(folder: Path) -> None:
    (info,) = folder.glob("*.dist-info")
    put(folder, f"{info.name.removesuffix('.dist-info')}.data/scripts/evil")


def replace_configuration(folder: Path) -> None:
    (info,) = folder.glob("*.dist-info")
    name = f"{info.name.removesuffix('.dist-info')}.data/data/pyvenv.cfg"
    put(folder, name, b"home = /tmp\n")


@pytest.mark.parametrize(
    "attack",
    [
        add_startup_file,
        add_module,
        add_compiled_copy,
        add_recorded_startup_file,
        change_recorded_module,
        add_entry_points,
        add_package,
        pytest.param(
            put_link_in_a_files_place, marks=pytest.mark.skipif(os.name == "nt", reason="links need rights there")
        ),
        add_program,
        replace_configuration,
    ],
)
def test_what_was_added_to_the_cache_does_not_reach_the_next_environment(
    sandbox: Sandbox, attack: Callable[[Path], None]
) -> None:
    sandbox.install()
    sound = {path.relative_to(sandbox.environment): path.read_bytes() for path in contents(sandbox)}
    uninstall(sandbox)
    attack(unpacked(sandbox, "torch"))
    assert end(sandbox.install()).state == "done"
    assert {path.relative_to(sandbox.environment): path.read_bytes() for path in contents(sandbox)} == sound


def contents(sandbox: Sandbox) -> list[Path]:
    """The packages and programs of the environment, but not what Python compiled when it proved them."""
    programs = sandbox.system.environment_python(sandbox.environment).parent
    below = [path for folder in (site(sandbox), programs) for path in folder.rglob("*") if path.is_file()]
    return [path for path in (*below, sandbox.environment / "pyvenv.cfg") if path.suffix != ".pyc"]


def test_cache_that_somebody_changes_again_and_again_gives_no_environment(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpu_assistant.install.packages.uv import Uv

    run = Uv.run

    def spoil(uv: Uv, *arguments: str | Path, **more: object) -> object:
        finished = run(uv, *arguments, **more)  # type: ignore[arg-type]
        if arguments[:2] == ("pip", "install"):
            python = Path(arguments[arguments.index("--python") + 1])
            (folder,) = (*python.parents[1].glob("lib/python3*/site-packages"), *python.parents[1].glob("Lib/site-*"))
            put(folder, "evil.pth")
        return finished

    monkeypatch.setattr(Uv, "run", spoil)
    with pytest.raises(AppError) as refused:
        sandbox.install()
    assert refused.value.code == "packages-failed"
    assert str(refused.value.data["detail"]).endswith("site-packages/evil.pth")
    assert not sandbox.environment.exists()

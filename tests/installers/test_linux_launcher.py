"""The Linux launcher, linked for real: the Python that lies beside it wins, whatever the environment says."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

LINUX = Path(__file__).resolve().parents[2] / "installers/linux"
sys.path[:0] = [str(LINUX.parent), str(LINUX)]

import shipped_python  # noqa: E402
from stage import BuildError  # noqa: E402


def linux_build() -> ModuleType:
    """installers/linux/build.py under a name of its own: there are other `build`s."""
    spec = importlib.util.spec_from_file_location("linux_build", LINUX / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def prefix() -> shipped_python.Prefix:
    try:
        return shipped_python.find(Path(sys.base_prefix))
    except BuildError as error:
        pytest.skip(str(error))


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("gcc") is None, reason="gcc for Linux is not here")
def test_the_library_path_of_the_environment_does_not_win(prefix: shipped_python.Prefix, tmp_path: Path) -> None:
    home = tmp_path / "usr/lib/gpu-assistant"
    home.mkdir(parents=True)
    build = linux_build()  # its launcher alone: the whole package takes minutes
    build.build_launcher(prefix, home)
    with (home / build.NAME).open("rb") as opened:
        dynamic = ELFFile(opened).get_section_by_name(".dynamic")
        assert isinstance(dynamic, DynamicSection)
        tags = {tag.entry.d_tag: tag for tag in dynamic.iter_tags()}
        # The loader looks into RPATH before LD_LIBRARY_PATH, into RUNPATH after it.
        assert tags["DT_RPATH"].rpath == "$ORIGIN/runtime"
        assert "DT_RUNPATH" not in tags


# A program in the place of ours: what the helper's process is given.
PROBE = """
import hashlib, json, os, sys
json.dump({"environ": dict(os.environ), "cwd": os.getcwd(), "isolated": sys.flags.isolated}, sys.stdout)
"""


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("gcc") is None, reason="gcc for Linux is not here")
class TestDoor:
    """The launcher as pkexec starts it, with an environment that pkexec would not give."""

    @pytest.fixture
    def library(self, tmp_path: Path) -> Path:
        made = tmp_path / "loaded.so"
        source = LINUX.parents[1] / "tests/fixtures/loaded.c"
        subprocess.run(["gcc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", made, source], check=True)
        return made

    @pytest.fixture
    def hostile(self, tmp_path: Path, library: Path) -> dict[str, str]:
        settings = tmp_path / "openssl.cnf"
        settings.write_text(
            "openssl_conf = start\n[start]\nproviders = list\n[list]\ndefault = first\nthief = second\n"
            f"[first]\nactivate = 1\n[second]\nmodule = {library}\nactivate = 1\n"
        )
        return {
            "OPENSSL_CONF": str(settings),
            "OPENSSL_MODULES": str(tmp_path),
            "SSL_CERT_FILE": str(settings),
            "GCONV_PATH": str(tmp_path),
            "PYTHONPATH": str(tmp_path),
            "PYTHONHOME": str(tmp_path),
            "PATH": str(tmp_path),
            "TMPDIR": str(tmp_path),
            "HOME": str(tmp_path),
        }

    @pytest.fixture
    def home(self, prefix: shipped_python.Prefix, tmp_path: Path) -> Path:
        """The launcher with this Python's own library, and with `PROBE` as the program."""
        home = tmp_path / "usr/lib/gpu-assistant"
        (home / "app/gpu_assistant").mkdir(parents=True)
        (home / "app/gpu_assistant/__main__.py").write_text(PROBE)
        linux_build().build_launcher(prefix, home)
        library = prefix.python.library
        shutil.copytree(library / "lib-dynload", home / "runtime", symlinks=True)
        (home / f"runtime/python{prefix.python.minor.replace('.', '')}.zip").symlink_to(library)
        for file in prefix.libraries.glob("libpython*.so*"):
            (home / "runtime" / file.name).symlink_to(file)
        return home

    def test_openssl_conf_loads_a_library_elsewhere(self, hostile: dict[str, str], library: Path) -> None:
        """The attack is one: this Python loads it."""
        environ = {"OPENSSL_CONF": hostile["OPENSSL_CONF"]}
        subprocess.run([sys.executable, "-I", "-c", "import hashlib"], env=environ, check=False)
        assert Path(f"{library}.loaded").exists()

    def test_helper_gets_nothing_of_its_callers_environment(
        self, home: Path, hostile: dict[str, str], library: Path, tmp_path: Path
    ) -> None:
        command = [home / "gpu-assistant", "--administrator-door", tmp_path / "request", "0" * 64]
        done = subprocess.run(command, env=hostile, cwd=tmp_path, capture_output=True, check=True)
        seen = json.loads(done.stdout)
        assert seen["environ"] == {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
        assert (seen["cwd"], seen["isolated"]) == ("/", 1)
        assert not Path(f"{library}.loaded").exists()

    def test_program_itself_keeps_its_users_environment(self, home: Path, tmp_path: Path) -> None:
        command = [home / "gpu-assistant", "detect"]
        done = subprocess.run(command, env={"HOME": str(tmp_path)}, cwd=tmp_path, capture_output=True, check=True)
        assert json.loads(done.stdout)["environ"]["HOME"] == str(tmp_path)

"""The Linux launcher, linked for real: the Python that lies beside it wins, whatever the environment says."""

from __future__ import annotations

import importlib.util
import shutil
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

"""AMD's own index: extras bring the code of the cards, and one package comes as source, which is built here."""

from __future__ import annotations

import io
import tarfile
import tomllib
from functools import cache
from typing import Any

import pytest
from msgspec import structs

from gpu_assistant.catalog.store import Catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Plan
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.packages.lockfile import parse_lockfile
from gpu_assistant.install.plan.planner import make_plan

from .. import tiny_wheels
from ..sandbox import RELEASE, SERIES, Sandbox, end, machine, recommendation
from .test_install_errors import refused

VARIANT = "rocm10.0.0"
EXTRAS = ("device-gfx1036", "device-gfx1100")
PYPROJECT = '[build-system]\nrequires = ["setuptools>=1"]\nbuild-backend = "setuptools"\n'
# In the place of the real one: builds a wheel with the one module, and with the extra that torch asks for.
BACKEND = """
import zipfile

METADATA = (
    "Metadata-Version: 2.1\\nName: rocm\\nVersion: 10.0.0\\nProvides-Extra: libraries\\n"
    "Requires-Dist: rocm-sdk-libraries==10.0.0; extra == 'libraries'\\n"
)


def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "rocm-10.0.0-py3-none-any.whl"
    files = {
        "rocm_sdk.py": open("rocm_sdk.py").read(),
        "rocm-10.0.0.dist-info/METADATA": METADATA,
        "rocm-10.0.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    record = "rocm-10.0.0.dist-info/RECORD"
    files[record] = "".join(f"{path},,{len(text)}\\n" for path, text in files.items()) + f"{record},,\\n"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
"""


@cache
def source_of_rocm() -> tiny_wheels.Wheel:
    packed = io.BytesIO()
    metadata = b"Metadata-Version: 2.1\nName: rocm\nVersion: 10.0.0\n"
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in (
            ("PKG-INFO", metadata),
            ("pyproject.toml", PYPROJECT.encode()),
            ("rocm_sdk.py", b"libraries = 'here'\n"),
        ):
            entry = tarfile.TarInfo(f"rocm-10.0.0/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return tiny_wheels.Wheel("rocm-10.0.0.tar.gz", packed.getvalue(), metadata)


def amd_index(sandbox: Sandbox) -> str:
    devices = [
        tiny_wheels.wheel(f"amd_torch_device_{gfx}", f"{RELEASE}+{VARIANT}", requires=[f"rocm-sdk-device-{gfx}"])
        for gfx in ("gfx1036", "gfx1100", "gfx1201")
    ]
    sdk = [tiny_wheels.wheel(f"rocm_sdk_device_{gfx}", "10.0.0") for gfx in ("gfx1036", "gfx1100", "gfx1201")]
    needs = [f"amd-torch-device-{gfx}; extra == 'device-{gfx}'" for gfx in ("gfx1036", "gfx1100", "gfx1201")]
    torch = tiny_wheels.wheel("torch", f"{RELEASE}+{VARIANT}", requires=["rocm[libraries]==10.0.0", "tinydep", *needs])
    rest = [tiny_wheels.wheel("rocm_sdk_libraries", "10.0.0"), tiny_wheels.wheel("setuptools", "80.0", source=BACKEND)]
    return tiny_wheels.index(sandbox.server, "amd", [torch, source_of_rocm(), *devices, *sdk, *rest])


def amd_catalog(sandbox: Sandbox, url: str) -> Catalog:
    newest = sandbox.catalog.pytorch.releases[0]
    build = structs.replace(
        newest.variants[0], system=sandbox.system.name, variant=VARIANT, index_url=url, gfx=("gfx1100",),
        chip_extra="device-{gfx}", sdists=("rocm",),
    )  # fmt: skip
    release = structs.replace(newest, variants=(build,))
    releases = (release, *sandbox.catalog.pytorch.releases[1:])
    return catalog_of(sandbox.catalog, structs.replace(sandbox.catalog.pytorch, releases=releases))


def catalog_of(catalog: Catalog, pytorch: Any) -> Catalog:
    catalog.__dict__["pytorch"] = pytorch
    for name in ("releases", "_releases_by_version"):
        catalog.__dict__.pop(name, None)
    return catalog


def planned(sandbox: Sandbox, url: str, *, extras: tuple[str, ...] = EXTRAS) -> Plan:
    wanted = recommendation(RELEASE, url)
    assert wanted.pytorch is not None
    torch = structs.replace(wanted.pytorch, variant=VARIANT, extras=extras)
    return make_plan(
        machine(),
        structs.replace(wanted, pytorch=torch, accelerator="rocm"),
        sandbox.catalog,
        data=sandbox.data,
        environment=sandbox.environment,
        wheelhouse=None,
        simulated=False,
    )


def test_source_and_extras_are_locked_and_installed(sandbox: Sandbox) -> None:
    url = amd_index(sandbox)
    sandbox.catalog = amd_catalog(sandbox, url)
    assert end(sandbox.install(planned(sandbox, url))).state == "done"
    text = (sandbox.environment / "pylock.toml").read_text(encoding="utf-8")
    rows = {row["name"]: row for row in tomllib.loads(text)["packages"]}
    assert set(rows) == {
        *("torch", "tinydep", "numpy", "pip", "setuptools", "rocm", "rocm-sdk-libraries"),
        *("amd-torch-device-gfx1036", "amd-torch-device-gfx1100", "rocm-sdk-device-gfx1036", "rocm-sdk-device-gfx1100"),
    }
    assert rows["rocm"]["sdist"]["hashes"]["sha256"] == source_of_rocm().sha256
    installed = [path.name for path in sandbox.environment.rglob("rocm_sdk.py")]
    assert installed == ["rocm_sdk.py"]
    with pytest.raises(AppError, match="lock-broken"):
        parse_lockfile(text, SERIES)


def test_source_of_another_package_is_refused(sandbox: Sandbox) -> None:
    url = amd_index(sandbox)
    sandbox.catalog = amd_catalog(sandbox, url)
    release = sandbox.catalog.pytorch.releases[0]
    build = structs.replace(release.variants[0], sdists=())
    releases = (structs.replace(release, variants=(build,)), *sandbox.catalog.pytorch.releases[1:])
    catalog_of(sandbox.catalog, structs.replace(sandbox.catalog.pytorch, releases=releases))
    error = refused(sandbox, plan=planned(sandbox, url))
    assert error.data["index"] == "@answer.absent"


def test_environment_is_undone(sandbox: Sandbox) -> None:
    url = amd_index(sandbox)
    sandbox.catalog = amd_catalog(sandbox, url)
    sandbox.install(planned(sandbox, url, extras=("device-gfx1201",)))
    assert list(sandbox.environment.rglob("amd_torch_device_gfx1201"))
    UninstallJob(sandbox.environment, sandbox.data, sandbox.system).run(JobContext())
    assert not sandbox.environment.exists()

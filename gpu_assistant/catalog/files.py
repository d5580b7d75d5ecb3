"""The catalog's files, the structs that they hold, and their schemas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from .accelerators import AcceleratorCatalog
from .fitting import MemoryPlanningCatalog
from .health import HealthRules
from .libraries import CudnnCatalog, TensorFlowCatalog, VcRuntimeCatalog
from .paces import DurationCatalog
from .places import MirrorCatalog
from .records import CudaCatalog, DriverCatalog, EnvironmentSizeCatalog, GpuCatalog, PythonCatalog, UpdateCatalog
from .reference import ReferenceCatalog
from .refreshing import RefreshSettings
from .subject import CatalogFile
from .torch_builds import PyTorchCatalog

if TYPE_CHECKING:
    from .load import Catalog

FILE_TYPES: dict[str, type[CatalogFile]] = {
    "accelerators": AcceleratorCatalog,
    "cuda": CudaCatalog,
    "cudnn": CudnnCatalog,
    "drivers": DriverCatalog,
    "fit": MemoryPlanningCatalog,
    "gpus": GpuCatalog,
    "health": HealthRules,
    "mirrors": MirrorCatalog,
    "paces": DurationCatalog,
    "pythons": PythonCatalog,
    "pytorch": PyTorchCatalog,
    "reference": ReferenceCatalog,
    "refresh": RefreshSettings,
    "sizes": EnvironmentSizeCatalog,
    "tensorflow": TensorFlowCatalog,
    "updates": UpdateCatalog,
    "vc_redist": VcRuntimeCatalog,
}


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a file, as it stands in `resources/schemas/`: unknown fields are errors."""
    (root,), defs = msgspec.json.schema_components([FILE_TYPES[name]], ref_template="#/$defs/{name}")
    for part in defs.values():
        if part.get("type") == "object" and "properties" in part:
            part["additionalProperties"] = False
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"GPU Assistant catalog: {name}.json",
        **root,
        "$defs": defs,
    }
    # Defaults are tuples here and lists in JSON.
    normalized_document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return normalized_document


def read_files(catalog: Catalog, names: Iterable[str]) -> dict[str, CatalogFile]:
    """The subjects of these files as a catalog reads them; raises AppError("catalog-broken")."""
    return {name: catalog.read(f"{name}.json", FILE_TYPES[name]) for name in names}

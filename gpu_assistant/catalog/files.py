"""The catalog's files, the structs that they hold, and their schemas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from .accelerators import Accelerators
from .fitting import Fitting
from .health import HealthRules
from .libraries import Cudnn, TensorFlow, VcRedist
from .paces import Paces
from .places import Mirrors
from .records import Cuda, Drivers, Environments, Gpus, Pythons, Updates
from .reference import Reference
from .refreshing import Refreshing
from .subject import Subject
from .torch_builds import PyTorch

if TYPE_CHECKING:
    from .load import Catalog

FILES: dict[str, type[Subject]] = {
    "accelerators": Accelerators,
    "cuda": Cuda,
    "cudnn": Cudnn,
    "drivers": Drivers,
    "fit": Fitting,
    "gpus": Gpus,
    "health": HealthRules,
    "mirrors": Mirrors,
    "paces": Paces,
    "pythons": Pythons,
    "pytorch": PyTorch,
    "reference": Reference,
    "refresh": Refreshing,
    "sizes": Environments,
    "tensorflow": TensorFlow,
    "updates": Updates,
    "vc_redist": VcRedist,
}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a file, as it stands in `resources/schemas/`: unknown fields are errors."""
    (root,), defs = msgspec.json.schema_components([FILES[name]], ref_template="#/$defs/{name}")
    for part in defs.values():
        if part.get("type") == "object" and "properties" in part:
            part["additionalProperties"] = False
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"GPU Assistant catalog: {name}.json",
        **root,
        "$defs": defs,
    }
    # Defaults are tuples here and lists in JSON.
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(whole))
    return plain


def subjects(catalog: Catalog, names: Iterable[str]) -> dict[str, Subject]:
    """The subjects of these files as a catalog reads them; raises AppError("catalog-broken")."""
    return {name: catalog.read(f"{name}.json", FILES[name]) for name in names}

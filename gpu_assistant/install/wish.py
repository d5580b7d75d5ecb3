"""What an environment shall hold, before any source was asked."""

from __future__ import annotations

import hashlib
from pathlib import Path

from msgspec import Struct

from ..core import json
from ..core.paths import DataDir
from ..core.recommendation import LocalWheel, Recommendation
from . import wheelhouse
from .target import Platform
from .uv import default_index_url

# pip, because a person who types `pip install` means this environment and would otherwise get another's pip.
BASE_PACKAGES = ("numpy", "pip")
PACKAGE_FIELDS = ("python", "torch", "variant", "torchvision", "torchaudio", "tensorflow", "constraints")


class PackageRequest(Struct, frozen=True, kw_only=True):
    """`torch` "2.13.0" with `variant` "cpu"; `python` like "3.11". `tensorflow` is a requirement, like
    "tensorflow[and-cuda]==2.21.*", and `constraints` are requirements that hold other packages back.

    `serves_variant` tells whether the general index is known to serve this very build for this system.
    `general` is the general index's address where the user named one; `target` the computer that it is for where
    that is not this one.
    """

    python: str
    torch: str | None
    variant: str | None
    torchvision: str | None
    torchaudio: str | None
    tensorflow: str | None
    constraints: tuple[str, ...]
    index_url: str | None
    wheelhouse: str | None
    serves_variant: bool
    general: str | None
    target: Platform | None = None

    @property
    def label(self) -> str:
        """What it asks for, as a person says it."""
        torch = f"PyTorch {self.torch} ({self.variant})" if self.torch is not None else None
        return " + ".join(part for part in (torch, self.tensorflow) if part is not None)

    @property
    def cache_key(self) -> str:
        """Equal for equal wishes: the name under which a lock is kept."""
        return hashlib.sha256(json.encode(self)).hexdigest()[:32]

    def local_wheels(self) -> tuple[LocalWheel, ...]:
        """What the wheelhouse has for this Python."""
        if self.wheelhouse is None:
            return ()
        platforms = self.target.platform_tags if self.target is not None else None
        return wheelhouse.compatible_wheels(Path(self.wheelhouse), self.python, platforms)

    def has_same_packages(self, request: PackageRequest) -> bool:
        """Whether the other asks for the very same packages, wherever they may come from."""
        return all(getattr(self, name) == getattr(request, name) for name in PACKAGE_FIELDS)


def lock_path(data: DataDir, request: PackageRequest) -> Path:
    """Where the lock of a wish is kept."""
    return data.locks / f"{request.cache_key}.toml"


def build_request(
    recommendation: Recommendation,
    *,
    python: str,
    wheelhouse_folder: str | None,
    serves_variant: bool,
    constraints: tuple[str, ...] = (),
    platform: Platform | None = None,
) -> PackageRequest:
    """The packages that a recommendation asks for: PyTorch, TensorFlow, or both. `held` are the requirements that
    hold packages back for PyTorch.
    """
    torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
    return PackageRequest(
        python=python,
        torch=torch.version if torch is not None else None,
        variant=torch.variant if torch is not None else None,
        torchvision=torch.torchvision if torch is not None else None,
        torchaudio=torch.torchaudio if torch is not None else None,
        tensorflow=tensorflow.requirement if tensorflow is not None else None,
        constraints=(*constraints, *(tensorflow.constraints if tensorflow is not None else ())),
        index_url=torch.index_url if torch is not None else None,
        wheelhouse=wheelhouse_folder,
        serves_variant=serves_variant,
        general=default_index_url(),
        target=platform,
    )

"""Where packages may come from, in the order in which they are asked, and what each one answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ..core.recommendation import LocalWheel
from .wheelhouse import compatible_wheels
from .wish import BASE_PACKAGES, PackageRequest

SourceName = Literal["wheelhouse", "index", "general"]
SourceAnswer = Literal["absent", "incomplete", "unreachable", "not-given", "not-asked"]
_PROJECT_NAME = re.compile(r"[A-Za-z0-9._-]+")


class ResolveAttempt(Struct, frozen=True, kw_only=True):
    """One question to the resolver: `source` is where what is `pinned` would come from.

    `torch_index` is an address that serves only PyTorch's own packages (`flat` for a folder), `find_links` a
    folder that serves everything; with `offline` no index is asked.
    """

    source: SourceName
    requirements: tuple[str, ...]
    pinned: tuple[str, ...] = ()
    torch_index: str | None = None
    flat: bool = False
    explicit: bool = True
    find_links: str | None = None
    offline: bool = False

    def render_pyproject(self, python: str) -> str:
        """The project file that asks it. JSON's strings are TOML's, too."""
        lines = [
            "[project]",
            'name = "environment"',
            'version = "0"',
            f"requires-python = {json.dumps(f'=={python}.*')}",
            f"dependencies = {json.dumps([*self.pinned, *self.requirements])}",
        ]
        if self.torch_index is not None:
            lines.append("[tool.uv.sources]")
            names = [match[0] for pin in self.pinned if (match := _PROJECT_NAME.match(pin)) is not None]
            lines += [f'{name} = {{ index = "source" }}' for name in names]
            lines += ["[[tool.uv.index]]", 'name = "source"', f"url = {json.dumps(self.torch_index)}"]
            lines += [f"explicit = {str(self.explicit).lower()}", *(['format = "flat"'] if self.flat else [])]
        return "\n".join(lines) + "\n"


def resolve_attempts(request: PackageRequest) -> Iterator[ResolveAttempt]:
    """The questions in order: wheelhouse alone, wheelhouse and general index, PyTorch's index, general index."""
    wheelhouse_pins = local_pins(request)
    requirements = _general_requirements(request)
    if wheelhouse_pins is not None and request.wheelhouse is not None:
        yield ResolveAttempt(source="wheelhouse", requirements=requirements, pinned=wheelhouse_pins, find_links=request.wheelhouse, offline=True)
        folder = Path(request.wheelhouse).as_uri()
        yield ResolveAttempt(source="wheelhouse", requirements=requirements, pinned=wheelhouse_pins, torch_index=folder, flat=True)
    if request.torch is None:
        yield ResolveAttempt(source="general", requirements=requirements, pinned=_tensorflow_pins(request))
        return
    if request.index_url is not None and request.variant is not None:
        # PyTorch's own index also holds what only its AMD and Intel builds need; for the others it serves
        # nothing but PyTorch.
        explicit = request.variant.startswith(("cu", "cpu"))
        for pins in _pin_sets(request, f"+{request.variant}"):
            yield ResolveAttempt(
                source="index",
                requirements=requirements,
                pinned=pins,
                torch_index=request.index_url,
                explicit=explicit,
            )
    if request.serves_variant:
        for pins in _pin_sets(request, ""):
            yield ResolveAttempt(source="general", requirements=requirements, pinned=pins)


def named_requirements(request: PackageRequest) -> tuple[str, ...]:
    """All that is asked of the publishers by name, and what is held back, a line each; a name comes once."""
    tag = f"+{request.variant}" if request.index_url is not None and request.variant is not None else ""
    pins = next(_pin_sets(request, tag)) if request.torch is not None else _tensorflow_pins(request)
    constrained = {match[0] for line in request.constraints if (match := _PROJECT_NAME.match(line)) is not None}
    return (*pins, *(line for line in _general_requirements(request) if line not in constrained), *request.constraints)


def _tensorflow_pins(request: PackageRequest) -> tuple[str, ...]:
    return (request.tensorflow,) if request.tensorflow is not None else ()


def _general_requirements(request: PackageRequest) -> tuple[str, ...]:
    """What comes from the general index: TensorFlow too, beside PyTorch."""
    return BASE_PACKAGES if request.torch is None else (*BASE_PACKAGES, *_tensorflow_pins(request))


def local_pins(request: PackageRequest) -> tuple[str, ...] | None:
    """PyTorch and what belongs to it as the wheelhouse has it; None if it lacks this very build. Without PyTorch
    it is TensorFlow.
    """
    if request.torch is None:
        return _tensorflow_pins(request) if any(wheel.project == "tensorflow" for wheel in request.local_wheels()) else None
    torch = _local_pin("torch", request.torch, request)
    if torch is None:
        return None
    companions = (_local_pin("torchvision", request.torchvision, request), _local_pin("torchaudio", request.torchaudio, request))
    return (torch, *(pin for pin in companions if pin is not None))


def _local_pin(project: str, version: str | None, request: PackageRequest) -> str | None:
    wheels = [w for w in request.local_wheels() if (w.project, w.version) == (project, version)]
    if any(wheel.variant == request.variant for wheel in wheels):
        return f"{project}=={version}+{request.variant}"
    # A wheel without a tag is the general index's build; "==2.13.0" would also match a tagged one beside it.
    if wheels and request.serves_variant and all(wheel.variant is None for wheel in wheels):
        return f"{project}=={version}"
    return None


def _pin_sets(request: PackageRequest, tag: str) -> Iterator[tuple[str, ...]]:
    """With torchvision and torchaudio first; a source without them still has PyTorch."""
    torch = f"torch=={request.torch}{tag}"
    companions = [("torchvision", request.torchvision), ("torchaudio", request.torchaudio)]
    pins = [f"{name}=={version}{tag}" for name, version in companions if version is not None]
    for count in range(len(pins), -1, -1):
        yield (torch, *pins[:count])


def other_releases(request: PackageRequest) -> tuple[LocalWheel, ...]:
    """PyTorch builds of the wanted kind in the wheelhouse, newest first, this Python's before other Pythons'."""
    if request.wheelhouse is None:
        return ()
    wheels = compatible_wheels(Path(request.wheelhouse), platforms=request.target.platform_tags if request.target is not None else None)
    matching = [w for w in wheels if (w.project, w.variant) == ("torch", request.variant)]
    return tuple(sorted(matching, key=lambda wheel: wheel.python not in (None, request.python)))

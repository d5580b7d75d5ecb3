"""Where packages may come from, in the order in which they are asked, and what each one answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ..core.recommendation import LocalWheel
from .wheelhouse import usable
from .wish import ALWAYS, Wish

SourceName = Literal["wheelhouse", "index", "general"]
Answer = Literal["absent", "incomplete", "unreachable", "not-given", "not-asked"]
_NAME = re.compile(r"[A-Za-z0-9._-]+")


class Attempt(Struct, frozen=True, kw_only=True):
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

    def pyproject(self, python: str) -> str:
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
            names = [match[0] for pin in self.pinned if (match := _NAME.match(pin)) is not None]
            lines += [f'{name} = {{ index = "source" }}' for name in names]
            lines += ["[[tool.uv.index]]", 'name = "source"', f"url = {json.dumps(self.torch_index)}"]
            lines += [f"explicit = {str(self.explicit).lower()}", *(['format = "flat"'] if self.flat else [])]
        return "\n".join(lines) + "\n"


def attempts(wish: Wish) -> Iterator[Attempt]:
    """The questions in order: wheelhouse alone, wheelhouse and general index, PyTorch's index, general index."""
    local = local_pins(wish)
    rest = _rest(wish)
    if local is not None and wish.wheelhouse is not None:
        yield Attempt(source="wheelhouse", requirements=rest, pinned=local, find_links=wish.wheelhouse, offline=True)
        folder = Path(wish.wheelhouse).as_uri()
        yield Attempt(source="wheelhouse", requirements=rest, pinned=local, torch_index=folder, flat=True)
    if wish.torch is None:
        yield Attempt(source="general", requirements=rest, pinned=_flow(wish))
        return
    if wish.index_url is not None and wish.variant is not None:
        # PyTorch's own index also holds what only its AMD and Intel builds need; for the others it serves
        # nothing but PyTorch.
        explicit = wish.variant.startswith(("cu", "cpu"))
        for pins in _pin_sets(wish, f"+{wish.variant}"):
            yield Attempt(
                source="index",
                requirements=rest,
                pinned=pins,
                torch_index=wish.index_url,
                explicit=explicit,
            )
    if wish.serves_variant:
        for pins in _pin_sets(wish, ""):
            yield Attempt(source="general", requirements=rest, pinned=pins)


def by_name(wish: Wish) -> tuple[str, ...]:
    """All that is asked of the publishers by name, and what is held back, a line each; a name comes once."""
    tag = f"+{wish.variant}" if wish.index_url is not None and wish.variant is not None else ""
    pins = next(_pin_sets(wish, tag)) if wish.torch is not None else _flow(wish)
    held = {match[0] for line in wish.constraints if (match := _NAME.match(line)) is not None}
    return (*pins, *(line for line in _rest(wish) if line not in held), *wish.constraints)


def _flow(wish: Wish) -> tuple[str, ...]:
    return (wish.tensorflow,) if wish.tensorflow is not None else ()


def _rest(wish: Wish) -> tuple[str, ...]:
    """What comes from the general index: TensorFlow too, beside PyTorch."""
    return ALWAYS if wish.torch is None else (*ALWAYS, *_flow(wish))


def local_pins(wish: Wish) -> tuple[str, ...] | None:
    """PyTorch and what belongs to it as the wheelhouse has it; None if it lacks this very build. Without PyTorch
    it is TensorFlow.
    """
    if wish.torch is None:
        return _flow(wish) if any(wheel.project == "tensorflow" for wheel in wish.local_wheels()) else None
    torch = _local("torch", wish.torch, wish)
    if torch is None:
        return None
    beside = (_local("torchvision", wish.torchvision, wish), _local("torchaudio", wish.torchaudio, wish))
    return (torch, *(pin for pin in beside if pin is not None))


def _local(project: str, version: str | None, wish: Wish) -> str | None:
    wheels = [w for w in wish.local_wheels() if (w.project, w.version) == (project, version)]
    if any(wheel.variant == wish.variant for wheel in wheels):
        return f"{project}=={version}+{wish.variant}"
    # A wheel without a tag is the general index's build; "==2.13.0" would also match a tagged one beside it.
    if wheels and wish.serves_variant and all(wheel.variant is None for wheel in wheels):
        return f"{project}=={version}"
    return None


def _pin_sets(wish: Wish, tag: str) -> Iterator[tuple[str, ...]]:
    """With torchvision and torchaudio first; a source without them still has PyTorch."""
    torch = f"torch=={wish.torch}{tag}"
    beside = [("torchvision", wish.torchvision), ("torchaudio", wish.torchaudio)]
    pins = [f"{name}=={version}{tag}" for name, version in beside if version is not None]
    for count in range(len(pins), -1, -1):
        yield (torch, *pins[:count])


def other_releases(wish: Wish) -> tuple[LocalWheel, ...]:
    """PyTorch builds of the wanted kind in the wheelhouse, newest first, this Python's before other Pythons'."""
    if wish.wheelhouse is None:
        return ()
    wheels = usable(Path(wish.wheelhouse), platforms=wish.target.platforms if wish.target is not None else None)
    found = [w for w in wheels if (w.project, w.variant) == ("torch", wish.variant)]
    return tuple(sorted(found, key=lambda wheel: wheel.python not in (None, wish.python)))

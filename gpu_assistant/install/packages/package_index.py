"""What the general package index says of releases: uv resolves requirements there, and nothing is downloaded but pages
and metadata.

The index is the one that the user has set for uv, with its credentials, else uv's own; `url` names a mirror of that.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from ...core import filesystem
from ...core.errors import AppError, storage_errors
from ...core.recommendation import SourceState
from ...fetch.credentials import user_index_url
from .requirements import Platform
from .resolver import ResolveAttempt, is_network_failure
from .source_check import NO_SOLUTION
from .uv import Uv, own_interpreter

# The computer that releases are asked for: the one with most of NVIDIA's packages.
_PLATFORM = Platform(system="linux", arch="x86_64")
_PINNED = re.compile(r"^([a-z0-9-]+)==([^\s;]+)", re.MULTILINE)


class PackageIndex:
    """One index, asked through `uv`; `folder` is for temporary files, `seconds` the limit of one question."""

    def __init__(self, uv: Uv, folder: Path, *, seconds: float, url: str | None = None) -> None:
        self._uv = uv
        self._folder = folder
        self._seconds = seconds
        self._url = url

    @property
    def host(self) -> str | None:
        """The server that is asked; None where it is uv's own index, whose address is uv's."""
        return urlsplit(self._url or user_index_url() or "").hostname

    def resolve(
        self, requirements: Sequence[str], *, python: str, constraints: Sequence[str] = (), dependencies: bool = False
    ) -> tuple[SourceState, dict[str, str]]:
        """The newest versions for a Python series by package, those of all dependencies too if wanted; "absent" where
        nothing fits.

        Raises Cancelled; AppError if uv is missing, or the folder cannot be written.
        """
        attempt = ResolveAttempt(source="general", requirements=tuple(requirements))
        with storage_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            scratch = Path(tempfile.mkdtemp(prefix="ask-", dir=self._folder))
            project, limits = scratch / "pyproject.toml", scratch / "constraints.txt"
            project.write_text(attempt.render_pyproject(python), encoding="utf-8")
            limits.write_text("".join(f"{line}\n" for line in constraints), encoding="utf-8")
        index = ("--default-index", self._url) if self._url is not None else ()
        own = own_interpreter()
        interpreter = ("--python", own) if own is not None else ()
        try:
            # A lock file would need hashes: where an index names none, uv downloads whole wheels to make them.
            finished = self._uv.run(
                *("pip", "compile", project, *interpreter, "--python-version", python),
                *("--python-platform", _PLATFORM.uv_platform, "--only-binary", ":all:", "--constraints", limits),
                *("--no-header", "--no-annotate", "--quiet", *index, *(() if dependencies else ("--no-deps",))),
                timeout=self._seconds,
                cwd=scratch,
            )
        except AppError as error:
            if error.code != "program-timeout":
                raise
            return "late", {}
        finally:
            filesystem.rmtree(scratch, ignore_errors=True)
        if finished.returncode != 0:
            text = finished.stderr.lower()
            if NO_SOLUTION in text:
                return "absent", {}
            return ("unreachable" if is_network_failure(text) else "damaged"), {}
        return "available", dict(_PINNED.findall(finished.stdout))

"""The parameters of PyTorch's functions that need a card or several processes, as two releases declare them.

    python -m tests.bench.child.torch_signatures SITE-PACKAGES/torch …

reads them from the source of these installed (or unpacked) releases, without running it, and writes
`tests/fixtures/bench/torch_signatures.json`: by release and name a list of [parameter, kind, whether it has a default].
"""

from __future__ import annotations

import ast
import json
import sys
from inspect import Parameter, Signature
from pathlib import Path

FIXTURE = Path(__file__).parents[2] / "fixtures" / "bench" / "torch_signatures.json"
# Where a name is declared, in one release or the other.
MODULES = {
    "cuda": ("cuda/__init__.py", "cuda/memory.py", "cuda/streams.py", "cuda/graphs.py"),
    "distributed": ("distributed/distributed_c10d.py",),
    "amp": ("amp/grad_scaler.py",),
    "cuda.amp": ("cuda/amp/grad_scaler.py",),
    "profiler": ("profiler/profiler.py",),
    "autocast": ("amp/autocast_mode.py",),
    "DistributedDataParallel": ("nn/parallel/distributed.py",),
    "checkpoint": ("utils/checkpoint.py",),
    "optim": ("optim/sgd.py", "optim/adamw.py"),
}
KINDS = {
    "positional": Parameter.POSITIONAL_OR_KEYWORD,
    "keyword": Parameter.KEYWORD_ONLY,
    "rest": Parameter.VAR_POSITIONAL,
    "keywords": Parameter.VAR_KEYWORD,
}
Parameters = list[tuple[str, str, bool]]


def declared(tree: ast.AST) -> dict[str, Parameters]:
    """The parameters of all functions and classes of a module; of a class those of its constructor."""
    found: dict[str, Parameters] = {}
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
            constructor = methods.get("__init__") or methods.get("__new__")
            found[node.name] = parameters(constructor.args)[1:] if constructor is not None else []
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = parameters(node.args)
        elif isinstance(node, ast.If | ast.Try):
            found |= declared(node)
    return found


def parameters(arguments: ast.arguments) -> Parameters:
    """A declaration's parameters."""
    plain = [*arguments.posonlyargs, *arguments.args]
    required = len(plain) - len(arguments.defaults)
    result: Parameters = [(each.arg, "positional", index >= required) for index, each in enumerate(plain)]
    result += [(arguments.vararg.arg, "rest", False)] if arguments.vararg else []
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    result += [(each.arg, "keyword", default is not None) for each, default in pairs]
    return result + ([(arguments.kwarg.arg, "keywords", False)] if arguments.kwarg else [])


def signature(given: Parameters) -> Signature:
    """What a call can be bound to."""
    return Signature(
        [Parameter(name, KINDS[kind], default=None if default else Parameter.empty) for name, kind, default in given]
    )


def read_release(torch: Path, names: set[str]) -> tuple[str, dict[str, Parameters]]:
    """The release and the parameters of these names, those left out that it has not."""
    version = next(
        line.split("'")[1].partition("+")[0]
        for line in (torch / "version.py").read_text("utf-8").splitlines()
        if line.startswith("__version__")
    )
    found: dict[str, Parameters] = {}
    for prefix, paths in MODULES.items():
        for path in paths:
            if (torch / path).is_file():
                for name, given in declared(ast.parse((torch / path).read_text("utf-8"))).items():
                    found.setdefault(prefix if name == prefix else f"{prefix}.{name}", given)
    return version, {name: found[name] for name in sorted(names & set(found))}


def main(folders: list[str]) -> None:
    """Read the releases and write the fixture."""
    from .test_torch_calls import called

    names = {name for name, _ in called()} | {"cuda.init"}
    releases = dict(read_release(Path(folder), names) for folder in folders)
    FIXTURE.write_text(json.dumps(releases, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

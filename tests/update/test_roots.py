"""Two roles: what a stolen release key, an old chain, a forged root and a silent publisher achieve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core import json
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.update.check import UpdateState, UpdateStatus
from installers.statement import SecretKey, main
from tests.fakes.system import FakeSystem
from tests.fakes.updates import DAY, NOON, TODAY, Clock, Publisher, secret


@pytest.fixture
def check(publisher: Publisher, tmp_path: Path) -> Callable[..., UpdateStatus]:
    """One start of the program, which asks."""

    def run(now: float = NOON, source: Any = None) -> UpdateStatus:
        # What the program knows was built into it, whatever the publisher has today.
        service = publisher.service(tmp_path, FakeSystem(), clock=Clock(now), source=source or publisher.source)
        return service.check("now").run(JobContext())

    return run


def change_release_key(publisher: Publisher, *signers: SecretKey, version: int = 2) -> SecretKey:
    """Root 2, signed by the old root key and its own: another release key."""
    stolen, publisher.key = publisher.key, secret(f"release-{version}")
    root = publisher.root(version, publisher.root_key, releases=(publisher.key,))
    publisher.add_root(root, *(signers or (publisher.root_key,)))
    return stolen


def test_stolen_release_key_is_taken_back(publisher, check) -> None:
    source = publisher.source
    publisher.publish(publisher.statement("1.2.0"))
    assert check(source=source).state.outcome == "newer"
    stolen = change_release_key(publisher)
    publisher.publish(publisher.statement("1.3.0"))
    assert check(source=source).newer_release.version == "1.3.0"
    publisher.publish(publisher.signed(publisher.statement("6.6.6"), stolen))
    assert check(source=source).state.outcome == "forged"
    # Nor with the chain left out: this program has seen the newer root.
    publisher.roots.clear()
    publisher.publish(publisher.signed(publisher.statement("6.6.6"), stolen))
    look = check(source=source)
    assert look.state.outcome == "forged"
    assert look.newer_release.version == "1.3.0"


def test_version_that_a_stolen_key_announced_keeps_no_later_one_out(publisher, check) -> None:
    source = publisher.source
    publisher.publish(publisher.statement("99.0.0"))
    assert check(source=source).newer_release.version == "99.0.0"
    change_release_key(publisher)
    publisher.publish(publisher.statement("1.3.0"))
    look = check(source=source)
    assert (look.state.outcome, look.newer_release.version) == ("newer", "1.3.0")


def test_release_key_names_no_successor(publisher, check) -> None:
    source, thief = publisher.source, secret("thief")
    forged = publisher.root(2, thief, releases=(thief,))
    for signers in ((publisher.key,), (thief,), (publisher.key, thief)):
        publisher.roots.clear()
        publisher.add_root(forged, *signers)
        publisher.publish(publisher.signed(publisher.statement("6.6.6"), thief))
        look = check(source=source)
        assert (look.state.outcome, look.state.roots, look.newer_release) == ("forged", (), None)


def test_new_root_key_must_sign_its_own_root(publisher, check) -> None:
    source, new = publisher.source, secret("root-b")
    publisher.add_root(publisher.root(2, new, releases=(publisher.key,)), publisher.root_key)
    publisher.publish(publisher.statement("1.2.0"))
    assert check(source=source).state.outcome == "forged"
    publisher.roots.clear()
    publisher.add_root(publisher.root(2, new, releases=(publisher.key,)), publisher.root_key, new)
    publisher.publish(publisher.statement("1.2.0"))
    assert check(source=source).state.outcome == "newer"
    # From now on the old root key says nothing.
    publisher.add_root(publisher.root(3, publisher.root_key, releases=()), publisher.root_key)
    publisher.publish(publisher.statement("1.3.0"))
    assert check(source=source).state.outcome == "forged"


@pytest.mark.parametrize("versions", [(3,), (2, 4)])
def test_gap_in_the_chain_is_a_forgery(publisher, check, versions) -> None:
    source = publisher.source
    for version in versions:
        change_release_key(publisher, version=version)
    publisher.publish(publisher.statement("1.2.0"))
    assert check(source=source).state.outcome == "forged"


def test_one_key_under_two_names_is_one_key(publisher, check) -> None:
    twin = SecretKey(id="twin", secret=publisher.root_key.secret)
    built_in = publisher.root(1, publisher.root_key, twin, releases=(publisher.key,), threshold=2)
    source = msgspec.structs.replace(publisher.source, root=built_in)
    publisher.add_root(publisher.root(2, publisher.root_key, releases=(publisher.key,)), publisher.root_key, twin)
    publisher.publish(publisher.statement("1.2.0"))
    assert check(source=source).state.outcome == "forged"


def test_threshold_of_root_keys_is_needed(publisher, check) -> None:
    second = secret("root-b")
    built_in = publisher.root(1, publisher.root_key, second, releases=(publisher.key,), threshold=2)
    source = msgspec.structs.replace(publisher.source, root=built_in)
    successor = publisher.root(2, publisher.root_key, second, releases=(publisher.key,), threshold=2)
    publisher.add_root(successor, publisher.root_key)
    publisher.publish(publisher.statement("1.2.0"))
    assert check(source=source).state.outcome == "forged"
    publisher.roots.clear()
    publisher.add_root(successor, publisher.root_key, second)
    publisher.publish(publisher.statement("1.2.0"))
    assert check(source=source).state.outcome == "newer"


def test_root_that_ended_freezes_nobody(publisher, check) -> None:
    source = publisher.source
    late = msgspec.structs.replace(publisher.statement("1.2.0"), released=TODAY, expires=TODAY.replace(year=2029))
    publisher.publish(late)
    assert check(NOON + 365 * DAY, source).state.outcome == "newer"
    assert check(NOON + 366 * DAY, source).state.outcome == "expired"
    # Its successor ends that, whichever was the day of the old one.
    publisher.add_root(
        publisher.root(2, publisher.root_key, releases=(publisher.key,), expires=TODAY.replace(year=2029)),
        publisher.root_key,
    )
    publisher.publish(late)
    assert check(NOON + 366 * DAY, source).state.outcome == "newer"


def test_roots_in_the_data_folder_are_checked_again(publisher, check, tmp_path) -> None:
    source, thief = publisher.source, secret("thief")
    publisher.publish(publisher.statement("1.2.0"))
    check(source=source)
    path = tmp_path / "state" / "updates.json"
    state = json.decode(path.read_bytes(), UpdateState)
    other = Publisher(publisher.server)
    other.add_root(other.root(2, thief, releases=(thief,)), thief)
    path.write_bytes(json.encode(msgspec.structs.replace(state, roots=tuple(other.roots))))
    publisher.publish(publisher.signed(publisher.statement("6.6.6"), thief))
    assert check(source=source).state.outcome == "forged"
    publisher.publish(publisher.statement("1.3.0"))
    assert check(source=source).newer_release.version == "1.3.0"


@pytest.mark.parametrize("text", ["", "{}", "[" * 9000, '{"schema": "gpu-assistant/update-root/2"}'])
def test_garbage_in_the_chain_is_refused(publisher, check, text) -> None:
    root = msgspec.structs.replace(publisher.root(2, publisher.root_key, releases=(publisher.key,)))
    publisher.add_root(root, publisher.root_key)
    publisher.roots[0] = msgspec.structs.replace(publisher.roots[0], statement=text)
    publisher.publish(publisher.statement("1.2.0"))
    assert check().state.outcome == "garbage"


def test_release_tool_makes_roots_that_the_program_takes(publisher, tmp_path, capsys) -> None:
    for name in ("root-a", "release-b"):
        assert main(["key", name, "-o", str(tmp_path / f"{name}.key")]) == 0
        (tmp_path / f"{name}.pub").write_text(capsys.readouterr().out, encoding="utf-8")
    files = {name: str(tmp_path / name) for name in ("root-a.key", "root-a.pub", "release-b.pub", "release-b.key")}
    keys = ["--root-key", files["root-a.pub"], "--release-key", files["release-b.pub"]]
    root, signed_root = str(tmp_path / "root.json"), str(tmp_path / "root.signed.json")
    assert main(["root", "--version", "2", "--days", "9999", *keys, "-o", root]) == 1
    assert main(["root", "--version", "2", "--days", "365", *keys, "-o", root]) == 0
    assert main(["sign-root", root, "--key", files["root-a.key"], "-o", signed_root]) == 0
    statement, answer = tmp_path / "statement.json", str(tmp_path / "answer.json")
    statement.write_bytes(json.encode(publisher.statement("1.2.0")))
    command = ["sign", str(statement), "--key", files["release-b.key"], "--root", signed_root, "-o", answer]
    assert main(command) == 0
    old = SecretKey(**msgspec.json.decode(Path(files["root-a.key"]).read_bytes()))
    built_in = publisher.root(1, old, releases=(publisher.key,), expires=TODAY.replace(year=2036))
    catalog = Path(tmp_path / "catalog")
    catalog.mkdir()
    source = msgspec.structs.replace(publisher.source, root=built_in)
    (catalog / "updates.json").write_bytes(json.encode(source))
    assert main(["check", answer, "--catalog", str(catalog)]) == 0

"""The check: when it asks, what it takes for true, what it remembers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.ownership import claim_folder
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.texts.localized import Texts
from gpu_assistant.update.check import CheckOutcome, CheckPolicy, UpdateState, UpdateStatus
from gpu_assistant.update.signed_statement import RejectionReason
from tests.fakes.fault_server import Fault
from tests.fakes.system import FakeSystem
from tests.fakes.updates import DAY, NOON, PLACE, TODAY, Clock, Publisher, secret


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def check(publisher: Publisher, tmp_path: Path, clock: Clock) -> Callable[..., UpdateStatus]:
    """One start of the program: a service of its own on the same data folder."""

    def run(ask: CheckPolicy = "when-due", **changes: Any) -> UpdateStatus:
        service = publisher.service(tmp_path, FakeSystem(), clock=clock, **changes)
        return service.check(ask).run(JobContext())

    return run


def test_newer_version_is_remembered(publisher, check) -> None:
    publisher.publish(publisher.statement("1.2.0", publisher.file(b"setup")))
    first = check()
    assert (first.state.outcome, first.state.asked) == ("newer", NOON)
    assert first.newer_release is not None
    assert first.newer_release.version == "1.2.0"
    again = check()
    assert again == first
    assert check("never") == first
    assert publisher.request_count() == 1


@pytest.mark.parametrize("version", ["1.0.0", "0.9.9", "1.0.0rc1", "1.0"])
def test_older_or_same_version_is_not_offered(publisher, check, version) -> None:
    publisher.publish(publisher.statement(version))
    look = check()
    assert (look.state.outcome, look.newer_release) == ("newest", None)


def test_checked_once_a_day_at_most(publisher, check, clock) -> None:
    publisher.publish(publisher.statement("1.0.0"))
    for seconds, requests in ((0, 1), (60, 1), (DAY - 1, 1), (DAY, 2), (DAY + 60, 2), (2 * DAY, 3)):
        clock.now = NOON + seconds
        check()
        assert publisher.request_count() == requests, seconds


def test_failed_check_counts_for_interval(publisher, check) -> None:
    publisher.publish(publisher.statement())
    publisher.server.files[PLACE].faults = [Fault("reset")] * 20
    assert check().state.outcome == "unreachable"
    requests = publisher.request_count()
    assert check().state.outcome == "unreachable"
    assert publisher.request_count() == requests


def test_future_check_time_is_ignored(publisher, check, clock) -> None:
    publisher.publish(publisher.statement("1.0.0"))
    clock.now = NOON + 400 * DAY
    check()
    clock.now = NOON
    check()
    assert publisher.request_count() == 2


def test_manual_check_is_immediate(publisher, check) -> None:
    publisher.publish(publisher.statement("1.0.0"))
    check()
    publisher.publish(publisher.statement("1.2.0"))
    assert check().newer_release is None
    look = check("now")
    assert look.newer_release is not None
    assert publisher.request_count() == 2


def test_policy_never_sends_no_request(publisher, check) -> None:
    publisher.publish(publisher.statement())
    assert check("never") == UpdateStatus(state=UpdateState())
    assert publisher.server.seen == []


def test_request_contains_only_our_version(publisher, check, monkeypatch) -> None:
    headers: list[dict[str, str]] = []
    answer = publisher.server.answer

    def noted(request, *, head):
        headers.append(dict(request.headers.items()))
        answer(request, head=head)

    monkeypatch.setattr(publisher.server, "answer", noted)
    publisher.publish(publisher.statement())
    check()
    (seen,) = headers
    assert set(seen) <= {"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"}
    assert seen["User-Agent"].startswith("gpu-assistant/")
    assert [each.path for each in publisher.server.seen] == [PLACE]


# A source or a mirror that lies


def test_forged_response(publisher, check) -> None:
    publisher.publish(publisher.signed(publisher.statement("9.0.0"), secret()))
    look = check()
    assert (look.state.outcome, look.newer_release, look.state.answer) == ("forged", None, None)


def test_replayed_statement_is_rejected(publisher, check) -> None:
    old = publisher.signed(publisher.statement("1.1.0"))
    publisher.publish(publisher.statement("1.2.0"))
    check()
    publisher.publish(old)
    look = check("now")
    assert look.state.outcome == "older"
    # What was known stays known.
    assert look.newer_release is not None
    assert look.newer_release.version == "1.2.0"


def test_earlier_release_of_same_version_is_replay(publisher, check) -> None:
    publisher.publish(publisher.statement("1.2.0"))
    check()
    publisher.publish(publisher.statement("1.2.0", released=TODAY - timedelta(days=9)))
    assert check("now").state.outcome == "older"


def test_resigned_statement_is_accepted(publisher, check) -> None:
    publisher.publish(publisher.statement("1.2.0", expires=TODAY))
    check()
    publisher.publish(publisher.statement("1.2.0", expires=TODAY + timedelta(days=90)))
    look = check("now")
    assert look.newer_release is not None
    assert look.newer_release.expires == TODAY + timedelta(days=90)


def test_an_expired_statement(publisher, check) -> None:
    publisher.publish(publisher.statement("1.2.0", expires=TODAY - timedelta(days=1)))
    look = check()
    assert (look.state.outcome, look.newer_release, look.state.answer) == ("expired", None, None)


def test_expired_known_statement_is_not_offered(publisher, check, clock) -> None:
    publisher.publish(publisher.statement("1.2.0", expires=TODAY))
    assert check().newer_release is not None
    clock.now = NOON + DAY
    assert check("never").newer_release is None
    # It still guards against older ones.
    publisher.publish(publisher.statement("1.1.0"))
    assert check("now").state.outcome == "older"


def test_huge_response_is_cut_off(publisher, check) -> None:
    publisher.publish(b" " * 50_000_000)
    assert check().state.outcome == "too-large"
    assert publisher.server.sent < 20_000_000


def test_endless_response_times_out(publisher, check, tmp_path) -> None:
    publisher.publish(publisher.statement())
    publisher.server.files[PLACE].faults = [Fault("stall", after=10)]
    source = msgspec.structs.replace(publisher.source, answer_seconds=0.3)
    service = publisher.service(tmp_path, FakeSystem(), source=source)
    assert service.check("now").run(JobContext()).state.outcome == "unreachable"


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (Fault("status", status=404), "unreachable"),
        (Fault("status", status=503), "unreachable"),
        (Fault("drop", after=20), "unreachable"),
        (Fault("garbage"), "garbage"),
    ],
)
def test_invalid_responses(publisher, check, fault, outcome) -> None:
    publisher.publish(publisher.statement())
    publisher.server.files[PLACE].faults = [fault]
    look = check()
    assert (look.newer_release, look.state.outcome) == (None, outcome)


def test_insecure_redirect_is_rejected(publisher, check) -> None:
    publisher.publish(publisher.statement())
    elsewhere = publisher.server.add("/moved.json", publisher.server.files[PLACE].data)
    publisher.server.files[PLACE].faults = [
        # Another spelling that needs no table of names: a bare Debian does not know "localhost".
        Fault("redirect", location=elsewhere.replace("127.0.0.1", "127.1")),
        Fault("redirect", location=elsewhere),
    ]
    assert check().state.outcome == "insecure"
    assert check("now").state.outcome == "newer"


def test_plain_http_is_refused(publisher, tmp_path) -> None:
    source = msgspec.structs.replace(publisher.source, address="http://example.invalid/newest.json")
    service = publisher.service(tmp_path, FakeSystem(), source=source)
    assert service.check("now").run(JobContext()).state.outcome == "insecure"


def test_unreachable_server(publisher, check) -> None:
    publisher.server.close()
    assert check().state.outcome == "unreachable"


def test_cancel_is_immediate_and_counts_as_check(publisher, tmp_path, clock) -> None:
    publisher.publish(publisher.statement())
    publisher.server.files[PLACE].faults = [Fault("stall", after=10)]
    service = publisher.service(tmp_path, FakeSystem(), clock=clock)
    context: JobContext[Any] = JobContext(cancel=threading.Event())
    stopper = threading.Thread(target=lambda: (publisher.server.stalled.wait(60), context.cancel.set()))
    stopper.start()
    with pytest.raises(Cancelled):
        service.check("when-due").run(context)
    stopper.join()
    look = service.check("when-due").run(JobContext())
    assert look.state.outcome == "stopped"
    assert publisher.request_count() == 1


# What lies on the disk is not trusted


def test_tampered_state_offers_nothing(publisher, check, tmp_path) -> None:
    publisher.publish(publisher.statement("1.2.0"))
    check()
    state = tmp_path / "state" / "updates.json"
    state.write_bytes(state.read_bytes().replace(b"1.2.0", b"6.6.6"))
    look = check("never")
    assert look.newer_release is None
    assert look.state.outcome == "newer"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"outcome": "wonderful"}', b"\xff"])
def test_damaged_state_is_ignored(publisher, check, tmp_path, content) -> None:
    state = tmp_path / "state" / "updates.json"
    state.parent.mkdir()
    state.write_bytes(content)
    publisher.publish(publisher.statement("1.2.0"))
    assert check().state.outcome == "newer"


def test_unwritable_state_is_reported(publisher, check, tmp_path) -> None:
    (tmp_path / "state").write_bytes(b"a file where a folder belongs")
    publisher.publish(publisher.statement("1.2.0"))
    with pytest.raises(AppError):
        check()
    assert publisher.request_count() == 0


def test_skipped_version_is_remembered(publisher, check, tmp_path) -> None:
    publisher.publish(publisher.statement("1.2.0"))
    check()
    publisher.service(tmp_path, FakeSystem()).skip_version("1.2.0")
    assert check().state.declined == "1.2.0"
    publisher.publish(publisher.statement("1.3.0"))
    look = check("now")
    assert look.newer_release is not None
    assert (look.newer_release.version, look.state.declined) == ("1.3.0", "1.2.0")


def test_old_version_files_are_removed(publisher, check, tmp_path) -> None:
    left = tmp_path / "cache" / "updates" / "Setup-1.0.0.exe"
    claim_folder(left.parent)
    left.write_bytes(b"old")
    publisher.publish(publisher.statement("1.2.0"))
    check()
    assert left.exists()
    check(current_version="1.2.0")
    assert not left.exists()


def test_build_without_source_is_unavailable(tmp_path) -> None:
    from gpu_assistant.app import App

    app = App(data_dir=str(tmp_path / "data"))
    assert app.catalog.updates.address is None
    assert app.catalog.updates.root is None
    assert not app.updates.is_available


def test_build_needs_address_and_root(publisher, tmp_path) -> None:
    assert publisher.service(tmp_path, FakeSystem()).is_available
    assert not publisher.service(tmp_path, FakeSystem(), simulated=True).is_available
    for lacking in ({"root": None}, {"address": None}):
        source = msgspec.structs.replace(publisher.source, **lacking)
        service = publisher.service(tmp_path, FakeSystem(), source=source)
        assert not service.is_available


def test_every_outcome_has_a_text() -> None:
    for outcome in (*CheckOutcome.__args__[0].__args__, *RejectionReason.__args__):
        for language in ("en", "zh_CN"):
            assert Texts(language).translate(f"update.outcome.{outcome}")


def test_the_schema_is_shipped() -> None:
    assert (resources_dir() / "schemas" / "update.schema.json").is_file()

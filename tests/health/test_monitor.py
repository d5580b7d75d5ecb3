"""The watch over time: nothing rings on healthy cards, pauses begin anew, cards come and go."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpu_assistant.catalog.records.health import IncreaseCondition
from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.health.monitor import evaluate_samples
from gpu_assistant.health.rules import CounterHistory
from gpu_assistant.texts.localized import Texts

from .samples import BUSY, IDLE, RULES, SERVER, START, Time


@pytest.mark.parametrize("card", [BUSY, IDLE, SERVER], ids=["busy", "idle", "server"])
def test_healthy_gpu_is_well(card: GpuSample) -> None:
    time = Time()
    assert time.passes(1, card).state == "unknown"
    for health in time.moments(600, card):
        assert health.state == "well"
        assert health.alarms == ()


def test_idle_and_waking_gpu_has_no_alarm() -> None:
    """Link, clocks and fan sleep down, and come up some samples late."""
    time = Time()
    for _ in range(20):
        assert not any(health.alarms for health in time.moments(30, IDLE))
        waking = replace(BUSY, temp=50, pcie_gen=1, clock_sm=210, pstate=8, fan=0, fan_rpm=0)
        assert not any(health.alarms for health in time.moments(3, waking))
        assert not any(health.alarms for health in time.moments(30, BUSY))


def test_old_gpu_with_few_sensors_has_no_alarm() -> None:
    old = GpuSample(index=0, name="NVIDIA GeForce GTX 1060 6GB", util=99, temp=76, mem_used=1 << 30, mem_total=6 << 30)
    time = Time()
    assert not any(health.alarms for health in time.moments(300, old))


def test_gpu_without_sensors_is_not_well() -> None:
    bare = GpuSample(index=0, name="NVIDIA GeForce RTX 4060", uuid="GPU-1", address="0000:01:00.0", util=3)
    health = Time().passes(60, bare)
    assert (health.state, health.untold, health.alarms) == ("untold", (0,), ())
    health = Time().passes(60, BUSY, replace(bare, index=1))
    assert (health.state, health.untold) == ("untold", (1,))
    for language in ("en", "zh_CN"):
        assert (
            Texts(language).localize_health(health).text
            != Texts(language).localize_health(replace(health, cards=1)).text
        )
    assert Time().passes(60, replace(bare, throttle=())).state == "well"


def test_vendor_limit_replaces_missing_driver_limit() -> None:
    time = Time(max_temperature=lambda gpu: 90.0 if gpu.name and "4060" in gpu.name else None)
    hot = replace(BUSY, temp=89, temp_max=None, temp_slow=None)
    assert [alarm.data["limit"] for alarm in time.passes(10, hot).alarms] == [90.0]
    assert time.passes(30, replace(hot, name="Some card")).alarms == ()


def test_alarm_has_hysteresis() -> None:
    time = Time()
    full, nearly = replace(BUSY, mem_used=7830 << 20), replace(BUSY, mem_used=7700 << 20)
    time.passes(12, full)
    assert time.rings() == {"memory-full"}
    for _ in range(20):
        time.passes(10, nearly)
        assert time.rings() == {"memory-full"}
    time.passes(10, BUSY)
    assert time.rings() == set()


def test_alternating_readings_are_no_alarm() -> None:
    time = Time()
    lost = replace(BUSY, throttle=("power-brake",))
    for _ in range(50):
        assert not any(health.alarms for health in (*time.moments(1, lost), *time.moments(1, BUSY)))


def test_a_sample_a_minute_is_enough() -> None:
    time = Time(step=60)
    hot = replace(BUSY, temp=84)
    time.passes(60, hot)
    assert time.rings() == set()
    time.passes(60, hot)
    assert time.rings() == {"hot"}
    time.passes(180, BUSY)
    assert time.rings() == set()


def test_gap_resets_consecutive_count() -> None:
    time = Time()
    hot = replace(BUSY, temp=84)
    time.passes(1, hot)
    time.t += 4 * 3600
    assert time.passes(1, hot).alarms == ()
    time.passes(10, hot)
    assert time.rings() == {"hot"}
    time.t += 4 * 3600  # and what rang before the computer slept does not ring on
    assert time.passes(1, BUSY).alarms == ()


def test_clock_set_back_resets() -> None:
    time = Time()
    time.passes(10, replace(BUSY, temp=84))
    time.t -= 7200
    assert time.passes(1, BUSY).state == "unknown"
    assert time.passes(5, BUSY).state == "well"


def test_alarms_end_when_gpu_is_removed() -> None:
    time = Time()
    other = replace(BUSY, index=1, address="0000:02:00.0")
    health = time.passes(10, BUSY, replace(other, temp=84))
    assert [(alarm.gpu, alarm.data["name"]) for alarm in health.alarms] == [(1, "GPU 1 (NVIDIA GeForce RTX 4060)")]
    assert time.passes(10, BUSY).alarms == ()


def test_ended_alarm_is_reported_once() -> None:
    time = Time()
    full = replace(BUSY, mem_used=8100 << 20)
    time.passes(30, replace(full, temp=84))
    assert {"hot", "memory-full"} <= time.rings()
    ended = [alarm.id for health in time.moments(30, full) for alarm in health.ended]
    assert ended == ["hot"]
    ended = [alarm.id for health in time.moments(30, BUSY) for alarm in health.ended]
    assert ended == ["memory-full"]


def test_suppressed_alarm_has_not_ended() -> None:
    time = Time()
    time.passes(10, replace(BUSY, temp=84))
    ends = [alarm.id for health in time.moments(30, replace(BUSY, temp=97)) for alarm in health.ended]
    assert "hot" not in ends


def test_reassigned_index_drops_old_state() -> None:
    """The first of two is pulled out, and the second, whose memory had errors before, is the first now."""
    time = Time()
    second = replace(SERVER, index=1, uuid="GPU-b", ecc_corrected=900)
    time.passes(20, SERVER, second)
    gone = GpuSample(index=1, name=SERVER.name, uuid=SERVER.uuid, state="gone")
    ends = [health.ended for health in time.moments(20, replace(second, index=0), gone)]
    assert not any(ends)
    time.passes(1, replace(second, index=0), gone)
    assert time.rings() == {"gone"}


def test_most_severe_alarm_is_first() -> None:
    sick = replace(BUSY, throttle=("power-cap", "power-brake"), mem_used=8100 << 20)
    health = Time().passes(30, sick)
    assert [alarm.level for alarm in health.alarms] == ["error", "warn", "info"]
    assert health.state == "error"


def test_asleep_absent_and_silent() -> None:
    assert Time().passes(5, GpuSample(index=0, state="asleep"), nvml="asleep").state == "asleep"
    assert Time().passes(5, nvml="absent").state == "no-card"
    assert Time().passes(5, nvml="slow").state == "slow"
    assert Time().passes(5, GpuSample(index=0, state="silent"), nvml="failed").state == "error"


def test_slow_driver_keeps_state() -> None:
    time = Time()
    time.passes(10, replace(BUSY, temp=84))
    silent = GpuSample(index=0, name=BUSY.name, state="silent")
    assert [alarm.id for alarm in time.passes(5, silent, nvml="slow").alarms] == ["hot"]
    assert time.passes(5, silent, nvml="hung").alarms[0].id == "driver-broken"


def test_no_answer_is_not_well() -> None:
    time = Time()
    assert time.passes(10, BUSY).state == "well"
    silent = GpuSample(index=0, name=BUSY.name, state="silent")
    assert [health.state for health in time.moments(5, silent, nvml="slow")] == ["slow"] * 5
    assert [health.state for health in time.moments(3, BUSY)] == ["slow", "well", "well"]
    for _ in range(5):  # every second answer late: it stays so
        assert time.passes(1, silent, nvml="slow").state == "slow"
        assert time.passes(1, BUSY).state == "slow"


@pytest.mark.parametrize(("state", "nvml", "rule"), [("lost", "ready", "lost"), ("silent", "hung", "driver-broken")])
def test_answering_driver_clears_alarm(state: str, nvml: str, rule: str) -> None:
    time = Time()
    time.passes(5, GpuSample(index=0, name=BUSY.name, state=state), nvml=nvml)
    assert time.rings() == {rule}
    assert [bool(health.alarms) for health in time.moments(3, BUSY)] == [True, False, False]
    assert time.passes(1, BUSY).state == "well"


def test_memory_xid_rings_for_an_hour() -> None:
    time = Time(step=10)
    time.passes(100, SERVER)
    bad = replace(SERVER, ecc_uncorrected=2)
    time.passes(3500, bad)
    assert time.rings() == {"memory-errors"}
    time.passes(300, bad)
    assert time.rings() == {"memory-errors-before"}
    # After a new start of the driver its counters begin at nought.
    time.passes(100, SERVER)
    time.passes(30, replace(SERVER, ecc_uncorrected=1))
    assert time.rings() == {"memory-errors"}


def test_pending_condition_is_watching() -> None:
    time = Time()
    still = replace(BUSY, temp=75, fan_rpm=0)
    time.passes(1, still)
    for health in time.moments(9, still):
        assert (health.state, health.watching, health.alarms) == ("watching", (0,), ())
    assert time.passes(2, still).alarms[0].id == "fan-stopped"
    # Who was called well is so through one odd reading, and no longer through two; what is no worry is not watched.
    time.passes(30, BUSY)
    hot = replace(BUSY, temp=82)
    assert [health.state for health in time.moments(3, hot)] == ["well", "watching", "watching"]
    assert time.passes(1, BUSY).state == "well"
    assert {health.state for health in time.moments(30, replace(BUSY, throttle=("power-cap",), power_w=114.0))} == {
        "well"
    }


def test_watched_gpu_is_named() -> None:
    time = Time()
    other = replace(BUSY, index=1, address="0000:02:00.0", temp=84)
    time.passes(2, BUSY, other)
    assert time.passes(1, BUSY, other).watching == (1,)


def test_batch_evaluation_is_equal() -> None:
    hot = replace(BUSY, throttle=("thermal",), temp=81)
    samples = [Sample(t=START + second, gpus=(hot,), nvml="ready") for second in range(10)]
    health = evaluate_samples(samples, RULES)
    assert health is not None
    assert [alarm.id for alarm in health.alarms] == ["slowed-by-heat"]
    assert evaluate_samples([], RULES) is None


def test_memory_stays_bounded() -> None:
    """With the counter that rises all the time, of every rule that asks for it."""
    conditions = [each for rule in RULES.rules for each in rule.when if isinstance(each, IncreaseCondition)]
    assert {"ecc_corrected"} <= {condition.figure for condition in conditions}
    for condition in conditions:
        counters = CounterHistory()
        for count in range(1500):
            counters.has_risen(condition, 5.0 * count, count)
            assert counters.reading_count(condition.figure) <= 62


def gpus_at(*temps: int) -> tuple[GpuSample, ...]:
    return tuple(
        replace(BUSY, index=index, uuid=f"GPU-{index}", address=f"0000:0{index}:00.0", temp=temp)
        for index, temp in enumerate(temps)
    )


def test_hottest_gpu_comes_first_and_two_similar_ones_do_not_change_places() -> None:
    time = Time()
    time.passes(10, *gpus_at(60, 84, 87))
    assert time.health is not None
    assert [alarm.gpu for alarm in time.health.alarms] == [2, 1]
    for temps in ((60, 86, 85), (60, 85, 86), (60, 86, 86)):
        time.passes(1, *gpus_at(*temps))
    first = time.health.alarms[0].gpu
    for temps in ((60, 86, 85), (60, 85, 86), (60, 86, 85)):
        assert time.passes(1, *gpus_at(*temps)).alarms[0].gpu == first
    assert time.passes(1, *gpus_at(60, 88, 84)).alarms[0].gpu == 1


def test_slowing_gpu_comes_before_one_that_is_only_hot() -> None:
    time = Time()
    hot, slowed = gpus_at(86, 87)
    health = time.passes(10, hot, replace(slowed, throttle=("thermal",)))
    assert [(alarm.gpu, alarm.id) for alarm in health.alarms] == [(1, "slowed-by-heat"), (0, "hot")]


def test_title_names_all_gpus_with_the_first_alarm() -> None:
    limited = [replace(gpu, power_w=114.9, throttle=("power-cap",)) for gpu in gpus_at(60, 60, 60, 60)]
    health = Time().passes(20, *limited[:2])
    assert Texts("en").most_severe_alarm_title(health) == "GPU 0 and 1: at the power limit"
    assert Texts("zh_CN").most_severe_alarm_title(health) == "GPU 0 和 1：达到功率上限"
    health = Time().passes(20, gpus_at(60)[0], *limited[1:])
    assert Texts("en").most_severe_alarm_title(health) == "GPU 1–3: at the power limit"
    assert Texts("en").most_severe_alarm_title(Time().passes(20, limited[0])) == "Your GPU is at its power limit"


@pytest.mark.parametrize(
    ("gpus", "en", "zh"),
    [
        ((5,), "GPU 5", "GPU 5"),
        ((1, 0), "GPU 0 and 1", "GPU 0 和 1"),
        ((0, 2, 3), "GPU 0, 2 and 3", "GPU 0、2 和 3"),
        ((0, 5, 6, 7), "GPU 0 and 5–7", "GPU 0 和 5–7"),
        ((0, 1, 2, 3), "GPU 0–3", "GPU 0–3"),
    ],
)
def test_numbers_of_gpus_read_as_a_list(gpus: tuple[int, ...], en: str, zh: str) -> None:
    assert (Texts("en").gpu_numbers(gpus), Texts("zh_CN").gpu_numbers(gpus)) == (en, zh)

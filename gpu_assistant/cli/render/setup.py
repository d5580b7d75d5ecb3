"""Recommendations, plans and bundles as text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...advise.reasons import main_reasons
from ...core.machine import Machine
from ...core.plan import Plan, alternative_command, needs_manual_driver, requirements_text
from ...core.plan_cost import SIMILAR_BYTES, is_display_only, plan_cost, plan_duration
from ...core.recommendation import SOURCE_WARNINGS, DriverAdvice, Recommendation
from ...texts import localized
from ...texts.format import join_list
from ...texts.terminal import Terminal
from ..output import Output

if TYPE_CHECKING:
    from ...install.bundle.missing_driver import MissingDriver
    from ...install.jobs.create_bundle import CreateBundleJob

# Warnings about the C++ compiler, without which what is installed cannot compile.
COMPILER_WARNINGS = ("gcc-", "msvc-")


def render_recommendation(
    result: Recommendation, machine: Machine, age_days: int | None, output: Output, *, why: bool, simulated: bool
) -> None:
    """Versions, both ways where there are two, the main reasons, what to do, and the age of the catalog in days; with
    `why` all reasons with numbered sources, and all alternatives.
    """
    hidden_parts = _irrelevant_parts(result, machine)
    _render_versions(result, hidden_parts, output)
    _render_ways(result, output)
    # A Chinese full stop has its own space.
    separator = "" if output.texts.language == "zh_CN" else " "
    if why:
        _render_reasons(result, hidden_parts, separator, output)
    else:
        for reason in main_reasons(result):
            output.write_line(f"  • {output.texts.brief_text(reason)}")
    for warning in result.warnings:
        output.write_line(f"  ! {warning.text}{separator}{warning.fix or ''}".rstrip())
    for alternative in result.alternatives:
        # Without a change it is not about versions: nothing has to be done, or something that we do not do.
        if why or not alternative.change:
            output.write_line(f"  → {alternative.text}")
    if why:
        _render_sources(result, hidden_parts, output)
    else:
        output.write_line(output.translate("more-reasons", reasons=len(result.reasons)))
        if not simulated:
            output.write_line(output.translate("next-step"))
    if age_days is not None:
        output.write_line(output.translate("facts-of", date=result.catalog_date, age_days=age_days))


def _render_versions(result: Recommendation, hidden_parts: set[str], output: Output) -> None:
    rows = []
    if result.pytorch is not None:
        rows.append(("PyTorch", f"{result.pytorch.version} ({result.pytorch.variant})"))
    if result.tensorflow is not None:
        rows.append(("TensorFlow", result.tensorflow.version))
    rows.append(("Python", result.python or output.translate("no-python")))
    parts = [
        ("driver", output.translate("row.driver"), _driver_action_code(result.driver), result.driver.recommended),
        ("cuda_toolkit", "CUDA Toolkit", _toolkit_action_code(result), result.cuda_toolkit.version),
        ("cudnn", "cuDNN", f"part-action.{result.cudnn.action}", result.cudnn.version),
    ]
    minimum_driver = result.driver.minimum
    for part, name, code, version in parts:
        if part not in hidden_parts:
            rows.append(
                (name, output.translate(code, version=version, minimum=minimum_driver, below=result.driver.below))
            )
    output.write_table(rows)


def _render_reasons(result: Recommendation, hidden_parts: set[str], separator: str, output: Output) -> None:
    """All reasons, each with the number of its source."""
    numbers = _number_sources(result, hidden_parts)
    for reason in result.reasons:
        if reason.about not in hidden_parts:
            footnote = f"{separator}[{numbers[reason.source]}]" if reason.source else ""
            output.write_line(f"  • {reason.text}{footnote}")


def _render_sources(result: Recommendation, hidden_parts: set[str], output: Output) -> None:
    for source, number in _number_sources(result, hidden_parts).items():
        output.write_line(f"[{number}] {source}")


def _number_sources(result: Recommendation, hidden_parts: set[str]) -> dict[str, int]:
    """The sources of the shown reasons, numbered from 1."""
    shown = (reason.source for reason in result.reasons if reason.about not in hidden_parts)
    return {source: number for number, source in enumerate(dict.fromkeys(each for each in shown if each), 1)}


def _render_ways(result: Recommendation, output: Output) -> None:
    """Both ways where a driver update is needed, with what each costs and how it is chosen."""
    if not result.ways:
        return
    output.write_line(output.translate("ways"))
    for way in result.ways:
        code = "way-other"
        if way == result.way:
            code = "way-recommended" if way == result.ways[0] else "way-taken"
        mark = "*" if way == result.way else " "
        output.write_line(f"  {mark} {output.translate(code, way=way.text, name=way.id)}")
        output.write_line(f"      {' · '.join(localized.way_cost_texts(way.cost, output.texts))}")


def _driver_action_code(driver: DriverAdvice) -> str:
    """The text for the driver; without a version if the catalog knows none."""
    version_unknown = driver.needs_install and driver.recommended is None
    has_upper_bound = version_unknown and driver.below is not None and driver.action != "back"
    return (
        f"driver-action.{driver.action}"
        + ("-unnamed" if version_unknown else "")
        + ("-below" if has_upper_bound else "")
    )


def _toolkit_action_code(recommendation: Recommendation) -> str:
    """The text for the toolkit; "none" means something else if the goal needs one that this machine cannot have."""
    unavailable = any(
        reason.code in ("toolkit-impossible", "toolkit-glibc", "toolkit-no-installer")
        for reason in recommendation.reasons
    )
    return f"part-action.{recommendation.cuda_toolkit.action}" + ("-known" if unavailable else "")


def _irrelevant_parts(recommendation: Recommendation, machine: Machine) -> set[str]:
    """NVIDIA's parts that need no action on a machine without an NVIDIA GPU or driver.

    A toolkit that the goal asks for is always shown, to explain why there is none.
    """
    if machine.gpus_of("nvidia") or machine.driver is not None:
        return set()
    requested = {"cuda_toolkit"} if recommendation.goal in ("cuda-dev", "all") else set()
    actions = {
        "driver": recommendation.driver.action,
        "cuda_toolkit": recommendation.cuda_toolkit.action,
        "cudnn": recommendation.cudnn.action,
    }
    return {name for name, action in actions.items() if action == "none"} - requested


def render_plan(plan: Plan, output: Output) -> None:
    """Every step with what it does, its costs and commands and how to undo it; then the totals."""
    render_source_notices(plan, output.write_line)
    terminal = output.texts.terminal or Terminal(system=plan.os.system if plan.os is not None else "linux")
    for number, step in enumerate(plan.steps, 1):
        download_text = localized.step_download_text(step.code, step.bytes, step.data, output.texts)
        costs = [download_text] if download_text else []
        if step.minutes:
            costs.append(localized.duration_text(step.minutes, output.texts, at_least=step.minutes_least))
        if step.needs_admin:
            costs.append(output.translate("needs-admin"))
        title = output.translate("costs", title=step.title, names=", ".join(costs)) if costs else step.title
        output.write_line(f"{number}. {title}")
        output.write_line(f"   {step.what}")
        if step.now is not None:
            output.write_line(f"   → {step.now.text}")
        for command in step.commands:
            output.write_line("   $ " + terminal.command_line(command))
        requirements = requirements_text(step)
        if requirements is not None:
            output.write_line("   requirements.in:\n" + textwrap.indent(requirements, "     "))
        alternative = alternative_command(step)
        if alternative is not None:
            output.write_line(f"   {output.translate('other-way')}\n   $ {alternative}")
        if step.undo:
            output.write_line("   " + output.translate("undo", how=step.undo))
    _render_costs(plan, output, output.write_line)


def render_source_notices(plan: Plan, write: Callable[[str], None]) -> None:
    """What stands in for a build that cannot be downloaded, or that none can; a missing C++ compiler."""
    for warning in plan.recommendation.warnings:
        if warning.code.startswith((SOURCE_WARNINGS, *COMPILER_WARNINGS)):
            write(f"! {warning.text} {warning.fix or ''}".rstrip())


def render_plan_summary(plan: Plan, output: Output) -> None:
    """The titles of all steps and the totals, for the question before an install."""
    render_source_notices(plan, output.write_note)
    for number, step in enumerate(plan.steps, 1):
        output.write_note(f"{number}. {step.title}")
        if step.now is not None:
            output.write_note(f"   → {step.now.text}")
    _render_costs(plan, output, output.write_note)


def render_bundle_plan(job: CreateBundleJob, output: Output) -> None:
    """The steps of creating a bundle, the size of its downloads, and what it cannot contain."""
    for number, step in enumerate(job.steps(), 1):
        output.write_line(f"{number}. " + output.texts.translate(f"step.{step.code}.title", step.data))
        output.write_line("   " + output.texts.translate(f"step.{step.code}.what", step.data))
    output.write_line(
        output.translate("bundle-price", fetched=_download_size_text(job.bundled_plan, output), path=str(job.folder))
    )
    render_left_out(job.excluded_codes, output)


def render_left_out(codes: tuple[str, ...], output: Output) -> None:
    """What a bundle cannot contain, by the codes of the steps."""
    for code in codes:
        output.write_note(output.translate("bundle-left-out", step=output.texts.translate(f"bundle.left-out.{code}")))


def render_missing_driver(driver: MissingDriver | None, output: Output) -> None:
    """Where the driver is from that a bundle lacks; of a distribution's packages `render_left_out` tells."""
    if driver is None or driver.source == "packages":
        return
    code = "any" if driver.source == "file" and driver.version is None else driver.source
    output.write_note(output.translate(f"bundle-driver-{code}", version=driver.version, url=driver.url))


def _download_size_text(plan: Plan, output: Output) -> str:
    """The known size of a plan's downloads, and the parts whose size is unknown."""
    total, unknown = plan_cost(plan), output.translate("price-unknown")
    known_text = localized.download_text(total, output.texts)
    text, missing_parts = known_text or unknown, localized.unknown_parts_text(total, output.texts) if known_text else ""
    if total.measured_release is not None:
        text = output.translate("price-measured", fetched=text, measured=total.measured_release)
    if total.estimated_bytes:
        text = output.translate("price-driver-estimate", fetched=text, bytes=total.estimated_bytes)
    return output.translate("price-lacks", fetched=text, parts=missing_parts) if missing_parts else text


def _installer_kinds(plan: Plan) -> list[str]:
    """The kinds of a plan's steps that run a publisher's installer; nobody tells its time and room."""
    from ...install.steps.kinds import STEP_KINDS

    return [step.kind for step in plan.steps if STEP_KINDS[step.kind].external_installer and not is_display_only(step)]


def _render_costs(plan: Plan, output: Output, write: Callable[[str], None]) -> None:
    total = plan_cost(plan)
    disk_text = localized.disk_text(total, output.texts) or output.translate("price-unknown")
    write(output.translate("price", env=plan.env, fetched=_download_size_text(plan, output), kept=disk_text))
    if not total.is_exact or total.disk_estimated:
        write(output.translate("price-online"))
    mbits = next((step.data.get("mbits") for step in plan.steps if step.kind == "download"), None)
    duration = plan_duration(plan, total)
    if duration is not None and mbits is not None:
        code = "price-time-least" if duration.is_lower_bound else "price-time"
        write(output.translate(code, work_seconds=60 * duration.minutes, mbits=mbits))
    uncounted = [output.texts.translate(f"price.part.{kind}") for kind in _installer_kinds(plan)]
    if uncounted:
        write(output.translate("price-besides", parts=join_list(uncounted, output.texts.language)))
    prompts = localized.prompts_text(total.admin_prompts, output.texts)
    write(f"{prompts} · {localized.restarts_text(total.restarts, output.texts)}")
    if needs_manual_driver(plan):
        write(output.translate("driver-first"))
        sizes = (step.data.get(SIMILAR_BYTES) for step in plan.steps if step.kind == "nvidia-driver")
        if (driver_bytes := next(sizes, None)) is not None:
            write(output.translate("driver-size", bytes=driver_bytes))
    taken = plan.recommendation.way
    for way in plan.recommendation.ways:
        if way != taken:
            write(output.translate("way-beside", way=way.text, name=way.id))
    if plan.simulated:
        write(output.translate("folders-simulated"))

"""The parts of a recommendation as text: installed version, planned version, state, reasons with their sources.

Also which parts but the driver a plan leaves to the user (`uncovered_parts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication

from .....core.machine import Machine
from .....core.plan import Plan, manual_driver
from .....core.recommendation import DriverAdvice, Reason, Recommendation
from .....core.versions import Version, version_text
from .....texts.localized import Texts
from .....texts.translate import explain_terms
from ....messages import join_sentences, publisher_name
from ....widgets.cards import PillKind
from ....widgets.claims import SourcedClaim

if TYPE_CHECKING:
    from .....catalog.store import Catalog

translate = QCoreApplication.translate

# The kinds of steps that bring the toolkit and cuDNN; as packages both come in one.
TOOLKIT_STEP_KINDS = frozenset({"cuda-wheels", "cuda-toolkit", "cuda-run", "cuda-installer"})
CUDNN_STEP_KINDS = frozenset({"cuda-wheels", "cudnn"})
PART_IDS = ("driver", "cuda", "cudnn", "torch", "tensorflow")
REASON_SUBJECTS = {
    "driver": ("driver",),
    "cuda": ("cuda_toolkit", "pytorch.variant"),
    "cudnn": ("cudnn",),
    "torch": ("accelerator", "pytorch.version", "pytorch.index_url", "pytorch.torchaudio", "python"),
    "tensorflow": ("tensorflow",),
}
_EXPLAINED_TERM_PREFIXES = ("CUDA:", "cuDNN:", "PyTorch:", "CUDA：", "cuDNN：", "PyTorch：")
# The machine's field of a part; None there means unknown.
_MACHINE_FIELDS = {"cuda": "cuda_toolkits", "cudnn": "cudnn", "torch": "pythons", "tensorflow": "pythons"}


class PartSummary(Struct, frozen=True, kw_only=True):
    """One part. `installed` and `planned` are versions, or None; `title_brief` and `planned_detail_brief` are for
    little room, where not empty; `terms` are sentences that explain terms of the reasons.
    """

    id: str
    title: str
    meaning: str
    installed: str | None
    installed_detail: str
    planned: str | None
    planned_detail: str
    pill: tuple[PillKind, str]
    planned_detail_brief: str = ""
    title_brief: str = ""
    reasons: tuple[SourcedClaim, ...] = ()
    terms: tuple[str, ...] = ()


def part_titles(machine: Machine) -> dict[str, tuple[str, str]]:
    """Title and explanation of each part."""
    system = {"windows": "Windows", "linux": "Linux", "darwin": "macOS"}[machine.os.system]
    driver_meaning = translate("PartSummary", "Lets {system} talk to the card").format(system=system)
    if machine.os.wsl:
        driver_meaning = translate("PartSummary", "Windows' own, which lets Linux talk to the card")
    return {
        "driver": (translate("PartSummary", "Graphics driver"), driver_meaning),
        "cuda": ("CUDA", translate("PartSummary", "Lets programs run calculations on an NVIDIA card")),
        "cudnn": ("cuDNN", translate("PartSummary", "NVIDIA's fast building blocks for neural networks")),
        "torch": ("PyTorch", translate("PartSummary", "The toolbox you train models with")),
        "tensorflow": ("TensorFlow", translate("PartSummary", "Google's toolbox to train models with")),
    }


def part_summaries(
    machine: Machine,
    recommendation: Recommendation,
    texts: Texts,
    *,
    already_installed: bool,
    plan: Plan | None = None,
    max_cuda: str | None = None,
    all_parts: bool = True,
) -> tuple[PartSummary, ...]:
    """The parts, from the driver up. `plan` says which of them it installs, `max_cuda` which CUDA the recommended
    driver supports. Without `all_parts` a CUDA Toolkit or cuDNN that nothing is done with is no part of its own, and so
    is a driver where there is none and none is needed: their reasons are those of the package that includes CUDA.
    """
    localized = texts.localize_recommendation(recommendation)
    summaries, included = [], []
    if all_parts or needs_driver(machine, recommendation):
        summaries.append(_driver_part(machine, localized, plan, max_cuda, names_cuda=all_parts))
    else:
        included.append("driver")
    for name, make, advice in (
        ("cuda", _cuda_part, localized.cuda_toolkit),
        ("cudnn", _cudnn_part, localized.cudnn),
    ):
        if all_parts or advice.action != "none":
            summaries.append(make(machine, localized))
        else:
            included.append(name)
    if localized.pytorch is not None or localized.goal != "tensorflow":
        summaries.append(_pytorch_part(machine, localized, texts, already_installed=already_installed))
    if localized.tensorflow is not None or localized.goal in ("tensorflow", "all"):
        summaries.append(_tensorflow_part(machine, localized))
    including = "torch" if localized.pytorch is not None else summaries[-1].id
    return tuple(
        _with_reasons(part, localized.reasons, texts, included if part.id == including else ()) for part in summaries
    )


def needs_driver(machine: Machine, recommendation: Recommendation) -> bool:
    """Whether there is anything to say of NVIDIA's driver: it is here, is to be installed, or its card is here."""
    advice = recommendation.driver
    is_here = advice.installed is not None or machine.driver is not None or bool(machine.gpus_of("nvidia"))
    return is_here or advice.needs_install


def action_pill(text: str) -> tuple[PillKind, str]:
    """For a part that changes: it stands out among those that stay."""
    return ("accent", text)


def install_pill() -> tuple[PillKind, str]:
    """For a part that is installed."""
    return action_pill(translate("PartSummary", "Install"))


def keep_pill() -> tuple[PillKind, str]:
    """For a part that stays."""
    return ("ok", translate("PartSummary", "Keep"))


def not_needed_pill() -> tuple[PillKind, str]:
    """For a part that is not needed."""
    return ("neutral", translate("PartSummary", "Not needed"))


def included_pill() -> tuple[PillKind, str]:
    """For a part that another package includes."""
    return ("neutral", translate("PartSummary", "Included"))


def _build_part(
    name: str,
    machine: Machine,
    *,
    installed: str | None,
    planned: str | None,
    pill: tuple[PillKind, str],
    installed_detail: str = "",
    planned_detail: str = "",
    planned_detail_brief: str = "",
) -> PartSummary:
    title, meaning = part_titles(machine)[name]
    installed_text = (
        translate("PartSummary", "not installed") if installed is None and not installed_detail else installed_detail
    )
    if installed is None and name in _MACHINE_FIELDS and getattr(machine, _MACHINE_FIELDS[name]) is None:
        installed_text = translate("PartSummary", "not known")
    return PartSummary(
        id=name,
        title=title,
        meaning=meaning,
        installed=installed,
        installed_detail=installed_text,
        planned=planned,
        planned_detail=planned_detail,
        planned_detail_brief=planned_detail_brief,
        title_brief=translate("PartSummary", "Driver") if name == "driver" else "",
        pill=pill,
    )


def _with_reasons(
    part: PartSummary, reasons: tuple[Reason, ...], texts: Texts, included: Sequence[str] = ()
) -> PartSummary:
    """The part with its reasons, and those of the parts that it includes."""
    subjects = tuple(subject for name in (part.id, *included) for subject in REASON_SUBJECTS[name])
    own_reasons = [reason for reason in reasons if reason.about in subjects or reason.about.split(".")[0] in subjects]
    claims: list[SourcedClaim] = []
    for reason in own_reasons:
        if not reason.text:
            continue
        source = (publisher_name(texts, reason.source), reason.source) if reason.source else None
        if claims and claims[-1].source == source:
            # Consecutive reasons of one source share one link.
            claims[-1] = SourcedClaim(text=join_sentences(claims[-1].text, reason.text), source=source)
        else:
            claims.append(SourcedClaim(text=reason.text, source=source))
    # Terms that a card's subtitle explains are left out.
    claims_text = "\n".join(claim.text for claim in claims)
    terms = tuple(term for term in explain_terms(texts, claims_text) if not term.startswith(_EXPLAINED_TERM_PREFIXES))
    return replace(part, reasons=tuple(claims), terms=terms)


def _driver_part(
    machine: Machine, recommendation: Recommendation, plan: Plan | None, max_cuda: str | None, *, names_cuda: bool
) -> PartSummary:
    """The driver. `names_cuda`: each version with the CUDA that it supports, for whoever chooses versions; without it
    what is wrong with the present one.
    """
    advice = recommendation.driver
    installed = advice.installed or (machine.driver.version if machine.driver is not None else None)
    cuda = machine.driver.cuda_max if machine.driver is not None else None
    installed_detail = _driver_state_text(recommendation) if installed else ""
    if names_cuda:
        installed_detail = (
            translate("PartSummary", "CUDA up to {version}").format(version=cuda) if cuda and installed else ""
        )
    if advice.action == "none" and installed is None:
        if machine.gpus_of("nvidia"):
            no_answer = translate("PartSummary", "not running")
            return _build_part(
                "driver", machine, installed=None, installed_detail=no_answer, planned=None, pill=not_needed_pill()
            )
        # Only NVIDIA's driver is probed.
        other_source = (
            translate("PartSummary", "not checked") if machine.gpus else translate("PartSummary", "no NVIDIA card")
        )
        unchanged_pill: tuple[PillKind, str] = ("neutral", translate("PartSummary", "Stays as it is"))
        pill = unchanged_pill if machine.gpus else not_needed_pill()
        return _build_part("driver", machine, installed=None, installed_detail=other_source, planned=None, pill=pill)
    if advice.action in ("keep", "none"):
        return _build_part(
            "driver",
            machine,
            installed=installed,
            installed_detail=installed_detail,
            planned=installed,
            pill=keep_pill(),
        )
    planned = advice.recommended or advice.minimum
    kinds = {"studio": "Studio", "game-ready": "Game Ready"}
    channel = kinds[advice.channel] if advice.channel else ""
    if channel and not names_cuda:
        channel = translate("PartSummary", "{kind} driver").format(kind=channel)
    manual_note = "" if manual_driver(recommendation, plan) is None else translate("PartSummary", "you install it")
    version_note = translate("PartSummary", "or newer") if advice.recommended is None else channel
    if advice.recommended is None and advice.below is not None:
        version_note = translate("PartSummary", "or newer, but older than {version}").format(version=advice.below)
    packaged = plan is not None and any("driver" in step.kind and step.spec.get("packages") for step in plan.steps)
    # The distribution decides the exact version of its packages.
    other_source = translate("PartSummary", "or your system's own") if packaged else ""
    cuda_note = (
        translate("PartSummary", "CUDA up to {version}").format(version=max_cuda)
        if max_cuda and not other_source and names_cuda
        else ""
    )
    planned_detail = " · ".join(part for part in (version_note, other_source or cuda_note, manual_note) if part)
    pill = install_pill()
    if advice.action != "install":
        pill_text = (
            translate("PartSummary", "Update") if advice.action == "update" else translate("PartSummary", "Go back")
        )
        pill = action_pill(pill_text)
    return _build_part(
        "driver",
        machine,
        installed=installed,
        installed_detail=installed_detail,
        planned=planned,
        planned_detail=planned_detail,
        pill=pill,
    )


def _driver_state_text(recommendation: Recommendation) -> str:
    """What is wrong with the present driver, in two or three words; "" where it stays."""
    program = recommendation.pytorch or recommendation.tensorflow
    if recommendation.driver.action == "update" and program is not None:
        series = ".".join(program.version.split(".")[:2])
        return translate("PartSummary", "too old for {version}").format(version=series)
    return translate("PartSummary", "too new") if recommendation.driver.action == "back" else ""


def _cuda_part(machine: Machine, recommendation: Recommendation) -> PartSummary:
    torch = recommendation.pytorch
    # A complete toolkit is named before one without its compiler.
    toolkits = sorted(
        (each for each in machine.cuda_toolkits or () if each.version), key=lambda each: each.nvcc is False
    )
    toolkit, broken = (toolkits[0].version, toolkits[0].nvcc is False) if toolkits else (None, False)
    installed_detail = translate("PartSummary", "toolkit, stays") if toolkit is not None else ""
    if broken:
        installed_detail = translate("PartSummary", "toolkit without its compiler; stays")
    advice = recommendation.cuda_toolkit
    if advice.action == "install":
        purpose = translate("PartSummary", "toolkit, for compiling")
        purpose_here = translate("PartSummary", "toolkit") if toolkit is not None else ""
        purpose_here = installed_detail if broken else purpose_here
        return _build_part(
            "cuda",
            machine,
            installed=toolkit,
            installed_detail=purpose_here,
            planned=advice.version,
            planned_detail=purpose,
            pill=install_pill(),
        )
    if advice.action == "keep":
        return _build_part(
            "cuda",
            machine,
            installed=toolkit,
            installed_detail=installed_detail,
            planned=advice.version or toolkit,
            pill=keep_pill(),
        )
    tensorflow = recommendation.tensorflow
    if torch is None and tensorflow is not None and tensorflow.gpu:
        source_text = translate("PartSummary", "included in TensorFlow")
        return _build_part(
            "cuda",
            machine,
            installed=toolkit,
            installed_detail=installed_detail,
            planned=source_text,
            pill=included_pill(),
        )
    if torch is None or recommendation.accelerator != "cuda":
        pill = keep_pill() if toolkit is not None else not_needed_pill()
        return _build_part(
            "cuda", machine, installed=toolkit, installed_detail=installed_detail, planned=toolkit, pill=pill
        )
    source_text = translate("PartSummary", "included in PyTorch")
    return _build_part(
        "cuda",
        machine,
        installed=toolkit,
        installed_detail=installed_detail,
        planned=torch.cuda,
        planned_detail=source_text,
        pill=included_pill(),
    )


def _cudnn_part(machine: Machine, recommendation: Recommendation) -> PartSummary:
    torch = recommendation.pytorch
    installed = next((each.version for each in machine.cudnn or () if each.version), None)
    installed_detail = translate("PartSummary", "stays") if installed is not None else ""
    advice = recommendation.cudnn
    if advice.action == "install":
        standalone = recommendation.cuda_toolkit.action == "none"
        if advice.way == "wheels" and torch is not None and torch.cudnn == advice.version:
            planned_detail = translate("PartSummary", "included in PyTorch")
        elif standalone:
            planned_detail = translate("PartSummary", "separately")
        else:
            planned_detail = translate("PartSummary", "with the toolkit")
        return _build_part(
            "cudnn",
            machine,
            installed=installed,
            installed_detail=installed_detail,
            planned=advice.version,
            planned_detail=planned_detail,
            pill=install_pill(),
        )
    if advice.action == "keep":
        return _build_part(
            "cudnn",
            machine,
            installed=installed,
            installed_detail=installed_detail,
            planned=advice.version or installed,
            pill=keep_pill(),
        )
    tensorflow = recommendation.tensorflow
    if torch is None and tensorflow is not None and tensorflow.gpu:
        return _build_part(
            "cudnn",
            machine,
            installed=installed,
            installed_detail=installed_detail,
            planned=translate("PartSummary", "included in TensorFlow"),
            pill=included_pill(),
        )
    if torch is None or recommendation.accelerator != "cuda":
        pill = keep_pill() if installed is not None else not_needed_pill()
        return _build_part(
            "cudnn", machine, installed=installed, installed_detail=installed_detail, planned=installed, pill=pill
        )
    source_text, planned = translate("PartSummary", "included in PyTorch"), torch.cudnn
    if planned is None:  # the catalog does not know this build's
        planned, source_text = (
            translate("PartSummary", "Included in PyTorch"),
            translate("PartSummary", "exact version shown afterwards"),
        )
    return _build_part(
        "cudnn",
        machine,
        installed=installed,
        installed_detail=installed_detail,
        planned=planned,
        planned_detail=source_text,
        pill=included_pill(),
    )


def _pytorch_part(
    machine: Machine, recommendation: Recommendation, texts: Texts, *, already_installed: bool
) -> PartSummary:
    torch = recommendation.pytorch
    installed = next((each.torch.version for each in machine.pythons or () if each.torch is not None), None)
    installed_detail = translate("PartSummary", "in another folder; stays") if installed is not None else ""
    if torch is None:
        return _build_part(
            "torch",
            machine,
            installed=installed,
            installed_detail=installed_detail,
            planned=None,
            pill=not_needed_pill(),
        )
    details = [_build_detail(recommendation.accelerator, texts.variant_name(torch.variant))]
    if recommendation.python is not None:
        details.append(f"Python {recommendation.python}")
    if already_installed:
        return _build_part(
            "torch",
            machine,
            installed=torch.version,
            planned=torch.version,
            planned_detail=" · ".join(details),
            planned_detail_brief=details[0],
            pill=keep_pill(),
        )
    return _build_part(
        "torch",
        machine,
        installed=installed,
        installed_detail=installed_detail,
        planned=torch.version,
        planned_detail=" · ".join(details),
        planned_detail_brief=details[0],
        pill=install_pill(),
    )


def _build_detail(accelerator: str, build: str) -> str:
    """What a build of PyTorch computes with."""
    if accelerator == "cpu":
        return translate("PartSummary", "for the CPU")
    if accelerator == "cuda":
        return translate("PartSummary", "with {cuda} and cuDNN").format(cuda=build)
    return translate("PartSummary", "with {build}").format(build=build)


def _tensorflow_part(machine: Machine, recommendation: Recommendation) -> PartSummary:
    planned = recommendation.tensorflow
    installed = next((each.tensorflow for each in machine.pythons or () if each.tensorflow is not None), None)
    installed_detail = translate("PartSummary", "in another folder; stays") if installed is not None else ""
    if planned is None:
        pill: tuple[PillKind, str] = ("warn", translate("PartSummary", "Not available"))
        return _build_part(
            "tensorflow", machine, installed=installed, installed_detail=installed_detail, planned=None, pill=pill
        )
    device_text = (
        translate("PartSummary", "with CUDA and cuDNN") if planned.gpu else translate("PartSummary", "for the CPU")
    )
    return _build_part(
        "tensorflow",
        machine,
        installed=installed,
        installed_detail=installed_detail,
        planned=planned.version,
        planned_detail=device_text,
        pill=install_pill(),
    )


def max_cuda_of_driver(catalog: Catalog, driver: DriverAdvice) -> str | None:
    """The highest CUDA version that the driver to be installed supports; None without one, or if unknown."""
    from .....advise.drivers import native_cuda

    if not driver.needs_install or driver.recommended is None:
        return None
    return version_text(native_cuda(catalog, Version.parse(driver.recommended)))


def uncovered_parts(recommendation: Recommendation, plan: Plan | None) -> tuple[str, ...]:
    """The other recommended parts, with versions, that the plan does not install; none without a plan."""
    if plan is None:
        return ()
    missing = []
    for name, step_kinds, advice in (
        ("CUDA Toolkit", TOOLKIT_STEP_KINDS, recommendation.cuda_toolkit),
        ("cuDNN", CUDNN_STEP_KINDS, recommendation.cudnn),
    ):
        if advice.action == "install" and not any(step.kind in step_kinds for step in plan.steps):
            missing.append(f"{name} {advice.version}")
    tensorflow = recommendation.tensorflow
    if tensorflow is not None and not any("tensorflow" in str(step.data.get("packages")) for step in plan.steps):
        missing.append(f"TensorFlow {tensorflow.version}")
    return tuple(missing)

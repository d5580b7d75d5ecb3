"""The four parts of a recommendation, each with what is there now, what comes, and why."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication

from ...core.machine import Machine
from ...core.plan import Plan
from ...core.recommendation import Alternative, Reason, Recommendation
from ...texts import Texts
from ...texts.terms import explained
from ..components.pill import PillKind
from ..components.why import Claim
from .coverage import driver_by_hand
from .words import joined, publisher

translate = QCoreApplication.translate

PARTS = ("driver", "cuda", "cudnn", "torch", "tensorflow")
ABOUT = {
    "driver": ("driver",),
    "cuda": ("cuda_toolkit", "pytorch.variant"),
    "cudnn": ("cudnn",),
    "torch": ("accelerator", "pytorch.version", "pytorch.index_url", "pytorch.torchaudio", "python"),
    "tensorflow": ("tensorflow",),
}
_TOLD = ("CUDA:", "cuDNN:", "PyTorch:", "CUDA：", "cuDNN：", "PyTorch：")
# What the machine says of a part, where None is that nobody knows.
_LOOKED_FOR = {"cuda": "cuda_toolkits", "cudnn": "cudnn", "torch": "pythons", "tensorflow": "pythons"}
# An offer that is about the driver stands there; every other one stands by itself, in the open.
DRIVER_OFFERS = frozenset({"keep-driver"})


class Part(Struct, frozen=True, kw_only=True):
    """One part: `now` and `after` with a small line each; None is "not there". `why` are the reasons, `terms`
    sentences that explain words of them.
    """

    id: str
    title: str
    meaning: str
    now: str | None
    now_line: str
    after: str | None
    after_line: str
    pill: tuple[PillKind, str]
    why: tuple[Claim, ...] = ()
    terms: tuple[str, ...] = ()
    offer: Alternative | None = None


def words(machine: Machine) -> dict[str, tuple[str, str]]:
    """Title and meaning of each part."""
    system = {"windows": "Windows", "linux": "Linux", "darwin": "macOS"}[machine.os.system]
    talks = translate("Cards", "Lets {system} talk to the card").format(system=system)
    if machine.os.wsl:
        talks = translate("Cards", "Windows' own, which lets Linux talk to the card")
    return {
        "driver": (translate("Cards", "Graphics driver"), talks),
        "cuda": ("CUDA", translate("Cards", "The language programs use to compute on an NVIDIA card")),
        "cudnn": ("cuDNN", translate("Cards", "NVIDIA's fast building blocks for neural networks")),
        "torch": ("PyTorch", translate("Cards", "The toolbox you train models with")),
        "tensorflow": ("TensorFlow", translate("Cards", "Google's toolbox to train models with")),
    }


def parts(
    machine: Machine,
    recommendation: Recommendation,
    texts: Texts,
    *,
    settled: bool,
    plan: Plan | None = None,
    reaches: str | None = None,
) -> tuple[Part, ...]:
    """The parts, from the hardware up; `plan` tells which of them it brings, `reaches` the highest CUDA that the
    advised driver runs.
    """
    spoken = texts.recommendation(recommendation)
    found = [_driver(machine, spoken, plan, reaches), _cuda(machine, spoken), _cudnn(machine, spoken)]
    if spoken.pytorch is not None or spoken.goal != "tensorflow":
        found.append(_torch(machine, spoken, texts, settled=settled))
    if spoken.tensorflow is not None or spoken.goal in ("tensorflow", "all"):
        found.append(_tensorflow(machine, spoken))
    return tuple(_with_reason(part, spoken.reasons, texts) for part in found)


def others(recommendation: Recommendation, plan: Plan | None = None) -> tuple[Alternative, ...]:
    """The alternatives that stand by themselves; where the driver is left to the user, what runs without it, too."""
    open_too = DRIVER_OFFERS if driver_by_hand(recommendation, plan) is not None else frozenset[str]()
    return tuple(o for o in recommendation.alternatives if o.code not in DRIVER_OFFERS - open_too)


def install() -> tuple[PillKind, str]:
    """It is going to be installed."""
    return ("accent", translate("Cards", "Install"))


def keep() -> tuple[PillKind, str]:
    """What is there stays."""
    return ("ok", translate("Cards", "Keep"))


def not_needed() -> tuple[PillKind, str]:
    """Nothing of this is needed."""
    return ("neutral", translate("Cards", "Not needed"))


def included() -> tuple[PillKind, str]:
    """It comes inside something else."""
    return ("neutral", translate("Cards", "Included"))


def _part(
    name: str,
    machine: Machine,
    *,
    now: str | None,
    after: str | None,
    pill: tuple[PillKind, str],
    now_line: str = "",
    after_line: str = "",
    offer: Alternative | None = None,
) -> Part:
    title, meaning = words(machine)[name]
    missing = translate("Cards", "not installed") if now is None and not now_line else now_line
    if now is None and name in _LOOKED_FOR and getattr(machine, _LOOKED_FOR[name]) is None:
        missing = translate("Cards", "not known")
    return Part(
        id=name,
        title=title,
        meaning=meaning,
        now=now,
        now_line=missing,
        after=after,
        after_line=after_line,
        pill=pill,
        offer=offer,
    )


def _with_reason(part: Part, reasons: tuple[Reason, ...], texts: Texts) -> Part:
    about = ABOUT[part.id]
    mine = [reason for reason in reasons if reason.about in about or reason.about.split(".")[0] in about]
    claims: list[Claim] = []
    for reason in mine:
        if not reason.text:
            continue
        source = (publisher(texts, reason.source), reason.source) if reason.source else None
        if claims and claims[-1].source == source:
            # What one source says stands together above it.
            claims[-1] = Claim(text=joined(claims[-1].text, reason.text), source=source)
        else:
            claims.append(Claim(text=reason.text, source=source))
    # What the cards say in their second lines needs no telling.
    said = "\n".join(claim.text for claim in claims)
    terms = tuple(each for each in explained(texts, said) if not each.startswith(_TOLD))
    return replace(part, why=tuple(claims), terms=terms)


def _driver(machine: Machine, recommendation: Recommendation, plan: Plan | None, reaches: str | None) -> Part:
    advice = recommendation.driver
    installed = advice.installed or (machine.driver.version if machine.driver is not None else None)
    cuda = machine.driver.cuda_max if machine.driver is not None else None
    line = translate("Cards", "CUDA up to {version}").format(version=cuda) if cuda and installed else ""
    if advice.action == "none" and installed is None:
        if machine.gpus_of("nvidia"):
            silent = translate("Cards", "none answers")
            return _part("driver", machine, now=None, now_line=silent, after=None, pill=not_needed())
        # Only NVIDIA's is looked for: what drives another maker's card is its maker's and the system's matter.
        theirs = translate("Cards", "not looked at") if machine.gpus else translate("Cards", "no NVIDIA card")
        stays: tuple[PillKind, str] = ("neutral", translate("Cards", "Stays as it is"))
        pill = stays if machine.gpus else not_needed()
        return _part("driver", machine, now=None, now_line=theirs, after=None, pill=pill)
    if advice.action in ("keep", "none"):
        return _part("driver", machine, now=installed, now_line=line, after=installed, pill=keep())
    offer = next((each for each in recommendation.alternatives if each.code in DRIVER_OFFERS), None)
    after = advice.recommended or advice.minimum
    kinds = {"studio": "Studio", "game-ready": "Game Ready"}
    channel = kinds[advice.channel] if advice.channel else ""
    by_hand = "" if driver_by_hand(recommendation, plan) is None else translate("Cards", "you install it")
    kind = translate("Cards", "or newer") if advice.recommended is None else channel
    if advice.recommended is None and advice.below is not None:
        kind = translate("Cards", "or newer, but older than {version}").format(version=advice.below)
    packaged = plan is not None and any("driver" in step.kind and step.spec.get("packages") for step in plan.steps)
    # The distribution decides which version of the branch its packages hold.
    theirs = translate("Cards", "or your system's own") if packaged else ""
    up_to = translate("Cards", "CUDA up to {version}").format(version=reaches) if reaches and not theirs else ""
    at_least = " · ".join(part for part in (kind, theirs or up_to, by_hand) if part)
    pill = install()
    if advice.action != "install":
        word = translate("Cards", "Update") if advice.action == "update" else translate("Cards", "Go back")
        pill = ("accent", word)
    return _part(
        "driver", machine, now=installed, now_line=line, after=after, after_line=at_least, pill=pill, offer=offer
    )


def _cuda(machine: Machine, recommendation: Recommendation) -> Part:
    torch = recommendation.pytorch
    # One that is whole speaks for what is here.
    known = sorted((each for each in machine.cuda_toolkits or () if each.version), key=lambda each: each.nvcc is False)
    toolkit, broken = (known[0].version, known[0].nvcc is False) if known else (None, False)
    line = translate("Cards", "toolkit, stays") if toolkit is not None else ""
    if broken:
        line = translate("Cards", "toolkit without its compiler; stays")
    advice = recommendation.cuda_toolkit
    if advice.action == "install":
        with_it = translate("Cards", "toolkit, to compile with")
        here = translate("Cards", "toolkit") if toolkit is not None else ""
        here = line if broken else here
        return _part(
            "cuda", machine, now=toolkit, now_line=here, after=advice.version, after_line=with_it, pill=install()
        )
    if advice.action == "keep":
        return _part("cuda", machine, now=toolkit, now_line=line, after=advice.version or toolkit, pill=keep())
    flow = recommendation.tensorflow
    if torch is None and flow is not None and flow.gpu:
        inside = translate("Cards", "comes inside TensorFlow")
        return _part("cuda", machine, now=toolkit, now_line=line, after=inside, pill=included())
    if torch is None or recommendation.accelerator != "cuda":
        pill = keep() if toolkit is not None else not_needed()
        return _part("cuda", machine, now=toolkit, now_line=line, after=toolkit, pill=pill)
    inside = translate("Cards", "comes inside PyTorch")
    return _part("cuda", machine, now=toolkit, now_line=line, after=torch.cuda, after_line=inside, pill=included())


def _cudnn(machine: Machine, recommendation: Recommendation) -> Part:
    torch = recommendation.pytorch
    here = next((each.version for each in machine.cudnn or () if each.version), None)
    line = translate("Cards", "stays") if here is not None else ""
    advice = recommendation.cudnn
    if advice.action == "install":
        alone = recommendation.cuda_toolkit.action == "none"
        beside = translate("Cards", "by itself") if alone else translate("Cards", "beside the toolkit")
        return _part("cudnn", machine, now=here, now_line=line, after=advice.version, after_line=beside, pill=install())
    if advice.action == "keep":
        return _part("cudnn", machine, now=here, now_line=line, after=advice.version or here, pill=keep())
    flow = recommendation.tensorflow
    if torch is None and flow is not None and flow.gpu:
        return _part(
            "cudnn",
            machine,
            now=here,
            now_line=line,
            after=translate("Cards", "comes inside TensorFlow"),
            pill=included(),
        )
    if torch is None or recommendation.accelerator != "cuda":
        pill = keep() if here is not None else not_needed()
        return _part("cudnn", machine, now=here, now_line=line, after=here, pill=pill)
    inside, after = translate("Cards", "comes inside PyTorch"), torch.cudnn
    if after is None:  # the catalog does not know this build's
        after, inside = translate("Cards", "inside PyTorch"), translate("Cards", "version shows in the proof")
    return _part("cudnn", machine, now=here, now_line=line, after=after, after_line=inside, pill=included())


def _torch(machine: Machine, recommendation: Recommendation, texts: Texts, *, settled: bool) -> Part:
    torch = recommendation.pytorch
    build = next((each.torch.version for each in machine.pythons or () if each.torch is not None), None)
    line = translate("Cards", "elsewhere, stays") if build is not None else ""
    if torch is None:
        return _part("torch", machine, now=build, now_line=line, after=None, pill=not_needed())
    cpu = recommendation.accelerator == "cpu"
    details = [translate("Cards", "for the CPU") if cpu else texts.variant(torch.variant)]
    if recommendation.python is not None:
        details.append(f"Python {recommendation.python}")
    if settled:
        return _part(
            "torch", machine, now=torch.version, after=torch.version, after_line=" · ".join(details), pill=keep()
        )
    return _part(
        "torch", machine, now=build, now_line=line, after=torch.version, after_line=" · ".join(details), pill=install()
    )


def _tensorflow(machine: Machine, recommendation: Recommendation) -> Part:
    chosen = recommendation.tensorflow
    now = next((each.tensorflow for each in machine.pythons or () if each.tensorflow is not None), None)
    line = translate("Cards", "elsewhere, stays") if now is not None else ""
    if chosen is None:
        pill: tuple[PillKind, str] = ("warn", translate("Cards", "Not here"))
        return _part("tensorflow", machine, now=now, now_line=line, after=None, pill=pill)
    where = translate("Cards", "on the GPU") if chosen.gpu else translate("Cards", "for the CPU")
    return _part("tensorflow", machine, now=now, now_line=line, after=chosen.version, after_line=where, pill=install())

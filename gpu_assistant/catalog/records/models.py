"""`models.json`: the published figures of models that people ask for, from which their memory is computed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from .base import ByteCount, CatalogFile, Fact, HttpsUrl

Count = Annotated[int, Meta(gt=0)]
Share = Annotated[float, Meta(gt=0, lt=1)]
WeightFormatId = Literal["float16", "int8", "nf4", "float32", "mixed"]
ModelKind = Literal["language", "image", "training"]


class WeightFormat(Fact, frozen=True, kw_only=True):
    """Bits for each weight of a model that only answers; `embedding_bits` for its table of words."""

    id: WeightFormatId
    bits: Annotated[float, Meta(gt=0, le=32)]
    embedding_bits: Annotated[float, Meta(gt=0, le=32)]


class ModelKindFacts(Fact, frozen=True, kw_only=True):
    """How far the estimates of a kind may be wrong (`error`, a share), and for how many `items` a model is judged:
    tokens of a conversation, images at a time, examples of a batch.
    """

    kind: ModelKind
    error: Share
    items: Count


class ModelRecord(Fact, frozen=True, kw_only=True):
    """What all kinds have; `page` is where the figures stand."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
    name: str
    parameters: Count
    page: HttpsUrl


class LanguageModelRecord(ModelRecord, frozen=True, kw_only=True):
    """A decoder of the Llama family: its dimensions and longest `context` in tokens; `tied`: one table of words serves
    input and output.
    """

    layers: Count
    hidden: Count
    kv_heads: Count
    head_dim: Count
    intermediate: Count
    vocabulary: Count
    tied: bool
    context: Count


class ImageModelRecord(ModelRecord, frozen=True, kw_only=True):
    """A pipeline that draws: all its networks together. `kept_parameters` stay in 16 bits when the others are
    quantized; `work_bytes` is what one image of `side` pixels takes beside the weights; `bits` are effective bits of
    the quantized weights where they were measured.
    """

    kept_parameters: Count
    side: Count
    work_bytes: ByteCount
    bits: dict[WeightFormatId, Annotated[float, Meta(gt=0, le=32)]] = field(default_factory=dict)


class TrainedModelRecord(ModelRecord, frozen=True, kw_only=True):
    """A model that is trained from float32 weights. `state_bytes` for each weight: itself, gradient and optimizer;
    `example_bytes` are kept of one example for the backward pass, by format. `measured_as` is its name in the
    benchmark.
    """

    optimizer: str
    state_bytes: Count
    example: str
    example_bytes: dict[WeightFormatId, ByteCount]
    measured_as: Literal["resnet50", "bert-base", "language-model"] | None = None


class ModelCatalog(CatalogFile, frozen=True, kw_only=True):
    """`models.json`. `runtime_bytes` is what CUDA and its libraries take before the first tensor."""

    runtime_bytes: ByteCount
    runtime_source: str
    kinds: tuple[ModelKindFacts, ...]
    formats: tuple[WeightFormat, ...]
    language: tuple[LanguageModelRecord, ...]
    image: tuple[ImageModelRecord, ...]
    training: tuple[TrainedModelRecord, ...]

    def kind(self, kind: ModelKind) -> ModelKindFacts:
        """The facts about a kind; the file has them for each."""
        return next(each for each in self.kinds if each.kind == kind)

    def format(self, name: WeightFormatId) -> WeightFormat:
        """A format of weights."""
        return next(each for each in self.formats if each.id == name)

# %%
# A language model writes, one token (about three quarters of a word) at a time: how fast?
# Without weights of your own it has random ones: it writes nonsense, as fast as a trained one of its size.
# 语言模型一次写一个词元（token，约四分之三个英文单词）：它有多快？
# 没有你自己的权重时用随机数：写出来的没有意义，但速度和训练好的同样大小的模型一样。
import json
import math
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

device = globals().get("device", "cuda" if torch.cuda.is_available() else "cpu")
weights = globals().get("weights") or (sys.argv[1] if len(sys.argv) > 1 else None)
torch.manual_seed(1)

# %%
# The size of the model: as the file config.json beside the weights says, else a small one with 124 million weights.
# 模型的大小：看权重旁边的 config.json；没有就用一个 1.24 亿参数的小模型。
config = {
    "model_type": "llama",
    "vocab_size": 32000,
    "hidden_size": 768,
    "intermediate_size": 2048,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_key_value_heads": 4,
    "rope_theta": 10000.0,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
}
if weights:
    config.update(json.loads((Path(weights) / "config.json").read_text(encoding="utf-8")))
if config["model_type"] not in ("llama", "mistral", "qwen2"):
    raise ValueError(f"only models of the kinds llama, mistral and qwen2 are known here, not {config['model_type']}")
WIDTH, HEADS = config["hidden_size"], config["num_attention_heads"]
KV_HEADS = config.get("num_key_value_heads") or HEADS
HEAD_WIDTH = config.get("head_dim") or WIDTH // HEADS
NEW_TOKENS, PROMPT = 128, "The best thing about a graphics card is"
# Graphics cards compute half as exactly twice as fast; most CPUs don't.
# 显卡用一半精度能快一倍，多数 CPU 不能。
dtype = torch.float32 if device == "cpu" else torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16


# %%
# One layer: each token looks back at all earlier ones (attention), then thinks for itself (feed-forward).
# 一层：每个词元先回看前面所有词元（注意力），再自己想一想（前馈网络）。
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        bias = config["model_type"] == "qwen2" or bool(config.get("attention_bias"))
        inner, epsilon = config["intermediate_size"], config["rms_norm_eps"]
        self.input_layernorm = nn.RMSNorm(WIDTH, epsilon)
        self.post_attention_layernorm = nn.RMSNorm(WIDTH, epsilon)
        self.self_attn = nn.ModuleDict(
            {
                "q_proj": nn.Linear(WIDTH, HEADS * HEAD_WIDTH, bias=bias),
                "k_proj": nn.Linear(WIDTH, KV_HEADS * HEAD_WIDTH, bias=bias),
                "v_proj": nn.Linear(WIDTH, KV_HEADS * HEAD_WIDTH, bias=bias),
                "o_proj": nn.Linear(HEADS * HEAD_WIDTH, WIDTH, bias=False),
            }
        )
        self.mlp = nn.ModuleDict(
            {
                "gate_proj": nn.Linear(WIDTH, inner, bias=False),
                "up_proj": nn.Linear(WIDTH, inner, bias=False),
                "down_proj": nn.Linear(inner, WIDTH, bias=False),
            }
        )

    def forward(self, x, cosine, sine, cache, start):
        length, attention, mlp = x.shape[0], self.self_attn, self.mlp
        normed = self.input_layernorm(x)
        query = rotate(attention["q_proj"](normed).view(length, HEADS, HEAD_WIDTH), cosine, sine)
        cache[0][start : start + length] = rotate(
            attention["k_proj"](normed).view(length, KV_HEADS, HEAD_WIDTH), cosine, sine
        )
        cache[1][start : start + length] = attention["v_proj"](normed).view(length, KV_HEADS, HEAD_WIDTH)
        key, value = (part[: start + length].repeat_interleave(HEADS // KV_HEADS, 1).transpose(0, 1) for part in cache)
        seen = F.scaled_dot_product_attention(query.transpose(0, 1), key, value, is_causal=length > 1)
        x = x + attention["o_proj"](seen.transpose(0, 1).reshape(length, -1))
        normed = self.post_attention_layernorm(x)
        return x + mlp["down_proj"](F.silu(mlp["gate_proj"](normed)) * mlp["up_proj"](normed))


def rotate(x, cosine, sine):
    first, second = x.chunk(2, -1)
    return x * cosine + torch.cat([-second, first], -1) * sine


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(config["vocab_size"], WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(config["num_hidden_layers"]))
        self.norm = nn.RMSNorm(WIDTH, config["rms_norm_eps"])
        self.lm_head = nn.Linear(WIDTH, config["vocab_size"], bias=False)

    def forward(self, tokens, caches, start):
        x = self.embed_tokens(tokens)
        positions = torch.arange(start, start + len(tokens), device=device)
        angles = positions[:, None] * FREQUENCIES
        cosine, sine = (part(torch.cat([angles, angles], -1))[:, None].to(dtype) for part in (torch.cos, torch.sin))
        for layer, cache in zip(self.layers, caches):
            x = layer(x, cosine, sine, cache, start)
        return self.lm_head(self.norm(x[-1]))


# How fast each pair of numbers turns with the position, and Llama 3's slower turning for long texts.
# 每对数随位置转动的快慢，以及 Llama 3 为长文本放慢的转动。
def turning_speeds():
    speeds = config["rope_theta"] ** -(torch.arange(0, HEAD_WIDTH, 2, dtype=torch.float32) / HEAD_WIDTH)
    scaling = config.get("rope_scaling") or {}
    if scaling.get("rope_type") == "llama3":
        turns = scaling["original_max_position_embeddings"] * speeds / (2 * math.pi)
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        blend = ((turns - low) / (high - low)).clamp(0, 1)
        speeds = blend * speeds + (1 - blend) * speeds / scaling["factor"]
    return speeds.to(device)


FREQUENCIES = turning_speeds()

# %%
# Weights are read from files of the kind safetensors: a table of contents, then the numbers.
# 从 safetensors 文件读取权重：开头是目录，后面是数字。
KINDS = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def read_weights(folder):
    for path in sorted(Path(folder).glob("*.safetensors")):
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            contents = json.loads(file.read(size))
            for name, entry in contents.items():
                if name != "__metadata__":
                    begin, end = entry["data_offsets"]
                    file.seek(8 + size + begin)
                    data = bytearray(file.read(end - begin))
                    yield name, torch.frombuffer(data, dtype=KINDS[entry["dtype"]]).reshape(entry["shape"])


with torch.device("meta"):
    model = Model()
model = model.to(dtype).to_empty(device=device).eval()
if weights:
    places, filled = dict(model.named_parameters()), set()
    for name, tensor in read_weights(weights):
        name = name.removeprefix("model.") if hasattr(str, "removeprefix") else name.replace("model.", "", 1)
        if name in places:
            places[name].data.copy_(tensor)
            filled.add(name)
    if config["tie_word_embeddings"] or "lm_head.weight" not in filled:
        model.lm_head.weight = model.embed_tokens.weight
        filled.add("lm_head.weight")
    missing = sorted(set(places) - filled)
    if missing:
        raise ValueError(f"the weights lack {len(missing)} of {len(places)} parts, the first is {missing[0]}")
else:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1.0) if parameter.dim() == 1 else parameter.normal_(std=0.02)
parameters = sum(parameter.numel() for parameter in {id(p): p for p in model.parameters()}.values())

# %%
# Words become numbers with the file tokenizer.json, beside the weights, and the package tokenizers.
# 文字变成数字要用权重旁边的 tokenizer.json，以及软件包 tokenizers。
tokenizer = None
if weights and (Path(weights) / "tokenizer.json").is_file():
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(Path(weights) / "tokenizer.json"))
    except ImportError:
        print("no text without the package tokenizers: only the speed is measured")
prompt = tokenizer.encode(PROMPT).ids if tokenizer else torch.randint(config["vocab_size"], (16,)).tolist()


def print_figures(step, steps, rate=None, **_):
    print(f"{step:>4} of {steps} tokens   {rate or 0:.1f} tokens per second")


show = globals().get("show", print_figures)

# %%
# Writing: the model names the next token, which becomes a part of its next question.
# 写作：模型说出下一个词元，再把它加进下一次的输入。
cuda = device != "cpu"
with torch.inference_mode():
    length = len(prompt) + NEW_TOKENS
    caches = [torch.zeros(2, length, KV_HEADS, HEAD_WIDTH, dtype=dtype, device=device) for _ in model.layers]
    token = model(torch.tensor(prompt, device=device), caches, 0).argmax()
    written = [token.item()]
    show(step=0, steps=NEW_TOKENS, parameters=parameters)
    started = time.perf_counter()
    for step in range(1, NEW_TOKENS):
        token = model(token[None], caches, len(prompt) + step - 1).argmax()
        written.append(token.item())
        if step % 4 == 0 or step == NEW_TOKENS - 1:
            show(
                step=step + 1,
                steps=NEW_TOKENS,
                rate=step / (time.perf_counter() - started),
                parameters=parameters,
                memory_bytes=torch.cuda.max_memory_allocated(device) if cuda else None,
                text=PROMPT + tokenizer.decode(written) if tokenizer else "",
            )
seconds = time.perf_counter() - started
print(f"{(NEW_TOKENS - 1) / seconds:.1f} tokens per second with {parameters / 1e6:.0f} million weights on {device}")

# %%
# My first program: a small neural network learns to read digits.
# Nothing is downloaded: the digits are drawn right here.
# 我的第一个程序：一个小神经网络学会认数字。
# 不用下载任何数据，数字当场画出来。
import math
import time

import torch
from torch import nn

# %%
# Use the graphics card if PyTorch can, else the CPU.
# PyTorch 能用显卡就用显卡，否则用 CPU。
device = globals().get("device", "cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(1)


# %%
# How a hand draws each digit: points that are joined by strokes, (x, y) from 0 to 1.
# 手写每个数字的笔画：把这些点连起来，坐标 (x, y) 从 0 到 1。
def arc(x, y, width, height, start, end, points=7):
    angles = [math.radians(start + (end - start) * i / (points - 1)) for i in range(points)]
    return [(x + width * math.cos(a), y + height * math.sin(a)) for a in angles]


DIGITS = [
    [arc(0.5, 0.5, 0.22, 0.34, 0, 360, 9)],
    [[(0.36, 0.3), (0.54, 0.16), (0.54, 0.84)]],
    [[*arc(0.5, 0.34, 0.2, 0.18, 180, 390), (0.3, 0.84), (0.72, 0.84)]],
    [arc(0.47, 0.33, 0.2, 0.17, 200, 450), arc(0.47, 0.66, 0.22, 0.18, 270, 520)],
    [[(0.58, 0.84), (0.58, 0.16), (0.28, 0.62), (0.74, 0.62)]],
    [[(0.7, 0.17), (0.37, 0.17), (0.34, 0.46)], arc(0.47, 0.62, 0.22, 0.21, 230, 520)],
    [arc(0.66, 0.5, 0.34, 0.36, 260, 180, 4), arc(0.5, 0.65, 0.18, 0.19, 180, 540, 8)],
    [[(0.28, 0.17), (0.72, 0.17), (0.44, 0.84)]],
    [arc(0.5, 0.33, 0.17, 0.16, 0, 360, 8), arc(0.5, 0.67, 0.2, 0.18, 0, 360, 8)],
    [arc(0.5, 0.35, 0.18, 0.19, 0, 360, 8), arc(0.34, 0.5, 0.34, 0.36, 0, 80, 4)],
]
STROKES = [[(*a, *b) for line in digit for a, b in zip(line, line[1:])] for digit in DIGITS]
MOST = max(map(len, STROKES))
STROKES = torch.tensor([s + [s[-1]] * (MOST - len(s)) for s in STROKES], device=device)
SIDE = 28
axis = (torch.arange(SIDE, device=device) + 0.5) / SIDE
PIXEL_X, PIXEL_Y = axis.repeat(SIDE)[:, None], axis.repeat_interleave(SIDE)[:, None]


# Draws digits as different people would: slanted, shaky, thick or thin, on dirty paper.
# 像不同的人那样写数字：有的斜，有的抖，有粗有细，纸还不干净。
def draw(labels):
    count = len(labels)
    points = STROKES[labels].reshape(count, -1, 2) - 0.5
    points = points + 0.022 * torch.randn_like(points)
    angle = 0.3 * torch.randn(count, 1, 1, device=device)
    x, y = points[..., :1], points[..., 1:]
    points = torch.cat([x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()], -1)
    size = 0.75 + 0.4 * torch.rand(count, 1, 2, device=device)
    points = points * size + 0.5 + 0.05 * torch.randn(count, 1, 2, device=device)
    x1, y1, x2, y2 = points.reshape(count, 1, -1, 4).unbind(-1)
    dx, dy, across, down = x2 - x1, y2 - y1, PIXEL_X - x1, PIXEL_Y - y1
    share = ((across * dx + down * dy) / (dx * dx + dy * dy + 1e-6)).clamp(0, 1)
    distance = ((across - share * dx) ** 2 + (down - share * dy) ** 2).amin(-1).sqrt()
    thickness = 0.025 + 0.035 * torch.rand(count, 1, device=device)
    ink = torch.sigmoid((thickness - distance) * 60)
    return (ink + 0.15 * torch.randn_like(ink)).clamp(0, 1).reshape(count, 1, SIDE, SIDE)


# %%
# The network: it looks for small shapes, then
# for shapes made of them, then it decides.
# 神经网络：先找小的形状，
# 再找由它们组成的形状，最后作出判断。
network = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(32 * 7 * 7, 10),
).to(device)
optimizer = torch.optim.Adam(
    network.parameters(),
    lr=0.001,
)
loss_function = nn.CrossEntropyLoss()

# %%
# Digits for the exam.
# The network never trains on these.
# 考试用的数字，训练时从不用它们。
exam_labels = torch.arange(500).to(device) % 10
exam = draw(exam_labels)


def take_exam():
    network.eval()
    with torch.inference_mode():
        guesses = network(exam).argmax(1)
    network.train()
    return guesses, (guesses == exam_labels).float().mean().item()


# GPU Assistant's window draws what is passed to show(); anywhere else it is printed.
# 传给 show() 的内容由 GPU 助手的窗口画出来；在别处运行时就打印出来。
def print_figures(step, steps, loss, score, **_):
    print(f"step {step:>4} of {steps}   loss {loss:.3f}   {score:.0%} right")


show = globals().get("show", print_figures)

# %%
# Training: guess, measure the error, improve the network a little. 600 times.
# 训练：猜一次，量出误差，把网络改好一点。重复 600 次。
STEPS, BATCH = 600, 100
started = time.perf_counter()
for step in range(STEPS + 1):
    if step % 10 == 0:
        guesses, score = take_exam()
        loss = loss_function(network(exam[:200]), exam_labels[:200]).item()
        show(
            step=step,
            steps=STEPS,
            loss=loss,
            score=score,
            pictures=exam[:30],
            captions=guesses[:30].tolist(),
            correct=(guesses == exam_labels)[:30].tolist(),
        )
    labels = torch.randint(10, (BATCH,), device=device)
    loss = loss_function(network(draw(labels)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{score:.1%} right on digits it had never seen, after {time.perf_counter() - started:.0f} s on {device}")

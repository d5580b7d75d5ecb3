# %%
# Sorts your own pictures into classes. In the folder lies one folder for each class: cats, dogs, …
# 把你自己的图片分类。文件夹里每一类各有一个子文件夹：猫、狗……
import random
import sys
import time
from pathlib import Path

import torch
from PIL import Image, ImageOps
from torch import nn

device = globals().get("device", "cuda" if torch.cuda.is_available() else "cpu")
folder = Path(globals().get("folder") or (sys.argv[1] if len(sys.argv) > 1 else "pictures"))
torch.manual_seed(1)
random.seed(1)

# %%
# Read the pictures: turned upright, cut to a square, made small. Files that cannot be read are left out.
# 读入图片：转正、裁成方形、缩小。读不了的文件跳过。
SIDE, MOST = 64, 500
ENDINGS = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"}


def read_picture(path):
    with Image.open(path) as file:
        picture = ImageOps.fit(ImageOps.exif_transpose(file).convert("RGB"), (SIDE, SIDE))
    pixels = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)
    return pixels.reshape(SIDE, SIDE, 3).permute(2, 0, 1).float() / 255


classes, training, exam, skipped = [], [], [], 0
for subfolder in sorted(each for each in folder.iterdir() if each.is_dir() and not each.name.startswith(".")):
    paths = sorted(path for path in subfolder.rglob("*") if path.suffix.lower() in ENDINGS)
    random.shuffle(paths)
    pictures = []
    for path in paths[:MOST]:
        try:
            pictures.append(read_picture(path))
        except Exception as error:
            skipped += 1
            print(f"left out: {path} ({error})")
    if len(pictures) < 2:
        continue
    # One in five is kept for the exam: the network never trains on it.
    # 每五张留一张考试，训练时不用。
    held_back = max(1, len(pictures) // 5)
    exam += [(picture, len(classes)) for picture in pictures[:held_back]]
    training += [(picture, len(classes)) for picture in pictures[held_back:]]
    classes.append(subfolder.name)
if len(classes) < 2:
    raise ValueError("there must be at least two folders with pictures that can be read")
random.shuffle(exam)
inputs = torch.stack([picture for picture, _ in training]).to(device)
labels = torch.tensor([label for _, label in training], device=device)
exam_inputs = torch.stack([picture for picture, _ in exam]).to(device)
exam_labels = torch.tensor([label for _, label in exam], device=device)


# %%
# The network. With weights of your own, as torchvision has them for ResNet-18, it begins with what they know.
# 神经网络。如果你有权重文件（torchvision 的 ResNet-18），就从它已经学到的开始。
def block(channels_in, channels_out):
    convolution = nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(channels_out), nn.ReLU(), nn.MaxPool2d(2))


weights = globals().get("weights")
if weights:
    from torchvision.models import resnet18

    network = resnet18()
    network.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    network.fc = nn.Linear(network.fc.in_features, len(classes))
    learning_rate = 0.0002
else:
    network = nn.Sequential(
        block(3, 32), block(32, 64), block(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, len(classes))
    )
    learning_rate = 0.002
network = network.to(device)
optimizer = torch.optim.AdamW(network.parameters(), lr=learning_rate)
loss_function = nn.CrossEntropyLoss(label_smoothing=0.05)


# Few pictures become many: mirrored, shifted, brighter and darker.
# 图片不够就变花样：镜像、平移、变亮变暗。
def vary(pictures):
    flipped = torch.rand(len(pictures), 1, 1, 1, device=device) < 0.5
    pictures = torch.where(flipped, pictures.flip(-1), pictures)
    down, right = random.randint(-6, 6), random.randint(-6, 6)
    brightness = 0.7 + 0.6 * torch.rand(len(pictures), 1, 1, 1, device=device)
    return (pictures.roll((down, right), (-2, -1)) * brightness).clamp(0, 1)


def print_figures(step, steps, loss, score, **_):
    print(f"step {step:>4} of {steps}   loss {loss:.3f}   {score:.0%} right")


show = globals().get("show", print_figures)

# %%
# Training, and an exam every few steps.
# 训练，每隔几步考一次试。
STEPS, BATCH = 300, min(32, len(inputs))
started = time.perf_counter()
for step in range(STEPS + 1):
    if step % 10 == 0:
        network.eval()
        with torch.inference_mode():
            scores = torch.cat([network(part) for part in exam_inputs.split(128)])
            guesses = scores.argmax(1)
            loss_value = loss_function(scores, exam_labels).item()
        network.train()
        right = guesses == exam_labels
        score = right.float().mean().item()
        show(
            step=step,
            steps=STEPS,
            loss=loss_value,
            score=score,
            skipped=skipped,
            pictures=exam_inputs[:24],
            captions=[classes[guess] for guess in guesses[:24].tolist()],
            correct=right[:24].tolist(),
        )
    chosen = torch.randint(len(inputs), (BATCH,), device=device)
    loss = loss_function(network(vary(inputs[chosen])), labels[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# %%
# How well it learned.
# 学得怎么样。
print(f"{score:.1%} of {len(exam)} pictures right that it had never seen, after {time.perf_counter() - started:.0f} s")

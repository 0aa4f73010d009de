"""The same program as main.cpp in PyTorch: a vision transformer that classifies pictures.

    python examples/vit/pytorch.py [--data FOLDER] [--epochs N] [--batch N] [--lr RATE] [--seed N] [--out FOLDER]

The folder has the files of Fashion-MNIST, as Debian's package dataset-fashion-mnist installs them. (main.cpp can also
shift and flip pictures, and draws shapes where it is given no folder.)
"""

import argparse
import csv
import gzip
from pathlib import Path

import matplotlib
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CLASSES = ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"]


class Block(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def forward(self, x, need_weights=False):
        h = self.norm1(x)
        attended, weights = self.attention(h, h, h, need_weights=need_weights)
        x = x + attended
        return x + self.mlp(self.norm2(x)), weights


class VisionTransformer(nn.Module):
    def __init__(self, image, patch, channels, dim, heads, layers, hidden, classes):
        super().__init__()
        self.patches = nn.Conv2d(channels, dim, patch, stride=patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.positions = nn.Parameter(0.02 * torch.randn(1, (image // patch) ** 2 + 1, dim))
        self.blocks = nn.ModuleList([Block(dim, heads, hidden) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, images, need_weights=False):
        tokens = self.patches(images).flatten(2).transpose(1, 2)  # (B, N, C)
        x = torch.cat([self.class_token.expand(len(tokens), -1, -1), tokens], dim=1) + self.positions
        weights = []
        for block in self.blocks:
            x, attention = block(x, need_weights)
            weights.append(attention)
        logits = self.head(self.norm(x[:, 0]))
        return (logits, weights) if need_weights else logits


def read_idx(path, offset):
    with gzip.open(path) as file:
        return torch.from_numpy(np.frombuffer(file.read(), np.uint8, offset=offset).copy())


def read_images(folder, name):
    images = read_idx(folder / f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
    labels = read_idx(folder / f"{name}-labels-idx1-ubyte.gz", 8)
    return images.float() / 255, labels.long()


@torch.no_grad()
def answers(model, images, labels):
    model.eval()
    logits = torch.cat([model(part) for part in images.split(250)])
    model.train()
    probabilities = logits.softmax(1)
    guesses = probabilities.argmax(1)
    return probabilities, guesses, F.cross_entropy(logits, labels).item(), (guesses == labels).float().mean().item()


@torch.no_grad()
def rollout(model, images):
    """How much each patch has had a say in the class token (Abnar, Zuidema 2020)."""
    _, weights = model.eval()(images, need_weights=True)
    steps = torch.eye(weights[0].shape[1])
    for attention in weights:
        steps = (attention + torch.eye(attention.shape[1])) / 2 @ steps
    patches = steps[:, 0, 1:]
    side = round(patches.shape[1] ** 0.5)
    return (patches / patches.amax(1, keepdim=True)).reshape(-1, 1, side, side)


def draw_grid(path, title, images, captions, columns):
    rows = -(-len(images) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(1.2 * columns, 1.4 * rows), squeeze=False)
    figure.suptitle(title)
    for axis in axes.flat:
        axis.axis("off")
    for axis, image, caption in zip(axes.flat, images, captions):
        axis.imshow(image[0], cmap="gray", vmin=0, vmax=1)
        axis.set_title(caption, fontsize=6)
    figure.savefig(path)


def draw_answers(out, images, labels, probabilities, guesses):
    wrong = (guesses != labels).nonzero()[:, 0]
    worst = wrong[probabilities[wrong, guesses[wrong]].argsort(descending=True)][:24]
    captions = [f"{CLASSES[guesses[i]]}, not {CLASSES[labels[i]]}" for i in worst]
    draw_grid(out / "mistakes.svg", "The mistakes it was surest of", images[worst], captions, 6)
    confusion = torch.zeros(10, 10)
    for label, guess in zip(labels, guesses):
        confusion[label, guess] += 1
    figure, axis = plt.subplots()
    axis.imshow(confusion / confusion.sum(1, keepdim=True))
    axis.set(title="What was taken for what", xticks=range(10), yticks=range(10), yticklabels=CLASSES)
    axis.set_xticklabels(CLASSES, rotation=90)
    figure.savefig(out / "confusion.svg", bbox_inches="tight")


def draw_curves(path, history):
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.5))
    for axis, name, values in zip(axes, ["training loss", "test loss", "accuracy"], list(zip(*history))[1:]):
        axis.plot(range(1, len(history) + 1), values)
        axis.set(title=name, xlabel="epoch")
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description="A vision transformer that classifies pictures.")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder with IDX files")
    parser.add_argument("--epochs", type=int, default=7, help="times that every picture is seen")
    parser.add_argument("--batch", type=int, default=64, help="pictures in a step")
    parser.add_argument("--lr", type=float, default=2e-3, help="largest learning rate")
    parser.add_argument("--seed", type=int, default=1, help="seed of all randomness")
    parser.add_argument("--threads", type=int, default=1, help="threads to compute with")
    parser.add_argument("--out", default="out/vit_pytorch", help="folder for results")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)

    images, labels = read_images(Path(args.data), "train")
    test_images, test_labels = read_images(Path(args.data), "t10k")
    mean, deviation = images.mean(), images.std()
    test = (test_images - mean) / deviation
    dataset = TensorDataset((images - mean) / deviation, labels)
    loader = DataLoader(dataset, batch_size=args.batch, shuffle=True, drop_last=True)
    model = VisionTransformer(28, 4, 1, dim=64, heads=4, layers=4, hidden=128, classes=10)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters} parameters, {len(images)} pictures to train, {len(test_images)} to test")

    decayed = [p for p in model.parameters() if p.dim() in (2, 4)]
    others = [p for p in model.parameters() if p.dim() not in (2, 4)]
    groups = [{"params": decayed, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=args.lr)
    steps = args.epochs * len(loader)
    warmup = 1 + steps // 20
    rise = torch.optim.lr_scheduler.LinearLR(optimizer, 1 / warmup, total_iters=warmup - 1)
    fall = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1 + steps - warmup)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [rise, fall], milestones=[warmup])

    history = []
    for epoch in range(1, args.epochs + 1):
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            total += loss.item()
        probabilities, guesses, test_loss, accuracy = answers(model, test, test_labels)
        history.append((epoch, total / len(loader), test_loss, accuracy))
        print("epoch {}: training loss {:.3f}, test loss {:.3f}, accuracy {:.4f}".format(*history[-1]))
        with open(out / "log.csv", "w", newline="") as file:
            csv.writer(file).writerows([("epoch", "train_loss", "test_loss", "accuracy"), *history])
        draw_curves(out / "curves.svg", history)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, out / "checkpoint.pt")

    draw_answers(out, test_images, test_labels, probabilities, guesses)
    light = F.interpolate(rollout(model, test[:16]), size=28, mode="bilinear")
    pairs = torch.stack([test_images[:16], test_images[:16] * light], 1).flatten(0, 1)
    captions = [caption for label in test_labels[:16] for caption in (CLASSES[label], "looked at")]
    draw_grid(out / "attention.svg", "Pictures, and what the class token looked at", pairs, captions, 8)
    print(f"result loss={test_loss:.4f} accuracy={accuracy:.4f}")


if __name__ == "__main__":
    main()

"""A convolutional network tells drawn shapes apart: crosses, stripes, checkers and crescents."""

import math
import sys

import matplotlib
import torch
import torch.nn.functional as F
from matplotlib import pyplot as plt
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

matplotlib.use("Agg")

names = ["cross", "stripes", "checkers", "crescent"]
epochs = 12


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3)
        self.conv2 = nn.Conv2d(16, 32, 3)
        self.hidden = nn.Linear(32 * 2 * 2, 64)
        self.head = nn.Linear(64, 4)

    def forward(self, x):  # (B, 1, 16, 16)
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)  # (B, 16, 7, 7)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)  # (B, 32, 2, 2)
        return self.head(F.relu(self.hidden(x.flatten(1))))


def uniform(n, low, high):
    return low + (high - low) * torch.rand(n, 1, 1)


def draw_shapes(n, size=16):
    """n pictures (n, 1, size, size): each shape has a size, a place, an angle and a brightness of its own."""
    label = torch.randint(4, (n,))
    radius = uniform(n, 0.22, 0.42)
    angle = uniform(n, 0, 2 * math.pi)
    # A pixel is the mean of three points in each direction.
    axis = (torch.arange(3 * size) + 0.5) / (3 * size)
    x = (axis - radius - (1 - 2 * radius) * torch.rand(n, 1, 1)) / radius
    y = (axis.unsqueeze(1) - radius - (1 - 2 * radius) * torch.rand(n, 1, 1)) / radius
    u = torch.cos(angle) * x + torch.sin(angle) * y
    v = torch.cos(angle) * y - torch.sin(angle) * x

    outer = torch.maximum(u.abs(), v.abs())
    inner = torch.minimum(u.abs(), v.abs())
    cross = (outer <= 1) & (inner <= 0.25)
    stripes = (outer <= 0.8) & (torch.floor((u + 0.8) / 0.32) % 2 == 0)
    checkers = (outer <= 0.8) & ((torch.floor((u + 0.8) / 0.54) + torch.floor((v + 0.8) / 0.54)) % 2 == 0)
    crescent = (u**2 + v**2 <= 1) & ((u - 0.5) ** 2 + v**2 >= 0.64)
    shapes = torch.stack([cross, stripes, checkers, crescent], dim=1).float()  # (n, 4, 3 size, 3 size)
    shape = shapes[torch.arange(n), label].unsqueeze(1)

    ground = uniform(n, 0, 0.35).unsqueeze(1)
    light = uniform(n, 0.55, 1).unsqueeze(1)
    image = ground + (light - ground) * F.avg_pool2d(shape, 3)
    return (image + 0.02 * torch.randn(image.shape)).clamp(0, 1), label


torch.manual_seed(1)
train_set = TensorDataset(*draw_shapes(5000))
test_images, test_labels = draw_shapes(500)
loader = DataLoader(train_set, batch_size=50, shuffle=True)
cnn = Cnn()
optimizer = torch.optim.AdamW(cnn.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(loader))

for epoch in range(1, epochs + 1):
    total = 0.0
    for images, labels in loader:
        loss = F.cross_entropy(cnn(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item()
    print(f"epoch {epoch:2}  loss {total / len(loader):.4f}")

with torch.no_grad():
    guesses = cnn(test_images).argmax(1)
accuracy = (guesses == test_labels).float().mean().item()

# The first test pictures, with the network's predictions.
figure, axes = plt.subplots(4, 8, figsize=(10, 6))
for i, ax in enumerate(axes.flat):
    right = guesses[i] == test_labels[i]
    ax.imshow(test_images[i, 0], cmap="gray", vmin=0, vmax=1)
    ax.set_title(names[guesses[i]] if right else f"not {names[guesses[i]]}")
    ax.axis("off")
figure.suptitle("Predictions for pictures that the network has not seen")
figure.savefig("shapes.png")
print(f"result accuracy={accuracy:.4f}")
sys.exit(0 if accuracy > 0.95 else 1)

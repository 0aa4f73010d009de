"""Diffusion (DDPM, Ho et al. 2020) on points of the plane: noise becomes two moons, step by step."""

import math
import sys

import matplotlib
import torch
import torch.nn.functional as F
from matplotlib import pyplot as plt
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

matplotlib.use("Agg")

steps = 100  # of the noise
epochs = 80


class Denoiser(nn.Module):
    """Predicts the noise in a point, from its place and the number of noise steps so far."""

    def __init__(self, width=128):
        super().__init__()
        self.input = nn.Linear(3, width)
        self.hidden1 = nn.Linear(width, width)
        self.hidden2 = nn.Linear(width, width)
        self.output = nn.Linear(width, 2)

    def forward(self, x, step):  # (B, 2), (B) -> (B, 2)
        time = 2 * step.unsqueeze(1) / steps - 1
        h = F.silu(self.input(torch.cat([x, time], dim=1)))
        h = F.silu(self.hidden1(h))
        h = F.silu(self.hidden2(h))
        return self.output(h)


def moons(n):
    """Two interleaving half circles."""
    angle = math.pi * torch.rand(n)
    upper = torch.arange(n) % 2 == 0
    x = torch.where(upper, torch.cos(angle), 1 - torch.cos(angle))
    y = torch.where(upper, torch.sin(angle), 0.5 - torch.sin(angle))
    return torch.stack([2 * x - 1, 3 * y - 0.75], dim=1) + 0.1 * torch.randn(n, 2)


def energy_distance(a, b):
    """How far apart two clouds of points are: 0 if they are drawn from the same distribution (Szekely 2003)."""
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


# q(x_t | x_0) = N(sqrt(alpha_bar_t) x_0, 1 - alpha_bar_t)
beta = torch.linspace(1e-4, 0.1, steps)
alpha = 1 - beta
alpha_bar = torch.cumprod(alpha, dim=0)


def add_noise(x, step, noise):
    kept = alpha_bar[step].unsqueeze(1)
    return torch.sqrt(kept) * x + torch.sqrt(1 - kept) * noise


def sample(model, n):
    """From noise to points, removing the noise of one step at a time; with the clouds on the way."""
    x = torch.randn(n, 2)
    clouds = [x]
    with torch.no_grad():
        for step in reversed(range(steps)):
            noise = model(x, torch.full((n,), step))
            x = (x - beta[step] / torch.sqrt(1 - alpha_bar[step]) * noise) / torch.sqrt(alpha[step])
            if step > 0:
                x = x + torch.sqrt(beta[step]) * torch.randn(n, 2)
            clouds.append(x)
    return clouds


torch.manual_seed(1)
loader = DataLoader(TensorDataset(moons(10_000)), batch_size=200, shuffle=True)
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(loader))

for epoch in range(1, epochs + 1):
    total = 0.0
    for (x,) in loader:
        step = torch.randint(steps, (len(x),))
        noise = torch.randn_like(x)
        loss = F.mse_loss(model(add_noise(x, step, noise), step), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item()
    if epoch % 10 == 0:
        print(f"epoch {epoch}  loss {total / len(loader):.4f}")

clouds = sample(model, 1000)
test = moons(1000)
distance = energy_distance(clouds[-1], test)
noise_distance = energy_distance(clouds[0], test)

figure, axes = plt.subplots(2, 3, figsize=(12, 8), sharex=True, sharey=True)
for ax, done in zip(axes.flat, [0, 50, 75, 90, 100]):
    ax.scatter(clouds[done][:400, 0], clouds[done][:400, 1], s=5)
    ax.set_title(f"after {done} of {steps} steps")
axes[1, 2].scatter(test[:400, 0], test[:400, 1], s=5)
axes[1, 2].set_title("what it learnt from")
figure.suptitle("Noise becomes two moons")
figure.tight_layout()
figure.savefig("diffusion.png")
print(f"result distance={distance:.4f} noise={noise_distance:.4f}")
sys.exit(0 if distance < 0.02 else 1)

"""A network solves Burgers' equation u_t + u u_x = nu u_xx, of a wave that steepens into a shock, without a grid and
without data: only the equation is its loss (Raissi, Perdikaris, Karniadakis 2019)."""

import math
import sys

import matplotlib
import torch
from matplotlib import pyplot as plt
from torch import nn

matplotlib.use("Agg")

nu = 0.01 / math.pi


class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, x, t):
        # For all weights, u(x, 0) = -sin(pi x) and u(-1, t) = u(1, t) = 0.
        correction = self.layers(torch.cat([x, 2 * t - 1], dim=1))
        return -torch.sin(math.pi * x) + t * (1 - x**2) * correction


def equation_loss(u, x, t):
    """The mean square of the residual of the equation."""
    y = u(x, t)
    y_x, y_t = torch.autograd.grad(y.sum(), (x, t), create_graph=True)
    (y_xx,) = torch.autograd.grad(y_x.sum(), x, create_graph=True)
    return (y_t + y * y_x - nu * y_xx).square().mean()


def points(n):
    """Places and times at random, half of the places near the middle, where the shock will be."""
    x = torch.cat([2 * torch.rand(n // 2, 1) - 1, 0.4 * torch.rand(n // 2, 1) - 0.2])
    t = torch.rand(n, 1)
    return x.requires_grad_(), t.requires_grad_()


def exact(x, t):
    """The exact solution of Cole and Hopf, a mean over starting points; the integral is a sum."""
    z = torch.linspace(-10, 10, 801)
    origin = x - 2 * torch.sqrt(nu * t) * z
    weight = torch.softmax(-torch.cos(math.pi * origin) / (2 * math.pi * nu) - z**2, dim=-1)
    return -(weight * torch.sin(math.pi * origin)).sum(-1, keepdim=True)


torch.manual_seed(1)
u = Net()

# First Adam, with new points in every step, then L-BFGS to the end, with the same points.
adam = torch.optim.Adam(u.parameters(), lr=3e-3)
for step in range(1, 501):
    loss = equation_loss(u, *points(1000))
    adam.zero_grad()
    loss.backward()
    adam.step()
    if step % 100 == 0:
        print(f"Adam, step {step}  loss {loss.item():.2e}")

x, t = points(2000)
lbfgs = torch.optim.LBFGS(u.parameters(), max_iter=250, history_size=50, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss = equation_loss(u, x, t)
    loss.backward()
    return loss


for step in range(1, 9):
    loss = lbfgs.step(closure)
    print(f"L-BFGS, iteration {250 * step}  loss before it {loss.item():.2e}")

places = torch.linspace(-1, 1, 201).unsqueeze(1)
times = [0.25, 0.5, 0.75, 1.0]
wrong, whole = 0.0, 0.0
figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharey=True)
with torch.no_grad():
    for time, ax in zip(times, axes.flat):
        t = torch.full_like(places, time)
        learned, truth = u(places, t), exact(places, t)
        wrong += (learned - truth).square().sum().item()
        whole += truth.square().sum().item()
        ax.plot(places, learned, label="network")
        ax.plot(places, truth, "--", label="exact")
        ax.set_title(f"t = {time}")
        ax.set_xlabel("x")
        ax.set_ylabel("u")
error = math.sqrt(wrong / whole)
axes[0, 0].legend()
figure.suptitle("Burgers' equation: a wave becomes a shock")
figure.tight_layout()
figure.savefig("pinn.png")
print(f"result error={error:.4f}")
sys.exit(0 if error < 0.05 else 1)

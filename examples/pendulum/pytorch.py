"""A network learns how a pendulum swings from its equation alone, u'' = -sin u, u(0) = 1, u'(0) = 0: the derivatives of
the network with respect to time are part of the loss. The comparison is with a numerical solution."""

import math
import sys

import matplotlib
import torch
from matplotlib import pyplot as plt
from torch import nn

matplotlib.use("Agg")

steps = 2000


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(1, 24)
        self.hidden = nn.Linear(24, 24)
        self.output = nn.Linear(24, 1)

    def forward(self, t):
        # For all weights, u(0) = 1 and u'(0) = 0.
        return 1 + t**2 * self.output(torch.tanh(self.hidden(torch.tanh(self.input(t)))))


def swing(n, h=0.001):
    """The angles at n times 0.05 apart, by the leapfrog method."""
    angles, angle = [], 1.0
    velocity = -h / 2 * math.sin(angle)
    for i in range(50 * n):
        if i % 50 == 0:
            angles.append(angle)
        angle += h * velocity
        velocity -= h * math.sin(angle)
    return torch.tensor(angles)


torch.manual_seed(1)
u = Net()
optimizer = torch.optim.Adam(u.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
t = torch.linspace(0, 3, 61).unsqueeze(1).requires_grad_()

for step in range(1, steps + 1):
    x = u(t)
    (velocity,) = torch.autograd.grad(x.sum(), t, create_graph=True)
    (acceleration,) = torch.autograd.grad(velocity.sum(), t, create_graph=True)
    loss = (acceleration + torch.sin(x)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 500 == 0:
        print(f"step {step}  loss {loss.item():.2e}")

times = torch.linspace(0, 6, 121)
truth = swing(121)
with torch.no_grad():
    learned = u(times.unsqueeze(1)).squeeze(1)
error = (learned - truth)[:61].abs().max().item()

plt.figure(figsize=(8, 4.5))
plt.plot(times[:61], learned[:61], label="network, where it knows the equation")
plt.plot(times[60:], learned[60:], label="network, beyond")
plt.plot(times, truth, "--", label="numerical solution")
plt.title("A pendulum, from its equation alone")
plt.xlabel("time")
plt.ylabel("angle")
plt.legend()
plt.savefig("pendulum.png")
print(f"result error={error:.2e}")
sys.exit(0 if error < 1e-3 else 1)

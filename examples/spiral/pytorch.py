"""Two spirals wound into each other: a network learns which of them a point lies on."""

import math
import sys

import matplotlib
import torch
import torch.nn.functional as F
from matplotlib import pyplot as plt
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

matplotlib.use("Agg")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(2, 64)
        self.hidden = nn.Linear(64, 64)
        self.output = nn.Linear(64, 2)

    def forward(self, x):
        return self.output(F.relu(self.hidden(F.relu(self.input(x)))))


def spirals(n):
    label = torch.arange(n) % 2
    radius = 3 * torch.rand(n)
    angle = math.pi * (radius + label)
    place = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=1)
    return place + 0.03 * torch.randn(n, 2), label


torch.manual_seed(1)
loader = DataLoader(TensorDataset(*spirals(1000)), batch_size=50, shuffle=True)
test_x, test_label = spirals(300)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

for epoch in range(1, 31):
    total = 0.0
    for x, label in loader:
        loss = F.cross_entropy(net(x), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 0:
        print(f"epoch {epoch:2}  loss {total / len(loader):.4f}")

with torch.no_grad():
    accuracy = (net(test_x).argmax(1) == test_label).float().mean().item()
    # The network's answer at every point of the plane, and the test points.
    axis = torch.linspace(-3.2, 3.2, 65)
    plane = torch.stack(torch.meshgrid(axis, axis, indexing="xy"), dim=-1)
    answer = net(plane).argmax(-1)
plt.figure(figsize=(6, 6))
plt.pcolormesh(axis, axis, answer, cmap="coolwarm", alpha=0.3)
plt.scatter(test_x[:, 0], test_x[:, 1], c=test_label, cmap="coolwarm", s=12)
plt.title("Predictions over the plane; points it has not seen")
plt.savefig("spiral.png")
print(f"result accuracy={accuracy:.4f}")
sys.exit(0 if accuracy > 0.97 else 1)

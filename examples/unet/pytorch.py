"""A U-Net classifies each pixel of a noisy picture: ground, disc, square or triangle.

Ronneberger, Fischer, Brox: U-Net: Convolutional Networks for Biomedical Image Segmentation, 2015.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIZE = 32  # pixels of a side
EPOCHS = 8
CLASSES = ["ground", "disc", "square", "triangle"]


def draw_pictures(count):
    """Pictures (count, 1, SIZE, SIZE) with three shapes each, and the class of each pixel (count, SIZE, SIZE)."""
    rows, columns = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    labels = torch.zeros(count, SIZE, SIZE, dtype=torch.long)
    images = 0.3 * torch.rand(count, 1, 1).expand(count, SIZE, SIZE)
    for label in range(1, len(CLASSES)):
        radius = 4 + 3 * torch.rand(count, 1, 1)
        x = (columns - 5 - 22 * torch.rand(count, 1, 1)) / radius
        y = (rows - 5 - 22 * torch.rand(count, 1, 1)) / radius
        if label == 1:
            inside = x**2 + y**2 < 1
        elif label == 2:
            inside = torch.maximum(x.abs(), y.abs()) < 0.85
        else:
            inside = (y < 0.8) & (y > 2 * x.abs() - 1.2)
        labels[inside] = label
        images = torch.where(inside, 0.5 + 0.5 * torch.rand(count, 1, 1), images)
    return (images + 0.1 * torch.randn(count, SIZE, SIZE)).unsqueeze(1), labels


class DoubleConv(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
            nn.Conv2d(out_channels, out_channels, 3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        )

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    """Down to a quarter of the size and up again; each level up also sees the features of the same level down."""

    def __init__(self, width=16):
        super().__init__()
        self.down1 = DoubleConv(1, width)
        self.down2 = DoubleConv(width, 2 * width)
        self.bottom = DoubleConv(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.conv2 = DoubleConv(4 * width, 2 * width)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.conv1 = DoubleConv(2 * width, width)
        self.head = nn.Conv2d(width, len(CLASSES), 1)

    def forward(self, x):
        skip1 = self.down1(x)
        skip2 = self.down2(F.max_pool2d(skip1, 2))
        x = self.bottom(F.max_pool2d(skip2, 2))
        x = self.conv2(torch.cat([skip2, self.up2(x)], dim=1))
        x = self.conv1(torch.cat([skip1, self.up1(x)], dim=1))
        return self.head(x)


@torch.no_grad()
def evaluate(model, images, labels):
    """The share of pixels that are right, and intersection over union (Jaccard's index), the mean over the classes."""
    model.eval()
    guesses = model(images).argmax(dim=1)
    ious = []
    for label in range(len(CLASSES)):
        guessed, true = guesses == label, labels == label
        ious.append((guessed & true).sum().item() / (guessed | true).sum().item())
    model.train()
    return guesses, (guesses == labels).float().mean().item(), sum(ious) / len(ious)


def save_picture(images, labels, guesses):
    grey, colours = {"cmap": "gray", "vmin": 0, "vmax": 1}, {"cmap": "tab10", "vmin": 0, "vmax": 9}
    rows = [("picture", images[:, 0], grey), ("truth", labels, colours), ("U-Net", guesses, colours)]
    fig, axes = plt.subplots(3, 8, figsize=(10, 4))
    for row, (title, pictures, look) in zip(axes, rows):
        row[0].set_ylabel(title)
        for ax, picture in zip(row, pictures):
            ax.imshow(picture, **look)
            ax.set(xticks=[], yticks=[])
    fig.suptitle("Predictions of a U-Net for pictures that it has not seen")
    fig.savefig("unet.svg")


def main():
    torch.manual_seed(1)
    train_loader = DataLoader(TensorDataset(*draw_pictures(600)), batch_size=20, shuffle=True)
    test_images, test_labels = draw_pictures(200)

    model = UNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
    for epoch in range(EPOCHS):
        total_loss = 0.0
        for images, labels in train_loader:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total_loss += loss.item()
        scheduler.step()
        guesses, accuracy, iou = evaluate(model, test_images, test_labels)
        print(f"epoch {epoch + 1}  loss {total_loss / len(train_loader):.4f}  pixels {accuracy:.4f}  IoU {iou:.4f}")

    save_picture(test_images, test_labels, guesses)
    print(f"result accuracy={accuracy:.4f} iou={iou:.4f}")
    return 0 if iou > 0.85 else 1


if __name__ == "__main__":
    sys.exit(main())

"""An LSTM learns to write, character by character, from a novel."""

import math
import sys
from pathlib import Path

import matplotlib
import torch
import torch.nn.functional as F
from matplotlib import pyplot as plt
from torch import nn
from torch.utils.data import DataLoader, Dataset

matplotlib.use("Agg")

epochs = 5
context = 64


class Windows(Dataset):
    """Windows of a text: sample i is some characters, and for each of them the next one."""

    def __init__(self, ids):
        self.ids = ids

    def __len__(self):
        return (len(self.ids) - 1) // context

    def __getitem__(self, i):
        begin = i * context
        return self.ids[begin : begin + context], self.ids[begin + 1 : begin + context + 1]


class CharacterModel(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 32)
        self.lstm = nn.LSTM(32, 128, batch_first=True)
        self.head = nn.Linear(128, vocabulary)

    def forward(self, ids):  # (B, T) -> (B, T, V)
        output, _ = self.lstm(self.embedding(ids))
        return self.head(output)


text = (Path(__file__).parent.parent / "data/pride_and_prejudice.txt").read_text()[:200_000]
characters = sorted(set(text))
number = {character: i for i, character in enumerate(characters)}


def encode(text):
    return torch.tensor([number[character] for character in text])


def decode(ids):
    return "".join(characters[i] for i in ids)


def perplexity(model, loader):
    """Perplexity: the model is as surprised as by a fair choice among so many characters."""
    total, count = 0.0, 0
    with torch.no_grad():
        for ids, following in loader:
            total += F.cross_entropy(model(ids).transpose(1, 2), following, reduction="sum").item()
            count += following.numel()
    return math.exp(total / count)


def surprise(model, ids):
    """How many bits each character but the first one is worth to a model that has read those before it."""
    with torch.no_grad():
        logits = model(ids[:-1].unsqueeze(0))[0]
        return F.cross_entropy(logits, ids[1:], reduction="none") / math.log(2)


def write(model, prompt, count):
    """Draws one character after the other, each from the model's prediction after those before it."""
    ids = encode(prompt)
    with torch.no_grad():
        for _ in range(count):
            logits = model(ids[-context:].unsqueeze(0))[0, -1]
            following = torch.multinomial(F.softmax(logits / 0.7, dim=-1), 1)
            ids = torch.cat([ids, following])
    return decode(ids.tolist())


torch.manual_seed(1)
ids = encode(text)
most = len(ids) * 9 // 10
loader = DataLoader(Windows(ids[:most]), batch_size=16, shuffle=True, drop_last=True)
held_out = DataLoader(Windows(ids[most:]), batch_size=64)
sentence = encode("It is a truth that a man of such manners must be happy.")
model = CharacterModel(len(characters))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(loader), eta_min=4e-4)

surprises = [surprise(model, sentence)]
for epoch in range(1, epochs + 1):
    for ids, following in loader:
        loss = F.cross_entropy(model(ids).transpose(1, 2), following)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    surprises.append(surprise(model, sentence))
    print(f"epoch {epoch}  perplexity {perplexity(model, held_out):.2f} of {len(characters)}")
    print(write(model, "Mr. ", 70).replace("\n", " "))

plt.figure(figsize=(12, 3))
plt.imshow(torch.stack(surprises), cmap="Blues", aspect="auto")
plt.xticks(range(len(sentence) - 1), decode(sentence[1:].tolist()))
plt.yticks(range(epochs + 1), [f"epoch {epoch}" for epoch in range(epochs + 1)])
plt.title("How much each character of a new sentence surprises the model, in bits")
plt.colorbar(pad=0.02)
plt.tight_layout()
plt.savefig("characters.png")
score = perplexity(model, held_out)
print(f"result perplexity={score:.3f}")
sys.exit(0 if score < 8 else 1)

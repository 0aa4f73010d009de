#!/usr/bin/env python3
"""The workloads of workloads.cpp in PyTorch on the CPU: the same sizes, data, optimizers and steps.

    tests/bench/compare --peer tests/bench/pytorch.py --peer 'tests/bench/pytorch.py --compile'
    tests/bench/pytorch.py W2 1 20 --losses --weights w2.safetensors     # writes them; tests/bench/run takes the same options

Attention is F.scaled_dot_product_attention, or with --plain a product, a softmax and a product. --compile compiles the loss with
its gradients, and the optimizer, but not W5 (a graph of 100,000 nodes) and decoding (W9, W9b). Needs PyTorch 2.4.
"""
import argparse
import math
import resource
import statistics
import sys
import time
from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F


class Data:
    """The generator of measure.h, so that both programs get the same numbers."""
    state = (42 * 0x9E3779B97F4A7C15 + 1) % 2**64

    def numbers(self, *shape, count=None):
        """In [0, 1), or integers below `count`."""
        def one():
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
            x = (self.state >> 33) / 2**31
            return x if count is None else int(x * count)
        return torch.tensor([one() for _ in range(math.prod(shape))]).reshape(shape)


class Attention(nn.Module):
    """One map for queries, keys and values, or three without biases. A mask is added to the scores."""

    def __init__(self, dim, heads, packed=True):
        super().__init__()
        self.heads, self.packed, self.o = heads, packed, nn.Linear(dim, dim, bias=packed)
        self.qkv = nn.Linear(dim, 3 * dim) if packed else nn.ModuleList(nn.Linear(dim, dim, bias=False) for _ in range(3))

    def forward(self, x, mask=None, memory=None, cache=None):
        rows = (x, x, x) if memory is None else (x, memory, memory)
        parts = self.qkv(x).chunk(3, -1) if self.packed else [one(each) for one, each in zip(self.qkv, rows)]
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        if cache is not None:
            keys, values, first, end = *cache[:3], cache[2] + k.shape[2]
            keys[:, :, first:end], values[:, :, first:end] = k, v
            k, v = keys[:, :, :end], values[:, :, :end]
        if given.plain:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            y = (scores if mask is None else scores + mask).softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.o(y.transpose(1, 2).flatten(2))


def causal(length):
    return torch.full((length, length), -math.inf).triu(1)


def mlp(dim, hidden, activation):
    return nn.Sequential(OrderedDict(fc1=nn.Linear(dim, hidden), activation=activation, fc2=nn.Linear(hidden, dim)))


class Block(nn.Module):
    """Pre-norm, of GPT and the vision transformer."""

    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.attn, self.norm2 = nn.LayerNorm(dim), Attention(dim, heads), nn.LayerNorm(dim)
        self.ffn = mlp(dim, 4 * dim, nn.GELU("tanh"))

    def forward(self, x, mask=None, cache=None):
        x = x + self.attn(self.norm1(x), mask, cache=cache)
        return x + self.ffn(self.norm2(x))


class Gpt(nn.Module):
    """With the names of nn::Gpt."""

    def __init__(self, vocabulary, context, dim, heads, layers):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(vocabulary, dim), nn.Embedding(context, dim)
        self.blocks, self.norm = nn.ModuleList(Block(dim, heads) for _ in range(layers)), nn.LayerNorm(dim)
        for name, p in self.named_parameters():
            nn.init.normal_(p, std=0.02) if p.dim() == 2 else nn.init.constant_(p, name.endswith("weight"))

    def forward(self, ids, mask, caches=None, first=0):
        x = self.embedding(ids) + self.positions.weight[first:first + ids.shape[1]]
        for i, block in enumerate(self.blocks):
            x = block(x, mask, None if caches is None else (*caches[i], first))
        return self.norm(x if caches is None else x[:, -1:]) @ self.embedding.weight.T


class PostNorm(nn.Module):
    """Self-attention, attention to the memory in a decoder, and feed-forward."""

    def __init__(self, dim, heads, hidden, decoder):
        super().__init__()
        self.attn, self.ffn = Attention(dim, heads, packed=False), mlp(dim, hidden, nn.ReLU())
        self.cross = Attention(dim, heads, packed=False) if decoder else None
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3 if decoder else 2))

    def forward(self, x, mask, memory=None, memory_mask=None):
        x = self.norms[0](x + self.attn(x, mask))
        if self.cross is not None:
            x = self.norms[1](x + self.cross(x, memory_mask, memory))
        return self.norms[-1](x + self.ffn(x))


class Translator(nn.Module):
    def __init__(self, source_words=200, target_words=210, dim=32):
        super().__init__()
        self.source, self.target = nn.Embedding(source_words, dim), nn.Embedding(target_words, dim)
        self.encoder = nn.ModuleList(PostNorm(dim, 4, 64, decoder=False) for _ in range(2))
        self.decoder = nn.ModuleList(PostNorm(dim, 4, 64, decoder=True) for _ in range(2))
        self.out = nn.Linear(dim, target_words)
        angles = torch.arange(64)[:, None] / 10000 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))

    def embed(self, table, ids):
        return table(ids) * math.sqrt(table.embedding_dim) + self.positions[:ids.shape[1]]

    def forward(self, source, padding, target, before):
        memory, x = self.embed(self.source, source), self.embed(self.target, target)
        for block in self.encoder:
            memory = block(memory, padding)
        for block in self.decoder:
            x = block(x, before, memory, padding)
        return self.out(x)


def windows(x, size):
    """(B, H, W, ...) -> (B, H / size, W / size, size, size, ...)"""
    return x.unflatten(1, (-1, size)).unflatten(3, (-1, size)).transpose(2, 3)


class VisionTransformer(nn.Module):
    def __init__(self, patch, side=28, dim=64):
        super().__init__()
        self.patch, self.embed, self.head = patch, nn.Linear(patch * patch, dim), nn.Linear(dim, 10)
        self.cls, self.norm = nn.Parameter(torch.zeros(1, 1, dim)), nn.LayerNorm(dim)
        self.places = nn.Parameter(torch.randn(1, (side // patch)**2 + 1, dim) * 0.02)
        self.blocks = nn.Sequential(*(Block(dim, 4) for _ in range(4)))

    def forward(self, images):
        tokens = self.embed(windows(images, self.patch).flatten(3).flatten(1, 2))
        x = self.blocks(torch.cat([self.cls.expand(len(images), -1, -1), tokens], 1) + self.places)
        return self.head(self.norm(x[:, 0]))


class SwinBlock(nn.Module):
    """Attention within windows of 7 x 7, shifted or not, with a bias for each relative position; x is (B, H, W, C)."""

    def __init__(self, dim, heads, side, shift, window=7):
        super().__init__()
        self.window, self.shift = window, shift
        self.norm1, self.attn, self.norm2 = nn.LayerNorm(dim), Attention(dim, heads), nn.LayerNorm(dim)
        self.mlp, self.table = mlp(dim, 4 * dim, nn.GELU()), nn.Parameter(torch.randn((2 * window - 1)**2, heads) * 0.02)
        at = torch.cartesian_prod(torch.arange(window), torch.arange(window))
        self.index = ((at[:, None] - at + window - 1) * torch.tensor([2 * window - 1, 1])).sum(-1)
        region = sum((torch.arange(side) >= side - edge).int() for edge in (window, shift))  # what comes round is apart
        places = windows((3 * region[:, None] + region)[None], window).flatten(3).flatten(0, 2)
        self.apart = torch.zeros(len(places), 1, window**2, window**2).masked_fill_(
            (places[:, :, None] != places[:, None])[:, None], -math.inf)

    def forward(self, x):
        mask = self.table[self.index].permute(2, 0, 1)[None]
        if self.shift:
            mask = mask + self.apart.repeat(len(x), 1, 1, 1)
        parts = windows(self.norm1(x).roll((-self.shift, -self.shift), (1, 2)), self.window)
        y = self.attn(parts.reshape(-1, self.window**2, x.shape[-1]), mask).reshape(parts.shape)
        x = x + y.transpose(2, 3).reshape(x.shape).roll((self.shift, self.shift), (1, 2))
        return x + self.mlp(self.norm2(x))


def compiled(f):
    return torch.compile(f) if given.compile else f


def training(model, inputs, labels, optimizer=torch.optim.Adam, **options):
    """A step: the loss, its gradients, and the optimizer's step."""
    optimizer = optimizer(model.parameters(), **options, **({} if given.compile else {"fused": True}))
    loss_of = compiled(lambda: F.cross_entropy(model(*inputs).flatten(0, -2), labels.flatten()))
    update = compiled(optimizer.step)

    def step():
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        update()
        return loss.item()
    return step


def gpt(batch, context, vocabulary, dim, heads, layers, lr):
    model, mask = Gpt(vocabulary, context, dim, heads, layers), causal(context)
    ids, labels = (data.numbers(batch, context, count=vocabulary) for _ in range(2))
    if given.weights:
        from safetensors.torch import save_file
        save_file(model.state_dict(), given.weights)
    return batch * context, training(model, (ids, mask), labels, torch.optim.AdamW, lr=lr, betas=(0.9, 0.99), weight_decay=0.1)


def translation():
    source, target, labels = (data.numbers(64, 10, count=words) for words in (200, 210, 210))
    padding = torch.where(torch.arange(10) < 4 + data.numbers(64, 1, 1, 1, count=7), 0.0, -math.inf)
    return 640, training(Translator(), (source, padding, target, causal(10)), labels, lr=0.005)


def images(model, *shape):
    x = data.numbers(64, *shape)
    return 64, training(model, (x,), data.numbers(64, count=10), lr=1e-3)


def chain():
    w, b = torch.tensor(0.9, requires_grad=True), torch.tensor(0.1, requires_grad=True)

    def step():
        x = torch.tensor(0.5)
        for _ in range(33333):
            x = torch.tanh(x * w + b)
        return torch.autograd.grad(x, (w, b))[0].item()
    return 99999, step


def swin():
    stage = nn.Sequential(SwinBlock(96, 3, 56, 0), SwinBlock(96, 3, 56, 3))
    x, g = data.numbers(2, 56, 56, 96).requires_grad_(), data.numbers(2, 56, 56, 96)
    loss_of = compiled(lambda: (stage(x) * g).mean())

    def step():
        loss = loss_of()
        torch.autograd.grad(loss, [*stage.parameters(), x])
        return loss.item()
    return 2, step


def writing(batch, prompt=16, written=128):
    model, ids = Gpt(50257, 1024, 768, 12, 12), data.numbers(batch, prompt, count=50257)

    @torch.no_grad()
    def step():
        caches = torch.empty(12, 2, batch, 12, prompt + written, 64)
        last = model(ids, causal(prompt), caches).argmax(-1)
        for first in range(prompt, prompt + written - 1):
            last = model(last, None, caches, first).argmax(-1)
        return last.sum().item()
    return batch * written, step


PERCEPTRON = (nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
CNN = (nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
       nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10))
# The function that makes a step and the number of its items, the steps that are timed, and the steps before them.
WORKLOADS = {
    "W1": (translation, 200, 5),
    "W2": (lambda: gpt(12, 64, 65, 128, 4, 4, 1e-3), 40, 5),
    "W3": (lambda: gpt(4, 256, 8192, 512, 8, 6, 3e-4), 6, 2),
    "W4": (lambda: images(VisionTransformer(7), 28, 28), 60, 5),
    "W4b": (lambda: images(VisionTransformer(4), 28, 28), 60, 5),
    "W5": (chain, 30, 5),
    "W6": (lambda: images(nn.Sequential(*PERCEPTRON), 784), 400, 5),
    "W7": (lambda: images(nn.Sequential(*CNN), 1, 28, 28), 30, 5),
    "W8": (swin, 20, 5),
    "W9": (lambda: writing(1), 2, 1),
    "W9b": (lambda: writing(8), 2, 1),
}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("workload", choices=WORKLOADS)
parser.add_argument("threads", nargs="?", default=1, type=int)
parser.add_argument("steps", nargs="?", type=int)
parser.add_argument("--compile", action="store_true")
parser.add_argument("--plain", action="store_true")
parser.add_argument("--losses", action="store_true", help="prints the loss of every step")
parser.add_argument("--weights", metavar="FILE", help="of W2 and W3: saves the first weights; needs the package safetensors")
given, data = parser.parse_args(), Data()

torch.set_num_threads(given.threads)
torch.manual_seed(1)
make, steps, warm_up = WORKLOADS[given.workload]
items, step = make()
times = []
for _ in range(warm_up + (given.steps or steps)):
    begin = time.perf_counter()
    loss = step()
    times.append((time.perf_counter() - begin) * 1000)
    if given.losses:
        print(f"# loss {loss:.7g}", file=sys.stderr)
name = "pytorch" + "-compiled" * given.compile + "-plain" * given.plain
ms, peak = statistics.median(times[warm_up:]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{name} {given.workload} {given.threads} {ms:.3f} {items / ms * 1000:.1f} {peak:.1f}")

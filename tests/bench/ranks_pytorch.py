#!/usr/bin/env python3
"""The workloads of tests/bench/ranks in PyTorch: DistributedDataParallel with gloo, each rank with its share of the batch.

    tests/bench/ranks_pytorch.py W2 [--ranks 2] [--threads 1] [--steps 20]

Needs PyTorch, which nothing else here does. The models are those of tests/bench/models.h; attention is
scaled_dot_product_attention, the optimizer AdamW fused in one kernel.
"""
import argparse
import os
import statistics
import sys
import time

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("workload", choices=["W2", "W3", "W7"])
p.add_argument("--ranks", type=int, default=2)
p.add_argument("--threads", type=int, default=1)
p.add_argument("--steps", type=int, default=20)
a = p.parse_args()
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = str(a.threads)
flags = sys.getdlopenflags()
sys.setdlopenflags(os.RTLD_LAZY)
import torch
sys.setdlopenflags(flags)
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

GPT = {"W2": dict(V=65, T=64, B=12, D=128, H=4, L=4), "W3": dict(V=8192, T=256, B=4, D=512, H=8, L=6)}


class Block(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.f1, self.f2 = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (t.view(B, T, self.H, D // self.H).transpose(1, 2) for t in self.qkv(self.n1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, D)
        x = x + self.o(y)
        return x + self.f2(F.gelu(self.f1(self.n2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, V, T, D, H, L, **_):
        super().__init__()
        self.e, self.p = nn.Embedding(V, D), nn.Embedding(T, D)
        self.blocks = nn.ModuleList(Block(D, H) for _ in range(L))
        self.n = nn.LayerNorm(D)

    def forward(self, ids):
        x = self.e(ids) + self.p.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.n(x), self.e.weight)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.c, self.d = nn.Linear(9216, 128), nn.Linear(128, 10)

    def forward(self, x):
        h = F.max_pool2d(F.relu(self.b(F.relu(self.a(x)))), 2)
        return self.d(F.relu(self.c(h.flatten(1))))


def work(rank, ranks, port):
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    if ranks > 1:
        dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    if a.workload == "W7":
        model, x, y, lr = Cnn(), torch.rand(64, 1, 28, 28), torch.randint(10, (64,)), 1e-3
    else:
        g = GPT[a.workload]
        model, lr = Gpt(**g), 1e-3 if a.workload == "W2" else 3e-4
        x, y = (torch.randint(g["V"], (g["B"], g["T"])) for _ in range(2))
    x, y = (t.chunk(ranks)[rank] for t in (x, y))
    parallel = nn.parallel.DistributedDataParallel(model) if ranks > 1 else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)
    times = []
    for i in range(a.steps + 3):
        if ranks > 1:
            dist.barrier()
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(parallel(x).flatten(0, -2), y.flatten()).backward()
        optimizer.step()
        if i >= 3:
            times.append(1e3 * (time.perf_counter() - begin))
    if rank == 0:
        print(f"pytorch {a.workload} {ranks} ranks {a.threads} threads  {statistics.median(times):.3f} ms", flush=True)
    if ranks > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    if a.ranks == 1:
        work(0, 1, 0)
    else:
        import socket
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        torch.multiprocessing.spawn(work, (a.ranks, port), a.ranks)

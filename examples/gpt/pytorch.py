"""The same program as main.cpp in PyTorch: a GPT learns to write, each character of a text from those before it.

python examples/gpt/pytorch.py [--data FILE] [--steps N] [--prompt TEXT] [--resume] [--seed N] [--out FOLDER] ...
python examples/gpt/pytorch.py --weights FOLDER --prompt TEXT      the published GPT-2 in the folder goes on writing
"""

import argparse
import csv
import time
from pathlib import Path

import matplotlib
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

matplotlib.use("Agg")
import matplotlib.pyplot as plt


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, attn_mask=mask, is_causal=True, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary, context, dim, heads, layers):
        super().__init__()
        self.context = context
        self.embedding = nn.Embedding(vocabulary, dim)
        self.position = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
            if name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, ids):
        T = ids.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(T)
        x = self.embedding(ids) + self.position(torch.arange(T))
        for block in self.blocks:
            x = block(x, mask)
        return F.linear(self.norm(x), self.embedding.weight)


class CharacterTokenizer:
    def __init__(self, text):
        self.characters = sorted(set(text))
        self.ids = {c: i for i, c in enumerate(self.characters)}

    def encode(self, text):
        return torch.tensor([self.ids[c] for c in text])

    def decode(self, ids):
        return "".join(self.characters[i] for i in ids)


class Windows(Dataset):
    def __init__(self, text, length, stride):
        self.text, self.length, self.stride = text, length, stride

    def __len__(self):
        return (len(self.text) - self.length - 1) // self.stride + 1

    def __getitem__(self, i):
        begin = i * self.stride
        return self.text[begin : begin + self.length], self.text[begin + 1 : begin + self.length + 1]


@torch.no_grad()
def write(model, tokenizer, prompt, length):
    model.eval()
    ids = tokenizer.encode(prompt)[None]
    for _ in range(length):
        logits = model(ids[:, -model.context :])[:, -1] / 0.8
        ids = torch.cat([ids, torch.multinomial(F.softmax(logits, dim=-1), 1)], dim=1)
    model.train()
    return tokenizer.decode(ids[0])


@torch.no_grad()
def mean_loss(model, loader):
    model.eval()
    total, count = 0.0, 0
    for x, y in loader:
        total += F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item() * len(x)
        count += len(x)
    model.train()
    return total / count


def train(args):
    torch.manual_seed(args.seed)
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    text = Path(args.data).read_text()
    tokenizer = CharacterTokenizer(text)
    ids = tokenizer.encode(text)
    most = len(ids) * 9 // 10
    if len(ids) - most <= args.context:
        raise SystemExit(f"a window has {args.context + 1} characters, the held-out text {len(ids) - most}")
    windows = Windows(ids[:most], args.context, 1)
    batches = DataLoader(windows, batch_size=args.batch, shuffle=True)
    held_out = DataLoader(Windows(ids[most:], args.context, args.context), batch_size=64)

    model = GPT(len(tokenizer.characters), args.context, args.dim, args.heads, args.layers)
    print(model)
    print("before training:\n" + write(model, tokenizer, args.prompt, args.length))

    decayed = [p for p in model.blocks.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if not any(p is d for d in decayed)]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99))
    warmup = 100
    rise = torch.optim.lr_scheduler.LinearLR(optimizer, 1 / warmup, total_iters=warmup - 1)
    fall = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, args.steps - warmup), eta_min=1e-4)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [rise, fall], milestones=[warmup])

    step, total, history = 0, 0.0, []
    checkpoint = out / "checkpoint.pt"
    if args.resume and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        torch.set_rng_state(state["random"])
        step, history = state["step"], state["history"]
        print(f"going on after step {step}")

    start = time.time()
    while step < args.steps:
        for x, y in batches:
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            step += 1
            total += loss.item()
            if step % args.report_every == 0 or step == args.steps:
                since = step - (history[-1][0] if history else 0)
                history.append((step, total / since, mean_loss(model, held_out)))
                total = 0.0
                print(f"\nstep {step}: loss {history[-1][1]:.3f}, held out {history[-1][2]:.3f}")
                print(write(model, tokenizer, args.prompt, args.length))
                with open(out / "log.csv", "w", newline="") as file:
                    csv.writer(file).writerows([("step", "train_loss", "held_out_loss"), *history])
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                state |= {"scheduler": scheduler.state_dict(), "random": torch.get_rng_state(), "history": history}
                torch.save(state, checkpoint)
            if step == args.steps:
                break
    seconds = time.time() - start

    steps, trained, held = zip(*history)
    plt.plot(steps, trained, label="training")
    plt.plot(steps, held, label="held out")
    plt.xlabel("step")
    plt.ylabel("loss")
    plt.legend()
    plt.savefig(out / "curves.svg")
    print(f"result steps={step} seconds={seconds:.1f} validation_loss={history[-1][2]:.4f}")


def write_on(args):
    from transformers import AutoTokenizer, GPT2LMHeadModel

    torch.manual_seed(args.seed)
    model = GPT2LMHeadModel.from_pretrained(args.weights)
    tokenizer = AutoTokenizer.from_pretrained(args.weights)
    ids = tokenizer(args.prompt, return_tensors="pt").input_ids
    more = model.generate(ids, max_new_tokens=args.length, do_sample=True, temperature=0.8, top_k=50)
    print(tokenizer.decode(more[0]))


def main():
    parser = argparse.ArgumentParser(description="A GPT that learns to write, or writes with published weights.")
    data = Path(__file__).parents[1] / "data" / "pride_and_prejudice.txt"
    parser.add_argument("--data", default=data, help="text file, UTF-8")
    parser.add_argument("--weights", help="folder of a published GPT-2, which writes instead of being trained")
    parser.add_argument("--prompt", default="\n", help="the beginning of samples")
    parser.add_argument("--length", type=int, default=200, help="tokens of a sample")
    parser.add_argument("--context", type=int, default=64, help="characters of a window")
    parser.add_argument("--dim", type=int, default=128, help="width of the model")
    parser.add_argument("--heads", type=int, default=4, help="heads of attention")
    parser.add_argument("--layers", type=int, default=4, help="blocks")
    parser.add_argument("--batch", type=int, default=12, help="windows per step")
    parser.add_argument("--steps", type=int, default=2000, help="training steps")
    parser.add_argument("--report-every", type=int, default=250, help="steps from one report to the next")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the folder")
    parser.add_argument("--seed", type=int, default=1, help="seed of all randomness")
    parser.add_argument("--threads", type=int, default=1, help="threads to compute with")
    parser.add_argument("--out", default="out/gpt_pytorch", help="folder for results")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    write_on(args) if args.weights else train(args)


if __name__ == "__main__":
    main()

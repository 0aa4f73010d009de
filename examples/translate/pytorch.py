"""The same program as main.cpp in PyTorch: English to French, a transformer learns to translate short sentences.

python examples/translate/pytorch.py [--epochs N] [--data FILE] [--pairs N] [--seed N] [--out FOLDER] [--resume]
"""

import argparse
import collections
import csv
import math
import re
import time
from pathlib import Path

import matplotlib
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STEPS = 10  # tokens of a sentence, <eos> included
PAD, BOS, EOS, UNK = range(4)
KNOWN = [
    ("go .", "va !"),
    ("i lost .", "j'ai perdu ."),
    ("he's calm .", "il est calme ."),
    ("i'm home .", "je suis chez moi ."),
]


def words(sentence):
    return re.sub(r"\s*([,.!?])", r" \1", sentence.lower()).split()


class Vocab:
    """The words that occur at least twice."""

    def __init__(self, sentences):
        counts = collections.Counter(word for sentence in sentences for word in sentence)
        self.words = ["<pad>", "<bos>", "<eos>", "<unk>"] + sorted(w for w, n in counts.items() if n >= 2)
        self.ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self):
        return len(self.words)

    def encode(self, sentences):
        """Ids (N, STEPS), with <eos> and then <pad> behind the words."""
        ids = torch.full((len(sentences), STEPS), PAD)
        for row, sentence in zip(ids, sentences):
            found = [self.ids.get(word, UNK) for word in sentence][: STEPS - 1] + [EOS]
            row[: len(found)] = torch.tensor(found)
        return ids

    def decode(self, ids):
        ids = ids.tolist()
        return [self.words[i] for i in ids[: ids.index(EOS) if EOS in ids else STEPS]]


def read_pairs(path, count, held_out):
    """The first pairs, to be learnt, and for each source sentence behind them all its translations."""
    lines = Path(path).read_text().replace("\u202f", " ").replace("\xa0", " ").splitlines()
    pairs = [tuple(words(side) for side in line.split("\t")[:2]) for line in lines if line]
    questions = collections.defaultdict(list)
    for source, target in pairs[count : count + held_out]:
        questions[tuple(source)].append(target)
    return pairs[:count], questions


class PositionalEncoding(nn.Module):
    def __init__(self, dim, dropout, max_length=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_length).unsqueeze(1)
        frequency = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        table = torch.zeros(max_length, dim)
        table[:, 0::2] = torch.sin(position * frequency)
        table[:, 1::2] = torch.cos(position * frequency)
        self.register_buffer("table", table)

    def forward(self, x):
        return self.dropout(x + self.table[: x.shape[1]])


class Translator(nn.Module):
    def __init__(self, source_size, target_size, dim=32, heads=4, layers=2, hidden=64, dropout=0.1):
        super().__init__()
        self.dim = dim
        self.source_embedding = nn.Embedding(source_size, dim)
        self.target_embedding = nn.Embedding(target_size, dim)
        self.positions = PositionalEncoding(dim, dropout)
        self.transformer = nn.Transformer(dim, heads, layers, layers, hidden, dropout, batch_first=True)
        self.out = nn.Linear(dim, target_size)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)

    def encode(self, source):
        x = self.positions(self.source_embedding(source) * math.sqrt(self.dim))
        return self.transformer.encoder(x, src_key_padding_mask=source == PAD)

    def decode(self, target, memory, source):
        x = self.positions(self.target_embedding(target) * math.sqrt(self.dim))
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        h = self.transformer.decoder(x, memory, tgt_mask=mask, memory_key_padding_mask=source == PAD)
        return self.out(h)

    def forward(self, source, target):
        return self.decode(target, self.encode(source), source)


@torch.no_grad()
def translate(model, source_vocab, target_vocab, sentences):
    """The likeliest next word, again and again."""
    model.eval()
    source = source_vocab.encode(sentences)
    memory = model.encode(source)
    target = torch.full((len(source), 1), BOS)
    for _ in range(STEPS):
        best = model.decode(target, memory, source)[:, -1].argmax(-1)
        target = torch.cat([target, best[:, None]], dim=1)
    return [target_vocab.decode(row) for row in target[:, 1:]]


def bleu(prediction, reference, k=2):
    if not prediction:
        return 0.0
    score = math.exp(min(0, 1 - len(reference) / len(prediction)))
    for n in range(1, min(k, len(prediction)) + 1):
        found = collections.Counter(tuple(prediction[i : i + n]) for i in range(len(prediction) - n + 1))
        right = collections.Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
        score *= ((found & right).total() / found.total()) ** (0.5**n)
    return score


def batch_loss(model, source, target):
    """For each sentence the mean over its positions, of which padding counts 0, summed over the batch."""
    before = torch.cat([torch.full((len(target), 1), BOS), target[:, :-1]], dim=1)
    logits = model(source, before)
    total = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD, reduction="sum")
    return total / target.shape[1]


def report(model, source_vocab, target_vocab, questions):
    result = ""
    print("\nlearnt")
    learnt = translate(model, source_vocab, target_vocab, [source.split() for source, _ in KNOWN])
    for i, ((source, target), guess) in enumerate(zip(KNOWN, learnt)):
        score = bleu(guess, target.split())
        print(f"  {source} => {' '.join(guess)}   BLEU {score:.3f}")
        result += f" bleu{i + 1}={score:.3f}"
    print("never seen")
    guesses = translate(model, source_vocab, target_vocab, list(questions))
    scores = [max(bleu(guess, answer) for answer in questions[source]) for guess, source in zip(guesses, questions)]
    for source, guess, score in list(zip(questions, guesses, scores))[:6]:
        print(f"  {' '.join(source)} => {' '.join(guess)}   BLEU {score:.3f}  ({' '.join(questions[source][0])})")
    mean = sum(scores) / max(1, len(scores))
    print(f"  mean BLEU of {len(scores)} sentences: {mean:.3f}")
    return result + f" held_out_bleu={mean:.3f}"


def main():
    parser = argparse.ArgumentParser(description="English to French: trains a small transformer.")
    data = Path(__file__).parent / "data" / "en-fr.tsv"
    parser.add_argument("--data", default=data, help="sentence pairs, english<TAB>french")
    parser.add_argument("--pairs", type=int, default=600, help="number of pairs to learn, the first of the file")
    parser.add_argument("--held-out", type=int, default=100, help="number of later pairs to judge by")
    parser.add_argument("--epochs", type=int, default=200, help="times that every pair is seen")
    parser.add_argument("--batch", type=int, default=64, help="sentences per step")
    parser.add_argument("--lr", type=float, default=0.005, help="learning rate")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the folder")
    parser.add_argument("--seed", type=int, default=1, help="seed of all randomness")
    parser.add_argument("--threads", type=int, default=1, help="threads to compute with")
    parser.add_argument("--out", default="out/translate_pytorch", help="folder for results")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)

    pairs, questions = read_pairs(args.data, args.pairs, args.held_out)
    sources, targets = zip(*pairs)
    source_vocab, target_vocab = Vocab(sources), Vocab(targets)
    dataset = TensorDataset(source_vocab.encode(sources), target_vocab.encode(targets))
    loader = DataLoader(dataset, batch_size=args.batch, shuffle=True)
    model = Translator(len(source_vocab), len(target_vocab))
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{len(pairs)} pairs, vocabularies of {len(source_vocab)} and {len(target_vocab)} words", end=", ")
    print(f"{len(questions)} sentences held out; {parameters} parameters")

    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    losses = []
    checkpoint = out / "checkpoint.pt"
    if args.resume and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        losses = state["losses"]
        print(f"going on after epoch {len(losses)}")

    start = time.time()
    for epoch in range(len(losses) + 1, args.epochs + 1):
        model.train()
        total = 0.0
        for source, target in loader:
            loss = batch_loss(model, source, target)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() / (target != PAD).sum().item()
        losses.append(total / len(loader))
        if epoch % 10 == 0 or epoch == args.epochs:
            print(f"epoch {epoch}/{args.epochs}  loss {losses[-1]:.4f}")
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "losses": losses}
            torch.save(state | {"random": torch.get_rng_state()}, checkpoint)
    seconds = time.time() - start

    with open(out / "log.csv", "w", newline="") as file:
        csv.writer(file).writerows([("epoch", "loss"), *enumerate(losses, 1)])
    plt.semilogy(range(1, len(losses) + 1), losses)
    plt.xlabel("epoch")
    plt.ylabel("loss per target token")
    plt.savefig(out / "curves.svg")
    scores = report(model, source_vocab, target_vocab, questions)
    print(f"result loss={losses[-1]:.4f}{scores} seconds={seconds:.1f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# docs/pytorch_names.md has one row for each public name of PyTorch and none for anything else, each with an answer or a reason;
# what the answers name is in docs/reference.md or a header; the counts at its end are those of its rows; and it is what
# docs/tools/make_names_page.py writes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

cat >"$sandbox/rows.py" <<'END_OF_FILE'
"""rows.py ROOT PAGE: checks the rows of a page."""
import collections
import pathlib
import re
import sys

root, page = map(pathlib.Path, sys.argv[1:])
wrong = []
names = (root / "tests/fixtures/pytorch_names.txt").read_text().splitlines()[1:]
reference = set(re.findall(r"\w+", (root / "docs/reference.md").read_text()))
headers = set()
for folder in ("core", "ops", "nn", "optim", "examples/kit"):
    for header in (root / folder).rglob("*.h"):
        headers |= set(re.findall(r"\w+", re.sub(r"//.*", "", header.read_text())))
namespaces = {"xgrad", "nn", "pytorch", "init", "optim", "kit", "linalg", "distributions"}

rows, counted, heading = collections.Counter(), {}, ""
groups = collections.Counter()
for line in page.read_text().splitlines():
    if line.startswith("#"):
        heading = line.lstrip("# ")
    if not line.startswith("| "):
        continue
    cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    if heading == "Counts" and cells[0] != "of these names":
        counted["".join(cells[:2]).strip("*")] = cells[2].strip("*")
    if heading == "Counts" or cells[0] == "name":
        continue
    name, answer, remark = cells
    name = name.strip("`")
    rows[name] += 1
    if name.rpartition(".")[0] != heading:
        wrong.append(f"{name} stands under {heading}")
    if answer == "no":
        group, _, reason = remark.partition(": ")
        groups[group] += 1
        groups["not answered"] += 1
        if not group or not reason:
            wrong.append(f"{name}: no reason")
        continue
    groups[next((kind for kind in ("composed", "in part") if remark.startswith(kind)), "the same")] += 1
    groups["answered"] += 1
    spans = re.findall(r"`([^`]+)`", answer)
    if not spans:
        wrong.append(f"{name}: the answer names nothing")
    for span in spans:
        span = re.sub(r'"[^"]*"', '""', span)
        span = re.sub(r"\bstd::\w+(::\w+)*(<\w+>)?(::\w+)*", "", span)
        options = set(re.findall(r"(?<=[{ ]\.)[a-z]\w*", span))
        # Names that are called, made or opened; single letters do not count.
        used = set(re.findall(r"\b\w\w+(?=[({])", span)) | set(re.findall(r"(?<=::)\w+", span)) | set(re.findall(r"\b[A-Z]\w+", span))
        if re.fullmatch(r"[A-Za-z]\w+", span):
            used.add(span)
        for word in sorted(used - namespaces - reference - headers) + sorted(options - headers):
            wrong.append(f"{name}: there is no {word} here")
for name in names:
    if rows[name] != 1:
        wrong.append(f"{name} has {rows[name]} rows")
wrong += [f"{name} is no name of PyTorch" for name in rows if name not in set(names)]
groups["all"] = sum(rows.values())
for group in sorted(set(groups) | set(counted)):
    if str(groups[group]) != counted.get(group):
        wrong.append(f"{group}: {groups[group]} rows, the page says {counted.get(group)}")
if wrong:
    sys.exit("\n".join(wrong))
END_OF_FILE

[ "$(wc -l <"$root/tests/fixtures/pytorch_names.txt")" -ge 2000 ]
python3 "$sandbox/rows.py" "$root" "$root/docs/pytorch_names.md"
python3 "$root/docs/tools/make_names_page.py" --check

# Pages that are wrong.
expect() { # SED SENTENCE
  sed -E "$1" "$root/docs/pytorch_names.md" >"$sandbox/page.md"
  if said=$(python3 "$sandbox/rows.py" "$root" "$sandbox/page.md" 2>&1); then echo "finds nothing after $1"; exit 1; fi
  [[ "$said" == *"$2"* ]] || { echo "does not say '$2' but: $said"; exit 1; }
}
expect '/^\| `torch.abs` /d' 'torch.abs has 0 rows'
expect '/^\| `torch.abs` /p' 'torch.abs has 2 rows'
expect 's/^\| `torch.abs` /| `torch.abz` /' 'torch.abz is no name of PyTorch'
expect 's/^(\| `torch.abs` \|) `abs/\1 `abz/' 'torch.abs: there is no abz here'
expect 's/^(\| `torch.sum` \|.*)\.keepdim/\1.keepdin/' 'torch.sum: there is no keepdin here'
expect 's/^(\| `torch.nn.Linear` \|) `nn::Linear/\1 `nn::Linearly/' 'torch.nn.Linear: there is no Linearly here'
expect 's/^(\| `torch.abs` \|)[^|]*/\1 yes /' 'torch.abs: the answer names nothing'
expect 's/^(\| `torch.compile` \| no \|)[^|]*/\1 /' 'torch.compile: no reason'
expect 's/^(\| \| in part \|).*/\1 1 |/' 'in part: '

# Answers that are wrong, told by the script that makes the page.
mkdir -p "$sandbox/tree/docs/tools" "$sandbox/tree/tests/fixtures"
cp "$root"/docs/tools/{make_names_page.py,pytorch_names.tsv} "$sandbox/tree/docs/tools"
cp "$root/docs/reference.md" "$sandbox/tree/docs"
cp "$root/tests/fixtures/pytorch_names.txt" "$sandbox/tree/tests/fixtures"
printf 'torch.abz\tabs(x)\ntorch.abs\tabs(x)\n' >>"$sandbox/tree/docs/tools/pytorch_names.tsv"
echo 'torch.new_function' >>"$sandbox/tree/tests/fixtures/pytorch_names.txt"
echo '- `compile()`: Something new.' >>"$sandbox/tree/docs/reference.md"
if said=$(python3 "$sandbox/tree/docs/tools/make_names_page.py" 2>&1); then echo "makes a page"; exit 1; fi
for sentence in 'PyTorch has no torch.abz' 'a second answer to torch.abs' 'torch.new_function: neither an answer' \
  'torch.compile: docs/reference.md has compile'; do
  [[ "$said" == *"$sentence"* ]] || { echo "does not say '$sentence' but: $said"; exit 1; }
done

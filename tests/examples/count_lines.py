#!/usr/bin/env python3
"""Holds the table of docs/guide/from_pytorch.md against the programs: their lines of code beside PyTorch's, and their figures.

    tests/examples/count_lines.py                   compares the lines; fails if a row is out of date
    tests/examples/count_lines.py --write           writes the lines into the table
    tests/examples/count_lines.py --quick           names the programs that take less than 20 s
    tests/examples/count_lines.py --compare NAME    compares the figure in a `result` line on standard input
    tests/examples/count_lines.py --measure BIN NAME...
                                                    runs these programs of the folder BIN and PyTorch's with seeds 1 to 5,
                                                    by a python3 that has torch, and writes figures and times

A line of code is one without blank lines, comments, docstrings, imports (#include, #pragma, using namespace) and lines
of nothing but brackets. A C++ program is all .cpp and .h of its folder.
"""

import ast
import io
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guide/from_pytorch.md"
COLUMNS = ["program", "xgrad", "PyTorch", "ratio", "figure", "of xgrad", "of PyTorch", "slack", "seconds", "remark"]
MOST, MOST_ON_AVERAGE, QUICK = 1.3, 1.1, 20
BRACKETS = re.compile(r"[\s()\[\]{},;]*")


def python_lines(text):
    """Lines on which a token stands that is neither a comment nor part of a docstring or an import."""
    left_out = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            left_out.update(range(first.lineno, first.end_lineno + 1))
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            left_out.update(range(node.lineno, node.end_lineno + 1))
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent and not BRACKETS.fullmatch(token.string):
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - left_out)


def cpp_lines(text):
    # Comments go, strings stay: an alternative that begins earlier is taken first.
    text = re.sub(
        r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/',
        lambda match: match[0] if match[0][0] == '"' else "\n" * match[0].count("\n"),
        text,
        flags=re.DOTALL,
    )
    left_out = re.compile(r"\s*#\s*(include|pragma)\b|\s*using namespace\b")
    return sum(not BRACKETS.fullmatch(line) and not left_out.match(line) for line in text.split("\n"))


def lines_of(name):
    """The lines of the C++ program of a folder, and of PyTorch's."""
    folder = ROOT / "examples" / name
    sources = [path for path in folder.rglob("*") if path.suffix in (".cpp", ".h")]
    return (
        sum(cpp_lines(path.read_text(encoding="utf8")) for path in sources),
        python_lines((folder / "pytorch.py").read_text(encoding="utf8")),
    )


def read_table():
    """The rows by program, each a dictionary by column, in the order of the page."""
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
    text = PAGE.read_text(encoding="utf8")
    if head not in text:
        sys.exit(f"{PAGE} has no table that begins with\n{head}")
    begin = text.index(head) + len(head)
    end = begin + re.match(r"(\|.*\n)*", text[begin:]).end()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text[begin:end].splitlines()]
    return {row[0].strip("`"): dict(zip(COLUMNS, row)) for row in rows}, (begin, end)


def write_table(rows, place):
    text = PAGE.read_text(encoding="utf8")
    lines = ["| " + " | ".join(row[column] for column in COLUMNS) + " |\n" for row in rows.values()]
    PAGE.write_text(text[: place[0]] + "".join(lines) + text[place[1] :], encoding="utf8")


def counted(name):
    cpp, python = lines_of(name)
    return {"xgrad": str(cpp), "PyTorch": str(python), "ratio": f"{cpp / python:.2f}"}


def figure_of(output, figure):
    """The value in the last `result` line of an output."""
    results = re.findall(rf"^result .*\b{re.escape(figure)}=(\S+)", output, re.MULTILINE)
    if not results:
        sys.exit(f"no result line with {figure}= in\n{output}")
    return results[-1]


def check(rows, programs):
    """The mistakes in the lines of the table."""
    for name in sorted(set(rows) ^ set(programs)):
        yield f"{name} is in the table or has a pytorch.py, but not both"
    ratios = []
    for name in rows:
        if name not in programs:
            continue
        row, now = rows[name], counted(name)
        if any(row[column] != now[column] for column in now):
            yield f"{name} has {now}, the table {({column: row[column] for column in now})}"
        ratios.append(float(now["ratio"]))
        print(f"{name:12} {now['xgrad']:>4} lines, PyTorch {now['PyTorch']:>4}, ratio {now['ratio']}")
        if ratios[-1] > MOST and not row["remark"]:
            yield f"{name} is {ratios[-1]} times as long as PyTorch's, and nothing says why"
    mean = sum(ratios) / len(ratios)
    print(f"mean ratio {mean:.3f}")
    if mean > MOST_ON_AVERAGE:
        yield f"the mean ratio {mean:.3f} is above {MOST_ON_AVERAGE}"


def measured(command, folder, **environment):
    """The output of a program that ran for so many seconds of one processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "XGRAD_THREADS": "1", "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# The program as it is, but that the seed it sets is another one.
WITH_SEED = """
import runpy, sys, torch
set_seed, seed, path = torch.manual_seed, int(sys.argv[1]), sys.argv[2]
torch.manual_seed = lambda _: set_seed(seed)
sys.argv = [path]
runpy.run_path(path, run_name="__main__")
"""


def measure(bin_folder, names):
    for name in names:
        program = str(ROOT / "examples" / name / "pytorch.py")
        with tempfile.TemporaryDirectory() as folder:
            output, seconds = measured([str(pathlib.Path(bin_folder).resolve() / name)], folder)
            runs = [measured(["python3", "-c", WITH_SEED, str(seed), program], folder) for seed in range(1, 6)]
        rows, place = read_table()
        row = rows.setdefault(name, dict.fromkeys(COLUMNS, ""))
        row["figure"] = row["figure"] or re.search(r"^result (\w+)=", output, re.MULTILINE)[1]
        figures = sorted((figure_of(text, row["figure"]) for text, _ in runs), key=float)
        row["program"] = f"`{name}`"
        row["of xgrad"] = figure_of(output, row["figure"])
        row["of PyTorch"] = f"{figures[0]} to {figures[-1]}"
        row["slack"] = row["slack"] or f"{float(figures[-1]) - float(figures[0]):.1g}"
        row["seconds"] = f"{seconds:.2g} / {sum(time for _, time in runs) / len(runs):.2g}"
        row.update(counted(name))
        print(row, figures)
        write_table(rows, place)


def compare(row, output):
    """The mistake in the figure of a run."""
    figure = float(figure_of(output, row["figure"]))
    low, high = (float(number) for number in row["of PyTorch"].split(" to "))
    slack = float(row["slack"])
    print(f"{row['figure']} {figure}, PyTorch's {low} to {high}, slack {slack}")
    if not low - slack <= figure <= high + slack:
        yield f"{row['program']}: {row['figure']} {figure} is too far from PyTorch's"


def main(arguments):
    if not arguments or arguments == ["--write"]:
        rows, place = read_table()
        programs = sorted(path.parent.name for path in (ROOT / "examples").glob("*/pytorch.py"))
        if arguments:
            for name in rows:
                rows[name].update(counted(name))
            write_table(rows, place)
        return list(check(rows, programs))
    if arguments == ["--quick"]:
        print("\n".join(name for name, row in read_table()[0].items() if float(row["seconds"].split()[0]) < QUICK))
    elif arguments[0] == "--compare" and len(arguments) == 2:
        return list(compare(read_table()[0][arguments[1]], sys.stdin.read()))
    elif arguments[0] == "--measure" and len(arguments) > 2:
        measure(arguments[1], arguments[2:])
    else:
        sys.exit(__doc__)
    return []


if __name__ == "__main__":
    problems = main(sys.argv[1:])
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems else 0)

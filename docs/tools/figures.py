#!/usr/bin/env python3
"""The figures of the pages, docs/*/*.md: compares them with the output of the examples and of docs/tools/experiments, which
`docs/tools/run NAME` runs, and writes them anew.

    figures.py quick [PAGE...]      compares the figures of examples that take a second
    figures.py long [PAGE...]       compares the others
    figures.py rewrite [PAGE...]    runs every example of the pages (or of all), and writes figures that have changed
    figures.py programs [PAGE...]   prints the names of the examples that these need

Programs are taken from $XGRAD_BUILD_DIR/bin, else from build/grouped/bin. What they print is kept in the folder `figures`
beside it, and `long` and `rewrite` run no program again that no change has touched: whose file is the same. Files that
options name are looked for in the current folder; figures from one that is missing are not compared, which is said. A page
marks its figures so:

An excerpt of an output, whose lines are found there in this order, any other lines between them:

        $ examples/run NAME ARGUMENTS
        w 0.58, noise 0.51

A table that is part of a table of the output, with rows and columns of its names, or of its line `result`, whose names
are the heads (in lower case, with _ for a space or hyphen). With {row} the program runs once for each row:

    <!-- examples/run NAME ARGUMENTS {row} -->
    | | loss | held-out BLEU |
    |---|---|---|
    | last | 0.0103 | 0.669 |

A number in a sentence, of the line `result`; `%` after it means a hundred times as much:

    <!-- examples/run NAME ARGUMENTS -->
    After 8 epochs it is right for <!-- accuracy -->92.0 % of the pictures, and the loss is <!-- loss -->0.290.

Words are the same. Whole numbers are the same, too, others to three digits, or those that the page has, give or take 1
in the last. Times and paths are not compared. What training decides has other bits on another processor. Therefore a
comment above it says which seeds were run: `<!-- seeds 1-5 -->` above an excerpt, `<!-- examples/run NAME; seeds 1-5 -->`
elsewhere. The page then has the median and the range, 0.305 (0.299 to 0.314). The first seed has to lie within it, or
else the median of all of them. Sentences that a model wrote are below `<!-- any words -->`: the first line is found in the
output, and as many lines below it, none of them empty, and those further in that are so on the page.
"""

import decimal
import functools
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

Decimal = decimal.Decimal
root = pathlib.Path(__file__).resolve().parent.parent.parent
programs = pathlib.Path(os.environ.get("XGRAD_BUILD_DIR") or root / "build" / "grouped") / "bin"

quick = sys.argv[1:2] == ["quick"]  # of the examples that tests have, in the folder `examples` there

NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])"
FIGURE = re.compile(rf"({NUMBER})(?: \(({NUMBER}) to ({NUMBER})\))?")
TIME = re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|min|seconds)\b")
PATH = re.compile(r"(?<!\S)(?:out|\.{1,2})?/\S+")
COMMENT = re.compile(r"<!-- (?:(?:examples|docs/tools)/run (?P<command>[^;]+?))?(?:; )?(?:seeds (?P<seeds>[-\d,]+))? -->$")
INLINE = re.compile(rf"(<!-- (\w+) -->)({NUMBER})(?: (%))?(?: \(({NUMBER}) to ({NUMBER})\))?")


# ---- Numbers ---------------------------------------------------------------------------------------------------------


def unit(text):
    """One unit of the last digit that counts: the third of a number, or the last that it has."""
    number = Decimal(text)
    shown = Decimal(1).scaleb(number.as_tuple().exponent)
    return max(shown, Decimal(1).scaleb(number.adjusted() - 2)) if number else shown


def rounded(text, to):
    return (Decimal(text) / to).quantize(Decimal(1), decimal.ROUND_HALF_UP)


def agree(page, value):
    """Whether a number of the page is that of an output."""
    if "." not in page + value:
        return Decimal(page) == Decimal(value)
    return abs(rounded(page, unit(page)) - rounded(value, unit(page))) <= 1


def within(value, low, high):
    return rounded(low, unit(low)) <= rounded(value, unit(low)) and rounded(value, unit(high)) <= rounded(high, unit(high))


def median(values):
    return sorted(values, key=Decimal)[(len(values) - 1) // 2]


def spread(values):
    """How a page shows the values of several seeds."""
    low, high = min(values, key=Decimal), max(values, key=Decimal)
    return median(values) if low == high else f"{median(values)} ({low} to {high})"


def holds(shown, low, high, values, whole):
    """Whether a figure of a page holds: if `whole`, as the page should show these values, else as one of them."""
    found = median(values), min(values, key=Decimal), max(values, key=Decimal)
    if low is None:
        return agree(shown, found[0]) and (not whole or agree(found[1], found[2]))
    return all(map(agree, (shown, low, high), found)) if whole else within(found[0], low, high)


# ---- Programs --------------------------------------------------------------------------------------------------------


class Missing(Exception):
    """A file that options name is not here."""


@functools.cache
def durations():
    """How long the examples take, as their list has it."""
    listed = root / "examples/README.md"
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", listed.read_text() if listed.exists() else "", re.MULTILINE)
    return dict(rows)


def program_of(name):
    """The name of the file that runs it."""
    return "experiments" if (root / f"docs/tools/experiments/{name}.cpp").exists() else name


@functools.cache
def output(command, seed):
    """The lines that an example prints."""
    name, *arguments = shlex.split(command)
    for i, argument in enumerate(arguments):
        if arguments[i - 1] == "--data":
            if not pathlib.Path(argument).exists():
                raise Missing(f"{argument} is not here")
            arguments[i] = str(pathlib.Path(argument).resolve())
    if "--out" in arguments:  # a folder of docs
        at = arguments.index("--out")
        del arguments[at:at + 2]
    file = programs / ("examples" if quick else "") / program_of(name)
    is_experiment = program_of(name) != name
    program = [file, name] if is_experiment else [file]
    if "--fashion-mnist" in arguments:  # a package, which these commands install
        program = [root / ("docs/tools/run" if is_experiment else "examples/run"), name]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    digest = hashlib.sha256(repr([name, *arguments]).encode() + file.read_bytes())
    for argument in arguments:
        if pathlib.Path(argument).is_file():
            digest.update(pathlib.Path(argument).read_bytes())
    kept = programs.parent / "figures" / f"{name}-{digest.hexdigest()}"
    if not quick and kept.exists():
        return kept.read_text().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        arguments += ["--out", f"{folder}/{name}"]
        done = subprocess.run(program + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: ended with status {done.returncode}: {done.stderr.strip()}")
    if not quick:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(done.stdout)
    return done.stdout.splitlines()


def results(lines):
    """The values of the line `result`."""
    for line in reversed(lines):
        if line.startswith("result "):
            return dict(each.split("=", 1) for each in shlex.split(line)[1:])
    return {}


def seeds_of(text):
    if text is None:
        return [None]
    first, *last = text.split("-")
    return list(range(int(first), int(last[0]) + 1)) if last else [int(each) for each in text.split(",")]


# ---- Texts -----------------------------------------------------------------------------------------------------------


def words(text):
    """The part that is compared exactly: a text without its figures, times, paths and typesetting."""
    text = FIGURE.sub("#", PATH.sub("<path>", TIME.sub("<time>", text)))
    return re.sub(r"\s+", " ", re.sub(r"[*$`{}\\]", "", text)).strip()


def figures(text):
    return FIGURE.findall(PATH.sub("<path>", TIME.sub("<time>", text)))


def renewed(text, texts, whole):
    """The text of a page with the figures of outputs; itself if they hold. The words are the same."""
    found = figures(text)
    values = list(zip(*[[number for number, _, _ in figures(each)] for each in texts]))
    if all(holds(number, low or None, high or None, of_seeds, whole)
           for (number, low, high), of_seeds in zip(found, values)):
        return text
    held = [match.group() for match in [*TIME.finditer(text), *PATH.finditer(text)]]
    masked = PATH.sub("\0", TIME.sub("\0", text))
    following = iter(values)
    masked = FIGURE.sub(lambda match: spread(next(following)), masked)
    for each in sorted(held, key=text.index):
        masked = masked.replace("\0", each, 1)
    return masked


class Part:
    """Figures of a page that stand together: lines[begin:end]."""

    def __init__(self, page, lines, begin, end, command, seeds):
        self.page, self.lines, self.begin, self.end, self.command = page, lines, begin, end, command
        self.seeds = seeds_of(seeds)
        name = command.split()[0]
        self.quick = durations().get(name) == "1 s"

    def of(self, seeds, row=""):
        return [output(self.command.replace("{row}", row), seed) for seed in seeds]

    def place(self, line=0):
        return f"{self.page.relative_to(root)}:{self.begin + line + 1}"

    def complaints(self):
        """Compares with the run of the first seed, and, if that does not lie in a range, with the median of all."""
        wrong = []
        for seeds in (self.seeds[:1], self.seeds):
            wrong = [f"{self.place(i)}: {before.strip()}   is now   {after.strip()}"
                     for i, (before, after) in enumerate(zip(self.lines[self.begin:self.end], self.written(seeds, False)))
                     if before != after]
            if not wrong:
                break
        return wrong

    def rewrite(self):
        """Writes the figures of all seeds; lines that the output does not have stay, and are returned."""
        before, after = self.lines[self.begin:self.end], self.written(self.seeds, True)
        lost = [i for i, line in enumerate(after) if "(no " in line and "(no " not in before[i]]
        self.lines[self.begin:self.end] = [old if i in lost else new for i, (old, new) in enumerate(zip(before, after))]
        return [f"{self.place(i)}: {after[i].strip()}" for i in lost]


class Excerpt(Part):
    def written(self, seeds, whole):
        outputs, at, result = self.of(seeds), 0, []
        for line in self.lines[self.begin:self.end]:
            # Of several lines with these words, the one with these numbers.
            alike = [i for i in range(at, len(outputs[0])) if words(outputs[0][i]) == words(line)]
            if not alike:
                result.append(f"    (no such line: {line.strip()})")
                continue
            same = [i for i in alike if renewed(line, [outputs[0][i]], False) == line]
            at = (same or alike)[0]
            nth = sum(words(each) == words(line) for each in outputs[0][:at])
            texts = [[each for each in lines if words(each) == words(line)][nth:][:1] for lines in outputs]
            result.append(renewed(line, [each for text in texts for each in text], whole))
            at += 1
        return result


def further(line, than):
    """Whether a line is further in than another."""
    return len(line) - len(line.lstrip()) > len(than) - len(than.lstrip())


class Words(Part):
    """Text written by a model: only the shape is compared."""

    def written(self, seeds, whole):
        shown, lines = self.lines[self.begin:self.end], self.of(seeds[:1])[0]
        at = next((i for i, line in enumerate(lines) if words(line) == words(shown[0])), None)
        if at is None:
            return [f"    (no such line: {shown[0].strip()})"] + shown[1:]
        below = lines[at + 1:at + len(shown)]
        further_in = [further(line, lines[at]) for line in below]
        if not all(below) or further_in != [further(line, shown[0]) for line in shown[1:]]:
            return shown[:1] + ["    (fewer lines)"] * (len(shown) - 1)
        return shown

    def rewrite(self):
        lines = self.of(self.seeds[:1])[0]
        at = next(i for i, line in enumerate(lines) if words(line) == words(self.lines[self.begin]))
        self.lines[self.begin + 1:self.end] = ["    " + line for line in lines[at + 1:at + self.end - self.begin]]
        return []


class Table(Part):
    def written(self, seeds, whole):
        head, line, *rows = [row.strip("|").split("|") for row in self.lines[self.begin:self.end]]
        names, at, result = [plain(cell) for cell in head], 0, self.lines[self.begin:self.begin + 2]
        for cells in rows:
            row, columns = cells[0].strip(" *`$"), []
            outputs = self.of(seeds, row)
            for lines in outputs:
                found = self.printed(lines, names, row, at)
                if found:
                    columns.append(found[1])
                else:
                    values = results(lines)
                    columns.append([cells[0]] + [values.get(re.sub(r"[ -]", "_", name.lower())) for name in names[1:]])
            at = found[0] + 1 if found else at
            shown = [cells[0]]
            for i, cell in enumerate(cells[1:], 1):
                texts = [column[i] for column in columns]
                if None in texts:
                    shown.append(f" (no {names[i]}) ")
                elif words(cell) != words(texts[0]):
                    shown.append(f" {texts[0]} ")
                else:
                    shown.append(renewed(cell, texts, whole))
            result.append("|" + "|".join(shown) + "|")
        return result

    @staticmethod
    def printed(lines, names, row, at):
        """The next row of this name from line `at` on, and its cells, in a table with these heads."""
        for top, line in enumerate(lines):
            heads = re.split(r" {2,}", line.strip())
            if not all(name in heads for name in names if name):
                continue
            for i in range(max(at, top + 1), len(lines)):
                cells = re.split(r" {2,}", lines[i].strip())
                if len(cells) == len(heads) + 1:
                    heads = [""] + heads
                if len(cells) == len(heads) and (plain(row) == cells[0] or cells[0].startswith(plain(row) + ",")):
                    return i, [cells[heads.index(name)] if name in heads else None for name in names]
        return None


class Sentences(Part):
    def written(self, seeds, whole):
        outputs = [results(lines) for lines in self.of(seeds)]

        def put(match):
            mark, name, number, percent, low, high = match.groups()
            values = [each.get(name) for each in outputs]
            if None in values:
                return f"{mark}(no {name})"
            places = max(0, -Decimal(number).as_tuple().exponent)
            values = [f"{Decimal(value) * (100 if percent else 1):.{places}f}" for value in values]
            if holds(number, low, high, values, whole):
                return match.group()
            shown, *spread_out = spread(values).split(" ", 1)
            return " ".join([mark + shown, *([percent] if percent else []), *spread_out])

        return [INLINE.sub(put, line) for line in self.lines[self.begin:self.end]]


def plain(text):
    return re.sub(r"[*$`{}\\]", "", text).strip()


def parts_of(page):
    """The lines of a page, and the parts of them that hold figures."""
    lines, parts, comment, free, i = page.read_text().splitlines(), [], None, False, 0
    while i < len(lines):
        line = lines[i]
        if found := COMMENT.match(line):
            comment = found
        elif line == "<!-- any words -->":
            free = True
        elif found := re.match(r"    \$ (?:examples|docs/tools)/run ([^#]+)", line):
            end = next((k for k in range(i, len(lines)) if not lines[k].startswith("    ")), len(lines))
            kind = Words if free else Excerpt
            parts.append((kind, i + 1, end, found[1].strip(), comment and comment["seeds"]))
            i, comment, free = end - 1, None, False
        elif comment and comment["command"] and line:
            end = next((k for k in range(i, len(lines)) if not lines[k]), len(lines))
            kind = Table if line.startswith("|") else Sentences
            parts.append((kind, i, end, comment["command"], comment["seeds"]))
            i, comment = end - 1, None
        i += 1
    return lines, [kind(page, lines, *where) for kind, *where in parts]


# ---- The command -----------------------------------------------------------------------------------------------------


def main(action, *names):
    pages = [pathlib.Path(name).resolve() for name in names] or sorted((root / "docs").glob("*/*.md"))
    parts = {page: parts_of(page) for page in pages}
    if action == "programs":
        print("\n".join(sorted({program_of(part.command.split()[0]) for _, of_page in parts.values() for part in of_page})))
        return []
    wrong, compared = [], 0
    for page, (lines, of_page) in parts.items():
        for part in reversed(of_page):  # from the end, as those before keep their lines
            if action != "rewrite" and part.quick != (action == "quick"):
                continue
            try:
                wrong += part.rewrite() if action == "rewrite" else part.complaints()
                compared += 1
            except Missing as reason:
                print(f"{part.place()} is not compared: {reason}")
        if lines != page.read_text().splitlines():
            page.write_text("\n".join(lines) + "\n")
            print(f"{page.relative_to(root)} has other figures now")
    print(f"{compared} places with figures, {len(wrong)} lines differ", flush=True)
    return wrong


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("quick", "long", "rewrite", "programs"):
        sys.exit(__doc__)
    if wrong := main(*sys.argv[1:]):
        sys.exit("\n".join(wrong))

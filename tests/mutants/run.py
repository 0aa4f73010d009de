#!/usr/bin/env python3
"""Changes the sources in small ways, one at a time, and says which changes the test programs see.

    tests/mutants/run.py [N] [SEED] [--only DIRECTORY]...

N lines (400) are drawn with SEED (1), as many in each of core, ops, nn, optim and kit, where every line that has a mutant
(mutate.py) is as likely as another; what is drawn of a file's lines depends on their text alone, so that a seed draws nearly the
same after a change of the sources. All mutants go into one copy of the tree, each behind a switch (switch.h), which is
compiled once; a mutant that does not compile is left out. Each test case then says which switches it reaches (listener.h), and
each mutant runs with the test cases that reach it, to the first failure. Files are in build/mutants, results in build/long.
With --only lines of this directory are drawn, and its own test program is built and run alone.

The result is 0 if enough mutants are killed. Not counted are those in equivalent.tsv: a line for each, of file, line of the
source, mutant, and the reason why no test can see it (mutants_test.sh: each is a change of today's sources). Scripts of
tests are not run, so examples/kit/mpi and examples/kit/notebook are left out.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile

from mutate import Source, with_switches

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK, LOGS = ROOT / "build/mutants", ROOT / "build/long"
TREE = pathlib.Path(os.environ.get("XGRAD_MUTANTS_TREE", WORK / "tree"))  # where the copy goes
BUILD = TREE / "build/grouped"
DIRECTORIES = {"core": "core", "ops": "ops", "nn": "nn", "optim": "optim", "kit": "examples/kit"}
PROGRAMS = {"core": "core", "ops": "ops", "nn": "nn", "optim": "optim", "kit": "f32"}  # a directory's own, which runs first
BOUNDS = {"nn": 0.93, "kit": 0.93, "all": 0.96}
JOBS = int(subprocess.check_output("nproc"))


class Drawn:
    """A mutant, and what became of it."""

    def __init__(self, directory, file, mutant):
        self.directory, self.file, self.mutant, self.line = directory, file, mutant, mutant.line
        text = (ROOT / file).read_text()
        self.lines = range(text.count("\n", 0, mutant.begin) + 1, text.count("\n", 0, mutant.end) + 2)
        self.source = text.splitlines()[mutant.line - 1].strip()
        self.change = f"{mutant.before} -> {mutant.after}"
        self.result, self.killed_by, self.cases = "not in these programs", None, 0


def draw(count, seed, only):
    """The mutants by their numbers, from 1, and how many lines of each directory have one."""
    drawn, lines = {}, {}
    for directory, folder in DIRECTORIES.items():
        if directory not in only:
            continue
        mutants, texts = {}, {}
        for path in sorted((ROOT / folder).rglob("*")):
            file = path.relative_to(ROOT).as_posix()
            if path.suffix in (".h", ".cpp") and not re.search("/(mpi|notebook)/", file):
                text = path.read_text()
                for mutant in Source(text).mutants():
                    mutants.setdefault((file, mutant.line), []).append(mutant)
                    texts[file, mutant.line] = text.splitlines()[mutant.line - 1].strip()
        lines[directory] = len(mutants)
        alike = collections.Counter()  # lines of the same text in a file
        chances = {}
        for file, line in sorted(mutants):
            alike[file, texts[file, line]] += 1
            chances[file, line] = random.Random(f"{seed} {file} {texts[file, line]} {alike[file, texts[file, line]]}")
        order, taken = sorted(mutants, key=lambda place: (chances[place].random(), place)), []
        for file, line in order:
            chance = chances[file, line]
            kind = chance.choice(sorted({mutant.kind for mutant in mutants[file, line]}))
            mutant = chance.choice([mutant for mutant in mutants[file, line] if mutant.kind == kind])
            if len(taken) < count // len(DIRECTORIES) and not any(
                    other == file and begin < mutant.end and mutant.begin < end for other, begin, end in taken):
                taken.append((file, mutant.begin, mutant.end))
                drawn[len(drawn) + 1] = Drawn(directory, file, mutant)
    return drawn, lines


def write(path, text):
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def write_tree(mutants):
    """A copy of the tree with these mutants; files that are as before keep their time."""
    listed = subprocess.check_output(["git", "-C", ROOT, "ls-files", "-coz", "--exclude-standard"], text=True).split("\0")
    files = {file for file in listed if file and os.path.exists(ROOT / file)}
    written = WORK / "files"
    for file in set(written.read_text().splitlines() if written.exists() else []) - files:
        (TREE / file).unlink(missing_ok=True)
    written.write_text("\n".join(files))
    for file in sorted(files):
        text = (ROOT / file).read_bytes()
        of_file = {number: drawn.mutant for number, drawn in mutants.items() if drawn.file == file}
        if of_file:
            text = with_switches(text.decode(), of_file, os.path.relpath("tests/mutants/switch.h", os.path.dirname(file))).encode()
        if file == "tests/support/main.cpp":
            text += b'#include "../mutants/listener.h"\n'
        write(TREE / file, text)
        (TREE / file).chmod((ROOT / file).stat().st_mode)


def guilty(log, mutants):
    """The mutants at whose lines a compiler's errors are, or at which it began something that fails elsewhere; or those that the errors
    name, as in what a constant needs; or else those of a file with errors, such as a declaration that is gone."""
    def places_of(kinds):
        found = re.findall(rf"^([^\s:]+):(\d+):(?:\d+:)? (?:{kinds})", log, re.M)
        return {(os.path.relpath(os.path.normpath(BUILD / file), TREE), int(line)) for file, line in found}
    errors = places_of("(?:fatal )?error:|Error:")  # the second of the assembler
    for places in (errors, places_of("note:|  required ")):
        if found := {number for number, drawn in mutants.items() if any((drawn.file, line) in places for line in drawn.lines)}:
            return found
    named = {int(number) for number in re.findall(r"(?:with int number = |xgrad_mutant<)(\d+)", log)} & set(mutants)
    return named or {number for number, drawn in mutants.items() if drawn.file in {file for file, _ in errors}}


def check_headers(mutants):
    """What the compiler says of the headers that have mutants, so that errors are known before all that includes them is compiled."""
    commands, said = json.loads((BUILD / "compile_commands.json").read_text()), ""
    for folder in DIRECTORIES.values():
        headers = sorted({drawn.file for drawn in mutants.values() if re.match(rf"{folder}/.*[.]h$", drawn.file)})
        if headers:
            (WORK / "headers.cpp").write_text("".join(f'#include "{TREE / header}"\n' for header in headers))
            command = next(entry["command"] for entry in commands if f" -o {folder}/CMakeFiles/" in entry["command"])
            command = re.sub(r" -o \S+ -c \S+$", f" -fsyntax-only {WORK}/headers.cpp", command)
            said += subprocess.run(command, shell=True, cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return said


def build(mutants, programs):
    """Compiles the tree, without the mutants that do not compile; the numbers of those that are in a program."""
    targets = [f"xgrad_tests_{program}" for program in programs]
    while True:
        left = {number: drawn for number, drawn in mutants.items() if drawn.result != "does not compile"}
        write_tree(left)
        if not (BUILD / "build.ninja").exists():
            subprocess.run(["cmake", "-S", TREE, "--preset", "grouped"], check=True, stdout=subprocess.DEVNULL)
        found = guilty(check_headers(left), left)
        if not found:
            with open(WORK / "build.log", "w") as log:
                status = subprocess.run(["cmake", "--build", BUILD, "--parallel", str(JOBS), "--target", *targets, "--", "-k", "0"],
                                        stdout=log, stderr=subprocess.STDOUT).returncode
            if status == 0:
                break
            found = guilty((WORK / "build.log").read_text(errors="replace"), left)
        if not found:
            sys.exit(f"the tree does not compile, and not by a mutant: {WORK / 'build.log'}")
        for number in found:
            left[number].result = "does not compile"
    symbols = subprocess.check_output(["nm", "-C", *(BUILD / "bin" / f"xgrad_tests_{program}" for program in programs)], text=True)
    return set(map(int, re.findall(r"xgrad_mutants::at<(\d+)>", symbols)))


def run(program, arguments, seconds, **environment):
    """The status of a test program and what it said; None for the status if it did not end."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(dir=WORK, ignore_cleanup_errors=True) as scratch, open(f"{scratch}/said", "w+", errors="replace") as said:
        process = subprocess.Popen([BUILD / "bin" / f"xgrad_tests_{program}", "--no-colors", *arguments], cwd=TREE, stdin=subprocess.DEVNULL,
                                   stdout=said, stderr=subprocess.STDOUT, env={**os.environ, "TMPDIR": scratch, **environment},
                                   start_new_session=True, preexec_fn=limit)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)  # and what it has started
        except ProcessLookupError:
            pass
        process.wait()
        said.seek(0)
        return status, said.read(1 << 20)


def cases_of(program):
    """The test cases of a program that pass without a mutant: name, seconds, mutants reached. Those before main are reached by all."""
    file = WORK / f"reached_{program}"
    file.unlink(missing_ok=True)
    status, said = run(program, [], 7200, XGRAD_REACHED=str(file))
    (WORK / f"{program}.log").write_text(said)
    cases = {}
    for name, seconds, failed, reached in (line.split("\t") for line in file.read_text().splitlines()):
        others = cases[name][2] if name in cases else set()  # of a program that this test case started, to run itself in it
        cases[name] = (float(seconds), failed != "0", others | set(map(int, reached.split())))
    before = cases.pop("")[2]
    if status not in (0, 1):
        sys.exit(f"xgrad_tests_{program} ends with status {status} without a mutant: {WORK}/{program}.log")
    if failures := [name for name, (_, failed, _) in cases.items() if failed]:
        print(f"left out, since they fail without a mutant: {', '.join(failures)}")
    return [(name, seconds, before | reached) for name, (seconds, failed, reached) in cases.items() if not failed]


def portions(cases):
    """Names of test cases and their seconds: the short ones first, three seconds of them, then as many as a command line holds."""
    portion, spent, most = [], 0, 3
    for name, seconds, _ in sorted(cases, key=lambda case: case[1]):
        if portion and (spent + seconds > most or sum(map(len, portion)) > 100_000):
            yield portion, spent
            portion, spent, most = [], 0, 1e9
        portion.append(re.sub(r'[,\\"]', "?", name))
        spent += seconds
    if portion:
        yield portion, spent


def kill(number, drawn, cases):
    """Runs a mutant until a test case fails."""
    drawn.result = "lives"
    for program in sorted(cases, key=lambda program: program != PROGRAMS[drawn.directory]):
        for names, seconds in portions([case for case in cases[program] if number in case[2]]):
            drawn.cases += len(names)
            status, said = run(program, ["--abort-after=1", "--test-case=" + ",".join(names)], 10 * seconds + 10, XGRAD_MUTANT=str(number))
            if status != 0:
                case = re.findall(r"^TEST CASE: *(.*)", said, re.M)
                drawn.result, drawn.killed_by = "killed", f"{program}: {case[-1] if case else ''} ({'time' if status is None else status})"
                return


def report(mutants, lines):
    """Prints the table and what lives; whether enough are killed."""
    (LOGS / "mutants.json").write_text(json.dumps({number: {**vars(drawn), "mutant": drawn.mutant.kind, "lines": None} for number, drawn in mutants.items()}, indent=1))
    columns = ["does not compile", "not in these programs", "killed", "equivalent", "lives"]
    print("| | lines with a mutant | drawn |", " | ".join(columns), "| killed share |")
    print("|---" * (len(columns) + 4) + "|")
    enough = True
    for directory in [*lines, "all"]:
        results = [drawn.result for drawn in mutants.values() if directory in (drawn.directory, "all")]
        counts = {column: results.count(column) for column in columns}
        share = counts["killed"] / max(1, counts["killed"] + counts["lives"])
        enough &= share >= BOUNDS.get(directory, 0)
        print(f"| {directory} | {lines.get(directory, sum(lines.values()))} | {len(results)} |", " | ".join(map(str, counts.values())), f"| {share:.3f} |")
    for drawn in mutants.values():
        if drawn.result == "lives":
            print(f"{drawn.file}:{drawn.line}: {drawn.change} ({f'{drawn.cases} test cases reach' if drawn.cases else 'no test case reaches'} it)")
    print(f"{counts['killed']} of {counts['killed'] + counts['lives']} mutants killed" + ("" if enough else ", too few"))
    return enough


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("count", nargs="?", type=int, default=400)
    arguments.add_argument("seed", nargs="?", type=int, default=1)
    arguments.add_argument("--only", action="append", choices=DIRECTORIES)
    given = arguments.parse_args()
    for folder in (TREE, LOGS):
        folder.mkdir(parents=True, exist_ok=True)
    mutants, lines = draw(given.count, given.seed, given.only or DIRECTORIES)
    programs = [PROGRAMS[directory] for directory in given.only or DIRECTORIES]
    built = build(mutants, programs)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as lanes:
        cases = dict(zip(reversed(programs), lanes.map(cases_of, reversed(programs))))  # the longest first
        list(lanes.map(lambda number: kill(number, mutants[number], cases), built))
    with open(pathlib.Path(__file__).with_name("equivalent.tsv")) as file:
        equivalent = [row[:3] for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    for drawn in mutants.values():
        if drawn.result == "lives" and [drawn.file, drawn.source, drawn.change] in equivalent:
            drawn.result = "equivalent"
    sys.exit(not report(mutants, lines))


if __name__ == "__main__":
    main()

"""examples/exercise --grade FOLDER [EXERCISE...]: checks copies of the answers in the folders of the students."""

import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

exercises = pathlib.Path(__file__).resolve().parents[1]
most_bytes = 100_000  # of a reply


def refuse(text):
    print("error:", text, file=sys.stderr)
    sys.exit(2)


def name_of(file):
    """The name that a statement and its answers share."""
    return file.name if file.suffix == ".h" else re.sub(r"^\d\d_", "", file.name)


def arguments_of(statement):
    if exercises not in statement.parents:
        return [str(statement)]
    return [*(["own"] if statement.suffix == ".h" else []), str(int(statement.name[:2]))]


def label_of(statement):
    name = pathlib.Path(name_of(statement)).stem.lstrip("0123456789_")
    return name if exercises not in statement.parents else " ".join([*arguments_of(statement), name])


def chosen(arguments):
    statements = []
    while arguments:
        exercise = arguments.pop(0)
        folder = exercises
        if exercise == "own" and arguments:
            exercise, folder = arguments.pop(0), exercises / "own"
        if exercise.endswith(".cpp") and os.path.isfile(exercise):
            statements.append(pathlib.Path(exercise).resolve())
        elif exercise.isdigit() and (found := list(folder.glob(f"{int(exercise):02}_*"))):
            statements += found
        else:
            refuse(f"there is no exercise '{exercise}'")
    return statements


def reply_to(row):
    """The first line of the reply. The whole reply to an answer is written beside it."""
    student, statement, answer = row
    if answer is None:
        return "missing"
    if statement is None:
        return f"not yet: no exercise has the name of {answer.name}"
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch, student)
        copy.mkdir()
        for file in answer.parent.glob("*.h") if statement.suffix == ".h" else [answer]:
            shutil.copy(file, copy / name_of(file))
        run = subprocess.Popen([exercises.parent / "exercise", *arguments_of(statement), student], cwd=scratch,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        reply = run.stdout.read(most_bytes).decode(errors="replace")
        run.stdout.close()  # ends a program that prints for ever
        run.wait()
    answer.with_suffix(".reply.txt").write_text(reply)
    if re.search("^not yet: .* does not compile$", reply, re.M):
        return "not yet: does not compile: " + (re.findall(" error: (.*)", reply) or ["no end"])[0]
    lines = re.findall(f"^{'not yet' if run.returncode else 'right'}: .*", reply, re.M)
    return lines[-1] if lines else "not yet: the program ended before its reply, or prints for ever"


folder, *given = sys.argv[1:]
known = chosen(list(given)) or sorted(exercises.glob("[0-9]*.cpp")) + sorted(exercises.glob("own/[0-9]*.h"))
rows = []
for student in sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir()):
    files = sorted(path for path in student.rglob("*") if path.suffix in (".cpp", ".h"))
    for statement in known:
        answers = [file for file in files if name_of(file) == name_of(statement)]
        rows += [(student.name, statement, answer) for answer in answers or [None] * bool(given)]
    names = {name_of(statement) for statement in known}
    rows += [(student.name, None, file) for file in files if not given and file.suffix == ".cpp" and name_of(file) not in names]
if not rows:
    refuse(f"no folder in '{folder}' has an answer")

width = max(len(student) for student, _, _ in rows)
count = collections.Counter()
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for (student, statement, answer), reply in zip(rows, pool.map(reply_to, rows)):
        label = label_of(statement) if statement else answer.stem
        state, _, text = reply.partition(": ")
        count[label, state] += 1
        print(f"{student:{width}}\t{label:24}\t{state:7}\t{text}", flush=True)
print()
for label in dict.fromkeys(label for label, _ in count):
    right = count[label, "right"]
    print(f"{label}: {right} of {sum(n for (other, _), n in count.items() if other == label)} right")
sys.exit(sum(n for (_, state), n in count.items() if state != "right") > 0)

#!/usr/bin/env python3
"""Runs the notebooks of the lessons and of the ten steps from top to bottom, by nbclient, and compares what they print with the pages;
then the same with the program that "File > Download as" makes of each.

    lessons.py [NAME...]     of these alone: start/06_masks
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import nbconvert
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from kernel import ROOT, AsyncManager

sys.path.insert(0, str(ROOT / "examples/kit/notebook"))  # notebook_program.py


def printed(outputs):
    return "".join(output["text"] for output in outputs if output["output_type"] == "stream" and output["name"] == "stdout")


def expected(path):
    """What the page of a lesson or the section of a step shows of the output."""
    if path.parent.name == "start":
        text = (ROOT / "docs/learn/start" / f"{path.stem}.md").read_text()
    else:
        number = int(path.stem[:2])
        text = re.split(r"^## (?=\d+\. )", (ROOT / "docs/learn/steps/README.md").read_text(), flags=re.M)[number]
    lines, language = [], None
    for line in text.splitlines():
        if line.startswith("```"):
            language = line[3:] if language is None else None
        elif language == "" and line.strip():
            lines.append(line)
    return lines


def lacks(text, path):
    """The first line of the page that this output does not have, in order."""
    lines, at = text.splitlines(), 0
    for line in expected(path):
        found = next((i for i in range(at, len(lines)) if lines[i].rstrip() == line.rstrip()), None)
        if found is None:
            return line
        at = found + 1
    return None


def program(book, path):
    """What is wrong with the program that Jupyter makes of a notebook, by the name that the kernel has given."""
    text, _ = nbconvert.get_exporter(book.metadata.language_info["nbconvert_exporter"])().from_notebook_node(book)
    built = ROOT / "build/notebook"
    libraries = [option for folder in (built, built / "examples/kit/notebook") for option in (f"-L{folder}", f"-Wl,-rpath,{folder}")]
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(["c++", "-std=c++20", "-w", f"-I{ROOT}/cmake/include", f"-I{ROOT}/docs/learn/steps", "-x", "c++", "-", "-o", f"{folder}/program",
                               *libraries, "-lxgrad", "-lxgrad_notebook_kit"], input=text, text=True, stderr=subprocess.PIPE)
        if made.returncode != 0:
            return f"the program does not compile: {made.stderr[:600]}"
        ran = subprocess.run([f"{folder}/program"], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=600)
        if ran.returncode != 0 or lacks(ran.stdout, path) is not None:
            return f"the program ends with {ran.returncode} and lacks the line {lacks(ran.stdout, path)!r}"
        pictures = len(list(pathlib.Path(folder).glob("*.svg")))
        return f"the program makes {pictures} pictures" if path.parent.name == "start" and pictures < 2 else ""


def run(path):
    """What is wrong with a notebook."""
    book = nbformat.read(path, as_version=4)
    client = NotebookClient(book, timeout=600, kernel_manager_class=AsyncManager, resources={"metadata": {"path": str(path.parent)}})
    try:
        client.execute()
    except (CellExecutionError, DeadKernelError, AssertionError) as error:  # the last one is nbclient's, of a kernel that ended
        said = [output["text"] for cell in book.cells if cell.cell_type == "code" for output in cell.outputs if output["output_type"] == "stream"]
        return f"{error} {said[-1:]}"[-600:]
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    line = lacks(printed(outputs), path)
    if line is not None:
        return f"the page has the line {line!r}, which the notebook does not print"
    pictures = sum("image/svg+xml" in output.get("data", {}) for output in outputs)
    if path.parent.name == "start" and pictures < 2:
        return f"{pictures} pictures"
    left = [file.name for file in path.parent.iterdir() if file.suffix != ".ipynb"]
    return f"files {left}" if left else program(book, path)


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / "docs/tools/site/notebooks.py", folder], check=True)
        for path in sorted(pathlib.Path(folder).rglob("*.ipynb")):
            name = f"{path.parent.name}/{path.stem}"
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            begin = time.monotonic()
            trouble = run(path)
            print(f"{name:28s} {time.monotonic() - begin:6.1f} s  {trouble or 'as the page says, and so the program'}", flush=True)
            wrong += bool(trouble)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

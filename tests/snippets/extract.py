#!/usr/bin/env python3
"""Prints one C++ file with every snippet of the pages and headers, to be compiled with -fsyntax-only.

What is C++: in a page, a block ```cpp, and nothing else (a block indented by four spaces that looks like C++ is an
error: it would not be compiled), in docs/look_up/pytorch_names.md each cell of the second column, and in the changelog what
stands there and is called or included. In a header, lines of a comment that are indented by five spaces or more, if one of
them ends in ; or { once a // remark at its end is taken off; formulas and outputs never do.

Where it stands: in a namespace of its own, and there in a function, unless it defines functions or templates itself.
What it does not declare (x, w, model) is declared in context.h, in namespace `common`, or, for what is special to
some files, in one with the file's name, docs_attention, or with a comment that has it. `<!-- snippet: continues -->`
on the line before a block joins it to the block before. docs/guide/training.md, docs/learn/start and docs/learn/steps have tests of
their own, which run them.

With --values PAGE... it prints a program that runs the snippets of these pages instead, as far as they say a value or a shape
behind //, and compares.
"""
import ast
import glob
import os
import re
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.chdir(root)
problems = []


def looks_like_code(lines):
    return any(re.sub(r"\s*//.*$", "", line).rstrip().endswith((";", "{")) for line in lines)


def of_page(path):
    """(line number, lines) of each snippet."""
    found, fence, joins = [], None, False
    for number, line in enumerate(open(path, encoding="utf-8").read().split("\n"), 1):
        if line.startswith("```"):
            if fence is None:
                fence = line[3:].strip()
                if fence == "cpp" and not joins:
                    found.append((number + 1, []))
            else:
                fence = None
            joins = False
        elif fence == "cpp":
            found[-1][1].append(line)
        elif fence is None:
            joins = line == "<!-- snippet: continues -->"
            if line.startswith("    ") and not line.lstrip().startswith(("$", "|")) and looks_like_code([line]):
                problems.append(f"{path}:{number}: C++ stands in a block ```cpp: {line.strip()}")
    return found


def statement(code):
    """A name or an expression of a table as a statement."""
    if re.fullmatch(r"std::\w+(<\w+>)?", code):
        return f"(void)sizeof({code});"
    if re.fullmatch(r"(\w+::)*[A-Z]\w*|\w+::(\w+::)*\w+", code):
        return f"{{ using xgrad::{code}; }}"
    if ";" in re.sub(r"\{[^{}]*\}", "", code) or re.match(r"for \(|throw |(const )?[\w:<>]+ \w+(\{|\(| = )", code):
        return f"{{ {code}; }}"
    return f"(void)({code});"


def second_cells(path):
    """(line number, first cell, second cell) of each row of the tables of a page."""
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("| "):
            yield number, *(cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:3])


def of_names(path):
    """(line number, [line]) of each row: the names and expressions in its second cell, as statements."""
    ours = ("xgrad", "nn::init", "embedding")  # namespaces, an overloaded function
    return [(number, [" ".join(statement(code) for code in re.findall(r"`([^`]+)`", cell) if code not in ours)])
            for number, first, cell in second_cells(path) if first.startswith(" `")]


def of_recipes(path):
    """(line number, [line]) of each recipe of the changelog, the calls in a second cell: without the name that it replaces
    (`histc`: `bincount(...)`), and without calls that are cut short (`f(x, ...)`)."""
    found = []
    for number, first, cell in second_cells(path):
        statements, includes = [], []
        for piece in cell.split("<br>"):
            label = re.match(r"\s*(.+?): ", piece)
            if label and label[1].strip("`") in first:
                piece = piece[label.end():]
            for code in re.findall(r"`([^`]+)`", piece):
                if re.fullmatch(r"<xgrad/[\w/]*/\w\w+\.h>", code):
                    includes.append(f"#include {code}")
                elif re.fullmatch(r"[\w:]+<[\w:<>(), ]+>(::\w+)?|([a-z]+::)?[A-Z]\w*::[A-Z]\w*", code):
                    statements.append(f"{{ using type = {code}; }}")
                elif re.fullmatch(r"\w+<\w+> \w+", code):
                    statements.append(f"{{ extern {code}; }}")
                elif (re.search(r"[\w>\]][({]|\w<|[\];]$|^[\w:]+::[A-Z]\w+$", code)
                      and not re.search(r"\.\.\.|^\.|^\w*my_|[A-Z]\w*::[a-z]|^(openblas|target)_", code)):
                    statements.append(statement(code))
        found.append((number, [" ".join(statements), *includes]))
    return found


def of_header(path):
    found, block, last = [], [], 0  # block: lines without a blank one between them
    lines = open(path, encoding="utf-8").read().split("\n")

    def end(number):
        nonlocal last
        if block and looks_like_code(block):
            if last:  # only a blank line between this and the code above
                found[-1][1].extend(["", *block])
            else:
                found.append((number - len(block), list(block)))
            last = number
        elif block:
            last = 0
        block.clear()

    for number, line in enumerate(lines, 1):
        match = re.match(r"\s*///?( {5,}.*)$", line)
        if match:
            block.append(match.group(1)[5:])
            continue
        end(number)
        if not re.fullmatch(r"\s*///?\s*", line):
            last = 0
    end(len(lines) + 1)
    return found


def printed(path, number, lines, contexts):
    name = re.sub(r"\W", "_", os.path.splitext(re.sub("^docs/\\w+/", "docs/", path))[0]).lower()
    context = contexts.get(name, "common")
    includes = [line for line in lines if line.startswith("#include")]
    body = [re.sub(r"^#include.*|^using namespace xgrad;", "", line) for line in lines]
    defines = any(re.match(r"(template\b|(?:[\w:<>&*]+ )+\w+\(.*\) \{)", line) for line in body)
    opening = "" if defines else "[[maybe_unused]] void snippet() {"
    closing = "" if defines else "}"
    return includes, "\n".join(
        [f"namespace snippets::{context}::at_{name}_{number} {{ {opening}", f'#line {number} "{path}"', *body,
         f"{closing} }}"])


# A statement and what is said behind it: `const Tensor g = ...;  // 3 x^2 = 12`, or `a.size();  // 6 elements`.
VALUE = re.compile(r"(\s*)(?:const \w+ (\w+) = .*|(\S.*));\s*// (?:.*: (?=\[\[)|.* = )?"
                   r"(\[[-\d., \[\]]*\]|-?[\d.]+(?:, -?[\d.]+)*)(?=$|[,:;]| elements)")


def print_values(paths):
    print("""#include <iostream>
#include <xgrad/xgrad.h>
using namespace xgrad;
int wrong = 0, count = 0;
template <class T>
void stated(const char* place, const T& found, const std::string& text) {
  std::string value, shape;
  if constexpr (std::is_same_v<T, Tensor>) {
    value = str(found.value());
    shape = str(found.shape());
  } else {
    value = str(found);
  }
  ++count;
  if (text == value || text == shape || "[" + text + "]" == value) return;
  ++wrong;
  std::cout << place << " says " << text << ", it is " << value << " " << shape << "\\n";
}
int main() {""")
    for path in paths:
        for number, lines in of_page(path):
            if not any(VALUE.match(line) for line in lines):
                continue
            print("{")
            for at, line in enumerate(lines):
                value = VALUE.match(line)
                if not value or value[2]:
                    print(line)
                if value:
                    found, text, place = value[2] or value[3], value[4], f"{path}:{number + at}"
                    if text.startswith("[["):  # the library prints elements in one line
                        rows = [len(ast.literal_eval(text)), len(ast.literal_eval(text)[0])]
                        print(f'stated("{place}", ({found}).shape(), "{rows}");')
                        text = re.sub(r"(?<=.)[][](?=.)", "", text)
                    print(f'stated("{place}", {found}, "{text}");')
            print("}")
    print('std::cout << count << " values, " << wrong << " wrong\\n";\nreturn wrong > 0 || count == 0;\n}')


def main():
    context = open("tests/snippets/context.h", encoding="utf-8").read()
    contexts = {file: space for space, files in re.findall(r"^namespace (\w+) \{(?:  //)?(.*)", context, re.MULTILINE)
                for file in (files.split() or [space])}
    pages = ["README.md", *sorted(glob.glob("docs/*/*.md"))]
    pages.remove("docs/guide/training.md")
    headers = sorted(header for folder in ("core", "ops", "nn", "optim")
                     for header in glob.glob(folder + "/**/*.h", recursive=True))
    includes, text = [], []
    tables = [(p, of(p)) for p, of in (("docs/look_up/pytorch_names.md", of_names), ("docs/inside/changelog.md", of_recipes))]
    for path, found in [(p, of_page(p)) for p in pages] + tables + [(p, of_header(p)) for p in headers]:
        for number, lines in found:
            more, snippet = printed(path, number, lines, contexts)
            includes += more
            text.append(snippet)
    if problems:
        sys.exit("\n".join(problems))
    print("\n".join(sorted(set(includes))))
    print('#include "context.h"')
    print("\n".join(text))
    print(f"{len(text)} snippets", file=sys.stderr)


if sys.argv[1:2] == ["--values"]:
    print_values(sys.argv[2:])
else:
    main()

"""File > Download as: a notebook as a program. What cells declare stands before `main`, statements and variables in it."""
import itertools
import pathlib
import re

from nbconvert.exporters import Exporter

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUTSIDE = re.compile(r"(#|using\b|template\b|struct\b|class\b|enum\b|namespace\b|typedef\b)")
FUNCTION = re.compile(r"(?!(if|for|while|switch|else|do|return|throw)\b)[\w:<>,&*~\s]+(\boperator\W+)?\(")

NUMBER = re.compile(r"(?:const |constexpr )?[\w:]+ (\w+) = (?:-?[\d.][\w.']*|true|false);\s*$")


def end_of(text, begin, ends=")"):
    """The place of the first of these characters outside of brackets."""
    depth = 0
    for i in range(begin, len(text)):
        if depth == 0 and text[i] in ends:
            return i
        depth += (text[i] in "({[") - (text[i] in ")}]")
    return len(text)


def stands_outside(piece):
    """Whether this declares what has no place in a function."""
    code = re.sub(r"^(\s*//.*\n)*\s*", "", piece)
    head = FUNCTION.match(code)
    is_function = head and re.match(r"\)\s*(const\b|noexcept\b|->[^{;]*|:[^:][^;]*)?\s*\{", code[end_of(code, head.end()):])
    return OUTSIDE.match(code) or is_function


def shown(value, count):
    """The statement of a program for a value that a cell shows: pictures are files."""
    if value.startswith("draw("):
        results = value[5:end_of(value, 5, ",)")]
        if not results.startswith("{"):
            value = "draw({" + results + "}" + value[5 + len(results):]
        return f'save_graph("{next(count)}.svg", {value[5:]};'
    return f'kit::save_text("{next(count)}.svg", {value});' if value.startswith("kit::") else f'std::cout << ({value}) << "\\n";'


def pieces(text):
    """The text cut after each line where all brackets are closed and a statement ends; the last one may be an expression, to be shown."""
    piece, depth = "", 0
    for line in text.splitlines():
        piece += line + "\n"
        code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", line)
        depth += sum(map(code.count, "({[")) - sum(map(code.count, ")}]"))
        if depth == 0 and (not line.strip() or re.search(r"[;}]\s*$", code) or code.startswith("#")):
            yield piece
            piece = ""
    if piece.strip():
        is_comment = all(line.lstrip().startswith("//") for line in piece.strip().splitlines())
        yield piece if is_comment else f"show({piece.strip()});\n"


class Program(Exporter):
    file_extension, output_mimetype, export_from_notebook = ".cpp", "text/x-c++src", "C++ program"

    def from_notebook_node(self, nb, resources=None, **options):
        nb, resources = super().from_notebook_node(nb, resources, **options)
        cells = [cell.source for cell in nb.cells if cell.cell_type == "code" and not re.match(r"\s*([%?]|// (Exercise|Your own engine))", cell.source)]
        parts = [[piece for piece in pieces(cell) if piece.strip()] for cell in cells]
        functions = "".join(piece for part in parts for piece in part if stands_outside(piece))
        outside, inside, count = "", "", itertools.count(1)
        for part in parts:
            for piece in part:
                number = NUMBER.match(piece)  # a variable that functions may use
                if stands_outside(piece) or (number and re.search(rf"\b{number[1]}\b", functions)):
                    outside += piece
                else:
                    inside += re.sub(r"^(?=.)", "  ", piece, flags=re.M)
            inside += "\n"
        while call := re.search(r"\bshow\(", inside):
            end = end_of(inside, call.end())
            inside = inside[:call.start()] + shown(inside[call.end():end], count) + inside[end + 2:]
        # What the kernel includes and defines for cells.
        headers = ["xgrad.h"]
        if "kit::" in outside + inside:
            headers += [f"kit/{name}.h" for name in ("data/images", "draw/heatmap", "draw/pictures", "draw/plot", "program/output")]
        above = "#include <iostream>\n\n" + "".join(f"#include <xgrad/{header}>\n" for header in headers) + "\n"
        if "XGRAD_DIR" in outside + inside:
            above += f'#define XGRAD_DIR "{ROOT}"\n'
        return f"{above}{outside}\nint main() {{\n{inside.rstrip()}\n}}\n", resources

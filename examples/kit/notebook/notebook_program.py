"""File > Download as: a notebook as a program. What cells declare stands before `main`, statements and variables in it."""
import re

from nbconvert.exporters import Exporter

OUTSIDE = re.compile(r"\s*(#|using\b|template\b|struct\b|class\b|enum\b|namespace\b|typedef\b)")
FUNCTION = re.compile(r"(?![^(]*<<)[\w:<>,&*\s]+?[\w:]+\([^;=]*\)[^;=]*\{")


def pieces(text):
    """The text cut after each line where all brackets are closed and a statement ends; the last one may be an expression."""
    piece, depth = "", 0
    for line in text.splitlines():
        piece += line + "\n"
        code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", line)
        depth += sum(map(code.count, "({[")) - sum(map(code.count, ")}]"))
        if depth == 0 and (not code.strip() or re.search(r"[;}]\s*$", code) or code.startswith("#")):
            yield piece
            piece = ""
    if piece.strip():
        yield f"std::cout << ({piece.strip()}) << \"\\n\";\n"


class Program(Exporter):
    file_extension, output_mimetype, export_from_notebook = ".cpp", "text/x-c++src", "C++ program"

    def from_notebook_node(self, nb, resources=None, **options):
        nb, resources = super().from_notebook_node(nb, resources, **options)
        outside, inside, pictures = "#include <iostream>\n\n#include <xgrad/xgrad.h>\n\n", "", 0
        for cell in nb.cells:
            if cell.cell_type != "code" or re.match(r"\s*[%?]", cell.source):
                continue
            for piece in pieces(cell.source):
                if not piece.strip():
                    continue
                if OUTSIDE.match(piece) or (FUNCTION.match(piece) and not re.match(r"\s*(if|for|while|switch|do)\b", piece)):
                    outside += piece
                    continue
                inside += re.sub(r"^(?=.)", "  ", piece, flags=re.M)
            inside += "\n"
        # Pictures are files of a program.
        for call, saved in ((r"show\(draw\((.*?)\)\);", r'save_graph("%d.svg", \1);'), (r"std::cout << \(draw\((\w+)\)\) << \"\\n\";", r'save_graph("%d.svg", {\1});'),
                            (r"show\((kit::.*?)\);", r'kit::save_text("%d.svg", \1);')):
            while re.search(call, inside, flags=re.S):
                pictures += 1
                inside = re.sub(call, saved % pictures, inside, count=1, flags=re.S)
        return f"{outside}\nint main() {{\n{inside.rstrip()}\n}}\n", resources

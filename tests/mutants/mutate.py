"""Finds the mutants of a C++ source: small changes of one line, each as a piece of the text and what stands there instead.

It knows tokens and brackets, no types, and relies on the spaces of clang-format: a binary operator has them on both sides, the
angles of a template and a unary operator have not. What it takes for code wrongly does not compile and is left out.
"""
import bisect
import re
from typing import NamedTuple

TOKEN = re.compile(
    r"""(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<string>R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*")
      | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
      | (?P<character>'(?:[^'\\\n]|\\.)+')
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign><=>|->\*|\.\.\.|::|->|\+\+|--|<<=|>>=|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|>>|\S)""",
    re.X | re.M | re.S,
)
OPERATORS = dict(pair.split() for pair in """< <=|<= <|> >=|>= >|== !=|!= ==|+ -|- +|* /|/ *|% /|&& OR|OR &&|+= -=|-= +=|*= /=|/= *="""
                 .split("|"))
OPERATORS = {key.replace("OR", "||"): to.replace("OR", "||") for key, to in OPERATORS.items()}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
OPEN = {"(": ")", "[": "]", "{": "}", "<": ">"}
WITH_CONDITION = {"if", "for", "while", "switch", "catch"}
NO_VALUE = {"return", "throw", "else", "do", "case", "co_return", "co_yield"}  # words that an expression follows
# Words that no statement which can be removed begins with.
NO_STATEMENT = WITH_CONDITION | (NO_VALUE - {"throw"}) | set(
    "const constexpr static auto using namespace template typedef struct class enum union default break continue goto public"
    " private protected friend inline extern explicit virtual static_assert XGRAD_ASSERT try operator".split())
WITHOUT_EFFECT = {"dim", "size", "shape", "rank", "numel", "data", "begin", "end", "value", "empty", "min", "max"}
ALWAYS_SKIPPED = {"static_assert", "XGRAD_ASSERT", "__builtin_prefetch", "alignas", "decltype", "sizeof", "noexcept", "requires"}


class Mutant(NamedTuple):
    line: int  # of the change, from 1
    begin: int  # what is replaced in the text
    end: int
    instead: str  # with <@> for the number of the switch
    kind: str
    before: str  # as a survivor is shown
    after: str


class Token(NamedTuple):
    text: str
    kind: str
    begin: int
    end: int


def tokens_of(text):
    """The tokens, and the text without its comments."""
    tokens, clean = [], list(text)
    for match in TOKEN.finditer(text):
        kind, begin, end = match.lastgroup, match.start(), match.end()
        if kind == "mark":
            kind = "string"
        if kind == "comment":
            clean[begin:end] = [c if c == "\n" else " " for c in match[0]]
        elif match[0][0] == ">" and text[begin - 1] not in " \n":  # the ends of templates
            tokens += [Token(c, "sign", begin + i, begin + i + 1) for i, c in enumerate(match[0])]
        else:
            tokens.append(Token(match[0], kind, begin, end))
    return tokens, "".join(clean)


class Source:
    def __init__(self, text):
        self.tokens, self.text = tokens_of(text)
        self.count = len(self.tokens)
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self.match_brackets()
        self.skipped = [False] * self.count
        self.skip()

    def line_of(self, i):
        return bisect.bisect(self.starts, self.tokens[i].begin)

    def at(self, i):
        return self.tokens[i].text if 0 <= i < self.count else ""

    def spaced(self, i):
        return self.text[self.tokens[i].begin - 1] in " \n" and self.text[self.tokens[i].end : self.tokens[i].end + 1] in (" ", "\n")

    def between(self, first, last):
        return self.changed(first, last, [])

    def match_brackets(self):
        self.partner, self.outer, open_ones = {}, [None] * self.count, []
        for i, token in enumerate(self.tokens):
            closes = token.kind == "sign" and token.text in OPEN.values()
            if closes and token.text == ">":
                closes = bool(open_ones) and self.at(open_ones[-1]) == "<" and self.text[token.begin - 1] != " "
            if closes:
                while open_ones and OPEN[self.at(open_ones[-1])] != token.text:
                    open_ones.pop()
                if open_ones:
                    self.partner[i] = open_ones[-1]
                    self.partner[open_ones.pop()] = i
            self.outer[i] = open_ones[-1] if open_ones else None
            if token.kind == "sign" and token.text in OPEN and (
                    token.text != "<" or self.at(i - 1) == "template" or self.text[token.begin - 1] != " "):
                open_ones.append(i)

    def skip(self):
        """Marks what stays as it is: templates' arguments, constants of the compiler, assertions, names of types."""
        i = 0
        while i < self.count:
            text, last = self.at(i), i - 1
            after = self.at(i + 1)
            if text == "<" and i in self.partner:
                last = self.partner[i]
            elif text == "[" and after == "[" or text == "enum":
                last = self.find(i, "]" if text == "[" else ";")
            elif text in ALWAYS_SKIPPED and after == "(" or text == "if" and after == "constexpr":
                last = self.partner.get(i + 1 if after == "(" else i + 2, i)
            elif text in ("using", "typedef", "concept", "operator", "case"):
                last = i + 2 if text == "operator" else self.find(i, ":" if text == "case" else ";")
            elif text == "constexpr" and self.at(i - 1) != "if":
                first = next((j for j in range(i, self.count) if self.at(j) in ("(", "{", "=", ";") and self.outer[j] == self.outer[i]), i)
                if self.at(first) in ("{", "="):  # a variable
                    last = self.find(i, ";")
            elif text == "=" and (self.at(i - 1) in (")", "const", "noexcept", "override")):
                last = i + 1  # pure
            elif self.tokens[i].kind in ("directive", "string", "character"):
                last = i
            for j in range(i, min(last + 1, self.count)):
                self.skipped[j] = True
            i = max(i, last) + 1

    def find(self, i, text):
        return next((j for j in range(i + 1, self.count) if self.at(j) == text and self.outer[j] == self.outer[i]), i)

    def is_block(self, opener):
        """Whether a `{` holds statements."""
        before = self.at(opener - 1)
        if before in (")", "else", "do", "try", "const", "noexcept", "override", "mutable", ";", "{", "}"):
            j = opener - 1
            while j >= 0 and self.outer[j] == self.outer[opener] and self.at(j) not in (";", "}"):
                if self.at(j) in ("struct", "class", "union", "enum", "namespace", "="):
                    return self.at(j) == "=" and before == ")"  # a lambda
                j = self.partner.get(j, j) - 1 if self.at(j) in OPEN.values() else j - 1
            return True
        return False

    def ends_statement(self, i):
        """Whether a statement can begin after this token."""
        text = self.at(i)
        if text == ")":
            before = self.partner.get(i, 0) - 1
            return self.at(before) in WITH_CONDITION or self.at(before) == "constexpr"
        return text in (";", "else", "do") or (text == "{" and self.is_block(i)) or (
            text == "}" and i in self.partner and self.is_block(self.partner[i]))

    def region(self, i):
        """The first and the last token of the expression around a token: as long as one can put it into parentheses."""
        def stops(j):
            text = self.at(j)
            return self.tokens[j].kind == "directive" or text in NO_VALUE or j != i and text in ASSIGNMENTS | {";", ",", "?", ":"}
        first, last = i, self.partner.get(i, i)
        while first > 0 and self.outer[first - 1] == self.outer[i] or self.at(first - 1) in OPEN.values() and first - 1 in self.partner:
            j = first - 1
            if stops(j) or self.ends_statement(j):
                break
            first = self.partner[j] if self.at(j) in OPEN.values() and j in self.partner else j
        while last + 1 < self.count:
            j = last + 1
            if j in self.partner and self.partner[j] > j:
                last = self.partner[j]
                continue
            if stops(j) or self.outer[j] != self.outer[i] or j in self.partner:
                break
            last = j
        return first, last

    def is_declaration(self, first, last):
        """Whether two words follow one another outside of brackets, as a type and its name do."""
        j, before = first, None
        while j <= last:
            word = self.tokens[j].kind == "word" and self.at(j) not in ("new", "delete", "not")
            if word and before is not None and (self.tokens[before].kind == "word" and self.at(before) not in ("new", "delete", "return", "throw")
                                                or self.at(before) in (">", "&", "*", "&&") and self.text[self.tokens[before].begin - 1] != " "):
                return True
            before = j
            if j in self.partner and self.partner[j] > j:
                j = before = self.partner[j]
            j += 1
        return False

    def replaced(self, at, kind, changes):
        """A mutant that replaces the expression around a token; the changes are (first token, last token, text)."""
        first, last = self.region(at)
        if any(self.tokens[j].kind == "directive" or self.at(j) in ("operator", "constexpr") for j in range(first, last + 1)):
            return None
        low, high = changes[0][0], changes[-1][1]
        line = self.line_of(low)
        mutated, original = self.changed(first, last, changes), self.text[self.tokens[first].begin : self.tokens[last].end]
        low, high = max(low - 3, first), min(high + 3, last)
        return Mutant(line, self.tokens[first].begin, self.tokens[last].end, f"(xgrad_mutant<@>() ? ({mutated}) : ({original}))", kind,
                      self.between(low, high), self.changed(low, high, changes))

    def changed(self, first, last, changes):
        """The text of these tokens in one line, with the changes."""
        parts, place = [], self.tokens[first].begin
        for a, b, text in changes:
            parts += [self.text[place : self.tokens[a].begin], text]
            place = self.tokens[b].end
        return " ".join("".join([*parts, self.text[place : self.tokens[last].end]]).split("\n"))

    def mutants(self):
        found = []
        for i, token in enumerate(self.tokens):
            if self.skipped[i]:
                continue
            if token.text in OPERATORS and self.spaced(i) and token.kind == "sign":
                if "string" not in (self.tokens[i - 1].kind, self.tokens[min(i + 1, self.count - 1)].kind):
                    found.append(self.replaced(i, "operator", [(i, i, OPERATORS[token.text])]))
            elif token.kind == "number" and not (self.at(i - 1) == "[" and self.is_declaration(i - 3, i - 2)):  # an array's size
                more = str(int(token.text) + 1) if token.text.isdigit() else f"({token.text} + 1)"
                found.append(self.replaced(i, "constant", [(i, i, more)]))
            elif token.text in ("true", "false"):
                found.append(self.replaced(i, "constant", [(i, i, "false" if token.text == "true" else "true")]))
            elif token.text == "if" and self.at(i + 1) == "(":
                found.append(self.negated(i + 1))
            elif token.text == "(":
                found.append(self.swapped(i))
            if self.outer[i] is not None and self.at(self.outer[i]) == "{" and self.ends_statement(i - 1):
                found.append(self.removed(i))
        return [mutant for mutant in found if mutant]

    def negated(self, opener):
        closer = self.partner[opener]
        inside = [self.at(j) for j in range(opener + 1, closer) if self.outer[j] == opener]
        if {";", "="} & set(inside):
            return None
        text = self.text[self.tokens[opener].end : self.tokens[closer].begin]
        return Mutant(self.line_of(opener), self.tokens[opener].end, self.tokens[closer].begin,
                      f"xgrad_mutant<@>() != static_cast<bool>({text})", "condition", "(" + " ".join(text.split()) + ")",
                      "negated")

    def removed(self, i):
        last, text = self.find(i, ";"), self.at(i)
        opener = self.outer[i]
        if self.at(self.partner.get(last - 1, 0) - 1) in ("reserve", "shrink_to_fit"):  # time alone
            return None
        begins = (self.tokens[i].kind == "word" and text not in NO_STATEMENT) or text in ("++", "--", "*", "(")
        if not begins or not self.is_block(opener) or any(self.tokens[j].kind == "directive" for j in range(i, last)):
            return None
        assigns = [j for j in range(i, last) if self.outer[j] == opener and self.at(j) in ASSIGNMENTS]
        if self.is_declaration(i, assigns[0] - 1 if assigns else last - 1):
            return None
        if not (text == "throw" or assigns or self.at(last - 1) == ")" or "++" in (text, self.at(last - 1)) or "--" in (text, self.at(last - 1))):
            return None
        begin, end = self.tokens[i].begin, self.tokens[last].end
        return Mutant(self.line_of(i), begin, end, "{ if (!xgrad_mutant<@>()) " + self.text[begin:end] + " }", "statement",
                      self.between(i, last), "removed")

    def swapped(self, opener):
        """The first two neighbours among the arguments of a call that can be evaluated twice (xgrad_swapped)."""
        callee = opener - 1
        if self.at(callee) == ">" and callee in self.partner:
            callee = self.partner[callee] - 1
        if self.tokens[callee].kind != "word" or self.at(callee) in WITH_CONDITION | NO_VALUE | ALWAYS_SKIPPED | {"constexpr", "min", "max", "swap"}:
            return None
        closer = self.partner.get(opener, opener)
        commas = [j for j in range(opener + 1, closer) if self.at(j) == "," and self.outer[j] == opener]
        bounds = [opener] + commas + [closer]
        arguments = [(a + 1, b - 1) for a, b in zip(bounds, bounds[1:])]
        for (a, b), (c, d) in zip(arguments, arguments[1:]):
            first, second = self.between(a, b), self.between(c, d)
            if first != second and self.is_operand(a, b) and self.is_operand(c, d):
                return Mutant(self.line_of(a), self.tokens[a].begin, self.tokens[d].end,
                              f"xgrad_swapped<@>({first}, {second}), xgrad_swapped<@>({second}, {first})" + "\n" * (self.line_of(d) - self.line_of(a)),
                              "arguments", f"{self.between(callee, opener)}{first}, {second}", f"{self.between(callee, opener)}{second}, {first}")
        return None

    def is_operand(self, first, last):
        """Whether the tokens are an expression without effects, not a declaration."""
        if first > last or self.is_declaration(first, last):
            return False
        for j in range(first, last + 1):
            if self.tokens[j].kind in ("string", "directive") or self.at(j) in ASSIGNMENTS | {"{", "++", "--", "const", "auto", "...", "&&", "new"} or (
                    self.at(j) == "(" and (self.tokens[j - 1].kind == "word" or self.at(j - 1) in (">", ")", "]")) and self.at(j - 1) not in WITHOUT_EFFECT):
                return False
        return True


def with_switches(text, mutants, header):
    """A source with mutants by their numbers, no two of one place; its lines keep their numbers. The header is switch.h."""
    code = Source(text).text
    for number, mutant in sorted(mutants.items(), key=lambda item: -item[1].begin):
        code = code[: mutant.begin] + mutant.instead.replace("<@>", f"<{number}>") + code[mutant.end :]
    return f'#include "{header}"\n#line 1\n{code}'

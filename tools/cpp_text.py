"""Reads C++ just well enough for tools/tidy.py: comments and strings blanked, functions measured.

No parser: one regular expression cuts a file into tokens, and a stack of braces finds where the
functions of namespaces and classes begin and end. Line numbers are kept, since everything that is
blanked becomes spaces. What the words mean is left to tidy.py.
"""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
  | (?P<raw> (?:u8|[uUL])?R"(?P<fence>[^\s()\\]{0,16})\( .*? \)(?P=fence)" )
  | (?P<string> (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" )
  | (?P<char> (?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
  | (?P<number> \.?\d(?:'?[\w.])* )
  | (?P<word> [A-Za-z_]\w* )
    """,
    re.VERBOSE | re.DOTALL,
)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


@dataclass
class CppText:
    """One file three times, all of one length: as it is, without comments, without strings too."""

    raw: str
    uncommented: str
    code: str


@dataclass
class Function:
    """Where a function's braces stand, as line numbers from 1."""

    first_line: int
    last_line: int


def blank(text):
    """Spaces of the same shape."""
    return re.sub(r"[^\n]", " ", text)


def read_cpp(raw):
    """Cuts `raw` into the three readings of CppText."""
    uncommented, code, end = [], [], 0
    for match in TOKEN.finditer(raw):
        between, token, kind = raw[end : match.start()], match.group(), match.lastgroup
        is_comment = match.group("comment") is not None
        is_string = kind in ("raw", "fence", "string", "char")
        uncommented += [between, blank(token) if is_comment else token]
        code += [between, blank(token) if is_comment or is_string else token]
        end = match.end()
    return CppText(raw, "".join(uncommented) + raw[end:], "".join(code) + raw[end:])


def line_of(text, offset):
    """The line, from 1, on which `offset` lies."""
    return text.count("\n", 0, offset) + 1


def strip_nested(text, opening, closing):
    """`text` less everything between the brackets, innermost first."""
    pattern = re.compile(rf"\{opening}[^\{opening}\{closing}]*\{closing}")
    while True:
        shorter = pattern.sub(" ", text)
        if shorter == text:
            return text
        text = shorter


def opens_function(head):
    """Whether the brace after `head`, met in a namespace or class, begins a function's body."""
    if not head.strip():  # the body after an initializer list that ends in a brace
        return True
    head = re.sub(r"\boperator\s*(\(\s*\)|[^\s\w(]+)", "operator_name", head)
    if "(" not in head:
        return False
    outside = strip_nested(head, "(", ")")
    outside = strip_nested(outside, "<", ">")
    return "=" not in outside and not SCOPE.search(outside)


def functions(code):
    """The functions in `code` (blanked as CppText.code), lambdas inside them not counted apart."""
    code = PREPROCESSOR.sub(lambda match: blank(match.group()), code)
    found, open_braces, parens, head_start = [], [], 0, 0
    for match in re.finditer(r"[{}();]", code):
        mark, offset = match.group(), match.start()
        if mark in "()":
            parens += 1 if mark == "(" else -1
        elif mark == "{":
            open_braces.append(brace_kind(code[head_start:offset], open_braces, parens, offset))
        elif mark == "}" and open_braces:
            kind, start = open_braces.pop()
            if kind == "function":
                found.append(Function(line_of(code, start), line_of(code, offset)))
        if mark in "{};" and not parens:
            head_start = offset + 1
    return found


def brace_kind(head, open_braces, parens, offset):
    """What a brace opens: a scope, a function, or a block of no interest here."""
    inside_scope = all(kind == "scope" for kind, _ in open_braces)
    if not inside_scope or parens:
        return ("block", offset)
    if opens_function(head):
        return ("function", offset)
    outside = strip_nested(strip_nested(head, "(", ")"), "<", ">")
    return ("scope" if SCOPE.search(outside) else "block", offset)

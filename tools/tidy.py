#!/usr/bin/env python3
"""Holds the house rules that no compiler holds: who includes whom, lengths, banned calls, words.

    tools/tidy.py              all files of the tree
    tools/tidy.py --staged     what the next commit would hold (for .githooks/pre-commit)
    tools/tidy.py --root DIR   another tree (for the test)

Prints `file:line: rule: what is wrong; how to mend it` and exits 1 when anything is. The tables are
in tidy_rules.py, the reading of C++ in cpp_text.py. Layout is left to clang-format, what needs a
parser to clang-tidy.
"""

import argparse
import ast
import fnmatch
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import tidy_rules as rules
from cpp_text import functions, line_of, read_cpp

CPP = (".cpp", ".hpp")
PRODUCT = ("core/", "proto/", "daemon/", "tools/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
TEST = re.compile(r"\b(?:TYPED_)?TEST(?:_[FP])?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
SENTENCE = re.compile(r"([A-Z][a-z0-9]*){2,}")
RECIPE = re.compile(
    r"(?<![\w-])(" + "|".join(name.replace("-", "[-_]") for name in rules.RECIPES) + r")(?![\w-])",
    re.IGNORECASE,
)


@dataclass(order=True)
class Finding:
    """One broken rule."""

    path: str
    line: int
    rule: str
    text: str


def matches(path, patterns):
    """Whether a path, less its extension, is one of `patterns` or lies below one."""
    stem = str(PurePosixPath(path).with_suffix(""))
    match = fnmatch.fnmatchcase
    return any(match(stem, p) or match(stem, p + "/*") for p in patterns)


# Includes.


def check_our_include(path, target):
    """The dependency table."""
    allowed = next((row for place, row in rules.MAY_INCLUDE if matches(path, [place])), None)
    if allowed is None:
        return "this folder has no row in MAY_INCLUDE; add one to tools/tidy_rules.py"
    if not target.startswith(tuple(top + "/" for top in rules.ANYTHING)):
        return f'"{target}" is not a path from the root; write it in full'
    if not matches(target, allowed):
        return f'"{target}" is out of reach here; may include: {", ".join(allowed)}'
    return None


def check_vendor_include(path, target):
    """One door to each vendor, and no system headers below the daemon."""
    for name, pattern, doors in rules.VENDORS:
        if re.fullmatch(pattern, target):
            if matches(path, doors):
                return None
            return f"<{target}> is {name}'s; go through {', '.join(doors)}"
    if re.fullmatch(r"[a-z_0-9]+", target):
        return None
    is_processor = re.fullmatch(rules.PROCESSOR_HEADERS, target)
    if is_processor and matches(path, rules.PROCESSOR_HEADER_USERS):
        return None
    if not target.endswith(".h"):
        return f"<{target}> is nobody's; add the vendor to tools/tidy_rules.py with its one door"
    if not matches(path, rules.SYSTEM_HEADER_USERS):
        return f"<{target}> is a system header; only daemon, tools, tests and core/data/file ask"
    return None


def check_includes(path, text):
    for match in INCLUDE.finditer(text.uncommented):
        quote, target = match.groups()
        check = check_our_include if quote == '"' else check_vendor_include
        problem = check(path, target)
        if problem:
            rule = "room-include" if quote == '"' else "vendor-door"
            yield Finding(path, line_of(text.raw, match.start()), rule, problem)


def check_one_file_a_program(texts):
    """CLI11 costs seconds a file: the second one in a program is a finding."""
    name, programs = rules.ONE_FILE_A_PROGRAM
    pattern = next(pattern for vendor, pattern, _ in rules.VENDORS if vendor == name)
    for program in programs:
        users = [
            path
            for path, text in sorted(texts.items())
            if matches(path, [program])
            and any(re.fullmatch(pattern, m.group(2)) for m in INCLUDE.finditer(text.uncommented))
        ]
        for path in users[1:]:
            yield Finding(path, 1, "vendor-door", f"{name} is already in {users[0]}; parse there")


# Form.


def comment_lines(lines):
    """How many of `lines`, from the first, are // comments with words in them."""
    count = 0
    for line in lines:
        if not line.startswith("//"):
            break
        count += bool(line.strip("/ "))
    return count


def check_header_form(path, text):
    lines = text.raw.split("\n")
    if path.endswith(".hpp"):
        if lines[0] != "#pragma once" or lines[1:2] != [""]:
            yield Finding(path, 1, "header-form", "begin with `#pragma once` and an empty line")
        elif comment_lines(lines[2:]) < rules.HEADER_COMMENT_LINES_MIN:
            yield Finding(
                path, 3, "header-form",
                "open with a // comment of at least two lines: what this is, why, what it leaves")


def check_source_form(path, text, has_header):
    """A .cpp includes its own header first; without one it opens with a comment."""
    if not path.endswith(".cpp") or not path.startswith(PRODUCT):
        return
    own = str(PurePosixPath(path).with_suffix(".hpp"))
    includes = INCLUDE.findall(text.uncommented)
    if has_header and (not includes or includes[0] != ('"', own)):
        yield Finding(path, 1, "own-header-first", f'include "{own}" before all else')
    if not has_header and not text.raw.startswith("//"):
        yield Finding(path, 1, "opening-comment", "open with a // comment: what this is and why")


def check_script_form(path, raw):
    """A script says first what it is."""
    lines = [line for line in raw.split("\n") if not line.startswith("#!")]
    first = next((line for line in lines if line.strip()), "")
    if path.endswith(".py") and raw.strip() and not first.startswith(('"""', 'r"""', "#")):
        yield Finding(path, 1, "opening-comment", "open with a docstring: what this is and why")
    if not path.endswith(".py") and not first.startswith("# "):
        yield Finding(path, 1, "opening-comment", "open with a # comment: what this is and why")


def check_lengths(path, raw):
    lines = raw.rstrip("\n").split("\n")
    if len(lines) > rules.FILE_LINES_MAX:
        yield Finding(
            path, len(lines), "file-length",
            f"{len(lines)} lines, {rules.FILE_LINES_MAX} at most; move a part with a name out")
    for number, line in enumerate(lines, 1):
        if len(line) > rules.COLUMNS_MAX:
            yield Finding(
                path, number, "line-length", f"{len(line)} columns, {rules.COLUMNS_MAX} at most")


def check_function_length(path, spans):
    for first, last in spans:
        if last - first > rules.FUNCTION_LINES_MAX:
            yield Finding(
                path, first, "function-length",
                f"{last - first} lines, {rules.FUNCTION_LINES_MAX} at most; name its steps")


def python_spans(raw):
    try:
        tree = ast.parse(raw)
    except SyntaxError:
        return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [(n.lineno, n.end_lineno) for n in ast.walk(tree) if isinstance(n, kinds)]


# Words and calls.


def check_calls(path, text):
    for rule, places, excepted, pattern, mend in rules.BANS:
        if not matches(path, places) or matches(path, excepted):
            continue
        for match in re.finditer(pattern, text.code):
            found = " ".join(match.group().split())
            yield Finding(path, line_of(text.code, match.start()), rule, f"`{found}`: {mend}")


def check_recipes(path, text):
    if not matches(path, ["core"]) or matches(path, rules.RECIPE_HOME):
        return
    for match in RECIPE.finditer(text.uncommented):
        yield Finding(
            path, line_of(text.raw, match.start()), "recipe-name",
            f"`{match.group()}` outside core/mixing/recipe.cpp; ask for the axis, not the recipe")


def check_names(path, text):
    for match in re.finditer(rules.NAMES_BANNED, text.code):
        yield Finding(
            path, line_of(text.code, match.start()), "banned-name",
            f"`{match.group()}` says nothing; name the thing it is")


def check_file_name(path):
    if re.search(rules.FILE_NAMES_BANNED, path):
        yield Finding(path, 1, "banned-name", "the file's name says nothing; name what is in it")


def check_test_names(path, text):
    for match in TEST.finditer(text.code):
        suite, name = match.groups()
        line = line_of(text.code, match.start())
        if not SENTENCE.fullmatch(name):
            yield Finding(
                path, line, "test-name", f"`{name}` is no sentence; say in CamelCase what holds")
        if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", suite):
            yield Finding(path, line, "test-name", f"`{suite}` is no CamelCase noun")


def check_words(path, raw):
    for wrong, right in rules.SPELLING.items():
        for match in re.finditer(wrong, raw, re.IGNORECASE):
            yield Finding(
                path, line_of(raw, match.start()), "spelling",
                f"`{match.group()}`: write `{right}`")
    for match in re.finditer(rules.TODO_BAD, raw):
        yield Finding(
            path, line_of(raw, match.start()), "todo",
            "do it now, or mark it (soon|someday|perf) with a colon and a sentence")


# The tree.


def is_script(path, raw):
    return path.endswith((".py", ".sh")) or (
        raw.startswith("#!") and "sh" in raw.split("\n", 1)[0] and not path.endswith(CPP))


def check_file(path, raw, has_header):
    """All findings in one file, exceptions already taken off."""
    checks = [check_file_name(path)]
    if path.endswith(CPP):
        text = read_cpp(raw)
        spans = [(f.first_line, f.last_line) for f in functions(text.code)]
        checks += [check_includes(path, text), check_header_form(path, text),
                   check_source_form(path, text, has_header), check_calls(path, text),
                   check_recipes(path, text), check_names(path, text),
                   check_test_names(path, text), check_function_length(path, spans)]
    elif is_script(path, raw):
        checks += [check_script_form(path, raw)]
        if path.endswith(".py"):
            checks += [check_function_length(path, python_spans(raw))]
    if path.endswith(CPP) or is_script(path, raw):
        checks += [check_lengths(path, raw)]
    if path.endswith((*CPP, "meson.build")) or is_script(path, raw):
        checks += [check_words(path, raw)]
    return [f for check in checks for f in check if not is_excepted(f)]


def is_excepted(finding):
    return any(matches(finding.path, [place]) and finding.rule == rule
               for place, rule, _ in rules.EXCEPTIONS)


def git(root, *arguments):
    result = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    return result.stdout if result.returncode == 0 else None


def walk(root):
    """Files of a tree that git does not know, less build folders and hidden ones."""
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith((".", "build", "__pycache__"))]
        for name in names:
            yield Path(folder, name).relative_to(root).as_posix()


def read_tree(root, staged):
    """Path to text of every file that can be read as text."""
    if staged:
        names = git(root, "diff", "--cached", "--name-only", "-z", "--diff-filter=ACMR") or b""
        paths = names.decode().split("\0")[:-1]
        contents = {path: git(root, "show", f":{path}") for path in paths}
    else:
        is_top = (root / ".git").exists()
        names = git(root, "ls-files", "-z", "-co", "--exclude-standard") if is_top else None
        paths = walk(root) if names is None else names.decode().split("\0")[:-1]
        contents = {p: (root / p).read_bytes() for p in paths if (root / p).is_file()}
    texts = {}
    for path, content in contents.items():
        try:
            texts[path] = content.decode("utf-8")
        except (UnicodeDecodeError, AttributeError):
            continue
    return texts


def check_tree(root, staged=False):
    """All findings below `root`, in order."""
    texts = read_tree(root, staged)
    found = []
    for path, raw in texts.items():
        own = str(PurePosixPath(path).with_suffix(".hpp"))
        found += check_file(path, raw, own in texts or (root / own).is_file())
    found += check_one_file_a_program({p: read_cpp(t) for p, t in texts.items() if p.endswith(CPP)})
    return sorted(found), len(texts)


def main():
    parser = argparse.ArgumentParser(description="the house rules that no compiler holds")
    parser.add_argument("--staged", action="store_true", help="only what the next commit holds")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    found, count = check_tree(arguments.root.resolve(), arguments.staged)
    for f in found:
        print(f"{f.path}:{f.line}: {f.rule}: {f.text}")
    print(f"tidy: {count} files, {len(found)} findings", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

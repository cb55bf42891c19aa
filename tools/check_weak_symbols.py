#!/usr/bin/env python3
"""Fails where code compiled for one kernel level could run at another.

The linker keeps one copy of a weak symbol (an inline function, a template instance). Where an
archive compiled for x86-64-v3 brings a weak function that other code brings too, the copy that is
kept may be the one with AVX2, and older processors crash. So every weak code symbol of a level's
archive must carry its level in its name; the baseline level may bring what it likes.

Usage: check_weak_symbols.py ARCHIVE...     (names end in _scalar.a, _v2.a, _v3.a)
"""

import pathlib
import re
import subprocess
import sys

BASELINE = "scalar"


def level_of(archive):
    """The level that the archive's name ends with ("libcodec_kernels_v3.a": "v3")."""
    return pathlib.Path(archive).stem.rpartition("_")[2]


def weak_code_symbols(archive):
    """Demangled names of the weak symbols that the archive defines and that are no objects."""
    listing = subprocess.run(
        ["nm", "--defined-only", "--demangle", archive],
        check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^[0-9a-f]+ W (.+)$", listing, flags=re.MULTILINE)
    return sorted(set(found))


def carries(symbol, level):
    """Whether the level stands in the name as a namespace or at the end of one."""
    return re.search(r"(?:::|_|\b)" + re.escape(level) + r"::", symbol) is not None


def check(archive):
    """The weak code symbols of the archive that other code may share."""
    level = level_of(archive)
    if level == BASELINE:
        return []
    return [symbol for symbol in weak_code_symbols(archive) if not carries(symbol, level)]


def main(archives):
    if not archives:
        print(__doc__, file=sys.stderr)
        return 2
    count = 0
    for archive in archives:
        for symbol in check(archive):
            print(f"{archive}: weak code symbol without its level: {symbol}")
            count += 1
    print(f"{len(archives)} archives, {count} shared weak code symbols")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

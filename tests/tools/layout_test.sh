#!/bin/bash
# Every C++ file is laid out as .clang-format says.
#
# Leaves to tidy.py what a formatter cannot see. Exit 77 (not run) where clang-format is missing.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
command -v clang-format >/dev/null || { echo "clang-format is missing"; exit 77; }
find core proto daemon tools tests \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 -P 2 -n 40 clang-format --dry-run --Werror ||
    { echo "mend with: clang-format -i FILE"; exit 1; }

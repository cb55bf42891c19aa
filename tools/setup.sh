#!/bin/bash
# Brings the Debian 12 packages that a group in packages.txt names, if any are missing.
#
#     tools/setup.sh build test        as a program
#     . tools/setup.sh                 then: ensure_packages build test
#
# Asks before it uses sudo on a terminal; without one it never waits for an answer. What to do with
# the packages is left to the caller.

setup_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The packages of the groups given, one a line.
packages_of() {
    local group
    for group in "$@"; do
        sed -n "/^\[$group\]\$/,/^\[/{/^[a-z0-9]/p}" "$setup_folder/packages.txt"
    done | sort -u
}

missing_packages() {
    local package
    for package in $(packages_of "$@"); do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
            echo "$package"
    done
}

# Runs a command as root, or says why that is not possible.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        echo "setup: not root and no sudo; run as root: $*" >&2
        return 1
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# On a terminal, without root: whether the packages may be installed.
may_install() {
    [ "$(id -u)" -eq 0 ] || [ ! -t 0 ] && return 0
    local answer
    read -r -p "setup: install these with sudo apt-get? [Y/n] " answer
    case $answer in '' | [Yy]*) return 0 ;; *) return 1 ;; esac
}

# Installs what is missing from the groups given; 1 when something still is.
ensure_packages() {
    if ! command -v dpkg-query >/dev/null; then
        echo "setup: no Debian; you need what these packages bring: $(packages_of "$@" | xargs)" >&2
        return 0
    fi
    local missing
    missing=$(missing_packages "$@" | tr '\n' ' ')
    [ -z "$missing" ] && return 0
    echo "setup: missing: $missing"
    may_install || return 1
    # A source that does not answer need not be the one we need: the install decides.
    as_root apt-get update -q >/dev/null || echo "setup: apt-get update failed; going on" >&2
    # shellcheck disable=SC2086  # words are packages
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends $missing </dev/null >/dev/null || {
        echo "setup: could not install: $(missing_packages "$@" | tr '\n' ' ')" >&2
        return 1
    }
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    if [ $# -eq 0 ]; then
        echo "usage: tools/setup.sh GROUP...   (groups: tools/packages.txt)" >&2
        exit 2
    fi
    ensure_packages "$@"
fi

#!/bin/bash
# The unit files are well formed, and as closed as they claim to be.
#
# Works without a running systemd and before p2pd is installed: copies that name /bin/true stand in
# for the programs. Exit 77 (not run) where systemd-analyze is missing.
set -uo pipefail
units=$(cd "$(dirname "$0")/../../daemon/systemd" && pwd)
command -v systemd-analyze >/dev/null || { echo "systemd-analyze is missing"; exit 77; }

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
failures=0

fail() {
    echo "FAIL: $1"
    failures=$((failures + 1))
}

for unit in "$units"/*.service "$units"/*.target; do
    sed -E 's|^(Exec[A-Za-z]*)=(/usr/bin/p2p[a-z]*\|/etc/p2pd/trainers/%i)|\1=/bin/true|' \
        "$unit" >"$copy/$(basename "$unit")"
done
cp "$copy/p2p-trainer@.service" "$copy/p2p-trainer@x.service"

# `verify` reports unknown keys on stderr but exits 0, so any word of it about our files is a fault.
verified=$(SYSTEMD_UNIT_PATH=$copy: systemd-analyze verify --man=no "$copy"/p2pd*.* \
    "$copy/p2p-trainer@x.service" 2>&1) || fail "verify exits $?"
grep -F -e "$copy" -e p2pd -e p2p-trainer <<<"$verified" && fail "verify complains (above)"

# Threshold in tenths: p2pd scores 1.6, what only waits less, a stranger's trainer more.
exposure_below() {
    systemd-analyze security --offline=true --threshold="$2" "$copy/$1" >"$copy/report" 2>&1 ||
        { tail -n 40 "$copy/report"; fail "$1 is more open than $2 tenths"; }
}
exposure_below p2pd.service 20
exposure_below p2pd-wait-joined.service 20
exposure_below p2p-trainer@x.service 30

# The check itself can fail: the same unit without its fences must not pass.
grep -v -E '^(Protect|Private|Restrict|Capability|NoNew|SystemCall)' "$copy/p2pd.service" \
    >"$copy/open.service"
systemd-analyze security --offline=true --threshold=20 "$copy/open.service" >/dev/null 2>&1 &&
    fail "an open unit passes the threshold, so the threshold proves nothing"

[ "$failures" -eq 0 ] && echo "unit files: all good"
exit $((failures > 0))

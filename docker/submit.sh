#!/bin/bash
# Hands a job to the node whose sockets are mounted at /run/p2pd, and waits for its end.
#
# The exit status is p2pctl's: 0 when the job is done, 8 when time ran out (p2pctl(1)).
set -euo pipefail

job=$1
name=$(sed -n 's/^name *= *"\(.*\)".*/\1/p' "$job" | head -n 1)
peers=$(($(wc -w <<<"$P2P_NODES") - 1))

# The socket of a former start may still lie there, so ask instead of looking.
for _ in $(seq 300); do
    p2pctl status >/dev/null 2>&1 && break
    sleep 0.2
done
p2pctl wait ready --timeout 60s
p2pctl wait "peers=$peers" --timeout 120s
p2pctl job submit "$job"
p2pctl wait "job=$name:done" --timeout 15m
p2pctl job show "$name"

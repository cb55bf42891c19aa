#!/bin/bash
# docker/compose.yaml does what the README says: four nodes start, train a job together and end it.
#
# Starts a dockerd of its own in a temporary folder, makes the base image with debootstrap from this
# machine's Debian mirror (kept in the build folder, so that no registry is needed), builds, runs
# the mesh until `submit` ends, and takes everything down again. Exit 77 (not run) without root or
# without the engine (tools/setup.sh docker).
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cache=${MESON_BUILD_ROOT:-$root/build}/docker-base.tar
compose=(docker-compose --project-name p2ptrain-test -f "$root/docker/compose.yaml")
export BASE=p2ptrain-base DOCKER_CLIENT_TIMEOUT=300 COMPOSE_HTTP_TIMEOUT=300

not_run() {
    echo "$1"
    exit 77
}

[ "$(id -u)" -eq 0 ] || not_run "the docker test needs root"
for program in dockerd docker docker-compose debootstrap; do
    command -v "$program" >/dev/null || not_run "$program is missing (tools/setup.sh docker)"
done

work=$(mktemp -d /tmp/p2ptrain-docker.XXXXXX)
export DOCKER_HOST=unix://$work/docker.sock
engine=
had_bridge=$([ -e /sys/class/net/docker0 ] && echo yes)

take_down() {
    if [ -n "$engine" ]; then
        "${compose[@]}" down --volumes --timeout 10 >/dev/null 2>&1
        kill "$engine" && wait "$engine"
    fi
    umount "$work/exec/netns/default" 2>/dev/null
    [ -n "$had_bridge" ] || ip link delete docker0 2>/dev/null
    rm -rf --one-file-system "$work"
}
trap take_down EXIT
trap 'exit 1' INT TERM

fail() {
    echo "FAIL: $1"
    exit 1
}

step() { echo "docker: $((SECONDS)) s: $1"; }

# The first Debian mirror in this machine's apt configuration, of either format.
debian_mirror() {
    local mirror
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -nE 's/^deb +(\[[^]]*\] +)?(http[^ ]*) +bookworm +.*main.*/\2/p' | head -n 1)
    [ -n "$mirror" ] || mirror=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
        awk '/^URIs:/ {uri = $2} /^Suites:/ && / bookworm( |$)/ {print uri; exit}')
    echo "${mirror:-http://deb.debian.org/debian}"
}

make_base() {
    local mirror
    mirror=$(debian_mirror)
    step "debootstrap from $mirror"
    debootstrap --variant=minbase --include=ca-certificates bookworm "$work/rootfs" "$mirror" \
        >"$work/debootstrap.log" 2>&1 || { tail -n 20 "$work/debootstrap.log"; return 1; }
    apt-config dump | grep -E '^Acquire::https?::Proxy' >"$work/rootfs/etc/apt/apt.conf.d/90proxy"
    rm -rf "$work"/rootfs/var/cache/apt/* "$work"/rootfs/var/lib/apt/lists/*
    mkdir -p "$(dirname "$cache")"
    tar -C "$work/rootfs" -cf "$cache.part" . && mv "$cache.part" "$cache"
    rm -rf --one-file-system "$work/rootfs"
}

start_engine() {
    dockerd --data-root "$work/data" --exec-root "$work/exec" --pidfile "$work/pid" \
        -H "$DOCKER_HOST" >"$work/dockerd.log" 2>&1 &
    engine=$!
    for _ in $(seq 150); do
        docker version >/dev/null 2>&1 && return 0
        kill -0 "$engine" 2>/dev/null || return 1
        sleep 0.2
    done
    return 1
}

[ -s "$cache" ] || make_base || fail "no base image"
start_engine || {
    tail -n 30 "$work/dockerd.log"
    fail "dockerd does not start"
}
step "dockerd is up; importing the base image"
docker import "$cache" "$BASE" >/dev/null || fail "docker import"

step "building the image"
unset DOCKER_BUILDKIT  # not every client has buildx
"${compose[@]}" build n1 >"$work/build.log" 2>&1 || {
    tail -n 40 "$work/build.log"
    fail "the image does not build"
}
user=$(docker image inspect -f '{{.Config.User}}' p2ptrain)
[ "$user" = p2pd ] || fail "the image runs as '$user', not as p2pd"

image_bytes=$(docker image inspect -f '{{.Size}}' p2ptrain)
step "starting the mesh; the image takes $((image_bytes >> 20)) MiB"
"${compose[@]}" up --no-color --no-build --abort-on-container-exit --exit-code-from submit \
    >"$work/up.log" 2>&1
status=$?
[ $status -eq 0 ] || { tail -n 80 "$work/up.log"; fail "submit ended with $status"; }
grep -q 'submit.*fashion-mlp' "$work/up.log" || fail "submit said nothing of its job"
step "the job ended: done"

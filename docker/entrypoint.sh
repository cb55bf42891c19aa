#!/bin/bash
# Starts p2pd in a container.
#
# With P2P_NODES ("n1 n2 n3 n4", host names, this one's among them) it first makes those nodes
# each other's allow-list: every node writes its public id to /mesh, a volume they share, waits for
# the others' and writes its own configuration. The first node draws the network id. Without
# P2P_NODES the configuration must be there already (a volume on /etc/p2pd).
# What is in /mesh is public, but whoever can write to it can join: it is for one machine.
set -euo pipefail

mesh=/mesh
state=/var/lib/p2pd
config=/etc/p2pd
port=7470
wait_seconds_max=120

die() {
    echo "entrypoint: $*" >&2
    exit 78
}

# Writes standard input to a file at once, so that no other node reads half of it.
publish() {
    cat >"$mesh/.$name.tmp"
    mv "$mesh/.$name.tmp" "$1"
}

wait_for() {
    local file=$1 since=$SECONDS
    until [ -s "$file" ]; do
        [ $((SECONDS - since)) -lt $wait_seconds_max ] ||
            die "waited $wait_seconds_max s for $file; is that node running?"
        sleep 0.2
    done
}

# 32 random bytes as 52 characters of lower-case base32, once for the life of the volume.
found_network() {
    [ -s "$mesh/network.id" ] && return
    head -c 32 /dev/urandom | base32 -w 0 | tr -d = | tr '[:upper:]' '[:lower:]' |
        publish "$mesh/network.id"
}

write_peers() {
    local peer
    for peer in "${others[@]}"; do
        printf '[[peer]]\nid = "%s"\nname = "%s"\naddresses = ["%s:%s"]\n\n' \
            "$(cat "$mesh/$peer.id")" "$peer" "$peer" "$port"
    done >"$config/peers.toml"
}

write_config() {
    local peer bootstrap=()
    for peer in "${others[@]}"; do
        bootstrap+=("\"$(cat "$mesh/$peer.id")@$peer:$port\"")
    done
    cat >"$config/p2pd.toml" <<TOML
[node]
name = "$name"

[network]
id = "$(cat "$mesh/network.id")"
bootstrap = [$(IFS=,; echo "${bootstrap[*]}")]

[datasets]
fashion-mnist = "/usr/share/datasets/fashion-mnist"
TOML
}

if [ -n "${P2P_NODES:-}" ]; then
    name=$(cat /etc/hostname)
    read -r -a nodes <<<"$P2P_NODES"
    [[ " ${nodes[*]} " == *" $name "* ]] || die "host $name is not one of P2P_NODES: $P2P_NODES"
    others=()
    for node in "${nodes[@]}"; do [ "$node" = "$name" ] || others+=("$node"); done

    p2pd --make-identity "$state/identity.key" | publish "$mesh/$name.id"
    [ "$name" = "${nodes[0]}" ] && found_network
    wait_for "$mesh/network.id"
    for node in "${others[@]}"; do wait_for "$mesh/$node.id"; done
    write_peers
    write_config
fi
exec p2pd "$@"

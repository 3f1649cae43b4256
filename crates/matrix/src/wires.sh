#!/bin/sh
# In a network namespace of its own: a wire for each name before `--`, then the command after it, which has its ends as taps.
# A wire is a bridge between two taps, NAMEa and NAMEb. Taps of a name that ends in `q` have several queues.
set -e

wire() {
    ip link add "$1" type bridge mcast_snooping 0 forward_delay 0
    case $1 in *q) queues=multi_queue ;; *) queues= ;; esac
    for end in a b; do
        ip tuntap add "$1$end" mode tap $queues
        ip link set "$1$end" mtu 9000 addrgenmode none master "$1"
        ip link set "$1$end" up
    done
    ip link set "$1" mtu 9000 addrgenmode none
    ip link set "$1" up
}

while [ "$1" != -- ]; do
    wire "$1"
    shift
done
shift
exec "$@"

# SPDX-License-Identifier: Apache-2.0
# Two hosts for README.md's tour, apart from this machine's network and its BPF programs. In a root shell:
#
#     . demo/tour.sh
#
#   tour COMMAND   runs a command on the first host. `tour-lan` and `tour-wan` stand for network cards; the ends of
#                  their cables are `tour-host`, which sends from 10.0.1.2, and `tour-net`. `tour0` leads to the peer.
#   peer COMMAND   runs a command on the second host, at the other end of `tour0`: 10.1.0.2, 2001:db8::2.
#   tour_end       removes both, with everything that was started there.
#
# A host is a network and a mount namespace, which one process holds. The first `tour` or `peer` command that fails
# removes both hosts, and so does the end of this shell, however it ends; later commands are then refused.

# Begins a host, prints the number of the process that holds it.
_tour_host() {
    unshare --net --mount sh -ec '
        mount -t bpf bpf /sys/fs/bpf
        ip link set lo up
        tail -f /dev/null --pid="$1" > /dev/null 2>&1 &
        echo $!' sh $$
}

# Whether a process holds the namespace that it began with: its number may be another process's by now.
_tour_is_there() {
    [ -n "$2" ] && [ "$(readlink "/proc/$1/ns/net")" = "$2" ]
}

# Runs a command on a host: HOLDER NAMESPACE COMMAND...
_tour_run() {
    if ! _tour_is_there "$1" "$2"; then
        echo 'tour: there is no tour (any more); `. demo/tour.sh` as root begins one' >&2
        return 1
    fi
    _tour_target=$1
    shift 2
    nsenter --target "$_tour_target" --net --mount --wd="$PWD" -- "$@" && return
    set -- "$?" "$*"
    tour_end
    echo "tour: \`$2\` failed with $1; the tour ends here, everything that it made is removed" >&2
    return "$1"
}

tour() { _tour_run "$_tour_holder" "$_tour_net" "$@"; }
peer() { _tour_run "$_peer_holder" "$_peer_net" "$@"; }

# Ends a host; when it returns, the host takes no command any more.
_tour_host_end() {
    _tour_is_there "$1" "$2" && kill -KILL "$1"
    while _tour_is_there "$1" "$2"; do sleep 0.01; done
}

tour_end() {
    _tour_host_end "$_tour_holder" "$_tour_net"
    _tour_host_end "$_peer_holder" "$_peer_net"
}

_tour_begin() {
    _tour_holder= _tour_net= _peer_holder= _peer_net=
    _tour_holder=$(_tour_host) || return
    _tour_net=$(readlink "/proc/$_tour_holder/ns/net")
    _peer_holder=$(_tour_host) || return
    _peer_net=$(readlink "/proc/$_peer_holder/ns/net")
    # Nothing is on the wire but what the reader sends.
    tour sh -ec '
        ip link add tour-lan type veth peer name tour-host
        ip link add tour-wan type veth peer name tour-net
        ip link add tour0 address 02:00:00:00:00:01 type veth peer name tour0 address 02:00:00:00:00:02 netns "$1"
        for device in tour-lan tour-host tour-wan tour-net tour0; do ip link set $device addrgenmode none; ip link set $device up; done
        ip link set tour-host arp off
        ip addr add 10.0.1.2/24 dev tour-host
        ip route add 10.9.0.0/16 dev tour-host
        ip addr add 10.1.0.1/24 dev tour0
        ip neigh add 10.1.0.2 lladdr 02:00:00:00:00:02 dev tour0
        ip addr add 2001:db8::1/64 dev tour0 nodad' sh "$_peer_holder" &&
    peer sh -ec '
        ip link set tour0 addrgenmode none
        ip link set tour0 up
        ip addr add 10.1.0.2/24 dev tour0
        ip neigh add 10.1.0.1 lladdr 02:00:00:00:00:01 dev tour0
        ip addr add 2001:db8::2/64 dev tour0 nodad'
}

tour_end
if ! _tour_begin; then
    tour_end
    echo 'tour: its hosts could not be made, which takes root: nothing was changed' >&2
    false
fi

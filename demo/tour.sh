# SPDX-License-Identifier: Apache-2.0
# Three hosts for the tour (docs/tour.md), apart from this machine's network and its BPF programs. In a root shell:
#
#     . demo/tour.sh
#
#     client 10.0.1.2 ─── tour-lan  tour  tour-wan ─── 10.0.2.2 peer
#                                   tour0 ──────────── tour0
#
#   tour COMMAND     runs a command on the host in the middle. Its network cards are `tour-lan`, `tour-wan` and `tour0`.
#                    Its kernel forwards nothing.
#   client COMMAND   runs a command on the host at `tour-lan`: 10.0.1.2.
#   peer COMMAND     runs a command on the host at `tour-wan` and `tour0`: 10.0.2.2; 10.1.0.2 and 2001:db8::2.
#   tour_end         removes the hosts and everything that was started there.
#
# A host is a network and a mount namespace that one process holds. It also ends with this shell, however that ends, and
# takes no command then; servers that were started there run on until they end themselves.

# Starts a host and prints the number of the process that holds it.
_tour_host() {
    unshare --net --mount sh -ec '
        mount -t bpf bpf /sys/fs/bpf
        ip link set lo up
        tail -f /dev/null --pid="$1" > /dev/null 2>&1 &
        echo $!' sh $$
}

# Succeeds if a process holds the namespace that it began with: its number may be another process's by now.
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
    nsenter --target "$_tour_target" --net --mount --wd="$PWD" -- "$@"
}

tour() { _tour_run "$_tour_holder" "$_tour_net" "$@"; }
client() { _tour_run "$_client_holder" "$_client_net" "$@"; }
peer() { _tour_run "$_peer_holder" "$_peer_net" "$@"; }

# Ends a host and what runs there. No command runs on it after this returns.
_tour_host_end() {
    while _tour_is_there "$1" "$2"; do
        for _tour_process in /proc/[0-9]*; do
            [ "$(readlink "$_tour_process/ns/net")" = "$2" ] && kill -KILL "${_tour_process#/proc/}"
        done 2> /dev/null
    done
    return 0
}

tour_end() {
    _tour_host_end "$_tour_holder" "$_tour_net"
    _tour_host_end "$_client_holder" "$_client_net"
    _tour_host_end "$_peer_holder" "$_peer_net"
}

_tour_begin() {
    _tour_holder= _tour_net= _client_holder= _client_net= _peer_holder= _peer_net=
    _tour_holder=$(_tour_host) || return
    _tour_net=$(readlink "/proc/$_tour_holder/ns/net")
    _client_holder=$(_tour_host) || return
    _client_net=$(readlink "/proc/$_client_holder/ns/net")
    _peer_holder=$(_tour_host) || return
    _peer_net=$(readlink "/proc/$_peer_holder/ns/net")
    # Nothing is on the wire but what the reader sends: no automatic addresses, and the neighbours are known.
    tour sh -ec '
        ip link add tour-lan address 02:00:00:00:01:01 type veth peer name lan address 02:00:00:00:01:02 netns "$1"
        ip link add tour-wan address 02:00:00:00:02:01 type veth peer name wan address 02:00:00:00:02:02 netns "$2"
        ip link add tour0 address 02:00:00:00:00:01 type veth peer name tour0 address 02:00:00:00:00:02 netns "$2"
        for device in tour-lan tour-wan tour0; do ip link set $device addrgenmode none; ip link set $device up; done
        ip addr add 10.1.0.1/24 dev tour0
        ip neigh add 10.1.0.2 lladdr 02:00:00:00:00:02 dev tour0
        ip addr add 2001:db8::1/64 dev tour0 nodad' sh "$_client_holder" "$_peer_holder" &&
    client sh -ec '
        ip link set lan addrgenmode none
        ip link set lan up
        ip addr add 10.0.1.2/24 dev lan
        ip neigh add 10.0.1.1 lladdr 02:00:00:00:01:01 dev lan
        ip route add default via 10.0.1.1' &&
    peer sh -ec '
        for device in wan tour0; do ip link set $device addrgenmode none; ip link set $device up; done
        ip addr add 10.0.2.2/24 dev wan
        ip neigh add 10.0.2.1 lladdr 02:00:00:00:02:01 dev wan
        ip route add 10.0.1.0/24 via 10.0.2.1
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

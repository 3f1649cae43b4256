# A second network namespace behind v1, the other end of v0: `far` runs a command there, `far_ends` ends it.

# It ends with the session, however slow the machine is.
unshare --net tail --pid=$$ -s 0.1 -f /dev/null > /dev/null 2>&1 &
FAR=$!
until [ "$(readlink /proc/$FAR/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
far() { nsenter --net="/proc/$FAR/ns/net" "$@"; }
far_ends() { kill $FAR; wait $FAR 2> /dev/null || true; }

# Nothing is on the wire but what the session sends. Of one message with `addrgenmode none` and `up` the kernel does `up` first,
# and may send neighbour solicitations.
ip link add v0 address 02:00:00:00:00:01 type veth peer name v1 address 02:00:00:00:00:02 netns $FAR
ip link set v0 addrgenmode none
far ip link set v1 addrgenmode none
# Programs at XDP lose nothing at v0 that `run` would warn of.
far ethtool -K v1 tx off txvlan off gro on > /dev/null
ip link set v0 up
far ip link set v1 up
ip addr add 10.0.0.1/24 dev v0
far ip addr add 10.0.0.2/24 dev v1
ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev v0
far ip neigh replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev v1

# How many of NUMBER pings to ADDRESS are answered, after a command such as `far`, if one is given.
pings() {
    local number=$1
    shift
    "${@:2}" ping -q -c "$number" -i 0.01 -W 0.3 "$1" | grep -o '[0-9]* received'
}

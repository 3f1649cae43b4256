# What is on the interfaces of this namespace and pinned, and commands with that after them: so that a session shows
# what a refusal has changed, which is nothing.

attached() {
    {
        ip -o link show type veth | sed -n 's/^[0-9]*: \([a-z0-9]*\)@.*prog\/xdp.*/on \1: a program/p'
        links=$(ip -o link show type veth | sed 's/^[0-9]*: \([a-z0-9]*\)@.*/\1/' | sort)
        [ -z "$links" ] || python3 tcx.py $links
        for link in $links; do
            for side in ingress egress; do
                tc filter show dev "$link" $side | sed -n "s/.*pref.* handle.*/on $link: clsact $side/p"
            done
            tc qdisc show dev "$link" | sed -n "s/.*clsact.*/on $link: a clsact qdisc/p"
        done
    } | grep . || echo "on no interface: a program"
    ls /sys/fs/bpf/onpath 2>/dev/null | sed 's/^/pinned: /' || true
}

try() {
    "$@"
    local status=$?
    attached
    return $status
}

# Has interfaces send packets with their checksums and tags in them, and take packets from XDP: at the other ends of these, programs
# at XDP lose nothing that `run` would warn of.
for_xdp() { for end in "$@"; do ethtool -K "$end" tx off txvlan off gro on > /dev/null; done; }

// SPDX-License-Identifier: Apache-2.0
//
// A data centre's switch with 24 tables, in the order in which such chips have them: ports and VLANs, bridging, routing
// for IPv4 and IPv6 with next hops and groups of equal paths, access lists on every layer, quality of service, storm
// control, mirroring and the rewriting of what leaves.

#include <core.p4>
#include <xdp_model.p4>
#include "headers.p4h"

header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_t eth;
    vlan_t     vlan;
    ipv4_t     ipv4;
    ipv6_t     ipv6;
    ports_t    ports;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_VLAN: vlan;
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }
    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5, error.ParserInvalidArgument);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, PROTOCOL_TCP): ports;
            (5, 0, PROTOCOL_UDP): ports;
            default:              accept;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.ParserInvalidArgument);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP: ports;
            PROTOCOL_UDP: ports;
            default:      accept;
        }
    }
    state ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control fabric(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    // Why a packet was dropped: the indices of `dropped`.
    const bit<32> BY_PORT = 0;
    const bit<32> BY_VLAN = 1;
    const bit<32> BY_SPANNING_TREE = 2;
    const bit<32> BY_LIST = 3;
    const bit<32> BY_SOURCE = 4;
    const bit<32> BY_ROUTE = 5;
    const bit<32> BY_STORM = 6;
    const bit<32> BY_EGRESS = 7;
    const bit<32> BY_HOPS = 8;

    CounterArray(9, false) dropped;
    CounterArray(64, false) classes;
    CounterArray(512, false) mirrored;

    bit<9>  in_port = 0;
    bit<9>  out_port = 0;
    bit<12> vlan = 0;
    bit<16> bridge = 0;
    bit<16> vrf = 0;
    bit<10> port_group = 0;
    bit<8>  protocol = 0;
    bit<16> src_port = 0;
    bit<16> dst_port = 0;
    bit<6>  dscp = 0;
    bit<3>  priority = 0;
    bit<6>  class = 0;
    bit<16> next_hop = 0;
    bit<16> group = 0;
    bit<16> member = 0;
    bit<48> new_source = 0;
    bool    tagged = false;
    bool    dead = false;
    bool    host = false;
    bool    routed = false;
    bool    learned = false;

    action drop(bit<32> why) {
        dead = true;
        dropped.increment(why);
    }

    action to_host() {
        host = true;
    }

    // 1: the front panel's ports.
    action port(bit<9> number, bit<10> lists, bit<12> native) {
        in_port = number;
        port_group = lists;
        vlan = native;
    }
    table front_ports {
        key = { xin.input_port : exact @name("port"); }
        actions = { port; drop; }
        default_action = drop(BY_PORT);
        size = 512;
    }

    // 2: which VLANs a port carries; tags may be translated.
    action carry(bit<12> to) {
        vlan = to;
    }
    table vlan_members {
        key = {
            in_port : exact @name("port");
            vlan    : exact @name("vlan");
        }
        actions = { carry; drop; }
        default_action = drop(BY_VLAN);
        size = 4096;
    }

    // 3: a VLAN is a bridge, and belongs to one router.
    action domain(bit<16> number, bit<16> router) {
        bridge = number;
        vrf = router;
    }
    table domains {
        key = { vlan : exact @name("vlan"); }
        actions = { domain; drop; }
        default_action = drop(BY_VLAN);
        size = 4096;
    }

    // 4: ports that a spanning tree holds back.
    action block() {
        drop(BY_SPANNING_TREE);
    }
    table spanning_tree {
        key = {
            in_port : exact @name("port");
            bridge  : exact @name("bridge");
        }
        actions = { block; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    // 5: what bridges keep for themselves, such as spanning tree and LLDP.
    table reserved_addresses {
        key = { hdr.eth.dst : ternary @name("dst"); }
        actions = { to_host; NoAction; }
        const entries = {
            0x0180c2000000 &&& 0xfffffffffff0 : to_host();
        }
        default_action = NoAction();
    }

    // 6: whether the sender is known where it is.
    action known() {
        learned = true;
    }
    table sources {
        key = {
            bridge      : exact @name("bridge");
            hdr.eth.src : exact @name("src");
            in_port     : exact @name("port");
        }
        actions = { known; drop; NoAction; }
        default_action = NoAction();
        size = 16384;
    }

    // 7: frames that the router has to take.
    action route_it() {
        routed = true;
    }
    table router_addresses {
        key = {
            bridge      : exact @name("bridge");
            hdr.eth.dst : exact @name("dst");
        }
        actions = { route_it; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    action deny() {
        drop(BY_LIST);
    }
    action permit() { }

    // 8 to 10: access lists.
    table list_ethernet {
        key = {
            port_group   : ternary @name("ports");
            hdr.eth.src  : ternary @name("src");
            hdr.eth.dst  : ternary @name("dst");
            hdr.eth.type : ternary @name("type");
        }
        actions = { deny; permit; to_host; }
        default_action = permit();
        size = 256;
    }
    table list_ipv4 {
        key = {
            port_group    : ternary @name("ports");
            hdr.ipv4.src  : ternary @name("src");
            hdr.ipv4.dst  : ternary @name("dst");
            protocol      : ternary @name("protocol");
            src_port      : range @name("src_port");
            dst_port      : range @name("dst_port");
        }
        actions = { deny; permit; to_host; }
        default_action = permit();
        size = 512;
    }
    table list_ipv6 {
        key = {
            port_group    : ternary @name("ports");
            hdr.ipv6.src  : ternary @name("src");
            hdr.ipv6.dst  : ternary @name("dst");
            protocol      : ternary @name("protocol");
            dst_port      : range @name("dst_port");
        }
        actions = { deny; permit; to_host; }
        default_action = permit();
        size = 256;
    }

    // 11: classes of service, by what the packet says and by where it came from.
    action classify(bit<6> number) {
        class = number;
    }
    table classes_of_service {
        key = {
            port_group : ternary @name("ports");
            dscp       : ternary @name("dscp");
            priority   : ternary @name("priority");
        }
        actions = { classify; }
        default_action = classify(0);
        size = 128;
    }

    // 12 and 13: sources that came the wrong way are dropped (reverse path, loosely: a route exists).
    table reverse_ipv4 {
        key = {
            vrf          : exact @name("vrf");
            hdr.ipv4.src : lpm @name("src");
        }
        actions = { permit; drop; }
        default_action = drop(BY_SOURCE);
        size = 8192;
    }
    table reverse_ipv6 {
        key = {
            vrf          : exact @name("vrf");
            hdr.ipv6.src : lpm @name("src");
        }
        actions = { permit; drop; }
        default_action = drop(BY_SOURCE);
        size = 8192;
    }

    action via(bit<16> hop) {
        next_hop = hop;
    }
    action via_group(bit<16> paths) {
        group = paths;
    }

    // 14 to 17: machines, and then networks.
    table hosts_ipv4 {
        key = {
            vrf          : exact @name("vrf");
            hdr.ipv4.dst : exact @name("dst");
        }
        actions = { via; to_host; NoAction; }
        default_action = NoAction();
        size = 16384;
    }
    table networks_ipv4 {
        key = {
            vrf          : exact @name("vrf");
            hdr.ipv4.dst : lpm @name("dst");
        }
        actions = { via; via_group; drop; }
        default_action = drop(BY_ROUTE);
        size = 8192;
    }
    table hosts_ipv6 {
        key = {
            vrf          : exact @name("vrf");
            hdr.ipv6.dst : exact @name("dst");
        }
        actions = { via; to_host; NoAction; }
        default_action = NoAction();
        size = 16384;
    }
    table networks_ipv6 {
        key = {
            vrf          : exact @name("vrf");
            hdr.ipv6.dst : lpm @name("dst");
        }
        actions = { via; via_group; drop; }
        default_action = drop(BY_ROUTE);
        size = 8192;
    }

    // 18: one of several equal paths.
    table path_groups {
        key = {
            group  : exact @name("group");
            member : exact @name("member");
        }
        actions = { via; drop; }
        default_action = drop(BY_ROUTE);
        size = 1024;
    }

    // 19: where a next hop is.
    action neighbour(bit<16> on, bit<48> source, bit<48> destination) {
        bridge = on;
        new_source = source;
        hdr.eth.dst = destination;
    }
    table next_hops {
        key = { next_hop : exact @name("hop"); }
        actions = { neighbour; drop; }
        default_action = drop(BY_ROUTE);
        size = 4096;
    }

    // 20: where a machine is on its bridge.
    action forward(bit<9> to) {
        out_port = to;
    }
    action flood(bit<9> to) {
        out_port = to;
    }
    table destinations {
        key = {
            bridge      : exact @name("bridge");
            hdr.eth.dst : exact @name("dst");
        }
        actions = { forward; drop; NoAction; }
        default_action = NoAction();
        size = 16384;
    }

    // 21: where what is not known goes, and whether it may.
    table unknown_destinations {
        key = {
            bridge              : exact @name("bridge");
            hdr.eth.dst[40:40]  : exact @name("multicast");
        }
        actions = { flood; to_host; drop; }
        default_action = drop(BY_STORM);
        size = 8192;
    }

    // 22: copies for those who watch are counted; their sessions are made elsewhere.
    action mirror(bit<9> session) {
        mirrored.increment((bit<32>)session);
    }
    table mirrors {
        key = {
            in_port  : ternary @name("in");
            out_port : ternary @name("out");
            class    : ternary @name("class");
        }
        actions = { mirror; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    // 23: what may leave.
    table list_egress {
        key = {
            out_port : ternary @name("port");
            protocol : ternary @name("protocol");
            dst_port : ternary @name("dst_port");
        }
        actions = { deny; permit; }
        default_action = permit();
        size = 256;
    }

    // 24: how it leaves.
    action untagged(bit<32> device) {
        xout.output_port = device;
        tagged = false;
    }
    action with_tag(bit<32> device, bit<12> id) {
        xout.output_port = device;
        vlan = id;
        tagged = true;
    }
    table egress_ports {
        key = {
            out_port : exact @name("port");
            bridge   : exact @name("bridge");
        }
        actions = { untagged; with_tag; drop; }
        default_action = drop(BY_EGRESS);
        size = 4096;
    }

    action one_hop_less() {
        if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.ttl <= 1) {
                drop(BY_HOPS);
            } else {
                hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.ttl ++ 8w0, (hdr.ipv4.ttl - 1) ++ 8w0);
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            }
        } else {
            if (hdr.ipv6.hop_limit <= 1) {
                drop(BY_HOPS);
            } else {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        }
    }

    // The path of a flow: all of its packets take the same.
    action choose_member() {
        bit<32> mixed = (bit<32>)protocol;
        if (hdr.ipv4.isValid()) {
            mixed = mixed ^ hdr.ipv4.src ^ hdr.ipv4.dst;
        } else {
            mixed = mixed ^ hdr.ipv6.src[127:96] ^ hdr.ipv6.src[31:0] ^ hdr.ipv6.dst[127:96] ^ hdr.ipv6.dst[31:0];
        }
        mixed = mixed ^ (src_port ++ dst_port);
        mixed = mixed ^ mixed >> 16;
        mixed = mixed ^ mixed >> 8;
        member = (bit<16>)(mixed[7:0] & 3);
    }

    // What leaves has the class that it was given, and the tag that its port wants.
    action rewrite() {
        bit<16> type = hdr.vlan.isValid() ? hdr.vlan.type : hdr.eth.type;
        if (tagged) {
            hdr.vlan = { class[5:3], 0, vlan, type };
            hdr.eth.type = TYPE_VLAN;
        } else {
            hdr.vlan.setInvalid();
            hdr.eth.type = type;
        }
        if (hdr.ipv4.isValid()) {
            bit<16> old = hdr.ipv4.version ++ hdr.ipv4.ihl ++ hdr.ipv4.dscp ++ hdr.ipv4.ecn;
            bit<16> new = hdr.ipv4.version ++ hdr.ipv4.ihl ++ class ++ hdr.ipv4.ecn;
            hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, old, new);
            hdr.ipv4.dscp = class;
        } else if (hdr.ipv6.isValid()) {
            hdr.ipv6.dscp = class;
        }
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_DROP;

        front_ports.apply();
        if (hdr.vlan.isValid() && hdr.vlan.id != 0) {
            vlan = hdr.vlan.id;
            priority = hdr.vlan.priority;
        }
        if (dead) {
            return;
        }
        vlan_members.apply();
        if (dead) {
            return;
        }
        domains.apply();
        if (dead) {
            return;
        }
        reserved_addresses.apply();
        if (host) {
            xout.output_action = xdp_action.XDP_PASS;
            return;
        }
        spanning_tree.apply();
        sources.apply();
        router_addresses.apply();

        if (hdr.ipv4.isValid()) {
            protocol = hdr.ipv4.protocol;
            dscp = hdr.ipv4.dscp;
        } else if (hdr.ipv6.isValid()) {
            protocol = hdr.ipv6.next_header;
            dscp = hdr.ipv6.dscp;
        }
        if (hdr.ports.isValid()) {
            src_port = hdr.ports.src;
            dst_port = hdr.ports.dst;
        }
        list_ethernet.apply();
        if (hdr.ipv4.isValid()) {
            list_ipv4.apply();
        } else if (hdr.ipv6.isValid()) {
            list_ipv6.apply();
        }
        classes_of_service.apply();
        // A machine that nobody has learned is the host's to learn; the packet goes on all the same, unless it may not.
        if (!learned && !dead) {
            classes.increment(63);
        }

        if (routed && !dead && !host) {
            if (hdr.ipv4.isValid()) {
                reverse_ipv4.apply();
                hosts_ipv4.apply();
                if (next_hop == 0 && !host) {
                    networks_ipv4.apply();
                }
            } else if (hdr.ipv6.isValid()) {
                reverse_ipv6.apply();
                hosts_ipv6.apply();
                if (next_hop == 0 && !host) {
                    networks_ipv6.apply();
                }
            } else {
                to_host();
            }
            if (group != 0 && !dead) {
                choose_member();
                path_groups.apply();
            }
            if (!dead && !host) {
                one_hop_less();
            }
            if (!dead && !host) {
                next_hops.apply();
                hdr.eth.src = new_source;
            }
        }
        if (dead) {
            return;
        }
        if (host) {
            xout.output_action = xdp_action.XDP_PASS;
            return;
        }

        destinations.apply();
        if (out_port == 0 && !dead) {
            unknown_destinations.apply();
        }
        if (host) {
            xout.output_action = xdp_action.XDP_PASS;
            return;
        }
        if (!dead) {
            mirrors.apply();
            list_egress.apply();
        }
        if (!dead) {
            egress_ports.apply();
        }
        if (!dead) {
            classes.increment((bit<32>)class);
            rewrite();
            xout.output_action = xdp_action.XDP_REDIRECT;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.ports);
    }
}

xdp(prs(), fabric(), dprs()) main;

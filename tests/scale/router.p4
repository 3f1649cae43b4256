// SPDX-License-Identifier: Apache-2.0
//
// A provider's edge router for IPv4 and IPv6: VLANs as its interfaces, an access list, static translation of addresses at
// the border, and labels: it pushes one towards the core, swaps it within, and pops it at the end. What expires, has
// options, or is for the router itself goes to the host.

#include <core.p4>
#include <xdp_model.p4>
#include "headers.p4h"

header l4_t {
    bit<16> src_port;
    bit<16> dst_port;
}

// What follows the ports, up to the checksum.
header tcp_rest_t {
    bit<32> seq;
    bit<32> ack;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header udp_rest_t {
    bit<16> length;
    bit<16> checksum;
}

struct headers_t {
    ethernet_t eth;
    vlan_t     vlan;
    mpls_t[3]  mpls;
    ipv4_t     ipv4;
    ipv6_t     ipv6;
    l4_t       l4;
    tcp_rest_t tcp;
    udp_rest_t udp;
    icmp_t     icmp;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_VLAN: vlan;
            TYPE_MPLS: mpls;
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }
    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_MPLS: mpls;
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }
    state mpls {
        packet.extract(hdr.mpls.next);
        transition select(hdr.mpls.last.bottom) {
            0:       mpls;
            default: labelled;
        }
    }
    // Nothing in a label tells what follows, but for the version of IP.
    state labelled {
        transition select(packet.lookahead<bit<4>>()) {
            4:       ipv4;
            6:       ipv6;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (4, 5, 0, PROTOCOL_TCP):  tcp;
            (4, 5, 0, PROTOCOL_UDP):  udp;
            (4, 5, 0, PROTOCOL_ICMP): icmp;
            (4, _, _, _):             accept;
            default:                  reject;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.version, hdr.ipv6.next_header) {
            (6, PROTOCOL_TCP):    tcp;
            (6, PROTOCOL_UDP):    udp;
            (6, PROTOCOL_ICMPV6): icmp;
            (6, _):               accept;
            default:              reject;
        }
    }
    state tcp {
        packet.extract(hdr.l4);
        packet.extract(hdr.tcp);
        transition accept;
    }
    state udp {
        packet.extract(hdr.l4);
        packet.extract(hdr.udp);
        transition accept;
    }
    state icmp {
        packet.extract(hdr.icmp);
        transition accept;
    }
}

control edge(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    // The indices of `dropped`.
    const bit<32> DENIED = 0;
    const bit<32> NO_ROUTE = 1;
    const bit<32> NO_LABEL = 2;
    const bit<32> NO_NEIGHBOUR = 3;

    CounterArray(4, false) dropped;
    CounterArray(4096, true) interfaces;

    bit<12> interface = 0;
    bit<16> vrf = 0;
    bit<16> neighbour = 0;
    bool    at_border = false;
    bool    done = false;
    bit<4>  pops = 0;

    action drop(bit<32> why) {
        xout.output_action = xdp_action.XDP_DROP;
        dropped.increment(why);
        done = true;
    }

    action to_host() {
        xout.output_action = xdp_action.XDP_PASS;
        done = true;
    }

    action attach(bit<12> number, bit<16> customer, bool border) {
        interface = number;
        vrf = customer;
        at_border = border;
    }

    // Frames without a tag belong to VLAN 0 of their port.
    bit<12> vlan_id = 0;
    table ports {
        key = {
            xin.input_port : exact @name("port");
            vlan_id        : exact @name("vlan");
            hdr.eth.dst    : exact @name("mac");
        }
        actions = { attach; drop; to_host; }
        default_action = to_host();
        size = 4096;
    }

    action permit() { }

    action deny() {
        drop(DENIED);
    }

    bit<16> src_port = 0;
    bit<16> dst_port = 0;
    bit<8>  tcp_flags = 0;

    table acl_ipv4 {
        key = {
            interface         : optional @name("interface");
            hdr.ipv4.src      : ternary @name("src");
            hdr.ipv4.dst      : ternary @name("dst");
            hdr.ipv4.protocol : ternary @name("protocol");
            src_port          : range @name("src_port");
            dst_port          : range @name("dst_port");
            tcp_flags         : ternary @name("flags");
        }
        actions = { permit; deny; to_host; }
        default_action = permit();
        size = 512;
    }

    table acl_ipv6 {
        key = {
            interface            : optional @name("interface");
            hdr.ipv6.src         : ternary @name("src");
            hdr.ipv6.dst         : ternary @name("dst");
            hdr.ipv6.next_header : ternary @name("protocol");
            dst_port             : range @name("dst_port");
        }
        actions = { permit; deny; to_host; }
        default_action = permit();
        size = 512;
    }

    // The checksum of whatever the ports belong to, where the pseudo header changed.
    action correct_l4(bit<32> before, bit<32> after) {
        if (hdr.tcp.isValid()) {
            hdr.tcp.checksum = csum_replace4(hdr.tcp.checksum, before, after);
        } else if (hdr.udp.isValid() && hdr.udp.checksum != 0) {
            hdr.udp.checksum = csum_replace4(hdr.udp.checksum, before, after);
            if (hdr.udp.checksum == 0) {
                hdr.udp.checksum = 0xffff;
            }
        }
    }

    action translate_source(bit<32> address) {
        hdr.ipv4.checksum = csum_replace4(hdr.ipv4.checksum, hdr.ipv4.src, address);
        correct_l4(hdr.ipv4.src, address);
        hdr.ipv4.src = address;
    }

    action translate_destination(bit<32> address) {
        hdr.ipv4.checksum = csum_replace4(hdr.ipv4.checksum, hdr.ipv4.dst, address);
        correct_l4(hdr.ipv4.dst, address);
        hdr.ipv4.dst = address;
    }

    // Inside addresses that have a public one, and back.
    table nat_out {
        key = {
            vrf          : exact @name("vrf");
            hdr.ipv4.src : exact @name("src");
        }
        actions = { translate_source; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    table nat_in {
        key = { hdr.ipv4.dst : exact @name("dst"); }
        actions = { translate_destination; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    bit<3> traffic_class = 0;

    action via(bit<16> next) {
        neighbour = next;
    }

    // Into the core: the inner label names the customer at the far end, the outer one the way there.
    action via_label(bit<16> next, bit<20> label) {
        neighbour = next;
        hdr.mpls.push_front(1);
        hdr.mpls[0] = { label, traffic_class, 1, hdr.ipv4.isValid() ? hdr.ipv4.ttl : hdr.ipv6.hop_limit };
    }

    action via_labels(bit<16> next, bit<20> outer, bit<20> inner) {
        bit<8> ttl = hdr.ipv4.isValid() ? hdr.ipv4.ttl : hdr.ipv6.hop_limit;
        neighbour = next;
        hdr.mpls.push_front(2);
        hdr.mpls[0] = { outer, traffic_class, 0, ttl };
        hdr.mpls[1] = { inner, traffic_class, 1, ttl };
    }

    table routes_ipv4 {
        key = {
            vrf          : exact @name("vrf");
            hdr.ipv4.dst : lpm @name("dst");
        }
        actions = { via; via_label; via_labels; to_host; drop; }
        default_action = drop(NO_ROUTE);
        size = 10000;
    }

    table routes_ipv6 {
        key = {
            vrf          : exact @name("vrf");
            hdr.ipv6.dst : lpm @name("dst");
        }
        actions = { via; via_label; via_labels; to_host; drop; }
        default_action = drop(NO_ROUTE);
        size = 10000;
    }

    action swap(bit<16> next, bit<20> label) {
        neighbour = next;
        hdr.mpls[0].label = label;
    }

    // The penultimate router takes the outer label off.
    action pop(bit<16> next) {
        neighbour = next;
        pops = 1;
    }

    // The end of a customer's path: routed in its table.
    action terminate(bit<16> customer) {
        vrf = customer;
        pops = 2;
    }

    table labels {
        key = { hdr.mpls[0].label : exact @name("label"); }
        actions = { swap; pop; terminate; to_host; drop; }
        default_action = drop(NO_LABEL);
        size = 4096;
    }

    action send(bit<32> port, bit<12> number, bit<48> src, bit<48> dst) {
        bit<16> type = hdr.mpls[0].isValid() ? TYPE_MPLS : hdr.ipv4.isValid() ? TYPE_IPV4 : TYPE_IPV6;
        hdr.eth = { dst, src, number == 0 ? type : TYPE_VLAN };
        if (number == 0) {
            hdr.vlan.setInvalid();
        } else {
            hdr.vlan = { traffic_class, 0, number, type };
        }
        interfaces.increment((bit<32>)number);
        xout.output_action = xdp_action.XDP_REDIRECT;
        xout.output_port = port;
    }

    table neighbours {
        key = { neighbour : exact @name("number"); }
        actions = { send; drop; to_host; }
        default_action = drop(NO_NEIGHBOUR);
        size = 1024;
    }

    action one_hop_less() {
        if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.ttl <= 1) {
                to_host();
            } else {
                hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.ttl ++ 8w0, (hdr.ipv4.ttl - 1) ++ 8w0);
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            }
        } else {
            if (hdr.ipv6.hop_limit <= 1) {
                to_host();
            } else {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        }
    }

    // Packets with an IP header and no label: the edge.
    action route() {
        if (hdr.ipv4.isValid()) {
            traffic_class = hdr.ipv4.dscp[5:3];
        } else {
            traffic_class = hdr.ipv6.dscp[5:3];
        }
        one_hop_less();
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
        if (hdr.vlan.isValid()) {
            vlan_id = hdr.vlan.id;
        }
        ports.apply();
        if (done || interface == 0) {
            return;
        }

        if (hdr.mpls[0].isValid()) {
            if (hdr.mpls[0].ttl <= 1) {
                to_host();
                return;
            }
            traffic_class = hdr.mpls[0].traffic_class;
            labels.apply();
            if (done) {
                return;
            }
            if (pops == 0) {
                hdr.mpls[0].ttl = hdr.mpls[0].ttl - 1;
            } else {
                // The label below has its own time to live, and takes the smaller one (RFC 3443, uniform).
                bit<8> ttl = hdr.mpls[0].ttl - 1;
                bit<1> bottom = hdr.mpls[0].bottom;
                hdr.mpls.pop_front(1);
                if (bottom == 0) {
                    if (pops == 2) {
                        drop(NO_LABEL);
                        return;
                    }
                    if (hdr.mpls[0].ttl > ttl) {
                        hdr.mpls[0].ttl = ttl;
                    }
                } else if (!hdr.ipv4.isValid() && !hdr.ipv6.isValid()) {
                    drop(NO_LABEL);
                    return;
                } else if (hdr.ipv4.isValid()) {
                    if (hdr.ipv4.ttl > ttl) {
                        hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.ttl ++ 8w0, ttl ++ 8w0);
                        hdr.ipv4.ttl = ttl;
                    }
                } else if (hdr.ipv6.hop_limit > ttl) {
                    hdr.ipv6.hop_limit = ttl;
                }
            }
        } else if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.ihl != 5) {
                to_host();
                return;
            }
            if (hdr.l4.isValid()) {
                src_port = hdr.l4.src_port;
                dst_port = hdr.l4.dst_port;
            }
            tcp_flags = hdr.tcp.isValid() ? hdr.tcp.flags : 0;
            acl_ipv4.apply();
            if (done) {
                return;
            }
            route();
        } else if (hdr.ipv6.isValid()) {
            if (hdr.l4.isValid()) {
                dst_port = hdr.l4.dst_port;
            }
            acl_ipv6.apply();
            if (done) {
                return;
            }
            route();
        } else {
            return;
        }
        if (done) {
            return;
        }

        if (!hdr.mpls[0].isValid() && pops != 1) {
            if (hdr.ipv4.isValid()) {
                if (at_border) {
                    nat_in.apply();
                } else {
                    nat_out.apply();
                }
                routes_ipv4.apply();
            } else {
                routes_ipv6.apply();
            }
        }
        if (!done) {
            neighbours.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.vlan);
        packet.emit(hdr.mpls);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.l4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
        packet.emit(hdr.icmp);
    }
}

xdp(prs(), edge(), dprs()) main;

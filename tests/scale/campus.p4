// SPDX-License-Identifier: Apache-2.0
//
// A campus switch for v1model: customers' VLANs, learning, flooding to each port with a tag of its own, routing for IPv4 and IPv6,
// tunnels that are taken off and looked into by a second round, an access list, policing by meters, accounting in registers and
// counters, and two mirrors: what an operator marks is cloned with a header in front of it, and what egress finds congested is
// cloned short.

#include <core.p4>
#include <v1model.p4>
#include "headers.p4h"

typedef bit<9> port_t;

const bit<16> TYPE_ARP = 0x0806;
const bit<16> TYPE_MIRROR = 0x88b6;
const bit<16> PORT_VXLAN = 4789;
const bit<32> INGRESS_CLONE = 1;
const bit<32> EGRESS_CLONE = 2;
const bit<32> REPLICATED = 5;
const bit<8> KEPT = 1;

header arp_t {
    bit<16> hardware;
    bit<16> protocol;
    bit<8>  hardware_len;
    bit<8>  protocol_len;
    bit<16> operation;
    bit<48> sender;
    bit<32> sender_ip;
    bit<48> target;
    bit<32> target_ip;
}

header gre_t {
    bit<16> flags;
    bit<16> protocol;
}

header vxlan_t {
    bit<8>  flags;
    bit<24> reserved;
    bit<24> vni;
    bit<8>  reserved_2;
}

// In front of what is mirrored: why, where from, and what follows.
header mirror_t {
    bit<8>  reason;
    bit<8>  colour;
    bit<16> port;
    bit<32> time;
    bit<16> bridge;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
    mirror_t   mirror;
    vlan_t     service;
    vlan_t     customer;
    mpls_t[2]  mpls;
    arp_t      arp;
    ipv4_t     ipv4;
    ipv6_t     ipv6;
    icmp_t     icmp;
    tcp_t      tcp;
    udp_t      udp;
    gre_t      gre;
    vxlan_t    vxlan;
    ethernet_t inner_eth;
    ipv4_t     inner_ipv4;
    ipv6_t     inner_ipv6;
}

struct metadata_t {
    @field_list(KEPT) bit<8>  reason;
    @field_list(KEPT) bit<8>  colour;
    @field_list(KEPT) bit<16> bridge;
    bit<16> vrf;
    bit<16> neighbour;
    bit<16> src_port;
    bit<16> dst_port;
    bit<8>  protocol;
    bit<6>  class;
    bit<8>  acl;
    bit<16> flow;
    bit<1>  routed;
    bit<1>  trusted;
    bit<1>  done;
}

struct station_t {
    bit<48> address;
    bit<16> bridge;
    port_t  port;
}

parser CampusParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition ethertype;
    }
    state ethertype {
        transition select(hdr.eth.type) {
            TYPE_QINQ: service;
            TYPE_VLAN: customer;
            TYPE_MPLS: label;
            TYPE_ARP:  arp;
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }
    state service {
        packet.extract(hdr.service);
        transition select(hdr.service.type) {
            TYPE_VLAN: customer;
            TYPE_MPLS: label;
            TYPE_ARP:  arp;
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }
    state customer {
        packet.extract(hdr.customer);
        transition select(hdr.customer.type) {
            TYPE_MPLS: label;
            TYPE_ARP:  arp;
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }
    state label {
        packet.extract(hdr.mpls.next);
        transition select(hdr.mpls.last.bottom) {
            0: label;
            1: labelled;
        }
    }
    state labelled {
        transition select(packet.lookahead<bit<4>>()) {
            4:       ipv4;
            6:       ipv6;
            default: accept;
        }
    }
    state arp {
        packet.extract(hdr.arp);
        transition accept;
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        meta.protocol = hdr.ipv4.protocol;
        meta.class = hdr.ipv4.dscp;
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, PROTOCOL_ICMP): icmp;
            (5, 0, PROTOCOL_TCP):  tcp;
            (5, 0, PROTOCOL_UDP):  udp;
            (5, 0, PROTOCOL_GRE):  gre;
            default:               accept;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        meta.protocol = hdr.ipv6.next_header;
        meta.class = hdr.ipv6.dscp;
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_ICMPV6: icmp;
            PROTOCOL_TCP:    tcp;
            PROTOCOL_UDP:    udp;
            PROTOCOL_GRE:    gre;
            default:         accept;
        }
    }
    state icmp {
        packet.extract(hdr.icmp);
        transition accept;
    }
    state tcp {
        packet.extract(hdr.tcp);
        meta.src_port = hdr.tcp.src_port;
        meta.dst_port = hdr.tcp.dst_port;
        transition accept;
    }
    state udp {
        packet.extract(hdr.udp);
        meta.src_port = hdr.udp.src_port;
        meta.dst_port = hdr.udp.dst_port;
        transition select(hdr.udp.dst_port) {
            PORT_VXLAN: vxlan;
            default:    accept;
        }
    }
    state gre {
        packet.extract(hdr.gre);
        transition select(hdr.gre.flags, hdr.gre.protocol) {
            (0, TYPE_IPV4): inner_ipv4;
            (0, TYPE_IPV6): inner_ipv6;
            default:        accept;
        }
    }
    state vxlan {
        packet.extract(hdr.vxlan);
        packet.extract(hdr.inner_eth);
        transition select(hdr.inner_eth.type) {
            TYPE_IPV4: inner_ipv4;
            TYPE_IPV6: inner_ipv6;
            default:   accept;
        }
    }
    state inner_ipv4 {
        packet.extract(hdr.inner_ipv4);
        transition accept;
    }
    state inner_ipv6 {
        packet.extract(hdr.inner_ipv6);
        transition accept;
    }
}

control CampusVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len, hdr.ipv4.id,
              hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control CampusIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<64>>(1024) bytes_of_flow;
    register<bit<48>>(1024) seen_at;
    counter(16, CounterType.packets) dropped;
    counter(4096, CounterType.packets_and_bytes) bridges;
    meter(256, MeterType.bytes) classes;
    direct_meter<bit<2>>(MeterType.packets) policer;
    direct_counter(CounterType.packets_and_bytes) acl_hits;

    // Why, as `dropped` counts it.
    action drop(bit<8> why) {
        mark_to_drop(std);
        dropped.count((bit<32>)why);
        meta.done = 1;
    }

    action attach(bit<16> bridge, bit<16> vrf, bit<1> trusted) {
        meta.bridge = bridge;
        meta.vrf = vrf;
        meta.trusted = trusted;
    }

    table ports {
        key = { std.ingress_port : exact; }
        actions = { attach; drop; }
        default_action = drop(1);
        size = 64;
    }

    table services {
        key = {
            std.ingress_port : exact;
            hdr.service.id   : exact;
        }
        actions = { attach; drop; }
        default_action = drop(2);
        size = 1024;
    }

    table customers {
        key = {
            meta.bridge     : exact;
            hdr.customer.id : exact;
        }
        actions = { attach; drop; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    action known() { }

    action learn() {
        digest<station_t>(1, { hdr.eth.src, meta.bridge, std.ingress_port });
    }

    table senders {
        key = {
            hdr.eth.src      : exact;
            meta.bridge      : exact;
            std.ingress_port : exact;
        }
        actions = { known; learn; }
        default_action = learn();
        size = 8192;
    }

    action answer(bit<48> address) {
        hdr.arp.operation = 2;
        hdr.arp.target = hdr.arp.sender;
        bit<32> asked = hdr.arp.target_ip;
        hdr.arp.target_ip = hdr.arp.sender_ip;
        hdr.arp.sender = address;
        hdr.arp.sender_ip = asked;
        hdr.eth.dst = hdr.eth.src;
        hdr.eth.src = address;
        std.egress_spec = std.ingress_port;
        meta.done = 1;
    }

    table gateways {
        key = {
            meta.vrf          : exact;
            hdr.arp.target_ip : exact;
        }
        actions = { answer; NoAction; }
        default_action = NoAction();
        size = 256;
    }

    action pop() {
        hdr.mpls.pop_front(1);
        hdr.eth.type = TYPE_IPV4;
    }

    action swap(bit<20> label, bit<16> neighbour) {
        hdr.mpls[0].label = label;
        hdr.mpls[0].ttl = hdr.mpls[0].ttl - 1;
        meta.neighbour = neighbour;
        meta.routed = 1;
    }

    table labels {
        key = { hdr.mpls[0].label : exact; }
        actions = { pop; swap; drop; }
        default_action = drop(3);
        size = 1024;
    }

    // The tunnel ends here: what is in it comes in again.
    action decapsulate(bit<16> bridge) {
        meta.reason = 0x20;
        meta.bridge = bridge;
        std.egress_spec = std.ingress_port;
        meta.done = 1;
        recirculate_preserving_field_list(KEPT);
    }

    table tunnels {
        key = {
            meta.vrf      : exact;
            hdr.ipv4.dst  : exact;
            hdr.vxlan.vni : exact;
        }
        actions = { decapsulate; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    table tunnels_gre {
        key = {
            meta.vrf     : exact;
            hdr.ipv4.dst : exact;
            hdr.ipv4.src : exact;
        }
        actions = { decapsulate; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    action set_class(bit<6> class) {
        meta.class = class;
    }

    table trust {
        key = {
            meta.trusted : exact;
            meta.class   : exact;
        }
        actions = { set_class; NoAction; }
        default_action = NoAction();
        size = 128;
    }

    action permit(bit<8> rule) {
        meta.acl = rule;
        acl_hits.count();
    }

    action deny(bit<8> rule) {
        meta.acl = rule;
        acl_hits.count();
        drop(4);
    }

    action watch(bit<32> session, bit<8> rule) {
        meta.acl = rule;
        meta.reason = rule;
        acl_hits.count();
        clone_preserving_field_list(CloneType.I2E, session, KEPT);
    }

    table acl_ipv4 {
        key = {
            meta.bridge   : ternary;
            hdr.ipv4.src  : ternary;
            hdr.ipv4.dst  : ternary;
            meta.protocol : ternary;
            meta.dst_port : range;
        }
        actions = { permit; deny; watch; NoAction; }
        default_action = NoAction();
        counters = acl_hits;
        size = 512;
    }

    action deny_ipv6() {
        drop(5);
    }

    table acl_ipv6 {
        key = {
            hdr.ipv6.src  : ternary;
            hdr.ipv6.dst  : ternary;
            meta.protocol : ternary;
        }
        actions = { deny_ipv6; NoAction; }
        default_action = NoAction();
        size = 256;
    }

    action police() {
        policer.read(meta.colour[1:0]);
    }

    table subscribers {
        key = {
            meta.bridge : exact;
            hdr.eth.src : exact;
        }
        actions = { police; NoAction; }
        default_action = NoAction();
        meters = policer;
        size = 1024;
    }

    action route(bit<16> neighbour) {
        meta.neighbour = neighbour;
        meta.routed = 1;
    }

    table hosts {
        key = {
            meta.vrf     : exact;
            hdr.ipv4.dst : exact;
        }
        actions = { route; NoAction; }
        default_action = NoAction();
        size = 8192;
    }

    table routes_ipv4 {
        key = {
            meta.vrf     : exact;
            hdr.ipv4.dst : lpm;
        }
        actions = { route; drop; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    table routes_ipv6 {
        key = {
            meta.vrf     : exact;
            hdr.ipv6.dst : lpm;
        }
        actions = { route; drop; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    action next_hop(bit<48> dst, bit<48> src, port_t port) {
        hdr.eth.dst = dst;
        hdr.eth.src = src;
        std.egress_spec = port;
    }

    table neighbours {
        key = { meta.neighbour : exact; }
        actions = { next_hop; drop; }
        default_action = drop(6);
        size = 1024;
    }

    action forward(port_t port) {
        std.egress_spec = port;
    }

    action flood(bit<16> group) {
        std.mcast_grp = group;
    }

    table stations {
        key = {
            meta.bridge : exact;
            hdr.eth.dst : exact;
        }
        actions = { forward; flood; drop; }
        default_action = drop(7);
        size = 8192;
    }

    apply {
        if (std.parser_error != error.NoError) {
            drop(8);
            exit;
        }
        if (std.checksum_error == 1) {
            drop(9);
            exit;
        }
        if (meta.reason == 0x20) {
            // Out of a tunnel: the bridge is what it leads to.
            meta.vrf = meta.bridge;
            meta.reason = 0;
        } else if (hdr.service.isValid()) {
            services.apply();
        } else {
            ports.apply();
        }
        if (hdr.customer.isValid() && meta.done == 0) {
            customers.apply();
        }
        if (meta.done == 1) {
            exit;
        }
        bridges.count((bit<32>)meta.bridge);
        senders.apply();
        if (hdr.arp.isValid()) {
            if (hdr.arp.operation == 1 && gateways.apply().hit) {
                exit;
            }
        } else if (hdr.mpls[0].isValid()) {
            labels.apply();
        }
        if (hdr.vxlan.isValid() && hdr.ipv4.isValid()) {
            tunnels.apply();
        } else if (hdr.gre.isValid() && hdr.ipv4.isValid()) {
            tunnels_gre.apply();
        }
        if (meta.done == 1) {
            exit;
        }
        trust.apply();
        if (hdr.ipv4.isValid()) {
            acl_ipv4.apply();
        } else if (hdr.ipv6.isValid()) {
            acl_ipv6.apply();
        }
        if (meta.done == 1) {
            exit;
        }
        subscribers.apply();
        bit<2> of_class;
        classes.execute_meter<bit<2>>((bit<32>)meta.class, of_class);
        if (of_class > meta.colour[1:0]) {
            meta.colour[1:0] = of_class;
        }
        if (meta.colour == V1MODEL_METER_COLOR_RED) {
            drop(10);
            exit;
        }
        if (hdr.ipv4.isValid()) {
            hash(meta.flow, HashAlgorithm.crc16, 16w0,
                 { hdr.ipv4.src, hdr.ipv4.dst, meta.protocol, meta.src_port, meta.dst_port }, 32w1024);
            bit<64> bytes;
            bytes_of_flow.read(bytes, (bit<32>)meta.flow);
            bytes_of_flow.write((bit<32>)meta.flow, bytes + (bit<64>)std.packet_length);
            seen_at.write((bit<32>)meta.flow, std.ingress_global_timestamp);
            if (meta.routed == 0 && !hosts.apply().hit) {
                routes_ipv4.apply();
            }
        } else if (hdr.ipv6.isValid()) {
            routes_ipv6.apply();
        }
        if (meta.done == 1) {
            exit;
        }
        if (meta.routed == 1) {
            if (hdr.ipv4.isValid()) {
                if (hdr.ipv4.ttl <= 1) {
                    drop(11);
                    exit;
                }
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            } else if (hdr.ipv6.isValid()) {
                if (hdr.ipv6.hop_limit <= 1) {
                    drop(11);
                    exit;
                }
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
            neighbours.apply();
        } else {
            stations.apply();
        }
    }
}

control CampusEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(512, CounterType.packets_and_bytes) sent;
    counter(512, CounterType.packets) mirrored;

    action push(bit<12> id) {
        hdr.customer.setValid();
        hdr.customer.priority = 0;
        hdr.customer.drop_eligible = 0;
        hdr.customer.id = id;
        hdr.customer.type = hdr.eth.type;
        hdr.eth.type = TYPE_VLAN;
    }

    action rewrite(bit<12> id) {
        hdr.customer.id = id;
    }

    action untag() {
        hdr.eth.type = hdr.customer.type;
        hdr.customer.setInvalid();
    }

    // How a bridge is tagged at a port.
    table tagging {
        key = {
            std.egress_port        : exact;
            meta.bridge            : exact;
            hdr.customer.isValid() : exact;
        }
        actions = { push; rewrite; untag; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    action mark(bit<6> dscp) {
        hdr.ipv4.dscp = dscp;
    }

    table marking {
        key = {
            std.egress_port : exact;
            meta.class      : exact;
        }
        actions = { mark; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    action watch(bit<32> session) {
        meta.reason = 0xec;
        clone_preserving_field_list(CloneType.E2E, session, KEPT);
    }

    table congestion {
        key = {
            std.egress_port : exact;
            hdr.ipv4.ecn    : exact;
        }
        actions = { watch; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    apply {
        if (std.instance_type == INGRESS_CLONE || std.instance_type == EGRESS_CLONE) {
            hdr.mirror.setValid();
            hdr.mirror.reason = meta.reason;
            hdr.mirror.colour = meta.colour;
            hdr.mirror.port = (bit<16>)std.ingress_port;
            hdr.mirror.time = (bit<32>)std.ingress_global_timestamp;
            hdr.mirror.bridge = meta.bridge;
            hdr.mirror.type = hdr.eth.type;
            hdr.eth.type = TYPE_MIRROR;
            mirrored.count((bit<32>)std.egress_port);
            exit;
        }
        if (meta.reason == 0x20) {
            // The tunnel's headers go; what is in it is the packet of the next round.
            if (hdr.inner_eth.isValid()) {
                hdr.eth = hdr.inner_eth;
                hdr.inner_eth.setInvalid();
            } else if (hdr.inner_ipv4.isValid()) {
                hdr.eth.type = TYPE_IPV4;
            } else {
                hdr.eth.type = TYPE_IPV6;
            }
            hdr.service.setInvalid();
            hdr.customer.setInvalid();
            hdr.ipv4 = hdr.inner_ipv4;
            hdr.ipv6 = hdr.inner_ipv6;
            hdr.inner_ipv4.setInvalid();
            hdr.inner_ipv6.setInvalid();
            hdr.udp.setInvalid();
            hdr.vxlan.setInvalid();
            hdr.gre.setInvalid();
            exit;
        }
        if (std.instance_type == REPLICATED && std.egress_port == std.ingress_port) {
            mark_to_drop(std);
            exit;
        }
        if (std.instance_type == REPLICATED && std.egress_rid != 0) {
            meta.bridge = std.egress_rid;
        }
        tagging.apply();
        if (hdr.ipv4.isValid()) {
            marking.apply();
            congestion.apply();
        }
        sent.count((bit<32>)std.egress_port);
    }
}

control CampusCompute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len, hdr.ipv4.id,
              hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control CampusDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.mirror);
        packet.emit(hdr.service);
        packet.emit(hdr.customer);
        packet.emit(hdr.mpls);
        packet.emit(hdr.arp);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.icmp);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
        packet.emit(hdr.gre);
        packet.emit(hdr.vxlan);
        packet.emit(hdr.inner_eth);
        packet.emit(hdr.inner_ipv4);
        packet.emit(hdr.inner_ipv6);
    }
}

V1Switch(CampusParser(), CampusVerify(), CampusIngress(), CampusEgress(), CampusCompute(), CampusDeparser()) main;

// SPDX-License-Identifier: Apache-2.0
//
// The model of a switch by which a controller programs it: identifiers are types that the controller sees as texts, numbers without
// a width become values of them, sizes are left to the switch, entries are restricted by texts over lines.

#include <core.p4>
#include <v1model.p4>

#define VRF_BITS 10
#define NEXTHOP_BITS 12
#define ACTION(number, text) @id(number) @brief(text ++ ", by the controller")
#define TABLE_SIZE 0
#define IP_PROTOCOL_TCP 6
#define IP_PROTOCOL_UDP 17
#NOTE(routing): multicast

@p4runtime_translation("", string)
type bit<VRF_BITS> vrf_id_t;
@p4runtime_translation("", string)
type bit<NEXTHOP_BITS> nexthop_id_t;
@p4runtime_translation("", string)
type bit<NEXTHOP_BITS> interface_id_t;
@p4runtime_translation("", string)
type bit<9> port_id_t;
type bit<48> mac_t;
type bit<32> ipv4_t;

const vrf_id_t DEFAULT_VRF = 0;
const interface_id_t NO_INTERFACE = 0;
const bit<9> DROP_PORT = 511;

header ethernet_t {
    mac_t   dst;
    mac_t   src;
    bit<16> type;
}

header ipv4_header_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_length;
    bit<16> identification;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    ipv4_t  src;
    ipv4_t  dst;
}

header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_t    ethernet;
    ipv4_header_t ipv4;
    ports_t       ports;
}

struct metadata_t {
    vrf_id_t       vrf;
    nexthop_id_t   nexthop;
    interface_id_t interface;
    port_id_t      in_port;
    bit<16>        l4_dst;
    bool           admitted;
    bool           routed;
}

// What the controller gives a rewrite.
struct rewrite_t {
    mac_t src;
    mac_t dst;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        meta.vrf = 0;
        meta.nexthop = 0;
        meta.interface = NO_INTERFACE;
        meta.in_port = (port_id_t) std.ingress_port;
        meta.l4_dst = 0;
        meta.admitted = false;
        meta.routed = false;
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x0800: parse_ipv4;
            _: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.ihl >= 5, error.ShortHeader);
        transition select(hdr.ipv4.ihl, hdr.ipv4.fragment[12:0], hdr.ipv4.protocol) {
            (5, 0, IP_PROTOCOL_TCP): parse_ports;
            (5, 0, IP_PROTOCOL_UDP): parse_ports;
            default: accept;
        }
    }
    state parse_ports {
        packet.extract(hdr.ports);
        meta.l4_dst = hdr.ports.dst;
        transition accept;
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    ACTION(1, "choose the routing table")
    action set_vrf(@sai_action_param("VRF" "_ID") vrf_id_t vrf) {
        meta.vrf = vrf;
    }
    action admit() {
        meta.admitted = true;
    }
    action drop() {
        mark_to_drop(std);
    }
    ACTION(2, "the next hop")
    action set_nexthop(nexthop_id_t nexthop) {
        meta.nexthop = nexthop;
        meta.routed = true;
    }
    action set_interface(interface_id_t interface, port_id_t port) {
        meta.interface = interface;
        std.egress_spec = (bit<9>) port;
    }
    action rewrite(rewrite_t mac) {
        hdr.ethernet.src = mac.src;
        hdr.ethernet.dst = mac.dst;
    }

    @p4runtime_role("sdn_controller") @id(1)
    @entry_restriction("
        // A rule is about one kind of packet's fields.
        dst_mac::mask != 0 || in_port::mask != 0;
        // It's the VRF's that counts.
        l4_dst::mask != 0 -> ether_type == 0x0800;
    ")
    table acl_pre_ingress {
        key = {
            hdr.ethernet.dst: ternary @name("dst_mac") @format(MAC_ADDRESS);
            hdr.ethernet.type: ternary @name("ether_type");
            meta.in_port: optional @name("in_port");
            meta.l4_dst: ternary @name("l4_dst");
        }
        actions = { @proto_id(1) set_vrf; @proto_id(2) admit; @defaultonly NoAction; }
        const default_action = NoAction;
        size = TABLE_SIZE;
    }

    @id(2)
    table l3_admit {
        key = {
            hdr.ethernet.dst: ternary @name("dst_mac");
            meta.in_port: optional @name("in_port");
        }
        actions = { admit; @defaultonly NoAction; }
        const default_action = NoAction;
        size = TABLE_SIZE;
    }

    @entry_restriction("vrf_id != 0;")
    table vrf_table {
        key = { meta.vrf: exact @name("vrf_id"); }
        actions = { @proto_id(1) NoAction; }
        const default_action = NoAction;
        size = TABLE_SIZE;
    }

    table ipv4_table {
        key = {
            meta.vrf: exact @name("vrf_id");
            hdr.ipv4.dst: lpm @name("ipv4_dst") @format(IPV4_ADDRESS);
        }
        actions = { drop; set_nexthop; }
        const default_action = drop;
        size = 1024;
    }

    table nexthop_table {
        key = { meta.nexthop: exact @name("nexthop_id"); }
        actions = { set_interface; @defaultonly NoAction; }
        const default_action = NoAction;
        size = TABLE_SIZE;
    }

    table neighbor_table {
        key = { meta.interface: exact @name("router_interface_id"); }
        actions = { rewrite; @defaultonly NoAction; }
        default_action = NoAction;
        size = TABLE_SIZE;
    }

    direct_counter(CounterType.packets_and_bytes) acl_counter;
    @id(3)
    table acl_ingress {
        key = {
            hdr.ipv4.ttl: ternary @name("ttl");
            meta.vrf: ternary @name("vrf_id");
        }
        actions = { drop; admit; @defaultonly NoAction; }
        const default_action = NoAction;
        counters = acl_counter;
        size = TABLE_SIZE;
    }

    apply {
        std.egress_spec = DROP_PORT;
        acl_pre_ingress.apply();
        if (meta.vrf != DEFAULT_VRF) {
            vrf_table.apply();
        }
        l3_admit.apply();
        if (meta.admitted && hdr.ipv4.isValid()) {
            ipv4_table.apply();
            if (meta.routed && hdr.ipv4.ttl > 1) {
                nexthop_table.apply();
                if (meta.interface != 0) {
                    neighbor_table.apply();
                    hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                }
            }
        }
        acl_ingress.apply();
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), {
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length, hdr.ipv4.identification,
            hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol, (bit<32>) hdr.ipv4.src, (bit<32>) hdr.ipv4.dst
        }, hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

error { ShortHeader }

@pkginfo(name = "routing.p4", organization = "A network's own")
@remark(it's #1: "any text", with what else it takes)
V1Switch(prs(), verify_checksums(), ingress(), egress(), compute_checksums(), dprs()) main;

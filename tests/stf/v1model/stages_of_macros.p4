// SPDX-License-Identifier: Apache-2.0
//
// As pipelines that a network's operator generates: macros make the access lists of each direction, family and stage, 48 tables with 192
// actions of their own; names and identifiers are pasted, in annotations too; types that a controller sees as texts; sizes of 0.

#include <core.p4>
#include <v1model.p4>

#define ROLE_OF_LISTS "sdn_lists"
#define PASTED(a, b) a##b
#define NUMBER(a, b) PASTED(a, b)
#define STAGE_a0 0
#define STAGE_a1 1
#define LIST_BYTES 0

@p4runtime_translation("", string)
type bit<10> vrf_t;
@p4runtime_translation("net.example/port", string)
type bit<9> port_name_t;
@p4runtime_translation("net.example/group", 16)
type bit<16> list_group_t;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header flow_t {
    bit<8>   direction;
    bit<8>   family;
    bit<128> remote;
    bit<8>   protocol;
    bit<16>  port;
    bit<16>  group;
    bit<16>  passed;
    bit<16>  refused;
    bit<8>   last;
}

struct headers_t {
    ethernet_t eth;
    flow_t     flow;
}

struct metadata_t {
    @field_list(3)
    vrf_t        vrf;
    port_name_t  out_port;
    list_group_t group;
    bool         dropped;
    bool         done;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.flow);
        meta.group = (list_group_t)hdr.flow.group;
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

// One action of a stage. What it is called is pasted of the direction, the family and the stage.
#define VERDICT(list, verdict, drops, ends) \
    @id(NUMBER(0x1, __COUNTER__)) \
    @sai_action(SAI_PACKET_ACTION_##verdict, SAI_LIST_##list) \
    action list##_##verdict(@id(1) bit<8> mark) { \
        meta.dropped = drops; \
        meta.done = ends; \
        hdr.flow.last = mark; \
    }

#define STAGE(list, stage, family) \
    VERDICT(list##_##stage, permit, false, true) \
    VERDICT(list##_##stage, permit_and_go_on, false, false) \
    VERDICT(list##_##stage, deny, true, true) \
    VERDICT(list##_##stage, deny_and_go_on, true, false) \
    @id(NUMBER(0x2, __COUNTER__)) \
    @p4runtime_role(ROLE_OF_LISTS) \
    @sai_list[stage = STAGE_a0, kind = "list"] \
    @entry_restriction(" \
        // Ports only of protocols that have them. \
        port::mask != 0 -> (protocol == 6 || protocol == 17); \
    ") \
    table list##_##stage { \
        key = { \
            meta.group : exact @id(1) @name("group") @sai_field(SAI_FIELD_##list) @referenced_by(groups, group); \
            hdr.flow.remote[family - 1 : 0] : ternary @id(2) @name("remote") @format(IPV6_ADDRESS); \
            hdr.flow.protocol : ternary @id(3) @name("protocol"); \
            hdr.flow.port : ternary @id(4) @name("port"); \
        } \
        actions = { \
            @proto_id(1) list##_##stage##_permit; \
            @proto_id(2) list##_##stage##_permit_and_go_on; \
            @proto_id(3) list##_##stage##_deny; \
            @proto_id(4) list##_##stage##_deny_and_go_on; \
            @defaultonly NoAction; \
        } \
        const default_action = NoAction; \
        size = LIST_BYTES; \
    }

#define FOUR(each, list, group, family) \
    each(list, group##0, family) each(list, group##1, family) each(list, group##2, family) each(list, group##3, family)
#define TWELVE(each, list, family) \
    FOUR(each, list, a, family) FOUR(each, list, b, family) FOUR(each, list, c, family)

#define APPLY(list, stage, family) \
    if (!meta.done) { \
        if (list##_##stage.apply().hit) { \
            hdr.flow.passed = hdr.flow.passed + 1; \
        } \
        if (meta.dropped) { \
            hdr.flow.refused = hdr.flow.refused + 1; \
        } \
    }

#define LISTS(name, list, family) \
    control name(inout headers_t hdr, inout metadata_t meta) { \
        TWELVE(STAGE, list, family) \
        apply { TWELVE(APPLY, list, family) } \
    }

LISTS(outbound_v4, out4, 32)
LISTS(outbound_v6, out6, 128)
LISTS(inbound_v4, in4, 32)
LISTS(inbound_v6, in6, 128)

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    outbound_v4() from_here4;
    outbound_v6() from_here6;
    inbound_v4() to_here4;
    inbound_v6() to_here6;

    apply {
        std.egress_spec = 1;
        if (hdr.flow.direction == 0) {
            if (hdr.flow.family == 4) {
                from_here4.apply(hdr, meta);
            } else {
                from_here6.apply(hdr, meta);
            }
        } else if (hdr.flow.family == 4) {
            to_here4.apply(hdr, meta);
        } else {
            to_here6.apply(hdr, meta);
        }
        if (meta.dropped) {
            std.egress_spec = 2;
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.flow);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;

// SPDX-License-Identifier: Apache-2.0
//
// As switches with a controller have it: identifiers that the controller sees as texts, actions of the whole program, a meter
// whose colours are a plain enum, restrictions on entries, a table without an action of its own, keys that are parts.

#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("", string)
type bit<12> port_name_t;
type bit<10> group_t;

enum color_t { green, yellow, red }

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<6>  rest;
    bit<10> group;
    bit<64> place;
    bit<8>  color;
    bit<8>  taken;
}

struct headers_t {
    h_t h;
}

struct metadata_t {
    group_t     group;
    port_name_t port;
    color_t     color;
    bit<8>      taken;
}

@controller_header("packet_in")
header packet_in_t {
    // Where the packet came in.
    @id(1)
    port_name_t port;
    @id(2) @padding
    bit<4> rest;
}

@id(5)
action take(inout bit<8> taken, @id(2) bit<8> number, @id(1) bit<8> more) {
    taken = taken + number - more;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        meta.group = (group_t) hdr.h.group;
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    @id(3)
    direct_meter<color_t>(MeterType.packets) limit;
    @id(2)
    direct_counter(CounterType.packets_and_bytes) hits;
    action name(@id(1) @refers_to(by_name, port) port_name_t port) {
        meta.port = port;
        limit.read(meta.color);
        hits.count();
    }
    action forward(@id(1) bit<9> port) {
        std.egress_spec = port;
    }
    @id(7) @weight_of(1)
    @restriction("
        // A group of its own, or a place:
        group != 0 || place::mask != 0;
        place::prefix_length > 8 -> group == 1;
    ")
    table by_group {
        key = {
            meta.group: exact @id(1) @name("group");
            hdr.h.place[63:32]: ternary @id(2) @format(IPV4_ADDRESS)
                @name("place");
#ifdef WITH_COLOR
            hdr.h.color: exact @name("color");
#endif
        }
        actions = { @proto_id(2) name; @defaultonly NoAction(); }
        const default_action = NoAction();
        meters = limit;
        counters = hits;
    }
    @id(9)
    table by_name {
        key = { meta.port: exact @id(1) @name("port") @refers_to(builtin::ports, port); }
        actions = { @proto_id(1) forward; @defaultonly NoAction; }
        const default_action = NoAction();
    }
    @id(10)
    table takes {
        key = { meta.port: optional @name("port"); }
        actions = { @proto_id(1) take(meta.taken); }
    }
    @id(13) @unsupported
    table nothing {
        key = { meta.port: exact @name("port"); }
        actions = { }
    }
    apply {
        meta.taken = 1;
        by_group.apply();
        by_name.apply();
        nothing.apply();
        takes.apply();
        hdr.h.color = meta.color == color_t.green ? 8w1 : (meta.color == color_t.red ? 8w3 : 2);
        hdr.h.taken = meta.taken;
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
        packet.emit(hdr.h);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;

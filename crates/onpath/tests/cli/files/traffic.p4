// Sends what comes in on a port where a table says: out of a port, to a multicast group (not at XDP), or nowhere.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
}

struct meta_t { }

parser prs(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control checks(inout headers_t hdr, inout meta_t meta) { apply { } }

control ig(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action drop() { mark_to_drop(std); }
    action send(bit<9> port) { std.egress_spec = port; }
#ifdef GROUPS
    action flood(bit<16> group) { std.mcast_grp = group; }
#endif
    table wires {
        key = { std.ingress_port : exact; }
        actions = {
            drop;
            send;
#ifdef GROUPS
            flood;
#endif
        }
        default_action = drop();
    }
    apply { wires.apply(); }
}

control eg(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
#ifdef GROUPS
        if (std.egress_port == std.ingress_port) { mark_to_drop(std); }
#endif
    }
}

control dprs(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.eth); } }

V1Switch(prs(), checks(), ig(), eg(), checks(), dprs()) main;

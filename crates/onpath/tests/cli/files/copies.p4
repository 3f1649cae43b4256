// Does with what comes in on a port what a table says: mirrors it, floods it, or sends it round for ever. Copies have a type that
// says of which replication id they are.
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
    action mirror(bit<32> session, bit<9> port) {
        clone(CloneType.I2E, session);
        std.egress_spec = port;
    }
    action flood(bit<16> group) { std.mcast_grp = group; }
    action again() { resubmit_preserving_field_list(0); }
    table wires {
        key = { std.ingress_port : exact; }
        actions = { drop; mirror; flood; again; }
        default_action = drop();
    }
    apply { wires.apply(); }
}

control eg(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        if (std.instance_type != 0) { hdr.eth.type = 0x9000 + std.egress_rid; }
    }
}

control dprs(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.eth); } }

V1Switch(prs(), checks(), ig(), eg(), checks(), dprs()) main;

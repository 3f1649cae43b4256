// Keeps the last type and the number of packets of each port in registers, and drops all packets.
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

struct last_t {
    bit<16> type;
    bool known;
}

parser prs(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control checks(inout headers_t hdr, inout meta_t meta) { apply { } }

control ig(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    register<bit<32>>(1024) seen;
    register<last_t>(16) last;
    @noWarn("unused") register<bit<8>>(4) unused;
    apply {
        bit<32> count;
        seen.read(count, (bit<32>) std.ingress_port);
        seen.write((bit<32>) std.ingress_port, count + 1);
        last.write((bit<32>) std.ingress_port, { hdr.eth.type, true });
        mark_to_drop(std);
    }
}

control eg(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply { } }

control dprs(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.eth); } }

V1Switch(prs(), checks(), ig(), eg(), checks(), dprs()) main;

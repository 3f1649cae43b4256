// Cuts packets in front of where the kernel sees their transport header.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers {
    ethernet_t ethernet;
}

struct metadata {}

parser parse(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control forward(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
    }
}

// The last byte of the destination is the length in bytes.
control cut(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    apply {
        truncate((bit<32>) hdr.ethernet.dst[7:0]);
    }
}

control nothing(inout headers hdr, inout metadata meta) {
    apply {}
}

control deparse(packet_out packet, in headers hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(parse(), nothing(), forward(), cut(), nothing(), deparse()) main;

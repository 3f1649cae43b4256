// A user's extern with a name like those of the helpers that only compute: it is called for what it does.
#include <core.p4>
#include <xdp_model.p4>

#ifndef NAME
#define NAME csum_touch
#endif

extern bit<16> NAME(in bit<16> value);

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        NAME(hdr.eth.type);
        xout.output_action = xdp_action.XDP_PASS;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
    }
}

xdp(prs(), sw(), dprs()) main;

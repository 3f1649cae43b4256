// Tables and counters that no machine has the memory for: -D SIZE=... -D ELEMENTS=...
#include <core.p4>
#include <xdp_model.p4>

#ifndef SIZE
#define SIZE 16
#endif
#ifndef ELEMENTS
#define ELEMENTS 16
#endif

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
    CounterArray(ELEMENTS, false) seen;
    action drop() { xout.output_action = xdp_action.XDP_DROP; }
    action pass() { xout.output_action = xdp_action.XDP_PASS; }
    table hosts {
        key = { hdr.eth.dst : exact; }
        actions = { drop; pass; }
        default_action = pass();
        size = SIZE;
    }
    apply {
        xout.output_port = 0;
        hosts.apply();
        seen.increment((bit<32>) hdr.eth.type);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); }
}

xdp(prs(), sw(), dprs()) main;

// Sends what comes in on a port out of the port that a table has for it, and counts it by the port it came in on.
#include <core.p4>
#include <tc_model.p4>

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

control relay(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    CounterArray(16, false) seen;

    action drop() {
        tout.verdict = tc_verdict.TC_DROP;
    }
    action to(bit<32> port) {
        tout.verdict = tc_verdict.TC_REDIRECT_EGRESS;
        tout.output_port = port;
    }
    action copy(bit<16> group) {
        tout.verdict = tc_verdict.TC_DROP;
        tout.multicast_group = group;
    }
    table wires {
        key = { tin.input_port : exact; }
        actions = { to; copy; drop; }
        default_action = drop();
    }
    apply {
        seen.increment(tin.input_port);
        wires.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
    }
}

tc(prs(), relay(), dprs()) main;

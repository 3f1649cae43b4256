// A function that is long and called from a control, an action, a parser and an atomic block: a copy or a call, it is
// the same.
#include <core.p4>
#include <xdp_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header call_t { bit<8> what; bit<40> value; bit<7> small; bit<1> flag; bit<32> result; bit<32> parsed; }
struct headers_t { ethernet_t ethernet; call_t call; bit<32> parsed; }

// Digits of a number in base 4, from a first one on; and early returns.
bit<32> digits(in bit<40> value, in bit<32> first, in bool odd) {
    bit<40> left = value;
    bit<32> found = first;
    if (odd && left == 9) { return 1000; }
    if (left >= 1 << 32) { left = left >> 32; found = found + 16; }
    if (left >= 1 << 16) { left = left >> 16; found = found + 8; }
    if (left >= 1 << 8) { left = left >> 8; found = found + 4; }
    if (left >= 1 << 4) { left = left >> 4; found = found + 2; }
    if (left == 0) { return first; }
    if (left >= 1 << 2) { found = found + 2; } else { found = found + 1; }
    return found;
}

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.call);
        hdr.parsed = digits(hdr.call.value, 5, true);
        transition accept;
    }
}

control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<bit<8>, bit<32>>(8) flows;
    bit<32> sum = 0;

    action count(bit<32> from) {
        hdr.call.result = digits((bit<40>)hdr.call.small, from, hdr.call.flag == 1);
    }
    table t {
        key = { hdr.call.what: exact; }
        actions = { count; NoAction; }
        const entries = { 1: count(10); 2: count(0xfffffff0); }
    }

    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        if (hdr.call.what == 0) {
            hdr.call.result = digits(hdr.call.value, 0, hdr.call.flag == 1) + digits((bit<40>)hdr.call.small, 100, false);
        } else if (hdr.call.what == 3) {
            @atomic {
                flows.lookup(0, sum);
                sum = sum + digits(hdr.call.value, 0, false);
                flows.update(0, sum);
            }
            hdr.call.result = sum;
        } else {
            t.apply();
        }
        hdr.call.parsed = hdr.parsed;
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.call); }
}

xdp(p(), c(), d()) main;

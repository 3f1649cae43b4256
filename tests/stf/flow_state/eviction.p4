// One set of eight ways: a new flow replaces the least recently used one.
#include <core.p4>
#include <xdp_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header call_t { bit<8> what; bit<32> key; bit<8> found; bit<64> value; }
struct headers_t { ethernet_t ethernet; call_t call; }
struct key_t { bit<32> number; }
struct value_t { bit<64> number; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.call);
        transition accept;
    }
}

control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<key_t, value_t>(8) flows;
    value_t value;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        key_t key = { hdr.call.key };
        if (hdr.call.what == 0) {
            hdr.call.found = flows.lookup(key, value) ? 8w1 : 0;
            hdr.call.value = value.number;
        } else if (hdr.call.what == 1) {
            flows.update(key, { hdr.call.value });
        } else if (hdr.call.what == 2) {
            hdr.call.found = flows.remove(key) ? 8w1 : 0;
        } else {
            // Results that nobody wants.
            flows.remove(key);
            flows.lookup(key, value);
        }
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.call); }
}

xdp(p(), c(), d()) main;

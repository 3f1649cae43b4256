// What may be in an atomic block: conditions, switches, headers, functions and actions, blocks in blocks; a key that is
// made in it; and calls on some paths only.
#include <core.p4>
#include <xdp_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header call_t { bit<8> what; bit<32> key; bit<8> found; bit<64> value; }
struct headers_t { ethernet_t ethernet; call_t call; }
struct key_t { bit<32> number; bit<8> kind; }
struct value_t { bit<64> sum; bit<8> last; bit<16> calls; bool big; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.call);
        transition accept;
    }
}

bool raise(inout value_t value, in bit<64> by) {
    value.sum = value.sum + by;
    value.calls = value.calls + 1;
    if (value.sum > 100) { return true; }
    return false;
}

control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<key_t, value_t>(64) flows;
    value_t value;
    key_t key;

    action forget() {
        hdr.call.found = flows.remove(key) ? 8w3 : 4;
    }
    // An action that is one itself, and ends early.
    @atomic action count() {
        flows.lookup(key, value);
        if (value.calls == 2) {
            hdr.call.value = 99;
            return;
        }
        value.calls = value.calls + 1;
        flows.update(key, value);
        hdr.call.value = (bit<64>)value.calls;
    }

    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        if (hdr.call.what < 10) @atomic {
            key = { hdr.call.key, 0 };
            switch (hdr.call.what) {
                0: {
                    hdr.call.found = 9;
                }
                1: {
                    // The value is stored anew whatever was there, but for one field.
                    bit<16> calls = 0;
                    if (flows.lookup(key, value)) { calls = value.calls; }
                    flows.update(key, { 7, hdr.call.what, calls, false });
                }
                2: {
                    @atomic {
                        if (flows.lookup(key, value)) {
                            hdr.call.found = 1;
                            value.big = raise(value, hdr.call.value);
                        } else {
                            hdr.call.found = 0;
                            value.sum = 1;
                            hdr.ethernet.src = hdr.ethernet.dst;
                        }
                    }
                    value.last = hdr.call.what;
                    flows.update(key, value);
                    hdr.call.value = value.sum;
                }
                3: {
                    // Gone and back in one block.
                    forget();
                    flows.update(key, { hdr.call.value, 1, 2, true });
                    if (flows.lookup(key, value)) { hdr.call.value = value.sum + (bit<64>)value.calls; }
                }
                4: {
                    forget();
                }
                default: {
                    // Only a look at the flow, and twice.
                    bool known = flows.lookup(key, value);
                    value.sum = value.sum + 1;
                    known = flows.lookup(key, value);
                    hdr.call.found = known ? 8w1 : 0;
                    hdr.call.value = value.sum;
                    if (value.big) { hdr.call.value = hdr.call.value | 1 << 63; }
                }
            }
        } else {
            key = { hdr.call.key, 1 };
            count();
        }
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.call); }
}

xdp(p(), c(), d()) main;

// Look-ups that an update follows on every path, on some, with other values, or before more is assigned: what is in the
// flow is what was stored, and variables are what was assigned.
#include <core.p4>
#include <xdp_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header call_t { bit<8> what; bit<8> key; bit<8> known; bit<32> a; bit<32> b; bit<128> wide; bit<8> seen; }
struct headers_t { ethernet_t ethernet; call_t call; }
struct key_t { bit<8> number; }
struct value_t { bit<32> a; bit<128> wide; bit<32> b; bit<5> seen; bool odd; }

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
    key_t key;
    bool known = false;

    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        key = { hdr.call.key };
        if (hdr.call.what == 0) {
            // Everything in its place.
            @atomic {
                known = flows.lookup(key, value);
                if (!known) { value.b = 100; }
                value.a = value.a + hdr.call.a;
                value.wide = value.wide + hdr.call.wide;
                value.seen = value.seen + 9;
                value.odd = !value.odd;
                flows.update(key, value);
            }
        } else if (hdr.call.what == 1) {
            // Stored on one path only.
            @atomic {
                known = flows.lookup(key, value);
                value.a = value.a + hdr.call.a;
                value.wide = value.wide + hdr.call.wide;
                if (hdr.call.b == 1) {
                    flows.update(key, value);
                }
            }
        } else if (hdr.call.what == 2) {
            // Assigned after it is stored.
            @atomic {
                known = flows.lookup(key, value);
                value.b = value.b + 1;
                flows.update(key, value);
                value.a = 77;
            }
        } else if (hdr.call.what == 3) {
            // Fields change places.
            @atomic {
                known = flows.lookup(key, value);
                value.seen = value.seen + 1;
                flows.update(key, { value.b, value.wide, value.a, value.seen, value.odd });
            }
        } else if (hdr.call.what == 4) {
            // Stored on each path, with other values.
            @atomic {
                known = flows.lookup(key, value);
                value.wide = value.wide + 1;
                if (value.a > 5) {
                    value.a = 0;
                    flows.update(key, value);
                } else {
                    value.a = value.a + 1;
                    flows.update(key, { value.a, value.wide, 55, value.seen, false });
                }
            }
        } else if (hdr.call.what == 5) {
            // Stored twice.
            @atomic {
                known = flows.lookup(key, value);
                value.a = 1;
                flows.update(key, value);
                value.b = 2;
                flows.update(key, value);
            }
        } else {
            known = flows.lookup(key, value);
        }
        hdr.call.known = known ? 8w1 : 0;
        hdr.call.a = value.a;
        hdr.call.b = value.b;
        hdr.call.wide = value.wide;
        hdr.call.seen = (bit<8>)value.seen | (value.odd ? 8w0x80 : 0);
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.call); }
}

xdp(p(), c(), d()) main;

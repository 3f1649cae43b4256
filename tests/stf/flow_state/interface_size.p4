// What is asked of the kernel where it is needed, needed while a flow is locked.
#include <core.p4>
#include <tc_model.p4>
#include <flow_state.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header call_t { bit<8> what; bit<8> key; bit<32> sum; }
struct headers_t { ethernet_t ethernet; call_t call; bit<8> more; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.call);
        transition select(hdr.call.what) {
            99:      more;
            default: accept;
        }
    }
    @rare state more {
        hdr.more = 4;
        transition accept;
    }
}

control c(inout headers_t hdr, in tc_input input, inout tc_output output) {
    flow_state<bit<8>, bit<32>>(8) sums;
    bit<32> sum;

    apply {
        // No interface is that small.
        @atomic {
            sums.lookup(hdr.call.key, sum);
            if (input.mtu == 77) { sum = sum + 100; } else { sum = sum + 1 + (bit<32>)hdr.more; }
            sums.update(hdr.call.key, sum);
        }
        sums.update(hdr.call.key + 1, input.mtu == 77 ? 32w5 : 6);
        hdr.call.sum = sum;
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.call); }
}

tc(p(), c(), d()) main;

// A filter that lets the first three packets of a sender pass.
#include <core.p4>
#include <ebpf_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct sender_t { bit<48> address; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control f(inout headers_t hdr, out bool pass) {
    flow_state<sender_t, bit<8>>(1024) seen;
    apply {
        bit<8> count;
        sender_t sender = { hdr.ethernet.src };
        @atomic {
            if (!seen.lookup(sender, count)) { count = 0; }
            count = count |+| 1;
            seen.update(sender, count);
        }
        pass = count <= 3;
    }
}

ebpfFilter(p(), f()) main;

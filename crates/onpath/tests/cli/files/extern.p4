#include <core.p4>
#include <ebpf_model.p4>

extern bit<32> sum_of(in bit<32> offset);

struct headers_t { }

parser prs(packet_in packet, out headers_t hdr) {
    state start { transition accept; }
}

control summed(inout headers_t hdr, out bool accept) {
    apply {
        accept = sum_of(3) != 0;
    }
}

ebpfFilter(prs(), summed()) main;

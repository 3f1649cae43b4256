// Lets all packets pass. With a program at its end, a veth pair takes packets from XDP.
#include <ebpf_model.p4>

struct headers_t { }

parser none(packet_in packet, out headers_t hdr) {
    state start { transition accept; }
}

control pass(inout headers_t hdr, out bool accept) {
    apply { accept = true; }
}

ebpfFilter(none(), pass()) main;

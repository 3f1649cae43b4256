// SPDX-License-Identifier: Apache-2.0
//
// Headers of 198 bytes in a stack: pushed, popped, copied; more than the BPF stack has room for.

#include <core.p4>
#include <xdp_model.p4>
header h_t { bit<1024> a; bit<512> b; bit<48> c; }
struct headers_t { h_t[3] s; h_t t; }
parser p(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.s[0]); transition select(hdr.s[0].c) { 1: more; default: accept; } }
    state more { packet.extract(hdr.s[1]); transition accept; }
}
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.s[0].b == 5) { hdr.s.push_front(1); hdr.s[0] = hdr.s[1]; hdr.s[0].c = 77; }
        else { hdr.t = hdr.s[0]; hdr.t.a = hdr.t.a ^ (bit<1024>)hdr.t.b; hdr.s.pop_front(1); }
    }
}
control d(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.s); packet.emit(hdr.t); } }
xdp(p(), c(), d()) main;

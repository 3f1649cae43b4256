// The chains are made by the session: `else if` in arms.p4h, operators in sum.p4h.
#include <core.p4>
#include <xdp_model.p4>
header h_t { bit<16> a; bit<16> b; bit<16> c; }
struct headers_t { h_t h; }
parser p(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.h); transition accept; }
}
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
#include "arms.p4h"
        { hdr.h.b = 1; }
        hdr.h.c =
#include "sum.p4h"
            hdr.h.b;
    }
}
control d(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.h); } }
xdp(p(), c(), d()) main;

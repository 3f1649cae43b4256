// Variables that have no room on the stack, and are zero until they are written.
#include <core.p4>
#include <xdp_model.p4>
header h_t { bit<16> a; bit<48> b; }
struct headers_t { h_t h; }
parser p(packet_in packet, out headers_t hdr) { state start { packet.extract(hdr.h); transition accept; } }
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<4096> x;
        bit<4096> y;
        bit<4096> z;
        if (hdr.h.a > 1) { x = (bit<4096>)hdr.h.b << 4000; }
        if (hdr.h.a > 2) { y = (bit<4096>)hdr.h.b << 3000; }
        if (hdr.h.a > 3) { z = (bit<4096>)hdr.h.b << 2000; }
        if (x == y || y == z) { hdr.h.b = 1; }
    }
}
control d(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.h); } }
xdp(p(), c(), d()) main;

#include "frame.p4h"
header number_t { int<8> x; }
struct hs_t { eth_t eth; number_t n; }
parser prs(packet_in packet, out hs_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}
control sw(inout hs_t hdr, in xdp_input xin, out xdp_output xout) {
    table t {
        key = { hdr.n.x: lpm; } //~ E0557 signed number
        actions = { NoAction; }
        default_action = NoAction();
    }
    apply {
        t.apply();
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
    }
}
control dprs(in hs_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); } }
xdp(prs(), sw(), dprs()) main;

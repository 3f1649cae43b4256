#include "frame.p4h"
header options_t { varbit<40000> a; }
struct hs_t { eth_t eth; options_t one; options_t two; }
parser prs(packet_in packet, out hs_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.one, 64);
        packet.extract(hdr.two, 64);
        transition accept;
    }
}
control sw(inout hs_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        if (hdr.one == hdr.two) { hdr.eth.type = 1; } //~ E0723 5000
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
    }
}
control dprs(in hs_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); } }
xdp(prs(), sw(), dprs()) main;

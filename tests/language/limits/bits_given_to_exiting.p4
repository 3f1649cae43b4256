#include "frame.p4h"
struct hs_t { eth_t eth; }
parser prs(packet_in packet, out hs_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}
control sw(inout hs_t hdr, in xdp_input xin, out xdp_output xout) {
    action stop(inout bit<4> part) {
        part = 1;
        exit;
    }
    apply {
        stop(hdr.eth.type[7:4]); //~ E0590 may exit
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
    }
}
control dprs(in hs_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); } }
xdp(prs(), sw(), dprs()) main;

#include "frame.p4h"
header long_t { bit<1600> x; }
struct hs_t { eth_t eth; long_t long; }
parser prs(packet_in packet, out hs_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.long);
        transition accept;
    }
}
control sw(inout hs_t hdr, in xdp_input xin, out xdp_output xout) {
    table t { //~ E0726 takes 200 bytes
        key = { hdr.long.x: exact; }
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

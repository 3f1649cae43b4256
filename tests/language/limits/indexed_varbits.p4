#include "frame.p4h"
header options_t { bit<8> kind; varbit<64> a; }
struct hs_t { eth_t eth; options_t[3] options; }
parser prs(packet_in packet, out hs_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.options.next, 64);
        packet.extract(hdr.options.next, 64);
        transition accept;
    }
}
control sw(inout hs_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        hdr.options[0].a = hdr.options[hdr.eth.type[0:0]].a; //~ E0729 index
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
    }
}
control dprs(in hs_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); packet.emit(hdr.options); } }
xdp(prs(), sw(), dprs()) main;

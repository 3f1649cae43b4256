#include "frame.p4h"
struct hs_t { eth_t eth; }
extern cell_t { cell_t(); bit<8> get(); }
extern bit<16> mixed(in bit<16> x);
parser prs(packet_in packet, out hs_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}
control sw(inout hs_t hdr, in xdp_input xin, out xdp_output xout) {
    cell_t() cell;
    apply {
        hdr.eth.type = (bit<16>) cell.get(); //~ E0721 no extern
        hdr.eth.type = mixed(hdr.eth.type); //~ E0721 no extern
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
    }
}
control dprs(in hs_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); } }
xdp(prs(), sw(), dprs()) main;

#include "frame.p4h"
struct hs_t { eth_t eth; }
parser prs(packet_in packet, out hs_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}
control sw(inout hs_t hdr, in xdp_input xin, out xdp_output xout) {
    action a(byte_t b) {
        hdr.eth.type = (bit<16>) b.x;
    }
    table t {
        key = { hdr.eth.type: exact; }
        actions = { a; NoAction; }
        const entries = { 0x0800: a({ 1 }); 0x0900: a({#}); } //~ E0565 an invalid header
        const default_action = NoAction();
    }
    apply {
        t.apply();
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
    }
}
control dprs(in hs_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); } }
xdp(prs(), sw(), dprs()) main;

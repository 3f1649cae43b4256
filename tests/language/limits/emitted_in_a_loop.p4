#include "frame.p4h"
struct hs_t { eth_t eth; byte_t[4] bytes; }
parser prs(packet_in packet, out hs_t hdr) {
    state start { packet.extract(hdr.eth); transition next; }
    state next {
        packet.extract(hdr.bytes.next);
        transition select(hdr.bytes.last.x) { 0: accept; _: next; }
    }
}
control sw(inout hs_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
    }
}
control dprs(in hs_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        for (bit<32> i in 0 .. 3) { packet.emit(hdr.bytes[i]); } //~ E0724 in a loop
    }
}
xdp(prs(), sw(), dprs()) main;

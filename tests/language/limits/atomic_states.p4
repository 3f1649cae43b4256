#include "frame.p4h"
#include <flow_state.p4>
struct hs_t { eth_t eth; }
parser prs(packet_in packet, out hs_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}
control sw(inout hs_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<bit<48>, bit<32>>(64) sent;
    flow_state<bit<48>, bit<32>>(64) received;
    bit<32> n;
    apply {
        @atomic {
            sent.lookup(hdr.eth.src, n);
            received.update(hdr.eth.dst, n); //~ E0740 it can hold the lock of one
        }
        @atomic {
            sent.lookup(hdr.eth.src, n);
            sent.update(hdr.eth.dst, n); //~ E0740 different keys
        }
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
    }
}
control dprs(in hs_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); } }
xdp(prs(), sw(), dprs()) main;

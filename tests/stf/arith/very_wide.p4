// SPDX-License-Identifier: Apache-2.0
//
// Fields of 200 and 2048 bits: arithmetic, shifts by a value, saturation, signed comparison.

#include <core.p4>
#include <xdp_model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header huge_t { bit<2048> a; }
header w_t { bit<200> x; bit<200> y; }
struct headers_t { eth_t eth; w_t w; huge_t huge; }
parser p(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.eth); packet.extract(hdr.w); packet.extract(hdr.huge); transition accept; }
}
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.huge.a = (hdr.huge.a + 1) << 3;
        hdr.w.x = hdr.w.x * hdr.w.y;
        hdr.w.y = (hdr.w.y >> hdr.eth.type[7:0]) |+| hdr.w.x;
        if ((int<200>)hdr.w.x < (int<200>)hdr.w.y) { hdr.eth.src = 0; }
    }
}
control d(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); packet.emit(hdr.w); packet.emit(hdr.huge); } }
xdp(p(), c(), d()) main;

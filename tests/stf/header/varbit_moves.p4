// SPDX-License-Identifier: Apache-2.0
//
// A varbit header that moves, because a header is inserted after it.

#include <core.p4>
#include <xdp_model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> dscp; bit<16> total_len; bit<16> id; bit<3> flags;
    bit<13> offset; bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header options_t { varbit<320> data; }
struct headers_t { eth_t eth; ipv4_t ipv4; options_t options; eth_t last; }
parser p(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.eth); packet.extract(hdr.ipv4);
        packet.extract(hdr.options, ((bit<32>)hdr.ipv4.ihl - 5) << 5); transition accept; }
}
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
        hdr.last.setValid();
    }
}
control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.ipv4); packet.emit(hdr.options); packet.emit(hdr.last); }
}
xdp(p(), c(), d()) main;

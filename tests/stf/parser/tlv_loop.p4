// SPDX-License-Identifier: Apache-2.0
//
// A loop over options that are read and not kept: the packet shrinks by as much as was read.

#include <core.p4>
#include <xdp_model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> dscp; bit<16> total_len; bit<16> id; bit<3> flags;
    bit<13> offset; bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header tlv_t { bit<8> kind; bit<8> len; }
struct headers_t { eth_t eth; tlv_t tlv; }
parser p(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.eth); transition next; }
    state next {
        packet.extract(hdr.tlv);
        packet.advance((bit<32>)hdr.tlv.len << 3);
        transition select(hdr.tlv.kind) { 0: accept; default: next; }
    }
}
control d(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); } }
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply { xout.output_action = xdp_action.XDP_PASS; xout.output_port = 0; }
}
xdp(p(), c(), d()) main;

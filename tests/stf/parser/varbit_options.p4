// SPDX-License-Identifier: Apache-2.0
//
// IPv4 with options in a varbit field: read by length, kept, emitted, and removed.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  dscp_ecn;
    bit<16> total_len;
    bit<16> id;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header options_t {
    varbit<320> data;
}

header tail_t {
    bit<16> value;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    options_t  options;
    tail_t     tail;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.ihl >= 5, error.HeaderTooShort);
        transition select(hdr.ipv4.ihl) {
            5:       tail;
            default: options;
        }
    }
    state options {
        packet.extract(hdr.options, (bit<32>)(((bit<16>)hdr.ipv4.ihl - 5) * 32));
        transition tail;
    }
    state tail {
        packet.extract(hdr.tail);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.tail.value = hdr.tail.value + 1;
        if (hdr.ipv4.protocol == 99 && hdr.options.isValid()) {
            hdr.ipv4.total_len = hdr.ipv4.total_len - (((bit<16>)hdr.ipv4.ihl - 5) << 2);
            hdr.ipv4.ihl = 5;
            hdr.ipv4.checksum = 0;
            hdr.options.setInvalid();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
        packet.emit(hdr.tail);
    }
}

xdp(prs(), sw(), dprs()) main;

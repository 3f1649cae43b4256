// SPDX-License-Identifier: Apache-2.0
//
// Walks the TCP options one by one to the maximum segment size, and lowers it with the checksum corrected.

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

header tcp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> seq;
    bit<32> ack;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header byte_t {
    bit<8> kind;
}

header wide_option_t {
    bit<8>      kind;
    bit<8>      length;
    varbit<304> value;
}

header mss_t {
    bit<8>  kind;
    bit<8>  length;
    bit<16> value;
}

header_union option_t {
    byte_t        padding;
    wide_option_t other;
}

const bit<16> LARGEST = 1360;

struct headers_t {
    ethernet_t  eth;
    ipv4_t      ipv4;
    tcp_t       tcp;
    option_t[4] options;
    mss_t       mss;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<8> left = 0;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, 6):  tcp;
            default: accept;
        }
    }
    state tcp {
        packet.extract(hdr.tcp);
        verify(hdr.tcp.data_offset >= 5, error.HeaderTooShort);
        left = ((bit<8>)hdr.tcp.data_offset - 5) << 2;
        transition option;
    }
    state option {
        transition select(left) {
            0:       accept;
            default: kind;
        }
    }
    state kind {
        transition select(packet.lookahead<bit<8>>()) {
            0:       accept;
            1:       padding;
            2:       mss;
            default: other;
        }
    }
    state padding {
        packet.extract(hdr.options.next.padding);
        left = left - 1;
        transition option;
    }
    state other {
        bit<8> length = packet.lookahead<bit<16>>()[7:0];
        verify(length >= 2 && length <= left, error.HeaderTooShort);
        packet.extract(hdr.options.next.other, ((bit<32>)length - 2) << 3);
        left = left - length;
        transition option;
    }
    state mss {
        verify(left >= 4, error.HeaderTooShort);
        packet.extract(hdr.mss);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.mss.isValid() && hdr.mss.value > LARGEST) {
            hdr.tcp.checksum = csum_replace2(hdr.tcp.checksum, hdr.mss.value, LARGEST);
            hdr.mss.value = LARGEST;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.options);
        packet.emit(hdr.mss);
    }
}

xdp(prs(), sw(), dprs()) main;

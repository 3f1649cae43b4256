// SPDX-License-Identifier: Apache-2.0
//
// Parts of wide look-aheads: at the beginning, in the middle and across bytes. The packet must have all that is looked at,
// whatever is read of it.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header seen_t {
    bit<8>  first;
    bit<8>  across;
    bit<16> last;
}

struct ahead_t {
    bit<4>   version;
    bit<68>  wide;
    bit<40>  middle;
    bit<16>  end;
}

struct headers_t {
    ethernet_t eth;
    seen_t     seen;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<128> bits;
    ahead_t  ahead;
    bit<132> odd;
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.seen);
        transition select(hdr.eth.type) {
            1:       from_start;
            2:       across;
            3:       of_struct;
            4:       odd_width;
            5:       twice;
            default: accept;
        }
    }
    state from_start {
        bits = packet.lookahead<bit<128>>();
        hdr.seen.first = bits[127:120];
        transition accept;
    }
    state across {
        bits = packet.lookahead<bit<128>>();
        hdr.seen.across = bits[69:62];
        hdr.seen.last = bits[17:2];
        transition accept;
    }
    state of_struct {
        ahead = packet.lookahead<ahead_t>();
        hdr.seen.first = (bit<8>)ahead.version;
        hdr.seen.across = ahead.middle[20:13];
        transition accept;
    }
    state odd_width {
        odd = packet.lookahead<bit<132>>();
        hdr.seen.first = odd[131:124];
        hdr.seen.across = odd[11:4];
        transition accept;
    }
    state twice {
        bits = packet.lookahead<bit<128>>();
        hdr.seen.first = bits[127:120];
        packet.advance(8);
        bits = packet.lookahead<bit<128>>();
        hdr.seen.across = bits[127:120];
        hdr.seen.last = (bit<16>)bits[7:0];
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.seen);
    }
}

xdp(prs(), sw(), dprs()) main;

// SPDX-License-Identifier: Apache-2.0
//
// Fields of variable length that are compared: in the parser, in conditions with several comparisons, of copies and of whole headers.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header sizes_t {
    bit<8> a;
    bit<8> b;
    bit<8> parsed;
    bit<8> found;
}

header data_t {
    varbit<520> bytes;
    bit<8>      end;
}

struct headers_t {
    ethernet_t eth;
    sizes_t    sizes;
    data_t     a;
    data_t     b;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.sizes);
        packet.extract(hdr.a, (bit<32>)hdr.sizes.a * 8);
        transition select(hdr.sizes.b) {
            0xff: only_one;
            default: both;
        }
    }
    state only_one {
        hdr.sizes.parsed = 3;
        transition accept;
    }
    state both {
        packet.extract(hdr.b, (bit<32>)hdr.sizes.b * 8);
        transition select(hdr.a.bytes == hdr.b.bytes) {
            true: same;
            false: different;
        }
    }
    state same {
        hdr.sizes.parsed = 1;
        transition accept;
    }
    state different {
        hdr.sizes.parsed = 2;
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    data_t kept;
    data_t never;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.sizes.found = 0;
        if (hdr.a == hdr.b) {
            hdr.sizes.found = hdr.sizes.found | 1;
        }
        if (hdr.a.bytes != hdr.b.bytes) {
            hdr.sizes.found = hdr.sizes.found | 2;
        }
        kept = hdr.a;
        if (hdr.b.isValid() && hdr.b.end == 0x99) {
            kept.bytes = hdr.b.bytes;
        }
        if (kept == hdr.a && kept.bytes == hdr.b.bytes || hdr.sizes.a == 3 && kept.bytes != hdr.a.bytes) {
            hdr.sizes.found = hdr.sizes.found | 4;
        }
        if (never.bytes == hdr.a.bytes) {
            hdr.sizes.found = hdr.sizes.found | 8;
        }
        if (hdr.sizes.a == 5) {
            hdr.a.setInvalid();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.sizes);
        packet.emit(hdr.a);
        packet.emit(hdr.b);
    }
}

xdp(prs(), sw(), dprs()) main;

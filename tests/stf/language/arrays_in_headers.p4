// SPDX-License-Identifier: Apache-2.0
//
// Arrays that are fields of a header: of numbers, of structs and of arrays, by indices that only the packet knows. What is
// outside of one of them is zero, and not written.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct pair_t {
    bit<4> high;
    bit<4> low;
}

enum bit<8> kind_t { none = 0, some = 5 }

header h_t {
    bit<8>       op;
    bit<8>       i;
    bit<8>       v;
    bit<8>[3]    bytes;
    pair_t[2]    pairs;
    bit<8>[2][2] square;
    kind_t[2]    kinds;
}

struct headers_t {
    ethernet_t eth;
    h_t        h;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.h);
        transition select(hdr.h.bytes[hdr.h.i]) {
            0x77: seven;
            default: accept;
        }
    }
    state seven {
        hdr.h.bytes[hdr.h.i] = 0x78;
        transition accept;
    }
}

bit<8> bump(inout bit<8> x, in bit<8> by) {
    x = x + by;
    return x;
}

control fill(inout bit<8>[3] all, in bit<8> value) {
    apply {
        for (bit<8> i in 8w0 .. 8w1) {
            all[i] = value + i;
        }
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    bit<8>[3] kept;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.h.op == 0) {
            hdr.h.bytes[hdr.h.i] = hdr.h.v;
        } else if (hdr.h.op == 1) {
            hdr.h.pairs[hdr.h.i].low = (bit<4>)hdr.h.v;
            hdr.h.pairs[hdr.h.i].high[3:2] = 2w3;
        } else if (hdr.h.op == 2) {
            hdr.h.square[hdr.h.i][hdr.h.v] += 0x11;
        } else if (hdr.h.op == 3) {
            hdr.h.v = bump(hdr.h.bytes[hdr.h.i], 3) + hdr.h.bytes[2];
        } else if (hdr.h.op == 4) {
            fill.apply(hdr.h.bytes, hdr.h.v);
        } else if (hdr.h.op == 5) {
            kept = hdr.h.bytes;
            kept[hdr.h.i] = hdr.h.v;
            hdr.h.bytes = kept;
            hdr.h.pairs[1] = hdr.h.pairs[hdr.h.i];
        } else if (hdr.h.op == 6) {
            hdr.h.square = {{1, 2}, {3, hdr.h.v}};
            hdr.h.square[0] = hdr.h.square[hdr.h.i];
        } else if (hdr.h.op == 7) {
            hdr.h.v = 0;
            for (bit<8> byte in hdr.h.bytes) {
                hdr.h.v = hdr.h.v + byte;
            }
            hdr.h.kinds[hdr.h.i] = kind_t.some;
        } else if (hdr.h.op == 8) {
            hdr.h.bytes[hdr.h.i][hdr.h.v +: 4] = 4w0xf;
            if (hdr.h.pairs[hdr.h.i] == hdr.h.pairs[1]) {
                hdr.h.v = 0xee;
            }
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;

// SPDX-License-Identifier: Apache-2.0
//
// Every form of a select case: values, masks, ranges, tuples of them, named constants, sets, default.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

const bit<8> THREE = 3;

header data_t {
    bit<8>  a;
    bit<16> b;
    bit<8>  result;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<8> r = 0;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition select(hdr.data.a, hdr.data.b) {
            (1, 1):                       one;
            (2, 0x1200 &&& 0xff00):       masked;
            (THREE, 100..200):            range;
            (4, _):                       wildcard;
            (0x50 &&& 0xf0, 0x8000 &&& 0x8000): both_masked;
            (10..20, 10..20):             both_ranges;
            (_, 0xffff):                  second_only;
            default:                      single;
        }
    }
    state one { r = 1; transition done; }
    state masked { r = 2; transition done; }
    state range { r = 3; transition done; }
    state wildcard { r = 4; transition done; }
    state both_masked { r = 5; transition done; }
    state both_ranges { r = 6; transition done; }
    state second_only { r = 7; transition done; }
    state single {
        transition select(hdr.data.a) {
            0:            zero;
            THREE + 27:   thirty;
            0b1111_0000:  binary;
            _:            done;
        }
    }
    state zero { r = 8; transition done; }
    state thirty { r = 9; transition done; }
    state binary { r = 10; transition done; }
    state done {
        hdr.data.result = r;
        transition select(hdr.data.a == 77, hdr.data.b[0:0]) {
            (true, 1): reject;
            default:   accept;
        }
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
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;

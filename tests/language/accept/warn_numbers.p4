#include <core.p4>
const bit<8> A = 256; //~ W0301 256 does not fit in `bit<8>`
const bit<8> B = -1; //~ W0302 the negative number -1
const bit<4> C = 4w16; //~ W0301 does not fit
const int<8> D = 128; //~ W0301 does not fit
const bit<8> FINE = (bit<8>) 300;
bit<8> f(in bit<8> x) {
    return (x << 8) + x; //~ W0303 a shift of `bit<8>` by 8
}
parser p(packet_in packet) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            5 .. 3: accept; //~ W0408 the range 5 .. 3 is empty
            _: reject;
        }
    }
}
control c(inout bit<8> x, inout int<8> y) {
    action set(int<8> to, bit<8> also) { y = to; x = also; }
    table t {
        key = { y: exact; x: exact; }
        actions = { set; }
        default_action = set(
            128, //~ W0301 128 does not fit in `int<8>`
            256); //~ W0301 256 does not fit
        const entries = {
            (200, 2): set(1, 1); //~ W0301 200 does not fit in `int<8>`
            (3, -4): //~ W0302 the negative number -4
                set(-129, 1); //~ W0301 -129 does not fit
        }
    }
    apply { t.apply(); }
}

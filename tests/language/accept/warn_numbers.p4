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

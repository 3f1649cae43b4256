#include <core.p4>
struct pair_t { bit<4> x; int<4> y; }
struct deep_t { pair_t[2] pairs; bit<8> z; }
enum bit<8> kind_t { a = 1 }
header h_t { bit<8>[4] bytes; pair_t[2] pairs; bool[8] flags; kind_t[2] kinds; deep_t deep; bit<8>[2][3] square; bit<8> c_style[2]; bit<8>[0] none; }
header gen_t<T> { T[2] both; }
const bit<32> BYTES = (bit<32>) h_t.minSizeInBytes();
parser p(packet_in packet, out h_t h, out gen_t<bit<16>> g) {
    state start {
        packet.extract(h);
        packet.extract(g);
        transition select(h.bytes[0], h.flags[1], packet.lookahead<h_t>().bytes[2]) { (1, true, 2): accept; _: reject; }
    }
}
control c(inout h_t h, inout bit<8> i) {
    apply {
        h.bytes[i] = h.bytes[3] + h.square[i][1];
        h.pairs[i].x = 3;
        h.deep.pairs[i] = { 1, 2 };
        h.flags[i] = h.flags == { true, ... };
        h.bytes = { 1, 2, 3, i };
        h.c_style = { i, ... };
        for (bit<8> byte in h.bytes) { i = i + byte; }
        i = i + (bit<8>) BYTES + (h.bytes[1][3:0] ++ 4w0);
    }
}

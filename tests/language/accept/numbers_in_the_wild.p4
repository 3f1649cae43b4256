#include <core.p4>
const int W = 4;
const bit<8> V = 5;
const int FROM_BITS = 2w1;
const int FROM_SIGNED = 3s2;
const int MASK = 0xf0 & 0x3c | 1 ^ 2;
const int NOT = ~5;
const bit<8> CLEARED = 0xff & ~3;
const int BACK = (int) (int<32>) 5 + (int) V;
const tuple<int, int> PAIR = {1, 2};
const bit<8> ONE = PAIR[0];
const bit<8> UNDERSCORES = 8w0b_1010_1010;
const bit<48> MORE = 48w0x_6A_F3;
header h_t { bit<2 + 2> a; bit<W> b; bit<V - 1> c; bit<4> d; varbit<W * 8> e; varbit<0> f; int<W + W> g; }
header odd_t { bit<3> x; }
enum bit<8> E { A = 1, B = A + 1, C = A | B, D = E.B << 2 }
const bool CHECKED = static_assert(MASK == 0x33 && NOT == -6 && CLEARED == 0xfc && BACK == 10 && E.D == (E) 8);
struct s_t { odd_t o; h_t h; }
control c(inout bit<8> x, inout int<8> y, inout s_t s, inout bit<W> w) {
    apply {
        x = x << 2s1;
        y = y >> y;
        x = x >> y;
        w = 1;
        s.o.x = 1;
        s.o.setValid();
        x = x + E.C;
        x = x / 4 % 3;
    }
}

#include <core.p4>
const bit<8> W = 3;
const bit<8> two[2] = { 1, 2 };
const int numbers[3] = { 1, 1 << 20, -4 };
const int[2][2] square = { { 1, 2 }, { 3, 4 } };
const int sum = numbers[0] + numbers[2] + square[1][0];
typedef bit<8> four_t[4];
typedef bit<1 << 4> word_t;
struct s_t { bit<16 >> 1> a; bit<16 >> W> b; tuple<bit<8>> c; tuple<bit<1 << 2>> d; tuple<bit<64 >> 2>> e; varbit<1 << 5> f; int<2 << 1 << 1> g; }
extern reg_t<T> { reg_t(bit<32> n); T read(in bit<32> i); }
bit<8> first(in bit<8> all[4], in bit<8> grid[2][3]) { return all[0] + grid[1][2]; }
control c(inout bit<8> x, inout bit<16 >> 1> y)(int from, bit<8> limits[2]) {
    reg_t<bit<32>>(4) r;
    reg_t<bit<32 >> 1>>(4) q;
    four_t four;
    apply {
        x = x[from +: 4] ++ y[from +: 4];
        x[from +: 2] = 2w1;
        four = { x, 2, 3, two[x] };
        y = first(four, { { 1, 2, 3 }, { 4, 5, limits[1] } }) + (bit<8>) sum;
        x = (bit<8>) q.read(1) + (bit<8>) r.read(2);
    }
}

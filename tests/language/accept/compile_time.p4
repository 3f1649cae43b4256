#include <core.p4>
const int BITS = 4 * 8;
typedef bit<(BITS)> word_t;
const bool OK = static_assert(BITS == 32, "BITS must be 32");
const bool OK2 = static_assert(word_t.minSizeInBits() == 32);
header h_t { bit<(BITS / 2)> a; bit<(1 + (OK ? 7 : 0))> b; }
control inner(inout bit<8> x)(bit<8> n, bool up) {
    const bit<8> twice = n + n;
    apply { if (up) { x = x + twice; } else { x = x - n; } }
}
control c(inout bit<8> x, inout h_t[(2 + 1)] hs) {
    inner(1 + 2, BITS > 8) i;
    apply { i.apply(x); hs[h_t.minSizeInBytes() - 3].b = 1; static_assert(true); }
}

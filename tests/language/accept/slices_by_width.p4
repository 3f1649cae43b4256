#include <core.p4>
const int LOW = 4;
const bit<8> BITS = 0xabcd[LOW +: 8];
bool ok() { return static_assert(BITS == 0xbc); }
control c(inout bit<32> x, inout int<16> n, in bit<5> at) {
    apply {
        x[3 +: 8] = x[LOW + 1 +: 2 * LOW];
        x[at +: 8] = 5;
        x[at +: 4] |= n[at +: 4];
        n[at +: 3] = 1;
        if (ok()) { x = x; }
    }
}

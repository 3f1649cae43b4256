#include <core.p4>
// Headers with every kind of field, and what can be done with one.
enum bit<8> proto_t { tcp = 6, udp = 17 }
struct flags_t { bit<1> df; bit<1> mf; }
header h_t { bit<3> a; int<5> b; bool c; proto_t d; flags_t e; bit<6> pad; varbit<320> options; }
header plain_t { bit<8> x; bit<16> y; }
control c(inout plain_t p, inout plain_t q, in h_t h, out bit<8> r) {
    apply {
        r = 0;
        if (!p.isValid()) { p.setValid(); p.x = 1; p.y = 2; }
        if (p == q && h.e.df == 1) { q.setInvalid(); }
        p = q;
        p = { 1, 2 };
        if (p.minSizeInBits() == 24 && plain_t.maxSizeInBytes() == 3) { r = 1; }
        if (h.maxSizeInBits() > h.minSizeInBits()) { r = r + 1; }
    }
}

struct pair_t { bit<8> a; bit<16> b; }
struct nest_t { pair_t p; tuple<bit<8>, bool> t; error e; }
const list<bit<8>> NUMBERS = { 1, 2, 3 };
const list<pair_t> PAIRS = { { 1, 2 }, { 3, 4 } };
const pair_t P = { b = 2, a = 1 };
const bit<16> B = P.b;
header big_t { bit<8> x; }
struct large_t { big_t[300] hs; bit<8> y; }
const large_t LARGE = ...;
control c(inout nest_t n, out bit<8> r) {
    apply {
        pair_t p = { 1, 2 };
        p = { a = 3, b = 4 };
        p = { b = 5, ... };
        p = (pair_t) { 1, 2 };
        n = { p = p, ... };
        n.t = { 1, true };
        tuple<bit<8>, bool> t = n.t;
        tuple<> nothing = {};
        r = t[0];
        if (t[1] && p == { 1, 2 } && nothing == {} && n.p == p && { 1, 2 } == p) { r = 8w1 + (bit<8>)B; }
        pair_t q = ...;
        large_t large = ...;
        if (large == LARGE && LARGE.y == 0) { r = 1; }
        if (q == p) { r = 0; }
        for (bit<8> x in NUMBERS) { r = r + x; }
        for (pair_t x in PAIRS) { r = r + x.a; }
    }
}

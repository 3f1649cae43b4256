// A width may be any expression: only `>` needs parentheses in it.
const int A = 2;
const bool WIDE = true;
header h_t { bit<A < 3 ? 5 : 4> x; bit<A == 2 && WIDE ? 3 : 4> y; }
struct s_t { int<A <= 2 ? A * 4 : 8> i; varbit<!WIDE || A != 2 ? 8 : 16> v; }
tuple<bit<A < 3 ? 5 : 4>, bit<WIDE ? 8 : 16>> pair(in bit<(A > 1 ? 8 : 16)> x) { return { 1, x }; }
control c(inout bit<A < 3 ? A == 2 ? 8 : 4 : 2> x) {
    bit<A < 3 ? 5 : 4> y = 3;
    apply { x = (bit<WIDE ? 8 : 4>) y + pair(x)[1]; }
}

#include <core.p4>
struct s_t { bit<8> x; s_t inner; } //~ E0208 `s_t` uses itself
bit<8> f(in bit<8> x) { return f(x); } //~ E0208 `f` uses itself
control c(inout bit<8> x) {
    action a() { a(); } //~ E0208 `a` uses itself
    table t { actions = { a; } default_action = a(); }
    apply { c.apply(x); } //~ E0208 `c` uses itself
}
parser p(packet_in b) {
    p() inner; //~ E0208 `p` uses itself
    state start { transition accept; }
}
extern E { E(); abstract bit<8> m(in bit<8> x); }
E() e = { bit<8> m(in bit<8> x) { return this.m(x); } }; //~ E0208 `m` uses itself

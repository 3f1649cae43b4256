#include <core.p4>
struct s_t { bit<8> a; bit<8> a; } //~ E0202 `a` is declared twice
struct s_t { bit<8> b; } //~ E0202 `s_t` is declared twice
enum e_t { x, x } //~ E0202 `x` is declared twice
error { NoError } //~ E0213 `error` has a member `NoError`
match_kind { exact } //~ E0213 `match_kind` has a member `exact`
void f(in bit<8> a, in bit<8> a) {} //~ E0202 `a` is declared twice
extern void g(in bit<8> a);
extern void g(in bit<8> a); //~ E0243 another `g`
extern X { X(); X(); void m(in bit<8> a); void m(out bit<8> a); }
//~^ E0243 another `X`
//~^^ E0243 another `m`
control c(inout bit<8> v) {
    bit<8> x;
    bit<16> x; //~ E0202 `x` is declared twice
    action c2() {}
    action c2() {} //~ E0202 `c2` is declared twice
    apply {
        bit<8> y = 1;
        bit<8> y = 2; //~ E0202 `y` is declared twice
        { bit<8> y = 3; v = y; }
    }
}
const bit<8> c = 1; //~ E0202 `c` is declared twice
parser p(packet_in b) {
    state start { transition accept; }
    state start { transition accept; } //~ E0202 `start` is declared twice
}

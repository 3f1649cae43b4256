#include <core.p4>
header h_t { bit<8> x; }
header l_t { l_t inner; } //~ E0208 `l_t` uses itself
struct pair<A, B> { A first; B second; }
const pair<bit<8>> P = { 1, 2 }; //~ E0305 takes 2 type arguments, not 1
int f() { return 5; } //~ E0249 cannot return `int`
void g(inout int n) {} //~ E0244 the type `int`
package Wrong();
Wrong() w;
extern picker { picker(); abstract bit<8> pick(in bit<8> x, inout bit<16> y); }
picker() p1; //~ E0237 does not implement
picker() p2 = { bit<8> pick(in bit<8> x, in bit<16> y) { return x; } }; //~ E0239 differs
picker() p3 = { bit<8> pick(in bit<8> x) { return x; } }; //~ E0239 differs
picker() p4 = { void pick(in bit<8> x, inout bit<16> y) { } }; //~ E0239 differs
control deparse<H>(packet_out packet, in H hdr);
package Switch<H>(deparse<H> d);
control d(in h_t hdr, packet_out packet) { apply {} }
control e(in h_t hdr) { apply {} }
control inner(inout bit<8> x)(bit<8> n) {
    apply {
        bit<(n)> y; //~ E0505 must be a compile-time constant
    }
}
Switch(d()) main; //~ E0346 its parameter `hdr` differs
Switch(e()) other; //~ E0345 it has 1 parameter, not 2
control c(inout bit<8> x, in bit<8> y, inout h_t[2] hs)(bit<8> n) {
    action to(bit<8> port) { port = 1; } //~ E0431 `port` is
    action two(in bit<8> a, bit<8> b) {}
    table t {
        actions = { to(1); two(x, 2); two(x); } //~ E0404 in a list of actions `to`
        //~^ E0404 in a list of actions `two`
        //~^^ E0462 listed twice
        size = 4;
        size = 5; //~ E0461 a second property
    }
    table u {
        key = { x: exact; }
        actions = { NoAction; }
        entries = { 1 .. 2: NoAction(); _: NoAction(); } //~ E0469 a range
        //~^ E0469 `_`
        default_action = to(1); //~ E0463 not among
    }
    const bit<8> K = 1;
    apply {
        if (x == 1) bit<8> z = 1; //~ E0230 cannot be declared in a branch
        for (int i in 1 .. 8) {} //~ E0343 not defined on `int`
        for (bit<8> i in 1 &&& 3) {} //~ E0439 found a set
        n = 1; //~ E0431 is a constructor parameter
        y = 1; //~ E0431 is an `in` parameter
        K = 2; //~ E0430 the constant `K`
        hs.push_front(1, 2); //~ E0404 takes 1 argument, not 2
        hs.push_front(5000000000); //~ E0416 cannot move
        match_kind m; //~ E0332 the type `match_kind`
        void v; //~ E0332 the type `void`
        return x; //~ E0437 a value is returned
    }
}

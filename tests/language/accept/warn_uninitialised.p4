#include <core.p4>
header h_t { bit<8> x; }
struct s_t { bit<8> a; bit<8> b; }
bit<8> f(out bit<8> y, in bool b) { //~ W0403 the `out` parameter `y` may be unset when `f` ends
    bit<8> z;
    if (b) { y = 1; z = 2; }
    return z; //~ W0401 `z` may be read before it is written
}
void g(inout bit<8> y) { y = y + 1; }
control c(inout h_t h, inout bit<8> r, in bool b, out s_t whole) { //~ W0403 `whole`
    h_t mine;
    bit<8> set_by_action;
    s_t s;
    action set() { set_by_action = 1; }
    table t { actions = { set; } default_action = set(); }
    apply {
        r = mine.x; //~ W0402 the header `mine` is invalid here
        h.setInvalid();
        r = h.x; //~ W0402 the header `h` is invalid here
        h.setValid();
        r = h.x;
        if (!h.isValid()) { r = h.x; } //~ W0402 invalid here
        t.apply();
        r = set_by_action;
        s.a = 1;
        r = s.a + s.b; //~ W0401 `s.b`
        bit<8> later;
        switch (r) { 1: { later = 1; } default: { later = 2; } }
        g(later);
        bit<8> never;
        g(never); //~ W0401 `never`
        bit<8> loop;
        for (bit<8> i in 1 .. 3) { loop = i; }
        r = loop; //~ W0401 `loop`
        h_t copy = mine;
        copy = { 1 };
        r = copy.x;
        if (mine.isValid() && mine.x == 1) { r = 1; }
        bit<8> w;
        if (b) { w = 1; } else { exit; }
        r = w;
    }
}
parser p(packet_in packet, out h_t h, out bit<8> r) {
    bit<8> v;
    state start {
        r = h.x; //~ W0402 the header `h` is invalid here
        transition select(r) { 0: a; 1: b; default: z; }
    }
    state a { v = 1; packet.extract(h); r = h.x; transition both; }
    state b { transition both; }
    state both { r = v; transition accept; } //~ W0401 `v`
    state z { transition z2; }
    state z2 { packet.extract(h); transition select(h.x) { 0: z2; _: accept; } }
}
extern bool lookup(in bit<8> key, out bit<8> value);
control conditions(inout bit<8> r, in bool b) {
    apply {
        bit<8> v1;
        if (b && lookup(r, v1)) { r = v1; }
        bit<8> v2;
        if (b && lookup(r, v2)) { } else { r = v2; } //~ W0401 `v2`
        bit<8> v3;
        if (b || lookup(r, v3)) { r = v3; } else { v3 = 1; } //~ W0401 `v3`
        bit<8> v4;
        if (!(b || lookup(r, v4))) { r = v4; }
        bit<8> v5;
        if (!b && !lookup(r, v5)) { r = v5; }
        bit<8> v6;
        if (b ? lookup(r, v6) : false) { r = v6; }
        bit<8> v7;
        if (b ? lookup(r, v7) : lookup(r + 1, v7)) { } else { r = v7; }
        bit<8> v8;
        r = lookup(r, v8) && v8 == 1 ? v8 : 1;
        bit<8> v9;
        if (r == 1 && lookup(r, v9) && v9 == 2 || r == 3) { r = v9; } //~ W0401 `v9`
        bit<8> v10;
        for (bit<8> i = 0; lookup(i, v10) && v10 != 3; i = i + 1) { r = v10; }
        r = v10;
        bit<8> v11;
        for (bit<8> i = 0; true; i = i + 1) { if (lookup(i, v11)) { break; } }
        r = v11;
        bit<8> v12;
        for (bit<8> i = 0; true; i = i + 1) { if (b) { break; } v12 = 1; }
        r = v12; //~ W0401 `v12`
    }
}
control through_tables(inout h_t h, inout bit<8> r, in bool b) {
    h_t mine;
    h_t other;
    action inner() { r = mine.x; } //~ W0402 the header `mine` is invalid here
    action reads() { inner(); r = h.x; } //~ W0402 the header `h` is invalid here
    action direct() { r = other.x; } //~ W0402 the header `other` is invalid here
    action makes() { other.setValid(); }
    action either() { r = other.x; }
    action guarded() { if (h.isValid()) { r = h.x; } }
    table t { actions = { reads; guarded; } default_action = reads(); }
    table u { actions = { makes; } default_action = makes(); }
    table v { actions = { either; } default_action = either(); }
    apply {
        direct();
        if (b) { v.apply(); }
        u.apply();
        v.apply();
        h.setInvalid();
        if (t.apply().hit) { h.setValid(); r = h.x; }
    }
}
extern void fill(out bit<8> x, inout bit<8> y);
header parts_t { s_t s; bit<8>[2] a; bit<8> z; }
control writes(inout h_t h, inout parts_t p, inout bit<8> r) {
    h_t mine;
    action late() { mine.x = r; mine.setValid(); } //~ W0402 the header `mine` is invalid here
    apply {
        late();
        mine.x = 2;
        h.setInvalid();
        h.x[3:0] = 1; //~ W0402 the header `h` is invalid here
        h.x = 2;
        h.setInvalid();
        fill(h.x, r); //~ W0402 the header `h` is invalid here
        h.setInvalid();
        h.x += 1; //~ W0402 the header `h` is invalid here
        if (!p.isValid()) { p.s.b = 1; } //~ W0402 the header `p` is invalid here
        if (!p.isValid()) { p.a[r] = 1; } //~ W0402 the header `p` is invalid here
        if (!p.isValid()) { p = { { 1, 2 }, { 3, 4 }, 5 }; p.z = 1; }
        if (!p.isValid()) { p.setValid(); p.z = 1; }
    }
}
@noWarn("uninitialized_use") @noWarn("W0403")
bit<8> quiet(@noWarn("unused") out bit<8> y) {
    bit<8> x;
    return x;
}

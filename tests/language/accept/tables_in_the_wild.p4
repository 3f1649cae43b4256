#include <core.p4>
struct inner_t { bit<8> a; }
struct outer_t { inner_t i; @match(exact) bit<8> b; }
header h_t { bit<8> x; bit<8> y; bit<8> m; }
parser p(packet_in packet, out h_t h) {
    value_set<outer_t>(4) nested;
    state start {
        packet.extract(h);
        h_t ahead = packet.lookahead<h_t>();
        transition select({h.x}, h.y) {
            nested: accept;
            ({ahead.x}, ahead.y): more;
            default: accept;
        }
    }
    state more {
        transition select(h.x, packet.lookahead<h_t>().y) {
            (h.y, _): accept;
            (h.y &&& h.m, 1): accept;
            (_, h.y .. h.m): accept;
        }
    }
}
bit<32> next(inout bit<32> n) { n = n + 1; return n; }
control c(inout bit<8> x, inout h_t[2] hs, inout bit<32> n) {
    action a(bit<8> v = 5) { x = v; }
    action b() {}
    table inner { key = { x: exact; } actions = { a; b; } default_action = a(); const entries = { {1}: a(2); (2): a(); } }
    table outer {
        key = {
            inner.apply().hit: exact @name("hit");
            x + 1: ternary; //~ W0409 no name for the control plane
            (x == 1): exact; //~ W0409 no name for the control plane
            x & 3: exact @hidden;
        }
        actions = { a; b; }
        entries = { priority = 10: (true, _, true, 1): b(); (true, 2, true, 1): b(); }
    }
    table taken {
        key = {
            x + 1: exact; //~ W0409 no name for the control plane
            x: exact @name("key0");
        }
        actions = { b; }
    }
    table nothing { key = {} actions = { b; } const entries = {} }
    @name("first") @name("second") //~ W0204 a second `@name`
    table named { actions = { b; } }
    apply {
        outer.apply();
        nothing.apply();
        taken.apply();
        named.apply();
        a();
        hs[next(n)].x += 1;
        hs[next(n)].y |= 3;
    }
}

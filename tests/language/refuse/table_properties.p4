#include <core.p4>
match_kind { range }
struct key_t {
    @match bit<8> a; //~ E0478 this `@match` names no match kind
    @match(foo) bit<8> b; //~ E0478 `foo` is no match kind
    @match(exact) bit<8> c;
}
parser p(packet_in packet, out bit<8> z) {
    value_set<key_t>(4) v;
    state start { z = 1; transition select(z, z, z) { v: accept; } }
}
control c(inout bit<8> x, inout bit<8> y) {
    action a() {}
    table t1 {
        key = { x: ternary; }
        actions = { a; }
        largest_priority_wins = 3; //~ E0475 the property `largest_priority_wins` is `true` or `false`
        priority_delta = true; //~ E0475 the property `priority_delta` is a number
        support_timeout = 3; //~ E0475 the property `support_timeout`
        entries = { 2: a(); priority = 10: 1: a(); } //~ E0477 the first entry has no priority
    }
    table t2 {
        key = { x: exact; y: lpm; }
        actions = { a; }
        entries = { priority = 10: (1, 1): a(); } //~ E0476 the entries of `t2` have no priorities
    }
    table t3 {
        key = { x: ternary; y: exact; }
        actions = { a; }
        const entries = { (1, 2): a(); priority = 3: (2, 3): a(); } //~ E0480 the entries of `t3` are constant
    }
    apply { t1.apply(); t2.apply(); t3.apply(); }
}

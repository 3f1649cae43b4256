// A number without a width becomes a value of a `type` as it becomes one of the bits behind it.
#include <core.p4>
match_kind { range }
type bit<12> vlan_t;
type vlan_t inner_t;
typedef inner_t also_t;
type int<8> level_t;
const vlan_t DEFAULT = 1;
const also_t INNER = 2;
const int NUMBER = 3;
const level_t LOW = -4;
const list<vlan_t> ALL = { 1, 2, NUMBER };
enum vlan_kind { none }
struct s_t { vlan_t v; bit<8> x; inner_t i; }
header h_t { vlan_t v; bit<4> rest; }
vlan_t pick(in vlan_t a, in inner_t b = 6) { return (bit<12>) a == 4 && b == 5 ? DEFAULT : 4; }
extern void put(in vlan_t a);
extern void put(in bool a);
extern cell_t<T> { cell_t(T first); void set(in T x); }
control made(inout vlan_t v)(vlan_t first, inner_t second) { apply { if (v == first) { v = (vlan_t) second; } } }
parser p(packet_in b, out h_t h) {
    state start {
        b.extract(h);
        transition select(h.v) { 5: more; 6 &&& 7: more; 8 .. 9: more; DEFAULT: accept; default: reject; }
    }
    state more { h.v = 7; transition accept; }
}
control c(inout vlan_t v, inout inner_t i, inout level_t l, out bit<8> o) {
    made(3, 4) inside;
    cell_t<vlan_t>(5) cell;
    action set(vlan_t n, level_t k) { v = n; l = k; }
    table t {
        key = { v: exact; i: ternary; l: range; }
        actions = { set; NoAction; }
        default_action = set(9, -1);
        const entries = { (1, 2 &&& 3, -1 .. 4): set(2, LOW); (NUMBER, _, 1): set(k = 5, n = NUMBER); }
    }
    apply {
        s_t s = { 3, 0, 4 };
        s = { v = 1, x = 2, i = 3 };
        s.i = 5;
        v = pick(5);
        v = pick(a = 5, b = 6);
        put(7);
        cell.set(8);
        i = v == 3 ? 4 : i;
        if (4 == v || 1 != l) { v = DEFAULT; }
        switch (v) { 1: { v = 2; } NUMBER: { v = 4; } default: { v = (vlan_t) 5; } }
        for (vlan_t e in { 1, 2 }) { v = e; }
        for (vlan_t e in ALL) { v = e; }
        tuple<vlan_t, bit<8>> pair = { 1, 2 };
        v = pair[0];
        inside.apply(v);
        o = s.x;
        t.apply();
        v = 5000; //~ W0301 5000 does not fit in `vlan_t`
        v = -1; //~ W0302 the negative number -1
    }
}

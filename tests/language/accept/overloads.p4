#include <core.p4>
extern log_t { log_t(); void say(in bit<8> x); void say(in bool x); void say(in bit<8> x, in bool y); }
extern void note(in bit<8> x);
extern void note(in bit<16> x);
bit<8> size(in bit<8> x) { return x; }
bit<8> size(in bit<16> x) { return x[7:0]; }
bit<8> size(in bool x) { return x ? 8w1 : 0; }
struct pair_t { bit<8> a; bit<8> b; }
struct wide_t { bit<8> a; bit<16> w; }
extern void put(in bit<8> x);
extern void put(in pair_t x);
extern void put(in tuple<bit<8>, bool> x);
extern void put(in wide_t x);
extern void put(in bit<8>[3] x);
extern void put(in wide_t x, in bit<8> y);
control none()(bit<8> n = 3) { log_t() l; apply { l.say(n); } }
control none()(bit<8> n, log_t l) { apply { l.say(n, true); } }
control none(inout bit<8> a)(bit<8> n) { apply { a = n; } }
control apart(inout bit<8> a) { apply { a = 1; } }
control apart(inout bit<16> a) { apply { a = 2; } }
control apart(inout bit<8> a, inout bit<16> b) { apply { a = 3; b = 4; } }
parser states(in bit<8> a) { state start { transition accept; } }
parser states(in bit<8> a, in bit<8> b) { state start { transition accept; } }
parser around(in bit<8> a) {
    states() one;
    states() two;
    state start { one.apply(a); two.apply(a, a); states.apply(b = a, a = 1); transition accept; }
}
control block();
package top(block a = none(), bit<8> n = 4);
package top(block a, block b, bit<8> n);
control c(inout bit<8> x, inout bit<16> y) {
    log_t() l;
    apart() first;
    apart() second;
    apply {
        first.apply(y);
        second.apply(x, y);
        second.apply(x, y);
        apart.apply(x);
        apart.apply(b = y, a = x);
        note(x);
        note(y);
        put({ x, x });
        put({ x, true });
        put({ x, y });
        put({ x, 1, 2 });
        put({ a = x, w = 5 });
        put({ b = x, a = 5 });
        put({ b = 7, ... });
        put({ x, ... }, x);
        l.say(x);
        l.say(true);
        x = size(x) + size(y) + size(true);
        // Found in time that does not double with each call around a call.
        x = size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(y))))))))))))))))))))))))))))))))))))))));
    }
}
control eight(inout bit<8> a);
control sixteen<T>(inout T a);
package mixed(eight e, sixteen<bit<16>> s);
mixed(apart(), apart()) by_type;
top() by_default;
top(none(5, log_t()), none(), 6) in_full;
top(n = 7) by_name;

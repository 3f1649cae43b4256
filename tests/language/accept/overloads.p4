#include <core.p4>
extern log_t { log_t(); void say(in bit<8> x); void say(in bool x); void say(in bit<8> x, in bool y); }
extern void note(in bit<8> x);
extern void note(in bit<16> x);
bit<8> size(in bit<8> x) { return x; }
bit<8> size(in bit<16> x) { return x[7:0]; }
bit<8> size(in bool x) { return x ? 8w1 : 0; }
control none()(bit<8> n = 3) { log_t() l; apply { l.say(n); } }
control none()(bit<8> n, log_t l) { apply { l.say(n, true); } }
control block();
package top(block a = none(), bit<8> n = 4);
package top(block a, block b, bit<8> n);
control c(inout bit<8> x, inout bit<16> y) {
    log_t() l;
    apply {
        note(x);
        note(y);
        l.say(x);
        l.say(true);
        x = size(x) + size(y) + size(true);
        // Found in time that does not double with each call around a call.
        x = size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(size(y))))))))))))))))))))))))))))))))))))))));
    }
}
top() by_default;
top(none(5, log_t()), none(), 6) in_full;
top(n = 7) by_name;

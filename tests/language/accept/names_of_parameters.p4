// Declarations of one name that differ in the names of their parameters, or in the types of their constructors'.
#include <core.p4>
bit<8> f(in bit<8> a) { return a; }
bit<8> f(in bit<8> b) { return b + 1; }
extern void g(in bit<8> a, in bit<8> b);
extern void g(in bit<8> c, in bit<8> d);
extern cell_t { cell_t(bit<8> a); cell_t(bit<8> b); cell_t(bool a); void m(in bit<8> a); void m(in bit<8> b); }
control sized(inout bit<8> x)(bit<8> a) { apply { x = a; } }
control sized(inout bit<8> x)(bit<8> b) { apply { x = b; } }
control sized(inout bit<8> x)(bit<16> b) { apply { x = (bit<8>) b; } }
control named(inout bit<8> x) { apply { x = 1; } }
control named(inout bit<8> y) { apply { y = 2; } }
parser prs(packet_in p, out bit<8> x) { state start { x = 1; transition accept; } }
parser prs(packet_in p, out bit<8> y) { state start { y = 2; transition accept; } }
control c(inout bit<8> x) {
    sized(a = 3) by_a;
    sized(b = 8w3) by_b;
    sized(b = 16w3) by_type;
    named() x_named;
    named() y_named;
    cell_t(a = 8w3) cell;
    cell_t(b = 3) other;
    apply {
        x = f(a = x) + f(b = x);
        g(a = x, b = x);
        g(d = x, c = x);
        by_a.apply(x);
        by_b.apply(x);
        by_type.apply(x);
        x_named.apply(x = x);
        y_named.apply(y = x);
        named.apply(y = x);
        cell.m(a = x);
        other.m(b = x);
    }
}
control block(inout bit<8> x);
package whole(block b, bit<8> first);
package whole(block b, bit<8> second);
whole(b = c(), second = 3) main;

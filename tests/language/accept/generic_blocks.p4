#include <core.p4>
header h_t { bit<8> x; }
control swap<T>(inout T a, inout T b) { apply { T t = a; a = b; b = t; } }
parser one<H>(packet_in packet, out H h) { state start { packet.extract(h); transition accept; } }
parser two(packet_in packet, out h_t a, out h_t b) {
    one<h_t>() given;
    one() inferred;
    state start {
        given.apply(packet, a);
        inferred.apply(packet, b);
        one<h_t>.apply(packet, b);
        transition accept;
    }
}
control c(inout bit<8> x, inout bit<8> y, inout bool b, inout bool d) {
    swap<bit<8>>() bits;
    swap() bools;
    apply { bits.apply(x, y); bools.apply(b, d); swap.apply(x, y); }
}
control pair_t<T>(inout T a, inout T b);
package generic<T>(pair_t<T> p);
generic<bit<8>>(swap<bit<8>>()) one_way;
generic<bit<8>>(swap()) other_way;
// Control types may end with parameters that a control can do without.
control longer(inout bit<8> x, @optional in bit<8> y, @optional in bit<4> z);
package short(longer c);
control increment(inout bit<8> x) { apply { x = x + 1; } }
short(increment()) shortest;

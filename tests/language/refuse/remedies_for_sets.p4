#include <core.p4>
struct wide_t { bit<8>[1024] bytes; bit<8> more; }
typedef tuple<bit<8>, bit<8>> t2;
typedef tuple<t2, t2> t4;
typedef tuple<t4, t4> t8;
typedef tuple<t8, t8> t16;
typedef tuple<t16, t16, t16, t16> t64;
typedef tuple<t64, t64, t64, t64> t256;
typedef tuple<t256, t256, t256, t256> t1024;
typedef tuple<t1024, t1024> t2048; //~ E0324 this type is too large
parser p(packet_in packet, inout bit<8> x, in wide_t w) {
    value_set<bit<8>>(4) ports;
    state start {
        x = ports; //~ E0205 `ports` is a value set
        transition select(w) { //~ E0324 a key of `select` is too large
            default: accept;
        }
    }
}

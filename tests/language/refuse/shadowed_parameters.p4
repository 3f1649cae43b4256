#include <core.p4>
bit<8> f(in bit<8> x) {
    bit<8> x = 3; //~ E0256 `x` is a parameter of the same name
    return x;
}
control c(inout bit<8> x)(bit<8> n) {
    bit<8> n = 1; //~ E0256 `n` is a parameter
    action x() {} //~ E0256 `x` is a parameter
    action a(bit<8> y) {
        bit<8> y = 1; //~ E0256 `y` is a parameter
        { bit<8> z = y; }
    }
    apply { bit<8> y = n; a(y); }
}
parser p(packet_in b, out bit<8> z) {
    bit<8> z; //~ E0256 `z` is a parameter
    state start { z = 1; transition accept; }
}

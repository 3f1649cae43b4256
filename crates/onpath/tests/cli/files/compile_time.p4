#include <core.p4>

const bit<8> ZERO = 0;
const bit<8> NONE = 1 / ZERO;
const int<4> SMALL = 4s9 << 2;
const bit<8> LARGE = 300;
extern E<T> { E(T size); }
control c(in bit<8> size) {
    E<bit<8>>(size) e;
    apply { }
}

#include <core.p4>
const int A = 1 / 0; //~ E0501 division by zero
const int B = 5 % 0; //~ E0501 division by zero
const int C = -5 / 2; //~ E0502 on a negative number
const int C2 = 5 % (0 - 2); //~ E0502 on a negative number
const int D = 1 << -1; //~ E0503 a shift by a negative number
const int E = 1 << 1000000; //~ E0504 too large
const bool F = static_assert(1 == 2, "one is not two"); //~ E0506 static assertion failed: one is not two
const bool G = static_assert(false); //~ E0506 static assertion failed
extern bit<8> now();
const bit<8> H = now(); //~ E0505 the value of a constant
enum bit<8> e_t { a = now() } //~ E0505 the value of an enum's member
control c(inout bit<8> x, in bit<8> y)(bit<8> ctor) {
    const bit<8> K = x; //~ E0505 the value of a constant
    bit<(ctor)> late; //~ E0505 must be a compile-time constant
    apply {
        x = x / 0; //~ E0501 division by zero
        x = x >> -1; //~ E0503 negative
        static_assert(x == 1); //~ E0505 must be a compile-time constant
        x = (bit<8>) (1 << y); //~ E0505 the shift amount of an `int`
    }
}
@note[now()] //~ E0505 a value in an annotation
const bit<8> Z = 1;

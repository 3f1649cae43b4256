#include <core.p4>
extern NoCtor { void f(); }
extern One { One(bit<8> n); }
parser ptype(packet_in b);
control ctype();
control body()(bit<8> n) { apply {} }
struct s_t { bit<8> x; }
package pk(ctype c);
extern Holder { Holder(One o); }
extern One make(in bit<8> n);
control holds(inout bit<8> x)(One o) { apply {} }
control c(in bit<8> run_time, One given, bit<8> given_too) {
    Holder(given) hh; //~ E0505 an argument of a constructor
    One(given_too) oo; //~ E0505 must be a compile-time constant
    holds(make(run_time)) made; //~ E0505 an argument of `make`, which makes an object,
    holds(make(3)) made_of_three;
    NoCtor() a; //~ E0233 the extern `NoCtor` declares no constructor
    ctype() b; //~ E0234 `ctype` is a type of controls
    s_t() d; //~ E0232 `s_t` is a type and cannot be instantiated
    One() e; //~ E0403 missing argument for the parameter `n` of `One`
    One(1, 2) f; //~ E0404 `One` takes 1 argument, not 2
    One(run_time) g; //~ E0505 must be a compile-time constant
    body(true) h; //~ E0301
    packet_in() i; //~ E0233
    apply {
        One(1); //~ E0415 instantiated inside
        s_t.apply(); //~ E0414 `s_t` is a type and cannot be applied
    }
}
parser q(packet_in b) {
    ptype() x; //~ E0234 `ptype` is a type of parsers
    state start { transition accept; }
}
One(1) main; //~ E0236 `main` is an instance of `One`

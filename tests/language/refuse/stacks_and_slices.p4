#include <core.p4>
header h_t { bit<8> x; }
control c(inout h_t[4] s, inout bit<8> x, inout bool b) {
    apply {
        s[4].x = 1; //~ E0318 index 4 is out of range
        s[-1].x = 1; //~ E0318 index -1
        s[true].x = 1; //~ E0302 expected an index
        s.next.x = 1; //~ E0325 `.next` is not defined
        x = s.last.x; //~ E0325 `.last` is not defined
        s.pop_front(x); //~ E0505 must be a compile-time constant
        s.push_front(-1); //~ E0416 cannot move a stack by -1
        s.push_front(); //~ E0403 missing argument
        x = s.width; //~ E0207 the header stack `h_t[4]` has no property `width`
        x = x[0:7] ++ 1w1; //~ E0320 the slice [0:7] is empty
        x = x[8:1]; //~ E0321 bit 8 is outside
        x = b[0:0] ++ 7w1; //~ E0319 `bool` cannot be sliced
        x = x[x:0]; //~ E0505 must be a compile-time constant
        x[3:-1] = 1; //~ E0320 the slice [3:-1]
    }
}

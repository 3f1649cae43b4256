#include <core.p4>
struct s_t { bit<8> field; }
enum color { red }
bit<8> helper(in bit<8> x) { return x; }
const bit<8> EARLY = LATE; //~ E0203 `LATE` is used before
const bit<8> LATE = 1;
bit<8> g(in LATE x) { return 1; } //~ E0206 `LATE` is a constant, not a type
control c(inout s_t s, inout bit<8> value) {
    action a() {}
    table t { actions = { a; } }
    apply {
        valeu = 1; //~ E0201 unknown name `valeu`
        s.feild = 1; //~ E0207 `s_t` has no field `feild`
        value = color.rad; //~ E0207 no member `rad`
        value = error.Nothing; //~ E0207 `error` has no member `Nothing`
        value = s_t; //~ E0204 `s_t` is a type
        value = t; //~ E0205 `t` is a table
        value = helpr(1); //~ E0201 unknown function `helpr`
        t.aply(); //~ E0207 a table has no method `aply`
        s.f(); //~ E0207 no method `f`
        value = this; //~ E0214 `this` outside
        strange y; //~ E0201 unknown type `strange`
        if (t.apply().hits) {} //~ E0207 has no member `hits`
        error e = MISSING; //~ E0201 unknown name `MISSING`
    }
}

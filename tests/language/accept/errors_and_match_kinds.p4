#include <core.p4>
error { MyOwn, Another }
match_kind { fuzzy }
const error E = error.MyOwn;
const match_kind K = exact;
control c(in bit<8> x, in error e, out bool r) {
    action a() {}
    table t {
        key = { x: fuzzy; e: exact; }
        actions = { a; }
    }
    apply {
        r = e == error.NoError || e == E || e != error.Another;
        t.apply();
    }
}

// The empty range is refused when the table is made, which says what is wrong with it: there is no warning besides.
#include <core.p4>
match_kind { range }
control c(in bit<16> port) {
    table t {
        key = { port: range; }
        actions = { NoAction; }
        const entries = { 1 .. 3: NoAction(); 5 .. 4: NoAction(); }
    }
    apply { t.apply(); }
}

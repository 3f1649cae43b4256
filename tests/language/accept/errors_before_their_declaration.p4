// The members of `error` are one set: they are known wherever they are declared.
#include <core.p4>
const error EARLY = error.Late;
parser p(packet_in b, out error e) {
    state start {
        verify(b.length() > 4, error.Later);
        e = error.Late;
        transition select(e == error.Latest) { true: reject; default: accept; }
    }
}
error { Late }
control c(inout error e, inout bit<8> x) {
    table t {
        key = { e: exact; }
        actions = { NoAction; }
        const entries = { error.Later: NoAction(); error.Latest: NoAction(); }
    }
    apply {
        if (e == EARLY || e == error.Latest) { x = 1; }
        switch (e) { error.Later: { x = 2; } default: { x = 3; } }
        t.apply();
    }
}
error { Later, Latest }

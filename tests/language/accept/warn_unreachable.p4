#include <core.p4>
parser p(packet_in packet, out bit<8> r) {
    state start {
        r = 0;
        transition select(packet.lookahead<bit<8>>()) {
            1: more;
            _: accept;
            2: accept; //~ W0405 never reached
        }
    }
    state more { transition accept; }
    state island { transition start; } //~ W0404 no transition leads to the state `island`
}
bit<8> f(in bool b) {
    if (b) { return 1; } else { return 2; }
    return 3; //~ W0406 never reached
}
control c(inout bit<8> x) {
    action a() {}
    table t {
        key = { x: exact; }
        actions = { a; }
        const entries = {
            1: a;
            2: a;
            0x1: a; //~ W0407 same key
        }
    }
    apply {
        t.apply();
        exit;
        x = 1; //~ W0406 never reached
    }
}

// A control's own `NoAction`, elements of tuples that are written, and strings of annotations that nobody reads.
#include <core.p4>
@pattern("\d+\.\d+") const bit<8> VERSION = 4;
control own(inout bit<8> x) {
    action NoAction() { x = 0; }
    table t {
        key = { x: exact; }
        actions = { NoAction; }
        default_action = NoAction();
    }
    apply { t.apply(); }
}
control with_data(inout bit<8> x, inout tuple<bit<8>, bit<16>> pair) {
    action NoAction(bit<8> by) { x = x + by; }
    table t {
        key = { x: exact; }
        actions = { NoAction; }
        default_action = NoAction(VERSION);
    }
    apply {
        t.apply();
        pair[0] = x;
        pair[1][7:0] = pair[0];
    }
}

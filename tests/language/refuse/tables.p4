#include <core.p4>
match_kind { range, optional }
header h_t { bit<8> x; bit<32> ip; bool b; }
struct s_t { bit<8> a; }
control c(inout h_t h, in s_t s, in bit<8> run_time) {
    action a(bit<8> v) {}
    action b() {}
    action d(inout bit<8> y, bit<8> v) {}
    action other() {}
    bit<8> var = 1;
    table t1 { key = { h.x: exact; } } //~ E0460 has no `actions`
    table t2 {
        key = { h.x: exakt; } //~ E0212 unknown match kind `exakt`
        actions = { b; }
        actions = { b; } //~ E0461 a second property `actions`
    }
    table t3 {
        key = {
            h: exact; //~ E0341 a table's key cannot match on `h_t`
            5: exact; //~ E0441 without a width
            h.x + 1: exact; //~ W0409 no name for the control plane
            h.b: lpm; //~ E0471 `lpm` cannot match on `bool`
            s: exact; //~ E0341 match on `s_t`
        }
        actions = { b; b; var; missing; d; a(1); }
        //~^ E0462 the action `b` is listed twice
        //~^^ E0215 `var` is a variable, not an action
        //~^^^ E0201 unknown action `missing`
        //~^^^^ E0403 missing argument for the parameter `y`
        //~^^^^^ E0404 in a list of actions `a` gets no values
    }
    table t4 {
        actions = { a; @tableonly b; d(h.x); }
        default_action = other; //~ E0463 `other` is not among the actions of `t4`
        size = -1; //~ E0250 the size of a table is -1
        entries = { 1: b; } //~ E0467 entries in a table without a key
    }
    table t5 { actions = { a; @tableonly b; } default_action = b; } //~ E0465 `b` is allowed in entries only
    table t6 { actions = { a; } default_action = a; } //~ E0403 parameter `v`
    table t7 { actions = { a; } default_action = a(run_time); } //~ E0505 must be a compile-time constant
    table t8 { actions = { a; } default_action = 5; } //~ E0464 is an action with its arguments
    table t9 { actions = { b; } size = run_time; } //~ E0505 the size of a table
    table t10 { actions = { b; } size = true; } //~ E0302 expected a number
    table t11 { actions = { b; } custom = run_time; } //~ E0505 a table's property
    table e1 {
        key = { h.x: exact; h.ip: lpm; }
        actions = { a; @defaultonly b; }
        const entries = {
            (1): a(1); //~ E0468 `e1` has 2 key fields, this entry 1
            (1, 2): b; //~ E0466 `b` is allowed as default action only
            (1 &&& 2, 2): a(1); //~ E0469 a mask does not fit the match kind `exact`
            (_, 2): a(1); //~ E0469 `_` does not fit the match kind `exact`
            (1, 1 .. 2): a(1); //~ E0469 a range does not fit the match kind `lpm`
            (1, 5 &&& 0xFF): a(1); //~ E0470 is not a prefix
            (1, true): a(1); //~ E0301
            (run_time, 1): a(1); //~ E0505
            (1, 1): a(); //~ E0403
            (1, 1): other; //~ E0463
        }
    }
    table e2 {
        key = { h.x: ternary; h.ip: range; h.b: optional; }
        actions = { b; }
        entries = {
            (1 .. 2, 1, true): b; //~ E0477 the first entry has no priority
            //~^ E0469 a range does not fit the match kind `ternary`
            (1, 1 &&& 2, true): b; //~ E0469 a mask does not fit the match kind `range`
            priority = true: (1, 1, true): b; //~ E0302 expected a number
            priority = (bit<32>) run_time: (1, 1, true): b; //~ E0505 a priority
            (1, 1, true &&& true): b; //~ E0343
        }
    }
    action directed(in bit<8> from, bit<8> to) { h.x = from + to; }
    table d1 {
        actions = { directed(h.x); }
        default_action = directed(run_time, 1); //~ E0473 a different argument here
    }
    table d2 { actions = { directed(h.x + 1); } default_action = directed(h.x+1, 1); }
    @atomic table one_at_a_time { actions = { b; } } //~ E0474 a table cannot be `@atomic`
    apply {}
}

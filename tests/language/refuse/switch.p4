struct s_t { bit<8> x; }
control c(inout bit<8> v, in s_t s, in bit<8> run_time) {
    action a() {}
    action b() {}
    table t { actions = { a; } default_action = a(); }
    apply {
        switch (t.apply().action_run) {
            a: {}
            b: {} //~ E0207 the table `t` has no action `b`
            5: {} //~ E0442 the labels here are actions
            a: {} //~ E0443 duplicate label
            default: {}
            default: {} //~ E0443 duplicate label
        }
        switch (v) {
            1: {}
            1: {} //~ E0443 duplicate label
            run_time: {} //~ E0505 a `switch` label
            true: {} //~ E0301 found `bool`
            default: {}
            2: {} //~ E0444 after `default`
        }
        switch (s) { default: {} } //~ E0342 cannot choose by `s_t`
        switch (5) { default: {} } //~ E0342 cannot choose by `int`
    }
}

header h_t { bit<8> x; }
control c(inout bit<8> v, inout h_t h, in bit<8> ro, inout h_t[2] hs) {
    apply {
        for (bit<8> i in 1 &&& 2) {} //~ E0439 expected one value, found a set
        for (bit<8> i in v) {} //~ E0445 cannot iterate over `bit<8>`
        for (bool b in false .. true) {} //~ E0343 not defined on `bool`
        for (bit<16> x in hs) {} //~ E0301 expected `bit<16>`, found `h_t`
        for (; v; v = v + 1) {} //~ E0301 expected `bool`
        for (int i in 1 .. 2) {} //~ E0343 on `int`
        for (bit<8> i in 1 .. 2) { action_like(); } //~ E0201
        for (bit<8> i in 1 .. 16w2) {} //~ E0301
    }
}

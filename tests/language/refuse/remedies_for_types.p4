#include <core.p4>
header h_t { bit<8> x; }
struct s_t { h_t h; }
enum color { red, green }
enum bit<8> ser { a = 1 }
type bit<9> port_t;
extern E { E(); void run(); }
control c(inout bit<8> a, inout bit<16> b, inout int<8> s, inout bit<1> one, inout bool t, inout s_t hdr, inout color k, inout port_t p, inout ser e, E obj) {
    action none() {}
    table table1 { actions = { none; } }
    apply {
        if (a) {} //~ E0301 expected `bool`
        if (hdr.h) {} //~ E0301 expected `bool`
        if (table1.apply()) {} //~ E0301 the result of
        if (k) {} //~ E0301 expected `bool`
        a = t; //~ E0301 found `bool`
        s = t; //~ E0301 found `bool`
        s = b; //~ E0301 found `bit<16>`
        a = b + 1; //~ E0301 found `bit<16>`
        a = p; //~ E0301 found `port_t`
        p = b; //~ E0301 expected `port_t`
        k = 1; //~ E0301 expected `color`
        a = k; //~ E0301 found `color`
        a = (bit<8>) t; //~ E0311 cannot convert `bool` to `bit<8>`
        a = (bit<8>) k; //~ E0311 cannot convert `color`
        s = (int<8>) b; //~ E0311 cannot convert `bit<16>` to `int<8>`
        t = (bool) a; //~ E0311 cannot convert `bit<8>` to `bool`
        if (t == 1) {} //~ E0309 `bool` and `int`
        if (t != 1) {} //~ E0309 `bool` and `int`
        if (k == 1) {} //~ E0309 `color` and `int`
        if (obj == obj) {} //~ E0309 `E` and `E`
        p = p + 1; //~ E0309 `port_t` and `int`
        if (p < 1) {} //~ E0309 `port_t` and `int`
        b = a + b; //~ E0309 `bit<8>` and `bit<16>`
        a = a << t; //~ E0309 `bit<8>` and `bool`
        t = ~t; //~ E0308 not defined on `bool`
        switch (table1.apply()) { default: {} } //~ E0342 choose by the result of `table1.apply()`
    }
}

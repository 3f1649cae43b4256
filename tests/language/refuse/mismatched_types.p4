header h_t { bit<8> x; }
header g_t { bit<8> x; }
enum color { red }
enum bit<8> ser { a = 1 }
type bit<8> mine;
control c(inout bit<8> a, inout bit<16> b, inout int<8> s, inout bool t, inout h_t h, inout g_t g, in color k, inout mine m, inout ser e) {
    apply {
        a = b; //~ E0301 expected `bit<8>`, found `bit<16>`
        a = s; //~ E0301 found `int<8>`
        t = a; //~ E0301 expected `bool`
        t = 1; //~ E0301 expected `bool`, found `int`
        h = g; //~ E0301 expected `h_t`, found `g_t`
        a = k; //~ E0301 found `color`
        m = a; //~ E0301 expected `mine`
        e = a; //~ E0301 expected `ser`
        e = 1; //~ E0301 expected `ser`
        a = "text"; //~ E0301 found `string`
        h = {#};
        a = {#}; //~ E0302 found an invalid header
        if (a) {} //~ E0301 expected `bool`, found `bit<8>`
        a = t ? b : 1; //~ E0301 expected `bit<8>`, found `bit<16>`
        a = t ? a : b; //~ E0334 different types
        b = t ? 1 : 2; //~ E0335 two numbers without a width
        b = t ? 16w1 : 2;
        t = (a == 1) ? 1 == 1 : t;
        t = (t ? 1 : 2) == 1; //~ E0335 two numbers without a width
        g = { 1, 2 }; //~ E0312 `g_t` has 1 field, not 2
        g = { x = 1, y = 2 }; //~ E0207 `g_t` has no field `y`
        g = { x = 1, x = 2 }; //~ E0313 given twice
        a = { x = 1 }; //~ E0302 a structure with named fields
        b[7:0] = b; //~ E0301 expected `bit<8>`
        tuple<bit<8>> one = { 1 };
        h = one; //~ E0301 expected `h_t`, found `tuple<bit<8>>`
    }
}

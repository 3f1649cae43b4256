struct s_t { bit<8> x; }
enum color { red }
type bit<8> mine;
control c(inout bit<8> a, inout bit<16> b, inout int<8> s, inout bool t, inout s_t st, inout mine m) {
    apply {
        t = (bool) a; //~ E0311 cannot convert `bit<8>` to `bool`
        t = (bool) 2; //~ E0311 cannot convert `int` to `bool`
        a = (bit<8>) t; //~ E0311 cannot convert `bool` to `bit<8>`
        b = (bit<16>) s; //~ E0311 cannot convert `int<8>` to `bit<16>`
        a = (bit<8>) st; //~ E0311 cannot convert `s_t`
        a = (bit<8>) color.red; //~ E0311 cannot convert `color`
        b = (bit<16>) m; //~ E0311 cannot convert `mine`
        m = (mine) b; //~ E0311 cannot convert `bit<16>` to `mine`
        a = 1 + (int) a; //~ E0311 cannot convert `bit<8>` to `int`
        t = (bool) (int) a; //~ E0311 cannot convert `bit<8>` to `int`
        st = (s_t) { 1, 2 }; //~ E0312 has 1 field
        a = (bit<8>) "x"; //~ E0311 cannot convert `string`
    }
}

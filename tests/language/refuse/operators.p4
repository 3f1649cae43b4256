header h_t { bit<8> x; }
header g_t { bit<8> x; }
enum color { red, green }
extern E { E(); }
const int C = 5 |+| 3; //~ E0309 operator `|+|`
const bit<16> D = 8w1 ++ 5; //~ E0310 without a width cannot be concatenated
const bit<16> D2 = 5 ++ 8w1; //~ E0310 without a width
control c(inout bit<8> a, inout bit<16> b, inout int<8> s, inout bool t, in h_t h, in g_t g, in color k, in string st, E e1, E e2) { //~ E0244 `string`
    apply {
        a = a + b; //~ E0309 operator `+` is not defined on `bit<8>` and `bit<16>`
        a = a + s; //~ E0309 `bit<8>` and `int<8>`
        a = a + t; //~ E0309 `bit<8>` and `bool`
        s = s / 2; //~ E0309 operator `/` is not defined on `int<8>`
        s = s % 2; //~ E0309 operator `%`
        a = a << t; //~ E0309 operator `<<`
        t = !a; //~ E0308 operator `!` is not defined on `bit<8>`
        t = -t; //~ E0308 operator `-` is not defined on `bool`
        t = t && a; //~ E0309 operator `&&`
        t = a || t; //~ E0309 operator `||`
        t = h == g; //~ E0309 operator `==`
        t = k < k; //~ E0309 operator `<`
        t = k == 1; //~ E0309 operator `==`
        t = e1 == e2; //~ E0309 operator `==`
        t = t & t; //~ E0309 operator `&`
        b = t ++ a; //~ E0309 operator `++`
        t = a == b; //~ E0309 operator `==`
        a += b; //~ E0309 operator `+`
        a += true; //~ E0309 operator `+`
        t += 1; //~ E0309 operator `+`
    }
}

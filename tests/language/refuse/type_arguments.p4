extern E<T> { E(); T get<U>(in U x); T any(); }
extern R pull<R>();
extern void put<T>(in T x);
extern void two<T>(in T x, in T y);
struct S<T> { T f; }
struct plain_t { bit<8> f; }
typedef S<bit<8>> s8_t;
typedef E<bit<8>> e8_t;
header h_t { bit<8> f; }
control c(inout bit<8> x, inout bit<16> y, inout h_t h) {
    E<bit<8>, bool>() e1; //~ E0305 `E` takes 1 type argument, not 2
    E() e2; //~ E0306 cannot infer the type argument `T` of `E`
    E<bit<8>>() e;
    e8_t<bit<8>>() e3; //~ E0304 `e8_t` takes no type arguments
    e8_t() e4;
    action a() {}
    table t { actions = { a; } }
    apply {
        pull(); //~ E0306 cannot infer the type argument `R`
        put(5); //~ E0330 without a width
        put({ 1, x }); //~ E0330 without a width
        two(x, y); //~ E0301 expected `bit<8>`, found `bit<16>`
        put<bit<8>, bool>(x); //~ E0305 takes 1 type argument, not 2
        x = e.any<bit<8>>(); //~ E0304 `any` takes no type arguments
        S x1; //~ E0305 `S` takes 1 type argument, not 0
        S<_> x2 = { 1 }; //~ E0307 `_` cannot stand for a type
        s8_t<bit<8>> x3 = { 1 }; //~ E0304 `s8_t` takes no type arguments
        plain_t<bit<8>> x4 = { 1 }; //~ E0304 `plain_t` takes no type arguments
        x = ((plain_t<bit<8>>) { 1 }).f; //~ E0304 `plain_t` takes no type arguments
        a<bit<8>>(); //~ E0304 `a` takes no type arguments
        t.apply<bit<8>>(); //~ E0304 `apply` takes no type arguments
        x = h_t.minSizeInBytes<bit<8>>(); //~ E0304 `minSizeInBytes` takes no type arguments
        h.setInvalid<bit<8>>(); //~ E0304 `setInvalid` takes no type arguments
        x = e4.any();
        bit<8> z = put(x); //~ E0333 returns nothing
    }
}

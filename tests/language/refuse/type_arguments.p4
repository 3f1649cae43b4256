extern E<T> { E(); T get<U>(in U x); T any(); }
extern R pull<R>();
extern void put<T>(in T x);
extern void two<T>(in T x, in T y);
struct S<T> { T f; }
control c(inout bit<8> x, inout bit<16> y) {
    E<bit<8>, bool>() e1; //~ E0305 `E` takes 1 type argument, not 2
    E() e2; //~ E0306 cannot infer the type argument `T` of `E`
    E<bit<8>>() e;
    apply {
        pull(); //~ E0306 cannot infer the type argument `R`
        put(5); //~ E0330 without a width
        put({ 1, x }); //~ E0330 without a width
        two(x, y); //~ E0301 expected `bit<8>`, found `bit<16>`
        put<bit<8>, bool>(x); //~ E0305 takes 1 type argument, not 2
        x = e.any<bit<8>>(); //~ E0304 `any` takes no type arguments
        S x1; //~ E0305 `S` takes 1 type argument, not 0
        S<_> x2 = { 1 }; //~ E0307 `_` cannot stand for a type
        bit<8> z = put(x); //~ E0333 returns nothing
    }
}

#include <core.p4>
extern void over(in bit<8> x);
extern void over(in bit<8> x, in bit<8> y);
extern void same(in bit<8> a, in bit<8> b);
extern void same(in bit<8> c, in bit<8> d);
extern void f(in bit<8> x, out bit<8> y, inout bit<8> z);
extern void need(bit<8> n);
extern void f_of_four(in bit<8> a, in bit<8> b, in bit<8> c, in bit<8> d);
header h_t { bit<8> x; }
control inner(inout bit<8> x) { apply {} }
bit<8> fn(in bit<8> x) { return x; }
control c(inout bit<8> v, in bit<8> ro, inout bit<16> w, inout h_t h, inout h_t[2] hs) {
    const bit<8> K = 1;
    inner() i;
    action act(inout bit<8> y, bit<8> d) {}
    table t { actions = { NoAction; } }
    apply {
        f(1, v); //~ E0403 missing argument for the parameter `z`
        f(1, v, v, v); //~ E0404 `f` takes 3 arguments, not 4
        f(x = 1, y = v, q = v); //~ E0405 `f` has no parameter `q`
        f(x = 1, x = 2, y = v, z = v); //~ E0406 a second argument for `x`
        f(1, y = v, z = v); //~ E0407 with and without names
        f(_, v, v); //~ E0408 `_` gives no value for `x`
        f(1, v, _); //~ E0408 `_` gives no value for `z`
        f(1, w, v); //~ E0412 `y` is an `out` parameter of type `bit<8>`, and this is `bit<16>`
        f(1, ro, v); //~ E0431 `ro` is an `in` parameter
        f(1, 5, v); //~ E0430 the constant `
        f(1, v + 1, v); //~ E0430 a computed value
        f(1, fn(v), v); //~ E0430 the result of a call
        f(1, K, v); //~ E0430 the constant `
        f(1, v[3:0], v); //~ E0412 this is `bit<4>`
        over(1, 2, 3); //~ E0410 no `over` takes these arguments
        same(1, 2); //~ E0411 more than one `same`
        v(); //~ E0401 a parameter cannot be called
        fn(1)(); //~ E0401 a value cannot be called
        hs.pop_front(_); //~ E0409 `_` is not a value
        v = fn; //~ E0205 `fn` is a function
        if (h.isValid) {} //~ E0402 the method `isValid` is not called
        if (h.isValid(1)) {} //~ E0404 takes no arguments
        h.setvalid(); //~ E0207 no method `setvalid`
        t.apply(1); //~ E0404 takes no arguments
        i.apply(); //~ E0403 parameter `x`
        i.apply(w); //~ E0412 this is `bit<16>`
        act(v); //~ E0403 parameter `d`
        v = h.x.minSizeInBits(1); //~ E0404 takes no arguments
        v = t.apply().hit; //~ E0301 expected `bit<8>`, found `bool`
        verify(true, error.NoError); //~ E0413 `verify` cannot be called in
    }
}
void takes_any<T>(T t) {}
control passed() { apply {} }
control passes() {
    passed() block;
    apply { takes_any(block); } //~ E0344 is not a value
}

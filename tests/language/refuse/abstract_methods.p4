extern E { E(); abstract bit<8> m(in bit<8> x); bit<8> n(); }
control inner() { apply {} }
E() missing; //~ E0237 does not implement the abstract method `m`
E() extra = { bit<8> m(in bit<8> x) { return x; } bit<8> n() { return 1; } }; //~ E0238 has no abstract method `n`
E() wrong = { bit<16> m(in bit<8> x) { return 1; } }; //~ E0239 differs
E() direction = { bit<8> m(inout bit<8> x) { return 1; } }; //~ E0239 differs
extern O { O(); abstract void m(in bit<8> x, @optional in bit<8> y, in bit<8> z); }
E() shorter = { bit<8> m() { return 1; } }; //~ E0239 differs
O() between = { void m(in bit<8> x) { } }; //~ E0239 differs
E() longer = { bit<8> m(in bit<8> x, @optional in bit<8> y) { return 1; } }; //~ E0239 differs
control c() {
    inner() i = { void f() {} }; //~ E0240 only instances of externs
    apply {}
}

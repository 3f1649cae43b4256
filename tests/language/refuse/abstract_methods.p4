extern E { E(); abstract bit<8> m(in bit<8> x); bit<8> n(); }
control inner() { apply {} }
E() missing; //~ E0237 does not implement the abstract method `m`
E() extra = { bit<8> m(in bit<8> x) { return x; } bit<8> n() { return 1; } }; //~ E0238 has no abstract method `n`
E() wrong = { bit<16> m(in bit<8> x) { return 1; } }; //~ E0239 differs
E() direction = { bit<8> m(inout bit<8> x) { return 1; } }; //~ E0239 differs
control c() {
    inner() i = { void f() {} }; //~ E0240 only instances of externs
    apply {}
}

extern virtual_t { virtual_t(); abstract bit<8> f(in bit<8> x); bit<8> g(in bit<8> x); }
control takes()(virtual_t v) { apply { } }
control c(inout bit<8> x) {
    takes(virtual_t()) t; //~ E0259 an object of `virtual_t` in an expression cannot implement `f`
    apply { x = virtual_t().g(x); t.apply(); } //~ E0259 an object of `virtual_t`
}
control e(inout bit<8> x) { action a(virtual_t v) {} apply {} } //~ E0244 a parameter cannot have the type `virtual_t`
control f(inout bit<8> x) { action a(varbit<8> v, error r) {} apply {} }
//~^ E0244 the type `varbit<8>`
//~^^ E0244 the type `error`
bool same<T>(in T a, in T b) { return a == b; } //~ E0309 operator `==` is not defined on `T` and `T`

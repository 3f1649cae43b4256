header h_t { bit<8> x; }
extern E { E(); }
bit<8> f(in bit<8> x) { //~ E0438 `f` can end without returning
    if (x == 1) { return 1; }
}
bit<8> g(in bit<8> x) {
    return; //~ E0436 this function returns `bit<8>`
}
void h(in bit<8> x) {
    return x; //~ E0437 a value is returned from a function
}
bit<32> idx(in bit<32> x) { return x; }
control c(inout bit<8> v, in bit<8> ro, inout h_t[4] hs, E e1, E e2)(bit<8> ctor) {
    const bit<8> K = 1;
    action a(bit<8> data) {
        data = 1; //~ E0431 `data` is a parameter that the control plane gives
        return 1; //~ E0437 a value is returned from an action
    }
    apply {
        a(1);
        ro = 1; //~ E0431 `ro` is an `in` parameter
        ctor = 1; //~ E0431 `ctor` is a constructor parameter
        K = 1; //~ E0430 the constant `
        e1 = e2; //~ E0431 `e1` is a parameter without direction
        break; //~ E0435 `break` outside a loop
        continue; //~ E0435 `continue` outside a loop
        int n = 5; //~ E0332 a variable cannot have the type `int`
        string s; //~ E0332 the type `string`
        E e; //~ E0332 the type `E`
        return 5; //~ E0437 a value is returned
    }
}

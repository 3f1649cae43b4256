extern E {
    E(in bit<8> x); //~ E0242 has no direction
    E();
    abstract E(bit<8> a, bit<8> b); //~ E0241
}
extern F { void F(); } //~ E0241
extern packet g(); //~ E0201 unknown type `packet`
control block();
extern block h(); //~ E0249 a function cannot return `block`
E i() { return E(); } //~ E0249 a function cannot return `E`
//~^ E0415 instantiated inside an expression

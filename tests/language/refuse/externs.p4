extern E {
    E(in bit<8> x); //~ E0242 has no direction
    E();
    abstract E(bit<8> a, bit<8> b); //~ E0241
}
extern F { void F(); } //~ E0241
extern packet g(); //~ E0201 unknown type `packet`
extern E h(); //~ E0249 a function cannot return `E`

header h_t { bit<8> x; }
header numbers_t { int[2] a; } //~ E0303 `int[2]` cannot be a field of a header
header errors_t { error[2] a; } //~ E0303 `error[2]` cannot be a field of a header
header varbits_t { varbit<8>[2] a; } //~ E0303 `varbit<8>[2]` cannot be a field of a header
header headers_t { h_t[2] a; } //~ E0303 `h_t[2]` cannot be a field of a header
const int[2] NUMBERS = { 1, 2 };
extern void get(in list<_> x);
control c(inout bit<8> x)(int from) {
    int[2] variable; //~ E0332 a variable cannot have the type `int[2]`
    apply {
        x = NUMBERS[x]; //~ E0505 an index of an array of `int`
        x = x[from : 0]; //~ E0505
        x[from +: 9] = 1; //~ E0322 a width of 9 bits
        get({}); //~ E0306 cannot infer the type for which `get` has `_`
    }
}

control takes(in int x) { apply {} } //~ E0244 `int`
extern void told(in string x); //~ E0244 `string`
control c(inout bit<8> x) {
    tuple<int, int> pair; //~ E0332 `tuple<int, int>`
    apply {
        tuple<int, int> known = { 1, 2 };
        known = { 3, 4 }; //~ E0430 `known`
        tuple<int, bit<8>> mixed = { 1, x }; //~ E0505 must be a compile-time constant
        int n = 5; //~ E0332 `int`
        if ((int) x == 3) { x = 1; } //~ E0311 cannot convert `bit<8>` to `int`
        string s = "text"; //~ E0332 `string`
    }
}

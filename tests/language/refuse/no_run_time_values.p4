control takes(in int x) { apply {} } //~ E0244 `int`
control c(inout bit<8> x) {
    tuple<int, int> pair = { 1, 2 }; //~ E0332 `tuple<int, int>`
    apply {
        int n = 5; //~ E0332 `int`
        string s = "text"; //~ E0332 `string`
    }
}

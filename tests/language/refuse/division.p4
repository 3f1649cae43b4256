control c(inout bit<8> x) {
    apply {
        x = x / x; //~ E0508 the right operand of `/`
        x = 8w5 % x; //~ E0508 the right operand of `%`
        x /= x; //~ E0508 the right operand of `/`
    }
}

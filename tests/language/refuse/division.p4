control c(inout bit<8> x) {
    apply {
        x = x / x; //~ E0508 the right operand of `/`
        x = 8w5 % x; //~ E0508 the right operand of `%`
        x /= x; //~ E0508 the right operand of `/`
        x = x % -1; //~ E0502 operator `%` on a negative number
        x /= -2; //~ E0502 operator `/` on a negative number
    }
}

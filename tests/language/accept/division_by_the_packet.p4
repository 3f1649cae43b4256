// Where the divisor is 0, the results are 0.
control c(inout bit<8> x, inout bit<72> y, bit<8> known)(bit<8> fixed) {
    apply {
        x = x / x; //~ W0304 the right operand of `/`
        x = 8w5 % x; //~ W0304 the right operand of `%`
        x /= x; //~ W0304 the right operand of `/`
        y %= y; //~ W0304 the right operand of `%`
        x = x / fixed;
        x = 200 / (x + 1); //~ W0304 the right operand of `/`
    }
}

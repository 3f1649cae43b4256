control c(inout bit<8> x, inout int<8> y) {
    apply {
        x = x % -1; //~ E0502 operator `%` on a negative number
        x /= -2; //~ E0502 operator `/` on a negative number
        y = y / y; //~ E0309 `int<8>` and `int<8>`
        x = x / 0; //~ E0501 division by zero
    }
}

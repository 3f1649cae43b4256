control c(inout bit<8> x) { apply { x = 1; } }
control c(inout bit<16> x) { apply { x = 1; } } //~ E0202 `c` is declared twice

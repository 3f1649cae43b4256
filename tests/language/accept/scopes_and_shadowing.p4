typedef bit<8> x;
const bit<8> K = 1;
bit<8> id(in bit<8> v) { return v; }
control c(inout bit<8> v, inout .x y) {
    const bit<16> K = 2; //~ W0201 unused constant `K`
    bit<8> id = 3;
    action id2() { bit<8> v = 5; y = v; } //~ W0205 `v` hides a parameter
    apply {
        bit<8> K = .K;
        K = K + id;
        { bit<16> K = 7; y = (bit<8>) K; }
        y = y + K + .id(1);
        id2();
        if (y == 1) { bit<8> y = 2; v = y; } //~ W0205 `y` hides a parameter
        for (bit<8> v in 8w1 .. 2) { y = v; } //~ W0205 `v` hides a parameter
        switch (y) { 1: { const bit<8> y = 4; v = y; } default: { @noWarn("shadow") bit<8> y = 5; v = y; } }
        //~^ W0205 `y` hides a parameter
    }
}
const bit<8> USE = K;
control d(inout bit<8> v) { const bit<16> K = 3; apply { v = (bit<8>) K; } }

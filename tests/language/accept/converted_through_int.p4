// A number of the packet's keeps its value by way of `int`, as far as the type behind it has bits.
type bit<16> id_t;
bit<16> wider(in bit<8> x) { return (int) x; }
control c(inout bit<8> a, inout int<8> s, inout bit<16> b, inout int<16> t, inout id_t i) {
    action take(in bit<16> x) { b = x; }
    apply {
        b = (bit<16>) (int) a;
        b = (bit<16>) (int) s;
        t = (int<16>) (int) a;
        s = (int<8>) (int) b;
        a = (bit<8>) ((int) t);
        i = (id_t) (int) a;
        b = (int) a;
        take((int) s);
        b = b + (int) a;
        if ((int) s == t) { b = 3 |+| (bit<16>) (int) a; }
        b = (bit<16>) (a + 1) + (bit<16>) (int) (a + 1);
    }
}

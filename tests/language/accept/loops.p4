const list<bit<16>> PORTS = { 80, 443 };
header h_t { bit<8> x; }
bit<32> sum(in bit<32> n) {
    bit<32> s = 0;
    for (bit<32> i = 0, bit<32> j = 1; i < n; i = i + 1, j += 2) {
        if (i == 3) { continue; }
        if (s > 100) break;
        s = s + i + j;
    }
    return s;
}
control c(inout h_t[4] hs, inout bit<32> x, in bit<16> port) {
    action a() { for (bit<8> i in 1 .. 3) { x = x + (bit<32>) i; } }
    apply {
        x = sum(10);
        for (bit<32> i in 0 .. x) { x = x + i; }
        for (bit<16> p in PORTS) { if (p == port) { x = 1; break; } }
        for (bit<16> p in (list<bit<16>>) { 1, 2 }) { if (p == port) { x = 1; } }
        for (h_t h in hs) { x = x + (bit<32>) h.x; }
        for (bit<32> k in 3 .. 5) { x = x + k; for (int<8> m in -3 .. 3) { if (m > 0) { continue; } } }
        for (; x < 5; x = x + 1) { a(); }
    }
}

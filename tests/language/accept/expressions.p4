const int N = 1 << 70;
const int M = (N >> 68) * 3 - 5 % 3 + 7 / 2;
const bit<16> W = 0xFFFF + 0;
const bool T = M == 13 && N > 5 || false;
const string S = "a" ++ "b";
const bit<4> NIB = 8w0xA5[7:4];
const bit<12> CAT = 8w0xA5 ++ NIB;
const int<8> NEG = -8s5;
const bit<8> INV = ~8w1;
control c(in bit<8> a, in int<8> b, in bit<16> w, in bool t, inout bit<8> r, out int<8> s, out bit<24> u) {
    apply {
        r = a + 1 - 2 * a;
        r = a & 0xF | a ^ 3;
        r = a |+| 200;
        r = a |-| 5;
        r = a << 2;
        r = a >> w;
        r = a / 3 + a % 4;
        r = -a;
        r = +a;
        r = ~a;
        s = b * b - (-b);
        s = b >> 1;
        s = b |+| 100;
        s = (int<8>) a;
        r = (bit<8>) b;
        r = (bit<8>) w;
        r = (bit<8>)(bit<1>) t;
        u = a ++ w;
        u[7:0] = a;
        r[3:0] = a[7:4];
        r[0:0] = (bit<1>) (a > 3);
        if ((bool) r[0:0] && !t || a != 5 && (bool) 1) { r = t ? a : 8w3; }
        r = t ? 8w1 : 2;
        r = M == 5 ? 1 : 2;
        r = a < 5 ? w[15:8] : r;
        r = (bit<8>) M;
        r += 1; r -= a; r *= 2; r <<= 1; r >>= 1; r &= a; r |= 1; r ^= 3; r |+|= 5; r |-|= 5; r /= 2; r %= 3;
        r[3:0] += 1;
        r = r[7:7] ++ r[6:0];
        s = 4s7 ++ 4w1;
        bit<0> z = 0;
        if (z == 0) { r = (bit<8>) 0x1FF; }
    }
}

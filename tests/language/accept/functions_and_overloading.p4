extern void log(in bit<8> x);
extern void log(in bit<8> x, in bit<8> y);
extern void log(in bit<8> left, in bit<8> middle, in bit<8> right, in bit<8> last = 3);
extern void tag(in bit<8> a);
extern void tag(in bit<8> b, @optional in bit<8> c);
extern X { X(); X(bit<8> n); void f(in bit<8> x); void f(in bit<8> x, out bit<8> y); }
bit<8> max(in bit<8> a, in bit<8> b) { return a > b ? a : b; }
bit<8> max(in bit<8> a, in bit<8> b, in bit<8> c) { return max(max(a, b), c); }
void set(out bit<8> x, bit<8> v) { x = v; }
bool early(in bit<8> x) {
    if (x == 0) { return true; } else { return false; }
}
control c(inout bit<8> x) {
    X() one;
    X(5) two;
    apply {
        x = max(x, 1);
        x = max(b = 1, a = x);
        x = max(1, 2, x);
        log(x);
        log(x, 1);
        log(right = 1, left = 2, middle = 3);
        log(left = 1, middle = 2, right = 3, last = 4);
        tag(b = 1);
        tag(b = 1, c = 2);
        one.f(1);
        two.f(x, x);
        two.f(x, _);
        set(x, 3);
        if (early(x)) { x = 1; }
    }
}

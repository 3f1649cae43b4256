extern void f(in bit<8> a, in bit<16> b = 5, bool c = true);
extern void g(@optional in bit<8> a, in bit<8> b);
extern Obj { Obj(bit<32> size = 1024, @optional bool fast); void m(in bit<8> x = 1); }
bit<8> h(in bit<8> x = 3) { return x; }
action stepped(out bit<8> y, in bit<8> by = 5) { y = by + 1; }
control inner(inout bit<8> x)(bit<8> step = 2) { apply { x = x + step; } }
control c(inout bit<8> x) {
    Obj() a;
    Obj(size = 5, fast = true) b;
    inner() i;
    inner(7) j;
    inner(step = 8) k;
    apply {
        f(1); f(1, 2); f(c = false, a = x); g(b = 1); g(1, 2);
        a.m(); b.m(2);
        x = h() + h(x = 1);
        stepped(x); stepped(x, 3); stepped(by = 4, y = x);
        i.apply(x); j.apply(x = x); k.apply(x);
    }
}

#include <core.p4>
struct S<T> { T f; bit<8> n; }
header H<T> { T f; }
struct Nest<A, B> { S<A> a; S<B> b; }
typedef S<bit<32>> S32;
extern E<T> {
    E(bit<32> size);
    E();
    T get();
    void put(in T x);
    R map<R>(in T x, in R seed);
}
extern T pick<T>(in T a, in T b);
extern bit<8> spread<T, U>(in T a, in U b);
T first<T>(in T a, in T b) { T t = b; t = a; return t; }
bit<8> unbox(in S<bit<8>> s) { return s.f; }
S<T> box<T>(in T x) { return { x, 1 }; }
control c(inout bit<32> x, inout H<bit<16>> h, out S32 s) {
    E<bit<32>>(10) e;
    E<bool>() b;
    E<tuple<bit<8>, bit<16>>>() pairs;
    apply {
        s = { f = 1, n = 2 };
        x = pick(x, 5);
        x = pick(5, x);
        x = pick<bit<32>>(1, 2);
        x = first(x, 1);
        S<bit<8>> t = box<bit<8>>(3);
        x = (bit<32>) unbox(t);
        h.f = e.map(e.get(), h.f);
        h.f = e.map<bit<16>>(1, 2);
        if (b.get()) { e.put(x); pairs.put({ 1, 2 }); }
        Nest<bit<8>, bool> n = { { 1, 2 }, { true, 3 } };
        t.f = spread(n, { n.a.f, true });
        x = x + (bit<32>) t.f;
    }
}

extern void one(in bit<8> x);
extern void one(in bool x);
extern void one(in bit<8> x, in bit<8> y);
extern void alike(in bit<8> x, in bit<16> y);
extern void alike(in bit<16> x, in bit<8> y);
struct pair_t { bit<8> a; bit<8> b; }
struct pairs_t { pair_t a; bool b; }
extern void put(in pair_t x);
extern void put(in pairs_t x);
control ctl(inout bit<8> x) { apply { x = 1; } }
control ctl(inout bit<16> x) { apply { x = 1; } }
control ctl(inout bit<16> x) { apply { x = 2; } } //~ E0202 `ctl` is declared twice
control c(inout bit<32> x, inout bit<8> y) {
    ctl() a;
    apply {
        one(x); //~ E0410 no `one` takes these arguments
        one(z = y); //~ E0410 no `one` takes these arguments
        one(y = y); //~ E0410 no `one` takes these arguments
        one(y, y, y); //~ E0410 no `one` takes these arguments
        alike(1, 2); //~ E0411 more than one `alike` takes these arguments
        put({ y, y, y }); //~ E0410 no `put` takes these arguments
        put({ { y, y }, y }); //~ E0410 no `put` takes these arguments
        put({ a = y, c = y }); //~ E0410 no `put` takes these arguments
        put({ a = true, ... }); //~ E0410 no `put` takes these arguments
        put({ ... }); //~ E0411 more than one `put` takes these arguments
        a.apply(x); //~ E0410 no `ctl` takes these arguments
        ctl.apply(x, y); //~ E0410 no `ctl` takes these arguments
    }
}

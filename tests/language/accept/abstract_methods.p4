extern Balancer {
    Balancer(bit<8> n);
    bit<8> pick(in bit<16> flow);
    abstract bit<8> on_new(in bit<16> flow);
    abstract void seen(inout bit<8> x);
}
extern Gen<T> { Gen(); abstract T next(in T x); }
extern Opt { Opt(); @optional abstract void seen(in bit<8> x); void run(); }
extern Adder { Adder(bit<16> by); bit<16> add(in bit<16> x); }
Balancer(4) top = {
    bit<8> on_new(in bit<16> flow) { return (bit<8>) flow; }
    void seen(inout bit<8> x) { x = this.pick(7); }
};
control c(inout bit<16> flow, out bit<8> r) {
    bit<8> last = 0;
    Balancer(2) mine = {
        bit<8> on_new(in bit<16> flow) { last = last + 1; return last; }
        void seen(inout bit<8> x) { x = last; }
    };
    Gen<bit<16>>() g = { bit<16> next(in bit<16> x) { return x + 1; } };
    Opt() unimplemented;
    Gen<bit<16>>() with_parts = {
        Adder(3) part;
        bit<16> next(in bit<16> x) { return part.add(x); }
    };
    apply { r = mine.pick(flow) + top.pick(1); flow = g.next(flow); flow = with_parts.next(flow); unimplemented.run(); }
}

#include <core.p4>
struct s_t { bit<8> a; }
extern table_t<T, I> { table_t(I size); T read(in I index); }
// `_` is whatever type the argument has.
package holder<T>(table_t<T, _> t, tuple<_> u);
extern void pass<T>(in T x);
extern void both(in tuple<bit<8>, bit<4>> t, in s_t s);
extern void kinds(match_kind k);
extern lists_t { lists_t(list<match_kind> kinds, tuple<bit<8>, bool> t, s_t s); }
extern pairs_t<T> { pairs_t(list<tuple<T, match_kind>> pairs); }
extern hash_t { hash_t(); bit<16> get(in bit<8> x); void update(bit<8> by); }
extern hash_t make_hash(int kind);
extern void run(bit<8> x);
extern void drop();
extern virtual_t {
    virtual_t();
    abstract bit<8> f(in bit<8> x, @optional in bit<8> y);
}
extern cells_t<T, I> { cells_t(bit<32> n); void clear(); T read(in I index); void write(in I index, in T value); }
extern update_t<T, I> {
    update_t(cells_t<T, I> cells);
    T run(in I index);
    abstract void apply(inout T value, @optional out T result);
}
control c(inout bit<8> x) {
    lists_t({exact, ternary}, {1, true}, {2}) lists; //~ W0201 unused instance `lists`
    pairs_t<bit<8>>({{1, exact}, {2, lpm}}) pairs; //~ W0201 unused instance `pairs`
    table_t<bit<8>, bit<4>>(4w8) numbers;
    virtual_t() v = { bit<8> f(in bit<8> a, @optional in bit<8> b) { return a + b; } };
    // A method may do without what is optional.
    virtual_t() shorter = { bit<8> f(in bit<8> a) { return a; } };
    // An argument determines what `_` stands for; for numbers alone, or nothing, any type will do.
    cells_t<bit<8>, _>(16) by_argument;
    update_t<bit<8>, _>(by_argument) update = { void apply(inout bit<8> value) { value = value + 1; } };
    cells_t<bit<8>, _>(16) by_number;
    update_t<bit<8>, _>(by_number) unread = { void apply(inout bit<8> value, out bit<8> result) { result = value; } };
    cells_t<bit<8>, _>(4) never; //~ W0201 unused instance `never`
    hash_t made = make_hash(3);
    action drop() { drop(); }
    apply {
        pass({x, 8w2});
        pass((s_t) {x});
        pass<_>(x);
        both({x, 3}, {x});
        kinds(exact);
        // What has no direction may be known at run time.
        run(x + 1);
        made.update(x);
        x = made.get(x)[7:0] + make_hash(4).get(1)[15:8] + (bit<8>) hash_t().get(2);
        x = numbers.read(1) + v.f(x) + shorter.f(x);
        by_argument.clear();
        by_argument.write(x[3:0], update.run(2) + unread.run(7));
        drop();
    }
}

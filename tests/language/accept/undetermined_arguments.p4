// What `_` stands for, or a type parameter, shows nowhere: nothing of that type is ever there.
extern cell_t<T> { cell_t(); T get(); void set(in T value); }
extern cells_t<T, I> { cells_t(bit<32> n); T get(in I index); void set(in I index, in T value); }
extern void note<T>(in bit<8> x);
extern void may<T, U>(in T x, @optional in U y);
control c(inout bit<8> x) {
    cell_t<_>() cell; //~ W0201 unused instance `cell`
    cells_t<_, bit<4>>(16) cells; //~ W0201 unused instance `cells`
    cells_t<_, _>(16) open; //~ W0201 unused instance `open`
    cells_t<_, bit<4>>(16) told;
    cells_t<bit<8>, _>(16) any_index;
    apply {
        told.set(1, x);
        x = any_index.get(x);
        note(x);
        note<_>(x);
        may(x);
    }
}
control block_t<T>(inout bit<8> x);
control other_t<T>(inout bit<8> x, in T y);
control d(inout bit<8> x, in bit<16> y) { apply { x = (bit<8>) y; } }
package whole<T>(block_t<T> b);
package two<T, U, V>(block_t<T> b, other_t<U> o, V v);
package nested<T>(whole<T> w);
package top<T, U>(nested<T> n, two<U, _, bit<8>> t);
top(nested(whole(c())), two(c(), d(), 8w3)) main;

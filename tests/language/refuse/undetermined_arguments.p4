extern cell_t<T> { cell_t(); T get(); void set(in T value); }
extern cells_t<T, I> { cells_t(bit<32> n); T get(in I index); void set(in I index, in T value); }
control c(inout bit<8> x) {
    cell_t<_>() cell; //~ E0306 cannot infer the type argument `T` of `cell_t`
    cells_t<_, bit<4>>(16) cells; //~ E0306 cannot infer the type argument `T` of `cells_t`
    cells_t<_, bit<4>>(16) told;
    cells_t<bit<8>, _>(16) any_index;
    apply { told.set(1, x); x = any_index.get(x); }
}

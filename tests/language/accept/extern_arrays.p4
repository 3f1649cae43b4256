extern persistent<T> { persistent(); T get(); void set(in T x); }
extern cells<T, I> { cells(bit<32> n); void clear(); T get(in I index); }
persistent<bit<8>>() shared[2];
control c(inout bit<8> x) {
    persistent<bit<32>>() data[256];
    cells<bit<8>, _>(4) rows[3];
    apply {
        data[x].set(5);
        rows[x].clear();
        x = rows[1].get(x[3:0]);
        x = data[3].get()[7:0] + shared[x].get() + (bit<8>) data.size;
    }
}

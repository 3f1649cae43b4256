extern persistent<T> { persistent(); T get(); void set(in T x); }
persistent<bit<8>>() shared[2];
control c(inout bit<8> x) {
    persistent<bit<32>>() data[256];
    apply {
        data[x].set(5);
        x = data[3].get()[7:0] + shared[x].get() + (bit<8>) data.size;
    }
}

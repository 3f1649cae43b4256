// An extern's number without a width takes one with a width, known at compile time or not.
extern void told(in int x);
extern void also(int x);
extern cell_t { cell_t(int n); void set(int n); void put(in int n, in bit<8> more); }
control c(inout bit<8> x, inout int<16> y)(bit<8> n) {
    cell_t(8w4) cell;
    cell_t(n) other;
    apply {
        told(x);
        told(y);
        told(16w3);
        told(5);
        also(x + 1);
        also(n);
        cell.set(x);
        cell.set(3);
        other.put(y, x);
        other.put(n = 7, more = 8);
    }
}

// Stacks and arrays of no elements have sizes, and nothing to do.
header h_t { bit<8> a; }
header_union u_t { h_t a; }
struct s_t { h_t[0] none; bit<8> x; }
const int N = 0;
const bit<32> KNOWN = s_t.minSizeInBits();
control c(inout s_t s, out bit<32> r) {
    h_t[N] own;
    u_t[0] unions;
    apply {
        r = s.none.minSizeInBits() + s.none.maxSizeInBits() + s.none.minSizeInBytes() + s.none.maxSizeInBytes();
        r = r + s.none.size + own.size + unions.size + KNOWN;
        r = r + own.maxSizeInBits() + unions.minSizeInBits() + unions.maxSizeInBytes();
        r = r + s.minSizeInBits() + s.maxSizeInBytes();
        for (h_t x in s.none) { r = r + (bit<32>) x.a; }
        s.none.push_front(1);
        s.none.pop_front(1);
    }
}

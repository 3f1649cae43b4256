#include <core.p4>
struct s_t { bit<8> x; }
header h_t { bit<8> x; }
header v_t { varbit<8> x; }
parser p(packet_in b, inout s_t s, inout h_t h, inout v_t v) {
    state start {
        b.extract(s); //~ E0336 `extract` fills a header, and this is `s_t`
        b.extract(s.x); //~ E0336 and this is `bit<8>`
        b.extract(h, 8); //~ E0337 the header `h_t` has no varbit field
        b.extract(v); //~ E0337 the header `v_t` has a varbit field
        b.extract(v, 8);
        v = b.lookahead<v_t>(); //~ E0338 `lookahead` needs a type of fixed size
        b.advance(true); //~ E0301
        b.skip(1); //~ E0207 the extern `packet_in` has no method `skip`
        bit<32> n = b.length; //~ E0402 the method `length` is not called
        transition accept;
    }
}
control d(packet_out b, in s_t s, in error e) {
    apply {
        b.emit(s.x); //~ E0339 `emit` writes headers, and this is `bit<8>`
        b.emit(s); //~ E0339 and this is `s_t`
        bit<32> n = e.minSizeInBits(); //~ E0340 `error` has no size
    }
}

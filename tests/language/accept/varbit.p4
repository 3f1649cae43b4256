#include <core.p4>
header base_t { bit<4> ihl; bit<4> pad; }
header options_t { varbit<320> data; }
struct hs_t { base_t b; options_t o; }
parser p(packet_in packet, out hs_t h) {
    state start {
        packet.extract(h.b);
        verify(h.b.ihl >= 5, error.HeaderTooShort);
        packet.extract(h.o, (bit<32>)(((bit<16>)h.b.ihl - 5) * 32));
        transition accept;
    }
}
control c(inout hs_t h) {
    apply {
        varbit<320> x = h.o.data;
        h.o.data = x;
    }
}

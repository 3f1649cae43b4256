// A key with an error causes no errors about the cases.
#include <core.p4>
header h_t { bit<8> f; }
struct headers_t { h_t h; }
parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.g) { //~ E0207 `h_t` has no field `g`
            1: reject;
            default: accept;
        }
    }
}

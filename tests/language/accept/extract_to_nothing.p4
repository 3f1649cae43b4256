#include <core.p4>
header h_t { bit<8> x; }
parser p(packet_in packet, out bit<8> r) {
    h_t tmp;
    state start {
        packet.extract<h_t>(_);
        packet.extract(tmp);
        r = tmp.x;
        bit<32> n = packet.length();
        transition select(n) { 0: reject; _: accept; }
    }
}

#!/bin/bash
# A program with a long function, called several times, that keeps 150 values at once.

echo '#include <core.p4>
#include <xdp_model.p4>
header h_t { bit<64> a; bit<64> b; bit<64> c; }
struct headers_t { h_t h; }
bit<64> mixed(in bit<64> a, in bit<64> b) {
    bit<64> r = 1;'
for i in {0..149}; do
    echo "    bit<64> x$i = (a * $((2 * i + 3))) ^ (b + $((7 * i + 1))) ^ (a >> $((i % 31 + 1)));"
done
for i in {0..149}; do
    echo "    if (x$i > x$(((7 * i + 3) % 150))) { x$(((5 * i + 1) % 150)) = x$i + r; }
    r = (r ^ x$(((11 * i + 5) % 150))) * 31 + x$((149 - i));"
done
echo '    return r;
}
parser prs(packet_in packet, out headers_t hdr) { state start { packet.extract(hdr.h); transition accept; } }
control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
        hdr.h.a = mixed(hdr.h.a, hdr.h.b);
        hdr.h.b = mixed(hdr.h.b, hdr.h.c);
        hdr.h.c = mixed(hdr.h.c, hdr.h.a);
    }
}
control dprs(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.h); } }
xdp(prs(), sw(), dprs()) main;'

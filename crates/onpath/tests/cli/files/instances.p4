#include <xdp_model.p4>
header udp_t { bit<16> src; bit<16> dst; bit<16> len; bit<16> checksum; }
header odd_t { bit<12> tag; }
struct headers_t { udp_t udp; odd_t odd; }
parser p(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.udp); packet.extract(hdr.odd); transition accept; }
}
control share(inout bit<16> x)(bit<16> parts, int by) {
    table sized { key = { x: exact; } actions = { NoAction; } size = by + 1; }
    apply {
        sized.apply();
        x = x / parts;
        x = x << by;
    }
}
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    share(0, 3) zero;
    share(2, -1) negative;
    apply {
        zero.apply(hdr.udp.len);
        negative.apply(hdr.udp.len);
        xout = { xdp_action.XDP_PASS, 0 };
    }
}
control d(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.udp); } }
xdp(p(), c(), d()) main;

// A stack with more elements than the kernel's targets take, one of which a value chooses.
#include <xdp_model.p4>

header hop_t {
    bit<8> port;
}

struct headers_t {
    hop_t[300] hops;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.hops.next);
        transition select(hdr.hops.last.port) {
            0: accept;
            _: start;
        }
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        hdr.hops[(bit<9>)xin.input_port].port = 1;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.hops);
    }
}

xdp(prs(), sw(), dprs()) main;

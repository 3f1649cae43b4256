#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ether);
        transition select(hdr.eth.type) {
            0x0800:  ipv4;
            default: accept;
        }
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action next(bit<32> port) {
        xout.output_port = port + 8w1;
        xin.input_port = 1;
    }
    table ports {
        key = { hdr.eth.dst : longest; }
        actions = { next; drop; }
    }
    apply {
        xout.output_action = xdp_action.XDP_PAS;
        ports.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
    }
}

xdp(prs(), sw(), dprs()) main;

// A loop of more turns than the verifier follows; its counter does not fit a register, so it would follow each turn of it on the stack.
#include <core.p4>
#include <xdp_model.p4>

header word_t {
    bit<32> value;
}

struct headers_t {
    word_t word;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.word);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input input, out xdp_output output) {
    apply {
        bit<32> sum = hdr.word.value;
        for (bit<65> i = 0; i < 9000; i = i + 1) {
            sum = sum + (bit<32>)i;
            if (sum == 77) {
                break;
            }
        }
        hdr.word.value = sum;
        output.output_action = xdp_action.XDP_PASS;
        output.output_port = 0;
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.word);
    }
}

xdp(prs(), sw(), dep()) main;

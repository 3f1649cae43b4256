// Functions with names that C's library has for others, and generated C for its own.
#include <core.p4>
#include <xdp_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header call_t { bit<8> a; bit<8> b; }
struct headers_t { ethernet_t ethernet; call_t call; }

#define LONG(name)                                  \
    bit<8> name(in bit<8> value) {                  \
        bit<8> sum = value;                         \
        if (sum > 1) { sum = sum + 1; }             \
        if (sum > 2) { sum = sum + 2; }             \
        if (sum > 3) { sum = sum + 3; }             \
        if (sum > 4) { sum = sum + 4; }             \
        if (sum > 5) { sum = sum + 5; }             \
        if (sum > 6) { sum = sum + 6; }             \
        return sum;                                 \
    }
LONG(toascii)
LONG(abs)
LONG(ffs)
LONG(abort)
LONG(isdigit)
LONG(full_program)

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.call);
        transition select(hdr.call.a) {
            48:      rare;
            default: accept;
        }
    }
    // A program of two functions in C, which call the same.
    @rare state rare {
        transition accept;
    }
}

control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        hdr.call.a = full_program(isdigit(abort(ffs(abs(toascii(hdr.call.a))))));
        hdr.call.b = full_program(isdigit(abort(ffs(abs(toascii(hdr.call.b))))));
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.call); }
}

xdp(p(), c(), d()) main;

// Tables that packets of a rare kind meet too: keys and parameters are theirs, whatever else is known of them.
#include <core.p4>
#include <xdp_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header call_t { bit<8> kind; bit<8> number; bit<8> first; bit<8> second; }
header more_t { bit<16> much; }
struct headers_t { ethernet_t ethernet; call_t call; more_t more; bit<8> extra; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.call);
        transition select(hdr.call.kind) {
            1:       more;
            default: accept;
        }
    }
    @rare state more {
        bit<8> twice = hdr.call.number + hdr.call.number;
        packet.extract(hdr.more);
        if (hdr.more.much > 4) { twice = twice * twice; }
        hdr.extra = twice;
        transition accept;
    }
}

control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    bit<8> other = 0;

    action one(bit<8> value) { hdr.call.first = value; }
    action two(bit<8> value, bit<8> more) { hdr.call.second = value + more; }
    table compiled {
        key = { hdr.call.number: exact; }
        actions = { one; two; }
        const entries = { 7: one(1); 9: two(3, 4); }
        default_action = one(8);
    }
    table filled {
        key = { hdr.call.number: exact; }
        actions = { one; two; NoAction; }
        default_action = NoAction;
    }

    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        if (hdr.call.number > 4) { other = hdr.call.number + 1; }
        compiled.apply();
        filled.apply();
        hdr.call.kind = other + hdr.extra;
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.call); packet.emit(hdr.more); }
}

xdp(p(), c(), d()) main;

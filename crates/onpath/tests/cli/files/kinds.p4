#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<64> front;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x0800:  ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control inner(inout headers_t hdr, out xdp_action verdict) {
    action pass() { verdict = xdp_action.XDP_PASS; }
    table hosts {
        key = { hdr.eth.dst : exact; }
        actions = { pass; }
        default_action = pass();
    }
    apply {
        verdict = xdp_action.XDP_PASS;
        hosts.apply();
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    CounterArray(2, false) seen;
    inner() first;
    inner() second;

    action forward(bit<32> port, bool count) {
        xout.output_port = port;
        xout.output_action = xdp_action.XDP_REDIRECT;
        if (count) {
            seen.increment(1);
        }
    }
    action drop() { xout.output_action = xdp_action.XDP_DROP; }
    action pass() { xout.output_action = xdp_action.XDP_PASS; }

    table neighbours {
        key = { hdr.eth.dst : exact @name("mac"); hdr.eth.type : exact @name("type"); }
        actions = { forward; pass; @defaultonly drop; }
        default_action = drop();
        size = 2;
    }
    table routes {
        key = { hdr.ipv4.dst : lpm @name("dst"); }
        actions = { forward; @tableonly pass; drop; }
        const default_action = drop();
        size = 64;
    }
    table rules {
        key = { hdr.ipv4.src : ternary @name("src"); hdr.ipv4.ttl : range @name("ttl"); }
        actions = { drop; pass; }
        default_action = pass();
        size = 16;
    }
    table fixed {
        key = { hdr.ipv4.protocol : exact @name("protocol"); }
        actions = { drop; pass; }
        const entries = {
            6:  pass();
            17: drop();
        }
        default_action = pass();
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_DROP;
        xdp_action ignored;
        first.apply(hdr, ignored);
        second.apply(hdr, ignored);
        seen.increment(0);
        if (hdr.ipv4.isValid()) {
            if (rules.apply().hit) {
                fixed.apply();
            } else {
                routes.apply();
            }
        } else {
            neighbours.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
    }
}

xdp(prs(), sw(), dprs()) main;

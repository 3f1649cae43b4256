// The near stage inserts a label before the Ethernet header, the far one parses the label and removes or swaps it.

#include <relay_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header label_t {
    bit<12> number;
    bit<4>  hops;
    bit<16> type;
}

struct near_t {
    ethernet_t ethernet;
    label_t    label;
}

struct far_t {
    ethernet_t ethernet;
    label_t    label;
    label_t    inner;
}

struct meta_t {
    bit<4>   states;     // of both parsers
    bit<48>  sender;
    bit<128> wide;
    bool     swap;
    bit<32>  came_in;
}

const bit<16> LABEL = 0x88b5;

parser near_parser(packet_in packet, out near_t hdr, inout meta_t meta) {
    state start {
        packet.extract(hdr.ethernet);
        meta.states = meta.states + 1;
        transition select(hdr.ethernet.type) {
            0xdead: reject;
            default: accept;
        }
    }
}

control near_control(inout near_t hdr, inout meta_t meta, in relay_input input, inout relay_output output) {
    action push(bit<12> number) {
        hdr.label.setValid();
        hdr.label.number = number;
        hdr.label.hops = 3;
        hdr.label.type = hdr.ethernet.type;
        hdr.ethernet.type = LABEL;
    }
    action drop() { output.dropped = true; }
    action swap() { meta.swap = true; }
    table classify {
        key = { hdr.ethernet.dst: exact @name("mac"); }
        actions = { push; drop; swap; @defaultonly NoAction; }
        default_action = NoAction;
    }
    apply {
        meta.sender = hdr.ethernet.src;
        meta.wide = hdr.ethernet.dst ++ hdr.ethernet.src ++ (bit<32>) 0x11223344;
        meta.came_in = input.input_port;
        // What a drop leaves to the other stage must not matter.
        output.output_action = relay_verdict.PASS;
        classify.apply();
    }
}

control near_deparser(in near_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.label);
    }
}

parser far_parser(packet_in packet, out far_t hdr, inout meta_t meta) {
    state start {
        packet.extract(hdr.ethernet);
        meta.states = meta.states + 1;
        transition select(hdr.ethernet.type) {
            LABEL: label;
            default: accept;
        }
    }
    state label {
        packet.extract(hdr.label);
        meta.states = meta.states + 1;
        transition select(hdr.label.number, hdr.label.type) {
            (0xfff, _): reject;
            (_, LABEL): inner;
            default: accept;
        }
    }
    state inner {
        packet.extract(hdr.inner);
        transition accept;
    }
}

control far_control(inout far_t hdr, inout meta_t meta, in relay_input input, inout relay_output output) {
    action send(bit<32> port) {
        output.output_action = relay_verdict.SEND;
        output.output_port = port;
        hdr.ethernet.type = hdr.label.type;
        hdr.label.setInvalid();
    }
    action renumber(bit<12> number) {
        hdr.label.number = number;
        hdr.label.hops = hdr.label.hops - 1;
        hdr.ethernet.src = meta.sender + 1;
    }
    action drop() { output.dropped = true; }
    table route {
        key = { hdr.label.number: exact @name("number"); }
        actions = { send; renumber; drop; @defaultonly NoAction; }
        default_action = NoAction;
    }
    apply {
        if (hdr.label.isValid()) {
            route.apply();
        } else if (meta.swap) {
            hdr.ethernet.dst = meta.wide[79:32];
            hdr.ethernet.src = meta.wide[127:80];
            hdr.ethernet.type = meta.wide[15:0] ^ meta.came_in[15:0] ^ (bit<16>) (bit<4>) meta.states;
        }
        if (hdr.inner.isValid()) {
            hdr.inner.hops = meta.states;
        }
    }
}

control far_deparser(in far_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.label);
        packet.emit(hdr.inner);
    }
}

relay(near_parser(), near_control(), near_deparser(), far_parser(), far_control(), far_deparser()) main;

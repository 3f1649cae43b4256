// SPDX-License-Identifier: Apache-2.0
//
// More tables of prefixes than multibit tries fit in the kernel's limit of maps.
#include <xdp_model.p4>

header numbers_t {
    bit<112> ethernet;
    bit<32>  key;
    bit<32>  sum;
}

struct headers_t {
    numbers_t numbers;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.numbers);
        transition accept;
    }
}

control look_up(in bit<32> key, inout bit<32> sum) {
    action add(bit<32> number) {
        sum = sum + number;
    }
    table t {
        key = { key: lpm; }
        actions = { add; NoAction; }
    }
    apply {
        t.apply();
    }
}

control sums(inout headers_t hdr, in xdp_input input, out xdp_output output) {
    look_up() of_0;
    look_up() of_1;
    look_up() of_2;
    look_up() of_3;
    look_up() of_4;
    look_up() of_5;
    look_up() of_6;
    look_up() of_7;
    look_up() of_8;
    look_up() of_9;
    look_up() of_10;
    look_up() of_11;
    look_up() of_12;
    look_up() of_13;
    look_up() of_14;
    look_up() of_15;
    look_up() of_16;
    look_up() of_17;
    look_up() of_18;
    look_up() of_19;
    look_up() of_20;
    look_up() of_21;
    look_up() of_22;
    look_up() of_23;

    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        of_0.apply(hdr.numbers.key, hdr.numbers.sum);
        of_1.apply(hdr.numbers.key, hdr.numbers.sum);
        of_2.apply(hdr.numbers.key, hdr.numbers.sum);
        of_3.apply(hdr.numbers.key, hdr.numbers.sum);
        of_4.apply(hdr.numbers.key, hdr.numbers.sum);
        of_5.apply(hdr.numbers.key, hdr.numbers.sum);
        of_6.apply(hdr.numbers.key, hdr.numbers.sum);
        of_7.apply(hdr.numbers.key, hdr.numbers.sum);
        of_8.apply(hdr.numbers.key, hdr.numbers.sum);
        of_9.apply(hdr.numbers.key, hdr.numbers.sum);
        of_10.apply(hdr.numbers.key, hdr.numbers.sum);
        of_11.apply(hdr.numbers.key, hdr.numbers.sum);
        of_12.apply(hdr.numbers.key, hdr.numbers.sum);
        of_13.apply(hdr.numbers.key, hdr.numbers.sum);
        of_14.apply(hdr.numbers.key, hdr.numbers.sum);
        of_15.apply(hdr.numbers.key, hdr.numbers.sum);
        of_16.apply(hdr.numbers.key, hdr.numbers.sum);
        of_17.apply(hdr.numbers.key, hdr.numbers.sum);
        of_18.apply(hdr.numbers.key, hdr.numbers.sum);
        of_19.apply(hdr.numbers.key, hdr.numbers.sum);
        of_20.apply(hdr.numbers.key, hdr.numbers.sum);
        of_21.apply(hdr.numbers.key, hdr.numbers.sum);
        of_22.apply(hdr.numbers.key, hdr.numbers.sum);
        of_23.apply(hdr.numbers.key, hdr.numbers.sum);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.numbers);
    }
}

xdp(prs(), sums(), dprs()) main;

// SPDX-License-Identifier: Apache-2.0
//
// Bytes of streams: holds them, compares them, and reads messages there. A packet passes if that succeeds.

#include <ebpf_model.p4>
#include <flow_state.p4>
#include <payload.p4>

header ethernet_t {
    bit<96> addresses;
    bit<16> type;
}

header call_t {
    bit<8>  what;       // 1 holds, 2 compares, 3 reads a message, 4 releases, others begin a stream anew and hold
    bit<8>  stream;
    bit<32> sequence;
    bit<16> length;
}

struct headers_t {
    ethernet_t ethernet;
    call_t     call;
}

parser read_call(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.call);
        transition accept;
    }
}

control follow(inout headers_t hdr, out bool pass) {
    flow_state<bit<8>, bit<64>>(64) tickets;
    stream_bytes(3) streams;
    message("http", 16384) http;

    apply {
        bit<64> ticket;
        @noWarn("unused") bool is_known = tickets.lookup(hdr.call.stream, ticket);
        bit<32> length = (bit<32>)hdr.call.length;
        if (hdr.call.what == 2) {
            pass = streams.equal(ticket, hdr.call.sequence, 0, length);
        } else if (hdr.call.what == 3) {
            bit<64> host;
            bit<32> size;
            pass = http.read_held(streams, ticket, hdr.call.sequence, 0, length, "host") == message_status.READ
                && http.get_bytes("host", host, size) && host == 0x612e6578616d706c && size == 9;
        } else if (hdr.call.what == 4) {
            pass = streams.release(ticket);
        } else {
            if (hdr.call.what != 1) { ticket = 0; }
            ticket = streams.hold(ticket, hdr.call.sequence, 0, length);
            pass = ticket != 0;
            if (pass) { tickets.update(hdr.call.stream, ticket); }
        }
    }
}

ebpfFilter(read_call(), follow()) main;

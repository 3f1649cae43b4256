// SPDX-License-Identifier: Apache-2.0
//
// Requests by host and responses by status of HTTP/1 on any port of TCP, wherever in a connection's segments they begin: after the bodies of
// others, several in a segment, or across two. Every packet goes on.

#include <core.p4>
#include <tap_model.p4>
#include <packet_headers.p4>
#include <streams.p4>

// Bytes of a host's name that are kept; zeros follow a shorter one.
typedef bit<256> host_t;

// Methods, with zeros behind them.
const bit<64> HEAD    = 0x4845414400000000;
const bit<64> CONNECT = 0x434f4e4e45435400;

control watch(in packet_headers hdr, in tap_input input) {
    message("http", STREAM_LIMIT) messages;
    flow_state<stream_ends, stream_state>(4096) streams;
    CounterArray(STREAM_COUNTS, false) counts;
    stream_begin(streams = streams, messages = messages, counts = counts, several = true) begin;
    flow_state<stream_ends, stream_awaited>(4096) awaited;
    stream_recall(requests = awaited) recall;
    stream_read(messages = messages, counts = counts, is_asked = true, attributes = "host,status") read;
    stream_body(messages = messages, body = "body", length = "content_length", has_chunks = true, chunked = "header.transfer-encoding") body;
    stream_end(streams = streams, messages = messages, counts = counts, several = true, in_order = false) end;
    stream_remember(requests = awaited, counts = counts) remember;

    tally<host_t>(1024) requests;      // and the bytes of their packets
    tally<bit<10>>(64) responses;

    apply {
        if (hdr.tcp.isValid()) {
            bit<32> bytes = payload_length();
            if (bytes > hdr.payload_bytes) { bytes = hdr.payload_bytes; }
            stream_ends ends = { 0, 0, hdr.tcp.src_port, hdr.tcp.dst_port };
            packet_addresses(hdr, ends.src, ends.dst);
            bool opens = hdr.tcp.flags[1:1] == 1;   // SYN
            stream_segment segment;
            begin.apply(segment, ends, hdr.tcp.seq, opens, bytes);
            recall.apply(segment, ends, opens);
            for (bit<32> iteration = 0; iteration < 64 && segment.more; iteration = iteration + 1) {
                read.apply(segment);
                if (segment.is_message) {
                    bit<10> status;
                    bool is_response = messages.get_number("status", status);
                    host_t host;
                    bit<32> host_bytes;
                    bool has_host = messages.get_bytes("host", host, host_bytes);
                    if (segment.status == message_status.READ && !segment.message.recorded) {
                        if (is_response) {
                            responses.add(status, (bit<64>)input.length);
                        } else if (has_host) {
                            requests.add(host, (bit<64>)input.length);
                        }
                    }
                    bit<64> method;
                    bit<32> method_bytes;
                    bool is_request = messages.get_bytes("method", method, method_bytes);
                    // What answers HEAD, and CONNECT where that succeeds, has no body.
                    bit<1> is_head = (bit<1>)(is_request && method == HEAD);
                    bit<1> is_connect = (bit<1>)(is_request && method == CONNECT);
                    bit<1> is_empty = (bit<1>)(is_response && (status < 200 || status == 204 || status == 304));
                    bit<1> is_tunnel = is_empty | (bit<1>)(is_response && status < 300);
                    body.apply(segment, { is_request, is_connect ++ is_head, is_response && status >= 200,
                                          1w0 ++ is_tunnel ++ (bit<1>)is_response ++ is_empty, is_response });
                }
                stream_next(segment);
            }
            end.apply(segment, ends);
            remember.apply(segment, ends);
        }
    }
}

tap(packet_parser(), watch()) main;

// SPDX-License-Identifier: Apache-2.0
//
// Blocks sites by name: of a DNS query, of a TLS server, of an HTTP host. A rule is on list 1, which blocks, or on list 2, which allows; of
// those that cover a name, the one with the longest name decides.

#include <ebpf_model.p4>
#include <packet_headers.p4>
#include <streams.p4>

// Most rules; another file may define it and include this one.
#ifndef MOST_RULES
#define MOST_RULES 100000
#endif

// Another file may also define COUNT_ONLY: then packets pass that would be blocked, and are counted all the same.
#ifdef COUNT_ONLY
const bool IS_COUNTED_ONLY = true;
#else
const bool IS_COUNTED_ONLY = false;
#endif

// With REFUSE_QUIC, connections of QUIC cannot begin, whose names are encrypted. Clients use TCP then.
#ifdef REFUSE_QUIC
const bool REFUSES_QUIC = true;
#else
const bool REFUSES_QUIC = false;
#endif

const bit<16> PORT_DNS = 53;
const bit<16> PORT_HTTP = 80;
const bit<16> PORT_TLS = 443;

// Of a rule's lists.
const bit<32> BLOCKS = 1;
const bit<32> ALLOWS = 2;

// Messages, as indices of counters.
const bit<32> OF_DNS = 0;
const bit<32> OF_HTTP = 1;
const bit<32> OF_TLS = 2;

// A request that began in earlier segments of its connection.
struct begun_request {
    bit<64> ticket;   // leads to the bytes that are kept
    bit<32> next;     // sequence number of the next byte
    bool    counted;  // it is known to be one, and was counted
}

// The name that a packet asks for.
struct asked_name {
    bit<8>  status;   // result of reading the message
    bit<32> rule;     // number of the rule that decides
    bit<32> lists;    // its lists
}

// Reads a request, and looks its name up. A request that is cut is followed through segments that come in order. Bytes that are sent again are not
// read again, but those of a blocked request count as new until they have passed: so it stays blocked. `may_begin` says that a request may begin with
// this segment: most do not.
control read_request(out asked_name asked, in stream_ends ends, in bit<32> sequence, in bit<32> bytes, in bit<32> kind, in bool may_begin)
                    (message messages, string name, name_set names, flow_state<stream_ends, begun_request> requests, CounterArray begun, CounterArray ended) {
    apply {
        begun_request request;
        bit<64> ticket = 0;
        bit<32> from = 0;
        asked.rule = 0;
        asked.lists = 0;
        message_status status = message_status.OTHER;
        bool is_read = may_begin;
        if (requests.lookup(ends, request)) {
            from = request.next - sequence;
            ticket = request.ticket;
            is_read = from < bytes;
        } else {
            request.counted = false;
        }
        if (is_read) { status = messages.read_behind(ticket, from, bytes - from, name); }
        asked.status = (bit<8>) status;
        if (status == message_status.READ) {
            messages.find_name(name, names, asked.rule, asked.lists);
        } else if (status == message_status.TRUNCATED || status == message_status.LENGTH_PAST_END || status == message_status.BEGINS) {
            request.ticket = messages.keep(ticket, from, bytes - from);
            request.next = sequence + bytes;
            if (request.ticket != 0) {
                if (status != message_status.BEGINS && !request.counted) {
                    request.counted = true;
                    begun.increment(kind);
                }
                requests.update(ends, request);
                ticket = 0;
                asked.status = (bit<8>) message_status.OTHER;
            }
        }
        if (is_read && ticket != 0 && (IS_COUNTED_ONLY || asked.lists & BLOCKS == 0)) {
            @noWarn("unused") bool gone = requests.remove(ends);
            if (status == message_status.READ) { ended.increment(kind); }
        }
    }
}

control firewall(inout packet_headers hdr, out bool pass) {
    name_set(MOST_RULES) names;
    message("dns") dns;
    message("http", STREAM_LIMIT) http;
    message("tls", STREAM_LIMIT) tls;
    // A minute.
    flow_state<stream_ends, begun_request>(4096, 60000000000) requests;
    // Messages with a name that is blocked, and with one that is allowed.
    CounterArray(4, false) blocked;
    CounterArray(4, false) allowed;
    // Messages whose name could not be read: 16 times the kind of message, and the status of reading it.
    CounterArray(64, false) unread;
    // Requests whose name was not in their first segment, and of these those that were read and passed.
    CounterArray(4, false) begun;
    CounterArray(4, false) ended;
    // Packets with which connections of QUIC begin.
    CounterArray(1, false) quic;
    // Messages for which a list decides. The first five bits of a rule's number are that of its list.
    CounterArray(32, false) decided_by;
    read_request(messages = http, name = "host", names = names, requests = requests, begun = begun, ended = ended) read_http;
    read_request(messages = tls, name = "sni", names = names, requests = requests, begun = begun, ended = ended) read_tls;

    apply {
        asked_name asked = { (bit<8>) message_status.OTHER, 0, 0 };
        bit<32> kind = OF_DNS;
        if (hdr.udp.isValid() && hdr.udp.dst_port == PORT_DNS) {
            asked.status = (bit<8>) dns.read_for(0, hdr.payload_bytes, "qname");
            if (asked.status == (bit<8>) message_status.READ) {
                dns.find_name("qname", names, asked.rule, asked.lists);
            }
        } else if (hdr.tcp.isValid() && hdr.tcp.dst_port == PORT_DNS && hdr.payload_bytes > 2) {
            // The length of the message stands before it.
            asked.status = (bit<8>) dns.read_for(2, hdr.payload_bytes - 2, "qname");
            if (asked.status == (bit<8>) message_status.READ) {
                dns.find_name("qname", names, asked.rule, asked.lists);
            }
        } else if (hdr.tcp.isValid() && (hdr.tcp.dst_port == PORT_TLS || hdr.tcp.dst_port == PORT_HTTP) && (hdr.payload_bytes != 0 || hdr.tcp.flags[1:1] == 1)) {
            stream_ends ends = { 0, 0, hdr.tcp.src_port, hdr.tcp.dst_port };
            packet_addresses(hdr, ends.src, ends.dst);
            bit<32> sequence = hdr.tcp.seq;
            if (hdr.tcp.flags[1:1] == 1) {
                // A SYN has a sequence number too, and begins another connection.
                sequence = sequence + 1;
                @noWarn("unused") bool gone = requests.remove(ends);
            }
            if (hdr.payload_bytes == 0) {
                // Nothing to read.
            } else if (hdr.tcp.dst_port == PORT_TLS) {
                kind = OF_TLS;
                bit<8> content_type;
                bool is_handshake = payload_read(0, content_type) && content_type == 22;
                read_tls.apply(asked, ends, sequence, hdr.payload_bytes, kind, is_handshake);
            } else {
                kind = OF_HTTP;
                read_http.apply(asked, ends, sequence, hdr.payload_bytes, kind, true);
            }
        }
        pass = true;
        if (hdr.udp.isValid() && hdr.udp.dst_port == PORT_TLS) {
            // A long header, and a version (RFC 8999).
            bit<40> start;
            if (payload_read(0, start) && start[39:38] == 3 && start[31:0] != 0) {
                quic.increment(0);
                pass = IS_COUNTED_ONLY || !REFUSES_QUIC;
            }
        }
        if (asked.lists != 0) {
            decided_by.increment((bit<32>) asked.rule[31:27]);
            if (asked.lists & ALLOWS != 0) {
                allowed.increment(kind);
            } else if (asked.lists & BLOCKS != 0) {
                blocked.increment(kind);
                pass = IS_COUNTED_ONLY;
            }
        } else if (asked.status > (bit<8>) message_status.OTHER) {
            unread.increment(16 * kind + (bit<32>) asked.status);
        }
    }
}

ebpfFilter(packet_parser(), firewall()) main;

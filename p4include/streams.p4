// SPDX-License-Identifier: Apache-2.0
//
//! Messages in TCP streams, followed from segment to segment.
//!
//! A message may begin in one segment and end in another, or follow the body of another one. Segments may be reordered or retransmitted. Each
//! direction of a connection is a stream.
//!
//! ```p4
//! message("http", STREAM_LIMIT) messages;
//! flow_state<stream_ends, stream_state>(4096) streams;
//! CounterArray(STREAM_COUNTS, false) counts;
//! flow_state<stream_ends, stream_awaited>(4096) requests;
//! stream_begin(streams = streams, messages = messages, counts = counts, several = true) begin;
//! stream_recall(requests = requests) recall;
//! stream_read(messages = messages, counts = counts, is_asked = true, attributes = "host") read;
//! stream_body(messages = messages, body = "body", length = "content_length", has_chunks = true, chunked = "header.transfer-encoding") body;
//! stream_end(streams = streams, messages = messages, counts = counts, several = true, in_order = false) end;
//! stream_remember(requests = requests, counts = counts) remember;
//!
//! apply {
//!     if (hdr.tcp.isValid()) {
//!         stream_ends ends = { 0, 0, hdr.tcp.src_port, hdr.tcp.dst_port };
//!         packet_addresses(hdr, ends.src, ends.dst);
//!         // Without Ethernet's padding.
//!         bit<32> bytes = payload_length();
//!         if (bytes > hdr.payload_bytes) { bytes = hdr.payload_bytes; }
//!         stream_segment segment;
//!         bool opens = hdr.tcp.flags[1:1] == 1;
//!         begin.apply(segment, ends, hdr.tcp.seq, opens, bytes);
//!         recall.apply(segment, ends, opens);
//!         for (bit<32> iteration = 0; iteration < 64 && segment.more; iteration = iteration + 1) {
//!             read.apply(segment);
//!             if (segment.is_message) {
//!                 // Its attributes can be read. A recorded one was counted with an earlier segment.
//!                 if (segment.status == message_status.READ && !segment.message.recorded) { ... }
//!                 bit<10> status;
//!                 bool is_response = messages.get_number("status", status);
//!                 bit<64> method;
//!                 bit<32> length;
//!                 bool is_request = messages.get_bytes("method", method, length);
//!                 // Answers to HEAD are without a body: kind 1.
//!                 bit<2> kind = is_request && method == 0x4845414400000000 ? 2w1 : 0;
//!                 bool is_final = is_response && status >= 200;
//!                 bit<1> is_empty = is_response && (status < 200 || status == 204 || status == 304) ? 1w1 : 0;
//!                 body.apply(segment, { is_request, kind, is_final, { 1, 1, 1, is_empty }, is_response });
//!             }
//!             stream_next(segment);
//!         }
//!         end.apply(segment, ends);
//!         remember.apply(segment, ends);
//!     }
//! }
//! ```
//!
//! `hdr` and `packet_addresses` are of `packet_headers.p4`. `programs/requests` of the repository is a whole program.
//!
//! All parts take the same objects, and agree on `several`. For messages that do not follow one another in a segment (those
//! of TLS), `several` is false: then there is no `stream_body` and no `stream_next`, and an `if` replaces the loop.
//! `stream_recall` and `stream_remember` keep which requests wait for their answers, where that says whether an answer has a body; otherwise they are left out.
//!
//! Losses are counted. The state of a stream is lost if another one is stored in its slot of the flow state; then messages are looked for at the
//! start of each segment.

#ifndef _STREAMS_P4_
#define _STREAMS_P4_

#include <core.p4>
#include <ebpf_model.p4>
#include <flow_state.p4>
#include <payload.p4>

/// Bytes of a message that are read. The `message` object must have this limit.
const bit<32> STREAM_LIMIT = 16384;
/// The most bytes that are kept of a message that continues in a later segment.
const bit<32> STREAM_KEPT = 4096;
/// Distance in bytes before a stream's end within which late segments are read.
const bit<32> STREAM_REACH = 16777215;
/// A body that has no end: bytes that `skip` never counts down.
const bit<64> STREAM_NO_END = 0xffffffffffffffff;

/// The indices of counters.
enum bit<32> stream_count {
    GAP        = 0,   // segments after a gap
    AGAIN      = 1,   // retransmitted segments
    UNFOLLOWED = 2,   // messages whose end or rest is unknown
    BEGUN      = 3,   // messages that continue in a later segment
    ENDED      = 4,   // of these, completed ones
    MALFORMED  = 5,   // malformed messages
    UNREAD     = 6    // messages that are too long, or too many in a segment
}

/// Number of these counters. The array may have more, for the program's own counts.
const bit<32> STREAM_COUNTS = 7;

/// The ends of a stream. IPv4 addresses are mapped to IPv6.
struct stream_ends {
    bit<128> src;
    bit<128> dst;
    bit<16>  src_port;
    bit<16>  dst_port;
}

/// The state of a stream.
struct stream_state {
    bit<64> skip;          // bytes of a body, after which the next message begins; in a body in chunks, the state of `payload_chunks`
    bit<64> ticket;        // of an incomplete head: leads to the bytes that are kept
    bit<32> next;          // sequence number of the next byte
    bit<32> certain;       // bytes before it that are known to be received, except the missing ones
    bit<32> hole_from;     // the missing bytes: from this distance before it
    bit<32> hole_to;       // to this one
    bit<32> kept;          // number of bytes that are kept, of a head or of what may be one
    bit<32> version;       // number of updates
    bit<1>  known;         // a message begins, or continues, at the next byte (kept bytes alone mean that it may)
    bit<1>  begun;         // a message has begun, and not ended
    bit<1>  recorded;      // that message was counted before
    bit<1>  opened;        // a connection with the same ends was opened
}

/// Requests that wait for their answers, in their order. Their kinds are the program's: 0 is any other.
struct stream_awaited {
    bit<64> kinds;         // of each request two bits, the first request's lowest; of those that do not fit, 0
    bit<32> number;        // of requests
}

/// What follows the head of a message.
struct stream_head {
    bool   asks;           // it is a request
    bit<2> kind;           // of this kind
    bool   answers;        // it is the response to a request
    bit<4> is_empty;       // it has no body: a bit for each kind that its request may have
    bool   to_end;         // without a length and without chunks, its body is all that follows
}

/// A message of a segment.
struct stream_message {
    bit<64> ticket;        // leads to its bytes in earlier segments
    bit<32> kept;          // number of these bytes
    bool    recorded;      // it was counted with an earlier segment
}

/// A segment while it is read. Programs read the members of its message only.
struct stream_segment {
    // The message that is read.
    bool           more;        // there is one to read
    bit<32>        at;          // its offset
    bit<32>        end;         // end of the segment
    message_status status;      // result of reading it
    bool           is_message;  // it is one
    bool           is_sided;    // it shows its side of an exchange: set where messages are `in_order`
    stream_message message;
    // Its body.
    bool           has_body;
    bool           is_open;        // its length is unknown
    bit<32>        body_at;
    bit<64>        next;           // offset of the next message
    // The segment in its stream.
    stream_state   stream;
    bool           is_followed;    // the stream has a state
    bool           seen;           // the segment has a message
    bit<1>         missed;         // it may have one that is not read and whose side is not known
    bit<1>         was_begun;
    bit<32>        until;          // end of the messages that are read
    bool           is_read;        // the new bytes are read
    stream_message rest;           // the first message of these
    bit<32>        rest_at;        // and its offset
    // Requests and answers.
    bit<64>        awaited;     // the kinds of the requests that wait for the answers
    bit<32>        answered;    // number of answers
    bool           forgets;     // what is known of these requests is wrong
    bit<64>        asked;       // the kinds of the requests
    bit<32>        asks;        // and their number
    bit<1>         unfit;       // there was no room for one
    // Late bytes: their offsets.
    bool           is_late;
    bit<32>        late;
    bit<32>        late_end;
    message_status late_status;    // of the last message of these
    bool           late_is_known;
    bool           late_has_body;
    bool           late_is_open;
}

/// Part of `stream_begin`: finds the new and the late bytes of a segment.
control stream_find(inout stream_segment segment, in stream_ends ends, in bit<32> sequence, in bool opens)
                   (flow_state<stream_ends, stream_state> streams, CounterArray counts) {
    apply {
        bit<32> first_byte = sequence;   // its sequence number
        bit<32> end = segment.end;
        if (opens) { first_byte = first_byte + 1; }
        if (opens) {
            @atomic {
                segment.is_followed = streams.lookup(ends, segment.stream);
                if (segment.is_followed) {
                    segment.stream.opened = 1;
                    segment.stream.version = segment.stream.version + 1;
                    streams.update(ends, segment.stream);
                }
            }
        } else if (segment.more) {
            segment.is_followed = streams.lookup(ends, segment.stream);
        }
        // A segment that continues a stream does not begin another one.
        segment.is_followed = segment.is_followed && (segment.stream.opened == 0 || first_byte == segment.stream.next);
        segment.stream.opened = 0;
        bit<32> ahead = first_byte - segment.stream.next;
        bit<32> before = 0 - ahead;
        bit<32> late = 0;
        bit<32> late_end = 0;
        bit<32> moved = end;          // number of bytes by which the stream's end advances
        bool is_gap = segment.is_followed && ahead != 0 && (ahead < 0x80000000 || before > STREAM_REACH);
        if (is_gap) { counts.increment(stream_count.GAP); }
        if (is_gap || !segment.is_followed) {
            before = 0;
            if (is_gap && ahead < 0x80000000) {
                // One hole is kept: before an earlier one, nothing is known any more.
                if (segment.stream.hole_from != segment.stream.hole_to) { segment.stream.certain = segment.stream.hole_to; }
                moved = ahead + end;
                segment.stream.hole_from = 0;
                segment.stream.hole_to = 0 - ahead;
            } else {
                segment.stream.certain = 0;
                segment.stream.hole_from = 0;
                segment.stream.hole_to = 0;
            }
        } else if (before > segment.stream.certain) {
            if (segment.stream.hole_from != segment.stream.hole_to && end > before - segment.stream.hole_from) {
                // It overlaps the hole too: the bytes between them are read again.
                late_end = before - segment.stream.hole_to;
                if (end < late_end) { late_end = end; }
                segment.stream.certain = before;
                segment.stream.hole_from = before - late_end;
            } else {
                late_end = before - segment.stream.certain;
                if (end < late_end) { late_end = end; } else { segment.stream.certain = before; }
            }
        } else if (before > segment.stream.hole_to) {
            if (before > segment.stream.hole_from) { late = before - segment.stream.hole_from; }
            late_end = before - segment.stream.hole_to;
            if (end < late_end) { late_end = end; }
            // Bytes in the middle leave the hole as it is.
            if (late >= late_end) {
                late_end = 0;
            } else if (before - late == segment.stream.hole_from) {
                segment.stream.hole_from = before - late_end;
            } else if (before - late_end == segment.stream.hole_to) {
                segment.stream.hole_to = before - late;
            }
        }
        segment.late = late;
        segment.late_end = late_end;
        segment.is_late = late < late_end;
        segment.more = segment.more && end > before;
        if (segment.more) {
            moved = moved - before;
            segment.stream.next = first_byte + end;
            segment.stream.certain = segment.stream.certain + moved;
            segment.stream.hole_from = segment.stream.hole_from + moved;
            segment.stream.hole_to = segment.stream.hole_to + moved;
            if (segment.stream.certain > STREAM_REACH) { segment.stream.certain = STREAM_REACH; }
            if (segment.stream.hole_from > STREAM_REACH) { segment.stream.hole_from = STREAM_REACH; }
            if (segment.stream.hole_to > STREAM_REACH) { segment.stream.hole_to = STREAM_REACH; }
            segment.at = before;
        } else if (segment.is_followed && !segment.is_late && end != 0) {
            counts.increment(stream_count.AGAIN);
        }
        if (is_gap || !segment.is_followed) {
            segment.missed = (bit<1>)(is_gap && segment.stream.kept != 0) & segment.stream.known;
            // A message that has begun never ends.
            if (segment.stream.skip != STREAM_NO_END || !segment.is_followed) { segment.stream.skip = 0; }
            segment.stream.ticket = 0;
            segment.stream.kept = 0;
            segment.stream.known = 0;
            segment.stream.begun = 0;
            segment.stream.recorded = 0;
        }
        segment.was_begun = segment.stream.begun;
    }
}

/// Part of `stream_begin`: skips a body.
control stream_skip(inout stream_segment segment)(CounterArray counts) {
    apply {
        bit<32> rest = segment.end - segment.at;
        bit<64> skip = segment.stream.skip;
        if (segment.more && skip != 0) {
            if (skip >= CHUNKS_BEGIN && skip != STREAM_NO_END) { skip = payload_chunks(segment.at, rest, skip); }
            if (skip == STREAM_NO_END) {
                segment.more = false;
            } else if (skip == CHUNKS_LOST) {
                counts.increment(stream_count.UNFOLLOWED);
                segment.stream.skip = 0;
                segment.stream.known = 0;
                segment.stream.begun = 0;
                segment.more = false;
            } else if (skip >= (bit<64>)rest) {
                segment.stream.skip = skip >= CHUNKS_BEGIN ? skip : skip - (bit<64>)rest;
                segment.stream.begun = segment.stream.skip != 0 ? 1w1 : 0;
                segment.more = false;
            } else {
                segment.at = segment.at + (bit<32>)skip;
                segment.stream.skip = 0;
                segment.stream.begun = 0;
            }
        }
    }
}

/// Returns a segment without a stream, with so many bytes of payload.
stream_segment stream_unknown(in bit<32> bytes) {
    stream_message none = { 0, 0, false };
    return {
        more = bytes != 0, at = 0, end = bytes, status = message_status.OTHER, is_message = false, is_sided = false, message = none,
        has_body = false, is_open = false, body_at = 0, next = 0,
        stream = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, is_followed = false, seen = false, missed = 0, was_begun = 0,
        until = bytes, is_read = false, rest = none, rest_at = 0,
        awaited = 0, answered = 0, forgets = false, asked = 0, asks = 0, unfit = 0,
        is_late = false, late = 0, late_end = 0, late_status = message_status.OTHER,
        late_is_known = false, late_has_body = false, late_is_open = false
    };
}

/// Finds the first message of a segment. `sequence` is TCP's sequence number; `opens` says that the segment opens a connection (SYN). `bytes` is the length
/// of the payload without Ethernet's padding.
///
/// With `several`, a segment may have many messages, and they may have bodies.
control stream_begin(out stream_segment segment, in stream_ends ends, in bit<32> sequence, in bool opens, in bit<32> bytes)
                    (flow_state<stream_ends, stream_state> streams, message messages, CounterArray counts, bool several) {
    stream_find(streams, counts) find;
    stream_skip(counts) skip;
    apply {
        segment = stream_unknown(bytes);
        find.apply(segment, ends, sequence, opens);
        if (several) {
            skip.apply(segment);
        } else if (segment.is_late && segment.more) {
            // Only one part of a segment is read: a head that continues, or the late bytes.
            if (segment.stream.kept == 0) { segment.more = false; } else { segment.is_late = false; }
        }
        segment.is_read = segment.more;
        if (segment.is_read) {
            segment.rest.ticket = segment.stream.ticket;
            segment.rest.kept = segment.stream.kept;
            segment.rest.recorded = segment.stream.recorded == 1;
            segment.stream.ticket = 0;
            segment.stream.kept = 0;
            segment.stream.recorded = 0;
        }
        segment.rest_at = segment.at;
        if (segment.is_late) {
            segment.at = segment.late;
            segment.until = segment.late_end;
            segment.more = true;
        } else {
            segment.message = segment.rest;
        }
    }
}

/// Reads a message: for `attributes`, a list of names with `,` between them, or the whole message without `is_asked`.
control stream_read(inout stream_segment segment)(message messages, CounterArray counts, bool is_asked, string attributes) {
    apply {
        segment.more = false;
        segment.has_body = false;
        segment.is_sided = false;
        if (is_asked) {
            segment.status = messages.read_behind(segment.message.ticket, segment.at, segment.end - segment.at, attributes);
        } else {
            segment.status = messages.read_behind(segment.message.ticket, segment.at, segment.end - segment.at);
        }
        if (segment.status == message_status.OTHER && segment.message.kept != 0) {
            // The bytes that were kept begin no message, but one may begin here.
            if (segment.stream.known == 1) { counts.increment(stream_count.UNFOLLOWED); }
            segment.missed = segment.missed | segment.stream.known;
            segment.message = { 0, 0, false };
            segment.stream.known = 0;
            if (is_asked) {
                segment.status = messages.read_behind(0, segment.at, segment.end - segment.at, attributes);
            } else {
                segment.status = messages.read_behind(0, segment.at, segment.end - segment.at);
            }
        }
        segment.is_message = segment.status != message_status.OTHER && segment.status != message_status.BEGINS;
    }
}

/// Reads a message that is not followed, such as one in a UDP datagram. The segment comes from `stream_unknown`.
control stream_read_alone(inout stream_segment segment)(message messages, bool is_asked, string attributes) {
    apply {
        segment.more = false;
        segment.has_body = false;
        if (is_asked) {
            segment.status = messages.read_for(segment.at, segment.end - segment.at, attributes);
        } else {
            segment.status = messages.read(segment.at, segment.end - segment.at);
        }
        segment.is_message = segment.status != message_status.OTHER;
    }
}

/// Returns the ends of the stream in the other direction.
stream_ends stream_reversed(in stream_ends ends) {
    return { ends.dst, ends.src, ends.dst_port, ends.src_port };
}

/// Loads which requests wait for the answers in a segment. Behind `stream_begin`.
control stream_recall(inout stream_segment segment, in stream_ends ends, in bool opens)
                     (flow_state<stream_ends, stream_awaited> requests) {
    apply {
        if (opens) {
            // Those of an earlier connection with the same ends.
            stream_ends answers = stream_reversed(ends);
            @noWarn("unused") bool gone = requests.remove(answers);
        }
        if (segment.is_read) {
            // Answers may have been missed.
            segment.forgets = segment.is_followed && segment.stream.known == 0 && segment.rest.kept == 0;
            if (!segment.forgets) {
                stream_awaited awaited;
                @noWarn("unused") bool is_known = requests.lookup(ends, awaited);
                segment.awaited = awaited.kinds;
            }
        }
    }
}

/// Stores which requests wait for their answers. Behind `stream_end`.
control stream_remember(in stream_segment segment, in stream_ends ends)
                       (flow_state<stream_ends, stream_awaited> requests, CounterArray counts) {
    apply {
        stream_awaited awaited;
        if (segment.forgets || segment.answered != 0) {
            @atomic {
                if (requests.lookup(ends, awaited)) {
                    bit<8> by = segment.forgets || segment.answered > 31 ? 8w64 : (bit<8>)segment.answered << 1;
                    awaited.kinds = awaited.kinds >> by;
                    awaited.number = segment.forgets || awaited.number < segment.answered ? 32w0 : awaited.number - segment.answered;
                    requests.update(ends, awaited);
                }
            }
        }
        if (segment.asks != 0) {
            stream_ends answers = stream_reversed(ends);
            bool fits = true;
            @atomic {
                @noWarn("unused") bool is_known = requests.lookup(answers, awaited);
                bit<8> by = awaited.number > 31 ? 8w64 : (bit<8>)awaited.number << 1;
                bit<64> placed = segment.asked << by;
                fits = placed >> by == segment.asked;
                awaited.kinds = awaited.kinds | placed;
                awaited.number = awaited.number + segment.asks;
                requests.update(answers, awaited);
            }
            if (!fits || segment.unfit == 1) { counts.increment(stream_count.UNFOLLOWED); }
        }
    }
}

/// Reads a decimal number of `length` digits, of which `text` begins with the first ten. False if there are none or more than ten, or if other bytes are among them.
bool stream_decimal(in bit<80> text, in bit<32> length, out bit<64> number) {
    // Leading zeros make ten digits, also of an absent number. A loop over them would cost the verifier in each iteration of a loop around.
    bit<80> digits = text >> ((10 - (bit<8>)length) << 3);
    digits = digits | 80w0x30303030303030303030 << ((bit<8>)length << 3);
    bit<80> wrong = (digits & 0xf0f0f0f0f0f0f0f0f0f0) ^ 0x30303030303030303030;
    wrong = wrong | (((digits + 0x06060606060606060606) & 0xf0f0f0f0f0f0f0f0f0f0) ^ 0x30303030303030303030);
    number = (bit<64>)digits[3:0] + 10 * (bit<64>)digits[11:8]
        + 100 * (bit<64>)digits[19:16] + 1000 * (bit<64>)digits[27:24]
        + 10000 * (bit<64>)digits[35:32] + 100000 * (bit<64>)digits[43:40]
        + 1000000 * (bit<64>)digits[51:48] + 10000000 * (bit<64>)digits[59:56]
        + 100000000 * (bit<64>)digits[67:64] + 1000000000 * (bit<64>)digits[75:72];
    return length - 1 < 10 && (wrong[79:40] | wrong[39:0]) == 0;
}

/// Finds the next of several messages, after the body of this one, in this segment or a later one. The attribute `body` begins with the body, and the attribute
/// `length` is its length in decimal digits. With an attribute `chunked`, the body is in chunks, or, if that is not its last
/// coding, its length is unknown. What `head` says of the body counts with or without these.
control stream_body(inout stream_segment segment, in stream_head head)
                   (message messages, string body, string length, bool has_chunks, string chunked) {
    apply {
        bit<8> first;
        bit<32> rest_length;     // bytes of the segment from the body on
        bit<80> digits;
        bit<32> digits_length;
        bit<32> coding_length;
        bool is_coded = false;
        bit<1> is_chunked = 0;
        segment.has_body = messages.get_bytes(body, first, rest_length);
        bool has_digits = messages.get_bytes(length, digits, digits_length);
        if (has_chunks) {
            is_coded = messages.get_bytes(chunked, first, coding_length);
            is_chunked = (bit<1>)messages.matches(chunked, "(?i)(^|,)[ \\t]*chunked$");
        }
        bit<64> body_bytes;
        bool is_number = stream_decimal(digits, digits_length, body_bytes);
        // Bits instead of branches here and below: the verifier would follow each of these through the next iteration.
        bit<1> counts_now = (bit<1>)segment.has_body & ~(bit<1>)segment.is_late;
        bit<1> asks = counts_now & (bit<1>)head.asks;
        bit<1> answers = counts_now & (bit<1>)head.answers;
        bit<2> kind = segment.awaited[1:0] & (answers ++ answers);
        segment.awaited = segment.awaited >> ((bit<8>)answers << 1);
        segment.answered = segment.answered + (bit<32>)answers;
        // 32 have room.
        bit<1> fits = (bit<1>)(segment.asks < 32);
        bit<2> asked = head.kind & (asks ++ asks);
        segment.unfit = segment.unfit | (~fits & (bit<1>)(asked != 0));
        segment.asked = segment.asked | (bit<64>)(asked & (fits ++ fits)) << ((bit<8>)(segment.asks & 31) << 1);
        segment.asks = segment.asks + (bit<32>)asks;
        bit<4> emptiness = head.is_empty >> (bit<8>)kind;
        bit<1> is_empty = emptiness[0:0];
        body_bytes = body_bytes & ((bit<64>)is_empty - 1);
        // With kept bytes, less of the segment is read.
        bit<32> most = segment.message.kept == 0 ? STREAM_LIMIT : STREAM_LIMIT / 2;
        bit<32> shown = segment.end - segment.at > most ? most : segment.end - segment.at;
        segment.body_at = segment.at + shown - rest_length;
        bit<64> passed = 0;
        if (has_chunks) {
            is_chunked = is_chunked & ~is_empty & (bit<1>)segment.has_body;
            bit<32> chunks_length = (segment.end - segment.body_at) & (0 - (bit<32>)is_chunked);
            passed = payload_chunks(segment.body_at, chunks_length, CHUNKS_BEGIN) & (0 - (bit<64>)is_chunked);
        }
        segment.is_open = is_empty == 0 && (is_coded && is_chunked == 0 && !head.to_end || has_digits && !is_number) || passed == CHUNKS_LOST;
        bit<1> has_no_end = ~is_empty & (bit<1>)head.to_end & ~is_chunked & ~(bit<1>)has_digits;
        // Chunks that go on behind the segment have a state, which is no offset.
        bit<64> offset = ((bit<64>)segment.body_at + body_bytes + passed) | (0 - (bit<64>)has_no_end);
        segment.next = passed >= CHUNKS_BEGIN ? passed : offset;
        segment.more = ((bit<1>)segment.has_body & ~(bit<1>)segment.is_open & (bit<1>)(segment.next < (bit<64>)segment.until)) == 1;
        if (segment.more) {
            segment.at = (bit<32>)segment.next;
            segment.message = { 0, 0, false };
            segment.seen = true;
        }
    }
}

/// Goes on with the new bytes after the last message of the late ones. There is no further branch: the verifier would follow it through the
/// next iteration.
void stream_next(inout stream_segment segment) {
    if (segment.is_late && !segment.more) {
        segment.missed = segment.missed | (bit<1>)(segment.status != message_status.READ && (segment.is_message ? !segment.is_sided : segment.seen));
        segment.late_status = segment.status;
        segment.late_is_known = segment.seen;
        segment.late_has_body = segment.has_body;
        segment.late_is_open = segment.is_open;
        segment.is_late = false;
        segment.at = segment.rest_at;
        segment.until = segment.end;
        segment.more = segment.is_read;
        segment.seen = false;
        segment.has_body = false;
        segment.status = message_status.OTHER;
        segment.message = segment.rest;
    }
}

/// Part of `stream_end`: counts the last message of late bytes, of which nothing is kept.
control stream_count_late(in stream_segment segment, in message_status status)(CounterArray counts, bool several) {
    apply {
        if (status == message_status.OTHER || status == message_status.BEGINS) {
            if (several) {
                if (segment.late_is_known) { counts.increment(stream_count.UNFOLLOWED); }
            }
        } else if (status == message_status.READ) {
            if (several) {
                if (!segment.late_has_body || segment.late_is_open) { counts.increment(stream_count.UNFOLLOWED); }
            }
        } else if (status == message_status.TRUNCATED || status == message_status.LENGTH_PAST_END) {
            counts.increment(stream_count.UNFOLLOWED);
        } else if (status == message_status.TOO_LONG) {
            counts.increment(stream_count.UNREAD);
        } else {
            counts.increment(stream_count.MALFORMED);
        }
    }
}

/// Part of `stream_end`: keeps the beginning of a message that continues in a later segment.
control stream_keep(inout stream_segment segment)(message messages, CounterArray counts, bool several, bool in_order) {
    apply {
        bool was_known = segment.seen || segment.stream.known == 1;
        message_status why = segment.status;
        bool is_message = segment.status != message_status.OTHER && segment.status != message_status.BEGINS;
        if (several) {
            if (is_message && !segment.has_body) {
                why = messages.read_behind(segment.message.ticket, segment.at, segment.end - segment.at);
            }
        }
        bool is_cut = why == message_status.TRUNCATED || why == message_status.LENGTH_PAST_END;
        bool waits = is_cut && !(in_order && segment.is_sided);
        if (!is_message) {
            // They may be its first bytes, also where none was expected.
            waits = segment.status == message_status.BEGINS;
            is_cut = was_known;
        } else {
            segment.seen = true;
        }
        bool is_missed = segment.status != message_status.READ && (is_message ? !segment.is_sided : was_known);
        segment.stream.known = 0;
        segment.stream.begun = 0;
        bit<32> bytes = segment.end - segment.at;
        if (several && segment.has_body) {
            if (segment.is_open) {
                counts.increment(stream_count.UNFOLLOWED);
            } else {
                segment.stream.known = 1;
                if (segment.next >= CHUNKS_BEGIN) {
                    segment.stream.skip = segment.next;
                    if (segment.next != STREAM_NO_END && segment.body_at < segment.end) { segment.stream.begun = 1; }
                } else {
                    segment.stream.skip = segment.next - (bit<64>)segment.end;
                    if (segment.next > (bit<64>)segment.end && segment.body_at < segment.end) { segment.stream.begun = 1; }
                }
            }
        } else if (waits && segment.message.kept + bytes <= STREAM_KEPT) {
            segment.stream.ticket = messages.keep(segment.message.ticket, segment.at, bytes);
            if (segment.stream.ticket == 0) {
                counts.increment(stream_count.UNFOLLOWED);
            } else {
                is_missed = false;
                segment.stream.known = is_message || was_known ? 1w1 : 0;
                segment.stream.begun = 1;
                segment.stream.kept = segment.message.kept + bytes;
                if (segment.status == message_status.READ) { segment.stream.recorded = 1; }
            }
        } else if (is_cut) {
            counts.increment(stream_count.UNFOLLOWED);
        } else if (is_message && segment.status != message_status.READ) {
            if (why == message_status.TOO_LONG) { counts.increment(stream_count.UNREAD); } else { counts.increment(stream_count.MALFORMED); }
        } else if (several) {
            // An error after all attributes that are asked for does not make a message malformed.
            if (segment.status == message_status.READ && why != message_status.READ) { counts.increment(stream_count.UNFOLLOWED); }
        }
        if (in_order) { segment.missed = segment.missed | (bit<1>)is_missed; }
    }
}

/// Part of `stream_end`: stores the state of the stream. Two segments on two processors do not know each other's end.
control stream_store(inout stream_segment segment, in stream_ends ends)(flow_state<stream_ends, stream_state> streams, CounterArray counts) {
    apply {
        if (segment.is_followed && segment.end != 0 || segment.seen || segment.stream.begun == 1) {
            stream_state now;
            bool is_raced = false;
            @atomic {
                bool is_there = streams.lookup(ends, now);
                if (is_there && now.version != segment.stream.version) {
                    is_raced = true;
                    segment.was_begun = now.begun;
                    segment.stream.skip = 0;
                    segment.stream.ticket = 0;
                    segment.stream.kept = 0;
                    segment.stream.known = 0;
                    segment.stream.recorded = 0;
                    segment.stream.opened = now.opened;
                }
                segment.stream.version = now.version + 1;
                streams.update(ends, segment.stream);
            }
            if (is_raced) { counts.increment(stream_count.UNFOLLOWED); }
            if (segment.stream.begun == 1 && segment.was_begun == 0) { counts.increment(stream_count.BEGUN); }
            if (segment.stream.begun == 0 && segment.was_begun == 1) { counts.increment(stream_count.ENDED); }
        }
    }
}

/// Stores the stream after the last message of a segment. With `in_order`, messages are counted in the order of the stream, so that none waits for its rest
/// that shows its side of an exchange.
control stream_end(inout stream_segment segment, in stream_ends ends)
                  (flow_state<stream_ends, stream_state> streams, message messages, CounterArray counts, bool several, bool in_order) {
    stream_count_late(counts, several) count_late;
    stream_keep(messages, counts, several, in_order) keep;
    stream_store(streams, counts) store;
    apply {
        if (several) {
            count_late.apply(segment, segment.late_status);
            if (segment.more) {
                // Too many messages.
                counts.increment(stream_count.UNREAD);
                if (segment.is_read) {
                    segment.stream.known = 0;
                    segment.stream.begun = 0;
                }
            } else if (segment.is_read) {
                keep.apply(segment);
            }
        } else if (segment.is_late) {
            count_late.apply(segment, segment.status);
        } else if (segment.is_read) {
            keep.apply(segment);
        }
        store.apply(segment, ends);
    }
}

#endif

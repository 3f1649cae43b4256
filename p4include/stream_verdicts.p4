// SPDX-License-Identifier: Apache-2.0
//
//! TCP streams, followed to decide about each segment while it passes.
//!
//! A client's bytes are read in order, from the server's SYN-ACK on, so that what is decided holds for what the server gets. A segment passes only if the
//! bytes before it passed: one that is ahead is dropped, and TCP sends it again. Bytes are held until the server has acknowledged them. A segment that brings
//! other ones in their place is dropped. So nothing is gained by segments that the server never gets, or that overlap.
//!
//! What cannot be followed is unknown: it passes, or is dropped with `drops_unknown`. It is counted by its reason in any case.
//!
//! ```p4
//! flow_state<stream_ends, followed_stream>(65536) followed;
//! flow_state<stream_ends, decided_stream>(65536) decided;
//! stream_bytes(1024) held;
//! CounterArray(VERDICT_COUNTS, false) counts;
//! message("tls", STREAM_LIMIT) tls;
//! verdict_decided(decided = decided) decision;
//! verdict_begin(followed = followed, held = held, counts = counts, drops_unknown = false) begin;
//! verdict_end(followed = followed, decided = decided, held = held, counts = counts, drops_unknown = false) end;
//! verdict_acknowledge(followed = followed, decided = decided, held = held) acknowledge;
//!
//! apply {
//!     if (hdr.tcp.dst_port == 443) {
//!         stream_ends ends = { 0, 0, hdr.tcp.src_port, hdr.tcp.dst_port };
//!         packet_addresses(hdr, ends.src, ends.dst);
//!         bool opens = hdr.tcp.flags[1:1] == 1;
//!         bool is_decided;
//!         decision.apply(is_decided, pass, ends, opens, hdr.payload_bytes);
//!         if (!is_decided) {
//!             verdict_segment segment;
//!             begin.apply(segment, ends, hdr.tcp.seq, opens, hdr.tcp.flags[5:5] == 1, hdr.payload_bytes);
//!             if (segment.is_read) {
//!                 message_status status = tls.read_held(held, segment.ticket, segment.message, segment.at, segment.bytes, "sni");
//!                 if (status != message_status.READ) {
//!                     verdict_unread(segment, status);
//!                 } else if (...) {
//!                     verdict_block(segment);
//!                 } else {
//!                     verdict_allow(segment);
//!                 }
//!             }
//!             end.apply(segment, ends);
//!             pass = segment.passes;
//!         }
//!     } else if (hdr.tcp.src_port == 443) {
//!         stream_ends ends = { 0, 0, hdr.tcp.dst_port, hdr.tcp.src_port };
//!         packet_addresses(hdr, ends.dst, ends.src);
//!         acknowledge.apply(pass, ends, hdr.tcp.seq, hdr.tcp.ack, hdr.tcp.flags[1:1] == 1, 0, 0);
//!     }
//! }
//! ```
//!
//! Messages that follow one another in a stream are read in a loop, while `segment.is_read`: `verdict_next` and `verdict_chunks` go on behind one.
//! `programs/url_firewall` of the repository is a whole program.
//!
//! The program has to see both directions. A stream whose SYN-ACK it did not see is unknown. Without `drops_unknown` such a stream is read in order too, from the first segment
//! that is seen, and counted with that segment.
//!
//! RST and FIN end no stream: the state stays until another one takes its place.

#ifndef _STREAM_VERDICTS_P4_
#define _STREAM_VERDICTS_P4_

#include <core.p4>
#include <ebpf_model.p4>
#include <flow_state.p4>
#include <payload.p4>
#include <streams.p4>

/// The indices of counters.
enum bit<32> verdict_count {
    // Streams that are unknown.
    UNOPENED  = 0,    // begin of the stream, or the server's answer to it, was not seen
    OTHER     = 1,    // bytes that are no such message
    MALFORMED = 2,    // malformed messages
    TOO_LONG  = 3,    // messages that are too long
    FORGOTTEN = 4,    // bytes that are held no more: too many streams wait
    MANY      = 5,    // too many messages in a segment
    URGENT    = 6,    // urgent data, of which servers may leave a byte out
    // From 8 on: segments that are dropped, and that TCP sends again.
    AHEAD     = 8,    // bytes before them are missing
    DIFFERS   = 9,    // they bring other bytes than those that came before
    WAITS     = 10,   // too many bytes before them are not acknowledged
    RACED     = 11,   // another processor had the stream
    SHORT     = 12    // the packet has fewer bytes than its headers say
}

/// Number of these counters. The array may have more, for the program's own counts.
const bit<32> VERDICT_COUNTS = 13;

/// A stream that is not decided.
struct followed_stream {
    bit<64> ticket;        // leads to the bytes that are held
    bit<64> body;          // bytes behind the next one that are not read; of a body in chunks, the state of `payload_chunks`
    bit<32> first;         // sequence number of the first byte
    bit<32> next;          // of the byte behind those that came
    bit<32> message;       // of the first byte of the message that is read next
    bit<32> held;          // of the first byte that is held
    bit<32> held_end;      // of the one behind the last byte that is held
    bit<32> acknowledged;  // of the one behind those that the server has acknowledged
    bit<32> answered;      // number of the server's SYN-ACK
    bit<32> kind;          // the program's, 0 in a new stream
    bit<8>  is_confirmed;  // the server's SYN-ACK was seen
    bit<8>  is_counted;    // it is counted as one that was not opened
    bit<8>  is_allowed;    // nothing more is read; decided as soon as the server has acknowledged what is held
    bit<8>  is_reopened;   // its SYN came again behind bytes that the server has acknowledged: of a server with SYN cookies, another stream may have the same numbers
}

/// A stream that is decided.
struct decided_stream {
    bit<32> first;         // sequence number of the first byte
    bit<32> next;          // of the byte behind those that were read
    bit<32> answered;      // number of the server's SYN-ACK
    bit<8>  is_blocked;
    bit<8>  is_confirmed;  // 1: the server's SYN-ACK was seen; 2: and it has acknowledged what was held; 3: and a SYN came then
}

/// A client's segment.
struct verdict_segment {
    bool            passes;
    // The message that is read next.
    bool            is_read;    // there is one to read
    bit<64>         ticket;     // of the bytes that have it; 0 if it is in this segment
    bit<32>         message;    // sequence number of its first byte
    bit<32>         at;         // offset in the payload of this byte, if it is there
    bit<32>         bytes;      // number of its bytes that have come
    // The stream.
    followed_stream stream;
    bool            is_known;   // it was followed before this segment
    bool            is_stored;  // its state changes
    bit<64>         was_ticket;
    bit<32>         was_acknowledged;
    bit<32>         was_next;
    bit<32>         was_kind;
    bit<32>         first_byte; // sequence number of the segment's first byte
    bit<32>         until;      // of the byte behind those that are read
    bit<32>         end;        // of the byte behind the segment
    bool            opens;      // it is a SYN
    bool            is_blocked;
    bool            is_unknown;
    bool            is_lost;
    bit<32>         why;        // counter of the reason
}

/// Returns the state of a stream that begins at a sequence number.
followed_stream verdict_stream(in bit<32> first) {
    return { 0, 0, first, first, first, first, first, first, 0, 0, 0, 0, 0, 0 };
}

/// Drops a segment, which TCP sends again.
void verdict_drop(inout verdict_segment segment, in bit<32> why) {
    segment.passes = false;
    segment.is_read = false;
    segment.is_stored = false;
    segment.is_lost = true;
    segment.why = why;
}

/// Decides that a stream is unknown.
void verdict_unknown(inout verdict_segment segment, in bit<32> why) {
    segment.is_unknown = true;
    segment.is_read = false;
    segment.why = why;
}

/// Goes on behind a message and its body, which have `length` bytes.
void verdict_next(inout verdict_segment segment, in bit<64> length) {
    bit<64> left = (bit<64>)(segment.end - segment.message);
    segment.is_read = false;
    if (length >= left) {
        segment.stream.body = length - left;
        segment.stream.message = segment.end;
    } else {
        segment.stream.body = 0;
        segment.stream.message = segment.message + (bit<32>)length;
        segment.message = segment.stream.message;
        segment.ticket = 0;
        segment.at = segment.message - segment.first_byte;
        segment.bytes = segment.until - segment.message;
        if ((int<32>)segment.bytes > 0) {
            segment.is_read = true;
        } else {
            verdict_drop(segment, verdict_count.WAITS);
        }
    }
}

/// Passes over a body in chunks that begins, or goes on, at a sequence number in this segment.
void verdict_chunks(inout verdict_segment segment, in bit<32> begin, in bit<64> state) {
    bit<64> passed = payload_chunks(begin - segment.first_byte, segment.until - begin, state);
    segment.is_read = false;
    if (passed < CHUNKS_BEGIN) {
        verdict_next(segment, (bit<64>)(begin - segment.message) + passed);
    } else if (passed == CHUNKS_LOST) {
        verdict_unknown(segment, verdict_count.MALFORMED);
    } else if (segment.until != segment.end) {
        verdict_drop(segment, verdict_count.WAITS);
    } else {
        segment.stream.body = passed;
        segment.stream.message = segment.end;
    }
}

/// Takes a status of reading a message other than READ.
void verdict_unread(inout verdict_segment segment, in message_status status) {
    segment.is_read = false;
    if (status == message_status.TRUNCATED || status == message_status.LENGTH_PAST_END || status == message_status.BEGINS) {
        // It goes on in a later segment.
        if (segment.until != segment.end) { verdict_unknown(segment, verdict_count.TOO_LONG); }
    } else if (status == message_status.OTHER) {
        verdict_unknown(segment, verdict_count.OTHER);
    } else if (status == message_status.TOO_LONG) {
        verdict_unknown(segment, verdict_count.TOO_LONG);
    } else {
        verdict_unknown(segment, verdict_count.MALFORMED);
    }
}

/// Decides that nothing more of the stream is read.
void verdict_allow(inout verdict_segment segment) {
    segment.is_read = false;
    segment.stream.is_allowed = 1;
}

/// Decides that the stream is blocked.
void verdict_block(inout verdict_segment segment) {
    segment.is_read = false;
    segment.is_blocked = true;
}

/// Part of `verdict_begin`: holds the new bytes of a segment, from an offset on, and finds the message that is read.
control verdict_hold(inout verdict_segment segment, in bit<32> at)(stream_bytes held) {
    apply {
        // Bytes that are read and acknowledged are held no longer.
        bit<32> done = segment.stream.message;
        // Of a stream that is not confirmed, the server's answers may not be seen.
        if (segment.stream.is_confirmed == 1 && (int<32>)(done - segment.stream.acknowledged) > 0) { done = segment.stream.acknowledged; }
        if ((int<32>)(done - segment.stream.held) > 0) { segment.stream.held = done; }
        if ((int<32>)(segment.stream.held_end - segment.stream.held) <= 0) {
            segment.stream.held = segment.stream.next;
            segment.stream.held_end = segment.stream.next;
            segment.stream.ticket = 0;
        }
        bit<32> room = STREAM_HELD - (segment.stream.next - segment.stream.held);
        bit<32> new_bytes = segment.end - segment.stream.next;
        if (new_bytes < room) { room = new_bytes; }
        if (segment.stream.held_end != segment.stream.next) {
            verdict_drop(segment, verdict_count.WAITS);
        } else if (room == 0) {
            if (segment.stream.held == segment.stream.message) {
                verdict_unknown(segment, verdict_count.TOO_LONG);
            } else {
                verdict_drop(segment, verdict_count.WAITS);
            }
        } else {
            bit<64> ticket = held.hold(segment.stream.ticket, segment.stream.next, at, room);
            segment.is_stored = true;
            if (ticket == 0) {
                // If another processor stored the stream meanwhile, or released its bytes, this one fails too.
                verdict_unknown(segment, verdict_count.FORGOTTEN);
            }
            segment.stream.ticket = ticket;
            segment.until = segment.stream.next + room;
            segment.stream.held_end = segment.until;
            segment.message = segment.stream.message;
            segment.ticket = segment.message == segment.stream.next ? 0 : ticket;
            segment.at = at;
            segment.bytes = segment.until - segment.message;
            if (!segment.is_unknown) {
                if (segment.stream.body != 0) {
                    verdict_chunks(segment, segment.stream.next, segment.stream.body);
                } else {
                    segment.is_read = true;
                }
            }
        }
    }
}

/// Looks up if a client's stream is decided. Then `passes` is what was decided, and nothing else is to do for the segment. `opens` is true for a SYN.
control verdict_decided(out bool is_decided, out bool passes, in stream_ends ends, in bool opens, in bit<32> bytes)(flow_state<stream_ends, decided_stream> decided) {
    apply {
        decided_stream known;
        is_decided = decided.lookup(ends, known);
        passes = opens ? bytes == 0 : known.is_blocked == 0;
        if (is_decided && opens && known.is_confirmed == 2) {
            @atomic {
                decided_stream now;
                if (decided.lookup(ends, now) && now.is_confirmed == 2) {
                    now.is_confirmed = 3;
                    decided.update(ends, now);
                }
            }
        }
        if (is_decided && opens && known.is_confirmed == 0) {
            // Another stream may begin. Of one that is confirmed, the SYN-ACK tells.
            is_decided = false;
            @noWarn("unused") bool gone = decided.remove(ends);
        }
    }
}

/// Finds the bytes of a segment that are new, of a client's stream that is not decided, and the message that they belong to. `sequence` is the segment's number, and `opens` is true for a SYN.
/// Without bytes, only a SYN and a segment with the flag URG have to be given. `is_urgent` is true if the segment has the flag URG.
control verdict_begin(out verdict_segment segment, in stream_ends ends, in bit<32> sequence, in bool opens, in bool is_urgent, in bit<32> bytes)
                     (flow_state<stream_ends, followed_stream> followed, stream_bytes held, CounterArray counts, bool drops_unknown) {
    verdict_hold(held = held) hold;
    apply {
        bit<32> first = opens ? sequence + 1 : sequence;
        segment.passes = true;
        segment.is_read = false;
        segment.is_known = false;
        segment.is_stored = false;
        segment.is_blocked = false;
        segment.is_unknown = false;
        segment.is_lost = false;
        segment.why = 0;
        segment.first_byte = first;
        segment.end = first + bytes;
        segment.opens = opens;
        segment.until = first;
        segment.message = first;
        segment.ticket = 0;
        segment.at = 0;
        segment.bytes = 0;
        segment.stream = verdict_stream(first);
        segment.was_ticket = 0;
        segment.was_acknowledged = first;
        segment.was_next = first;
        segment.was_kind = 0;
        followed_stream stream;
        segment.is_known = followed.lookup(ends, stream);
        if (segment.is_known && opens && stream.first != first) {
            if (stream.is_confirmed == 0) {
                segment.is_known = false;
                @noWarn("unused") bool gone = followed.remove(ends);
                if (stream.ticket != 0) { gone = held.release(stream.ticket); }
            } else if (bytes != 0) {
                verdict_drop(segment, verdict_count.WAITS);
            }
        }
        if (segment.is_known) {
            segment.stream = stream;
            segment.was_ticket = stream.ticket;
            segment.was_acknowledged = stream.acknowledged;
            segment.was_next = stream.next;
            segment.was_kind = stream.kind;
        }
        if (segment.is_known && opens && stream.first == first && stream.acknowledged != first) {
            segment.stream.is_reopened = 1;
            segment.is_stored = true;
            if (bytes != 0) { verdict_drop(segment, verdict_count.WAITS); }
        }
        if (segment.is_lost) {
            // It passes later.
        } else if (is_urgent) {
            verdict_unknown(segment, verdict_count.URGENT);
        } else if (bytes == 0) {
            // Nothing to read.
        } else if (drops_unknown && opens) {
            // The server may answer another SYN. Without data, this one comes again.
            verdict_drop(segment, verdict_count.WAITS);
        } else if (bytes > payload_length()) {
            // The server discards it.
            verdict_drop(segment, verdict_count.SHORT);
        } else if (drops_unknown && !opens && segment.stream.is_confirmed == 0) {
            verdict_drop(segment, verdict_count.UNOPENED);
        } else {
            if (!opens && segment.stream.is_confirmed == 0 && segment.stream.is_counted == 0) {
                segment.stream.is_counted = 1;
                counts.increment(verdict_count.UNOPENED);
            }
            // Bytes that are held must come again as they are: from this offset on, and up to the next one.
            int<32> from = (int<32>)(segment.stream.held - first);
            // The server discards what it has acknowledged.
            if ((int<32>)(segment.stream.acknowledged - segment.stream.held) > 0) { from = (int<32>)(segment.stream.acknowledged - first); }
            int<32> to = (int<32>)(segment.stream.held_end - first);
            if (from < 0) { from = 0; }
            if (to > (int<32>)bytes) { to = (int<32>)bytes; }
            bool is_same = true;
            if (to > from) {
                is_same = held.equal(segment.stream.ticket, first + (bit<32>)from, (bit<32>)from, (bit<32>)(to - from));
            }
            bit<32> ahead = first - segment.stream.next;
            bool is_ahead = (int<32>)ahead > 0;
            bit<64> body = segment.stream.body < CHUNKS_BEGIN ? segment.stream.body : 0;
            if (!is_same) {
                verdict_drop(segment, verdict_count.DIFFERS);
            } else if (segment.stream.is_allowed == 1 || (int<32>)(segment.end - segment.stream.next) <= 0) {
                // Nothing new, or nothing that is read.
            } else if (is_ahead && segment.end - segment.stream.acknowledged > STREAM_REACH) {
                verdict_drop(segment, verdict_count.AHEAD);
            } else if (body >= (bit<64>)(segment.end - segment.stream.next)) {
                // All new bytes are of a body, whatever is missing.
                segment.stream.body = segment.stream.body - (bit<64>)(segment.end - segment.stream.next);
                segment.stream.next = segment.end;
                segment.stream.message = segment.end;
                segment.is_stored = true;
            } else if (is_ahead && body < (bit<64>)ahead) {
                verdict_drop(segment, verdict_count.AHEAD);
            } else {
                if (body != 0) {
                    segment.stream.body = 0;
                    segment.stream.next = segment.stream.next + (bit<32>)body;
                    segment.stream.message = segment.stream.next;
                }
                hold.apply(segment, segment.stream.next - first);
                segment.stream.next = segment.end;
            }
        }
    }
}

/// Stores what was read, and decides. Programs apply it behind the last message of a segment.
control verdict_end(inout verdict_segment segment, in stream_ends ends)
                   (flow_state<stream_ends, followed_stream> followed, flow_state<stream_ends, decided_stream> decided, stream_bytes held, CounterArray counts, bool drops_unknown) {
    apply {
        if (segment.is_read) { verdict_unknown(segment, verdict_count.MANY); }
        if (segment.is_stored) {
            followed_stream now;
            bool is_raced = false;
            @atomic {
                bool is_there = followed.lookup(ends, now);
                // The server's acknowledgement releases bytes.
                bool is_released = segment.is_unknown && segment.why == verdict_count.FORGOTTEN && now.acknowledged != segment.was_acknowledged;
                is_raced = is_there != segment.is_known || is_there && (now.ticket != segment.was_ticket || now.next != segment.was_next || now.first != segment.stream.first || is_released);
                if (!is_raced) {
                    if (is_there) {
                        segment.stream.acknowledged = now.acknowledged;
                        segment.stream.is_confirmed = now.is_confirmed;
                        segment.stream.answered = now.answered;
                        if (now.kind != segment.was_kind) { segment.stream.kind = now.kind; }
                    }
                    followed.update(ends, segment.stream);
                }
            }
            // A stream has one place. The ticket of bytes that were added to others leads to the same one.
            bit<64> left = segment.was_ticket;
            if (is_raced) {
                left = left == 0 ? segment.stream.ticket : 0;
                verdict_drop(segment, verdict_count.RACED);
            }
            if (left != 0 && left != segment.stream.ticket || is_raced && left != 0) { @noWarn("unused") bool gone = held.release(left); }
        }
        bool counts_why = segment.is_lost;
        if (!segment.is_lost) {
            bit<8> is_blocked = (segment.is_blocked || segment.is_unknown && drops_unknown) ? 8w1 : 0;
            bool is_final = segment.is_blocked || segment.is_unknown || segment.stream.is_allowed == 1 && segment.stream.is_confirmed == 0 && !segment.opens;
            if (is_final) {
                decided.update(ends, { segment.stream.first, segment.end, segment.stream.answered, is_blocked, segment.stream.is_confirmed });
                @noWarn("unused") bool gone = followed.remove(ends);
                if (segment.stream.ticket != 0) { gone = held.release(segment.stream.ticket); }
            }
            if (is_blocked == 1) { segment.passes = false; }
            // One that was not opened is counted already.
            counts_why = segment.is_unknown && segment.stream.is_counted == 0;
        }
        if (counts_why) { counts.increment(segment.why); }
    }
}

/// Takes a server's segment: its sequence number, what it acknowledges, and if it is a SYN. `ends` are those of the client's direction. A stream of the kind `of_kind` gets another kind, unless
/// that is 0.
control verdict_acknowledge(out bool passes, in stream_ends ends, in bit<32> sequence, in bit<32> acknowledged, in bool opens, in bit<32> of_kind, in bit<32> kind)
                           (flow_state<stream_ends, followed_stream> followed, flow_state<stream_ends, decided_stream> decided, stream_bytes held) {
    apply {
        decided_stream known;
        passes = true;
        bool is_decided = decided.lookup(ends, known);
        if (is_decided && opens && (known.is_confirmed == 3 && acknowledged == known.first || known.is_confirmed != 0 && sequence != known.answered || acknowledged - known.first > known.next - known.first)) {
            // Another stream begins. With SYN cookies, it may have the numbers of the one before.
            is_decided = false;
            @noWarn("unused") bool gone = decided.remove(ends);
        }
        if (is_decided) {
            passes = known.is_blocked == 0;
        } else {
            followed_stream stream;
            bool is_allowed = false;
            bit<64> done = 0;
            @atomic {
                bool is_known = followed.lookup(ends, stream);
                if (opens) {
                    bool is_other = stream.is_confirmed == 1 && sequence != stream.answered || stream.is_reopened == 1 && acknowledged == stream.first || acknowledged - stream.first > stream.next - stream.first;
                    if (is_known && is_other) { done = stream.ticket; }
                    if (!is_known || is_other) { stream = verdict_stream(acknowledged); }
                    if (stream.is_confirmed == 0) { stream.acknowledged = acknowledged; }
                    stream.is_confirmed = 1;
                    stream.answered = sequence;
                    followed.update(ends, stream);
                } else if (is_known) {
                    bool is_newer = (int<32>)(acknowledged - stream.acknowledged) > 0;
                    bool is_changed = kind != 0 && stream.kind == of_kind;
                    if (is_newer) { stream.acknowledged = acknowledged; }
                    if (is_changed) { stream.kind = kind; }
                    if (is_newer || is_changed) { followed.update(ends, stream); }
                    if (is_newer && (int<32>)(stream.acknowledged - stream.held_end) >= 0 && (int<32>)(stream.message - stream.held_end) >= 0) { done = stream.ticket; }
                }
                is_allowed = is_known && stream.is_allowed == 1 && (int<32>)(stream.acknowledged - stream.held_end) >= 0;
            }
            // These bytes need not come again.
            if (is_allowed) { done = stream.ticket; }
            if (done != 0) { @noWarn("unused") bool free = held.release(done); }
            if (is_allowed) {
                decided.update(ends, { stream.first, stream.next, stream.answered, 0, stream.is_confirmed == 1 ? 8w2 : 0 });
                @noWarn("unused") bool gone = followed.remove(ends);
            }
        }
    }
}

#endif

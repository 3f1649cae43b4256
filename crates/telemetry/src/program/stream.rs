//! Streams in P4: what is known of each is in a flow state, and the bytes of a head that is cut are kept by the object that reads messages. It
//! does what [`crate::streams`] does.

use super::bodiless::Bodiless;
use crate::messages::MOST_KEPT;
use crate::streams::{REACH, STREAMS};
use std::fmt::Write;

/// The types of what is kept of streams.
pub(super) const TYPES: &str = "
struct direction_t {
    bit<128> src;
    bit<128> dst;
    bit<16>  src_port;
    bit<16>  dst_port;
}

struct stream_t {
    bit<64> skip;          // bytes of a body, behind which the next message begins
    bit<64> ticket;        // of a head that is cut: it leads to the bytes that are kept
    bit<32> next;          // number of the byte behind the last one
    bit<32> certain;       // so many bytes in front of it came, but for those that are missing; of others that is not known
    bit<32> hole_from;     // the bytes that are missing: from so many in front of it
    bit<32> hole_to;       // to so many
    bit<32> kept;          // how many bytes are kept, of a head or of what may be one
    bit<32> turn;          // how often this was written
    bit<1>  known;         // whether a message begins, or goes on, at the next byte
    bit<1>  begun;         // whether a message has begun, and not ended
    bit<1>  recorded;      // whether that was counted before
    bit<1>  unsure;        // whether that body is empty if a message begins in its place, which so far is not known
    bit<1>  opened;        // whether a connection with the same ends was opened
}
";

/// Finds which bytes of a segment are to be read.
const BEGIN: &str = include_str!("stream.p4h");

/// Passes over what belongs to a body.
const SKIP: &str = include_str!("skip.p4h");

/// How messages are followed from segment to segment.
#[derive(Clone, Copy)]
pub(super) struct Following {
    /// Whether several follow one another, so that it is known where the next one begins.
    pub several: bool,
    /// Whether their order counts, so that none waits for its rest.
    pub in_order: bool,
}

/// That a message is none.
pub(super) const IS_NONE: &str =
    "(status == message_status.OTHER || status == message_status.BEGINS)";

/// The state of streams.
pub(super) fn object(out: &mut String) {
    let _ = writeln!(
        out,
        "    const bit<32> MOST_KEPT = {MOST_KEPT};\n    const bit<32> REACH = {REACH};   // so far in front of its end, a segment of a stream may come late\n    \
         flow_state<direction_t, stream_t>({STREAMS}) streams;"
    );
}

impl Following {
    /// Finds where in a segment messages begin or go on.
    pub(super) fn begin(self, bodiless: Option<&Bodiless>, out: &mut String) {
        *out += BEGIN;
        *out += "        if (is_gap || !is_followed) {
            // What has begun never ends.
            stream.skip = 0;
            stream.ticket = 0;
            stream.kept = 0;
            stream.known = 0;
            stream.begun = 0;
            stream.recorded = 0;
        }
        bit<1> was_begun = stream.begun;
";
        if self.several {
            *out += "        if (more && stream.skip != 0) {
            bool is_next = false;
            bit<32> rest = end - at;
";
            if let Some(bodiless) = bodiless {
                *out += "            if (stream.unsure == 1) {\n";
                let kept = Some(["stream.ticket", "stream.kept"]);
                bodiless.look("                ", kept, "at", out);
                *out += UNSURE;
            }
            *out += SKIP;
        } else {
            *out += "        if (is_late && more) {
            // Only one part of a segment is read: a head that goes on, or what comes late.
            if (stream.kept == 0) { more = false; } else { is_late = false; }
        }
";
        }
    }

    /// What is known of the message that is read first.
    pub(super) fn first(self, out: &mut String) {
        *out += FIRST;
        if self.several {
            *out += FIRST_LATE;
        }
        *out += "        if (is_late) {
            at = late;
            until = late_end;
            more = true;
        } else {
            ticket = rest_ticket;
            kept = rest_kept;
            recorded = rest_recorded;
        }
";
    }

    /// Reads the segment once more, if bytes that were kept are the first ones of no message.
    pub(super) fn again(self, call: &str, out: &mut String) {
        let _ = writeln!(
            out,
            "            if (status == message_status.OTHER && kept != 0) {{
                // But one may begin here.
                packets.increment(12);
                ticket = 0;
                kept = 0;
                recorded = false;
                stream.known = 0;
                status = messages.{call};
            }}"
        );
    }

    /// Behind the last message of a part of a segment, in the loop that reads messages: goes on with the next part.
    pub(super) fn next_part(self, out: &mut String) {
        *out += NEXT_PART;
    }

    /// What becomes of the last message of what comes late, which has this status: nothing is kept of it.
    fn count_late(self, pad: &str, status: &str, out: &mut String) {
        let (other, read) = match self.several {
            true => (
                "if (late_is_known) { packets.increment(12); }",
                "if (!late_has_body || late_is_open) { packets.increment(12); }",
            ),
            false => ("", ""),
        };
        let _ = writeln!(
            out,
            "{pad}if ({status} == message_status.OTHER || {status} == message_status.BEGINS) {{
{pad}    {other}
{pad}}} else if ({status} == message_status.READ) {{
{pad}    {read}
{pad}}} else if ({status} == message_status.TRUNCATED || {status} == message_status.LENGTH_PAST_END) {{
{pad}    packets.increment(12);
{pad}}} else if ({status} == message_status.TOO_LONG) {{
{pad}    packets.increment(6);
{pad}}} else {{
{pad}    packets.increment(4);
{pad}}}"
        );
    }

    /// What becomes of the message that was read last, and what is kept of its stream.
    pub(super) fn end(self, out: &mut String) {
        if self.several {
            self.count_late("        ", "late_status", out);
            *out += BEYOND;
        } else {
            *out += "        if (is_late) {\n";
            self.count_late("            ", "status", out);
            *out += "        } else if (is_read) {\n";
        }
        *out += "            bool was_known = seen || stream.known == 1;
            message_status why = status;
";
        if self.several {
            let _ = writeln!(
                out,
                "            if (!{IS_NONE} && !has_body) {{ why = messages.read_behind(ticket, at, end - at); }}"
            );
        }
        let waits = if self.in_order { "false" } else { "is_cut" };
        let _ = writeln!(
            out,
            "            bool is_cut = why == message_status.TRUNCATED || why == message_status.LENGTH_PAST_END;
            bool waits = {waits};
            if {IS_NONE} {{
                // They may be its first bytes.
                waits = was_known && status == message_status.BEGINS;
                is_cut = was_known;
            }} else {{
                seen = true;
            }}
            stream.known = 0;
            stream.begun = 0;"
        );
        *out += "            ";
        if self.several {
            *out += WHOLE;
        }
        *out += END;
        if self.several {
            *out += WRONG_BEHIND;
        }
        *out += "        }\n";
        *out += UPDATE;
    }
}

/// What is known of the message that is read first, of what is behind all others, which is the first part unless something comes late.
const FIRST: &str = "        bool is_read = more;          // whether what is behind all others is
        bit<64> rest_ticket = 0;
        bit<32> rest_kept = 0;
        bool rest_recorded = false;
        if (is_read) {
            rest_ticket = stream.ticket;
            rest_kept = stream.kept;
            rest_recorded = stream.recorded == 1;
            stream.ticket = 0;
            stream.kept = 0;
            stream.recorded = 0;
        }
        bit<32> until = end;          // messages that begin there are not read
        bit<64> ticket = 0;
        bit<32> kept = 0;
        bool recorded = false;
        message_status status = message_status.OTHER;
";

/// Where several may follow one another, what is known of the last message of what comes late, and where the rest begins.
const FIRST_LATE: &str = "        bit<32> rest_at = at;
        message_status late_status = message_status.OTHER;
        bool late_is_known = false;
        bool late_has_body = false;
        bool late_is_open = false;
";

/// What comes late is read; what is behind all others goes on where the stream was. There is no further branch: the verifier would follow it through
/// the next turn.
const NEXT_PART: &str = "            if (is_late && !more) {
                late_status = status;
                late_is_known = seen;
                late_has_body = has_body;
                late_is_open = is_open;
                is_late = false;
                at = rest_at;
                until = end;
                more = is_read;
                seen = false;
                has_body = false;
                status = message_status.OTHER;
                ticket = rest_ticket;
                kept = rest_kept;
                recorded = rest_recorded;
            }
";

/// Whether what came in the place of a body is another message, or may be one: then it is kept, until it shows.
const UNSURE: &str =
    "                is_next = (is_message | is_short & (stream.skip - (bit<64>)rest)[63:63]) == 1;
                stream.unsure = 0;
                if (!is_next) {
                    if (is_short == 1 && (bit<64>)rest < stream.skip) {
                        stream.ticket = messages.keep(stream.ticket, at, rest);
                        stream.kept = stream.kept + rest;
                        stream.unsure = 1;
                        if (stream.ticket == 0) { packets.increment(12); }
                    } else {
                        // They may look like no message only because their first bytes were pushed out by those of others.
                        if (stream.ticket != 0 && messages.read_behind(stream.ticket, at, 0) == message_status.OTHER) { packets.increment(12); }
                        stream.ticket = 0;
                    }
                    if (stream.ticket == 0) {
                        stream.kept = 0;
                        stream.unsure = 0;
                    }
                }
            }
";

/// The messages of a segment were too many.
const BEYOND: &str = "        if (more) {
            packets.increment(6);
            if (is_read) {
                stream.known = 0;
                stream.begun = 0;
            }
        } else if (is_read) {
";

/// Behind a message that is whole, the next one begins in a later segment.
const WHOLE: &str = "if (has_body && is_open) {
                packets.increment(12);
            } else if (has_body) {
                stream.known = 1;
                stream.skip = next - (bit<64>)end;
                stream.unsure = may_be_empty ? 1w1 : 0;
                if (next > (bit<64>)end && body_at < end) {
                    stream.begun = 1;
                    if (may_be_empty) {
                        // They may be a message's first bytes.
                        stream.ticket = messages.keep(0, body_at, end - body_at);
                        stream.kept = end - body_at;
                        if (stream.ticket == 0) {
                            packets.increment(12);
                            stream.kept = 0;
                            stream.unsure = 0;
                        }
                    }
                }
            } else ";

const END: &str = "if (waits && kept + (end - at) <= MOST_KEPT) {
                stream.ticket = messages.keep(ticket, at, end - at);
                if (stream.ticket == 0) {
                    packets.increment(12);
                } else {
                    stream.known = 1;
                    stream.begun = 1;
                    stream.kept = kept + (end - at);
                    if (status == message_status.READ) { stream.recorded = 1; }
                }
            } else if (is_cut) {
                packets.increment(12);
            } else if (status != message_status.OTHER && status != message_status.BEGINS && status != message_status.READ) {
                if (why == message_status.TOO_LONG) { packets.increment(6); } else { packets.increment(4); }
            }";

/// One that is wrong behind all that is asked for is no malformed one.
const WRONG_BEHIND: &str =
    " else if (status == message_status.READ && why != message_status.READ) {
                packets.increment(12);
            }
";

/// Of two segments at once, on two processors, neither knows where the other one ended.
const UPDATE: &str = "        if (is_followed && end != 0 || seen) {
            stream_t now;
            bool is_raced = false;
            @atomic {
                bool is_there = streams.lookup(direction, now);
                if (is_there && now.turn != stream.turn) {
                    is_raced = true;
                    was_begun = now.begun;
                    stream.skip = 0;
                    stream.ticket = 0;
                    stream.kept = 0;
                    stream.known = 0;
                    stream.recorded = 0;
                    stream.opened = now.opened;
                }
                stream.turn = now.turn + 1;
                streams.update(direction, stream);
            }
            if (is_raced) { packets.increment(12); }
            if (stream.begun == 1 && was_begun == 0) { packets.increment(13); }
            if (stream.begun == 0 && was_begun == 1) { packets.increment(14); }
        }
";

//! Streams in P4: what is known of each is in a flow state, and the bytes of a head that is cut are kept by the object that reads messages. It
//! does what [`crate::streams`] does.

use crate::messages::MOST_KEPT;
use crate::streams::STREAMS;
use payload::Schema;
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
    bit<64> ticket;        // of a head that is cut, what leads to the bytes that are kept
    bit<32> next;          // number of the byte behind the last one that came in order
    bit<32> missing;       // the bytes that were missing last: the first, and the one behind them
    bit<32> missing_end;
    bit<32> kept;          // how many bytes are kept
    bit<1>  known;         // whether a message begins, or goes on, at the next byte
    bit<1>  begun;         // whether a message has begun, and not ended
    bit<1>  recorded;      // whether that was counted before
}
";

/// Finds where in a segment messages begin or go on.
pub(super) const BEGIN: &str = include_str!("stream.p4h");

/// Passes over what belongs to a body.
pub(super) const SKIP: &str = include_str!("skip.p4h");

/// What is known of the message that is read, and of where the next one begins.
pub(super) const FIRST: &str = "        bit<64> ticket = stream.ticket;
        bit<32> kept = stream.kept;
        bool recorded = stream.recorded == 1;
        stream.ticket = 0;
        stream.kept = 0;
        stream.recorded = 0;
        bool is_read = more;
        message_status status = message_status.OTHER;
";

/// The same, where several messages may follow one another.
pub(super) const NEXT: &str = "        bool has_body = false;
        bool is_open = false;
        bit<32> body_at = 0;
        bit<64> next = 0;
        // With bytes that were kept, less of the segment is read.
        bit<32> most = kept == 0 ? LIMIT : LIMIT / 2;
";

/// Whether a message waits for its rest.
pub(super) fn waits(several: bool, out: &mut String) {
    let unless = if several { "!has_body && " } else { "" };
    let _ = writeln!(
        out,
        "                message_status why = messages.read_behind(ticket, at, end - at);
                bool waits = {unless}(why == message_status.TRUNCATED || why == message_status.LENGTH_PAST_END) && !alone
                    && kept + (end - at) <= MOST_KEPT;"
    );
}

/// The state of streams.
pub(super) fn object(out: &mut String) {
    let _ = writeln!(
        out,
        "    const bit<32> MOST_KEPT = {MOST_KEPT};\n    flow_state<direction_t, stream_t>({STREAMS}) streams;"
    );
}

/// What becomes of the message that was read last, and what is kept of its stream. Of `several` in a segment, it may be one that is whole.
pub(super) fn end(schema: &Schema, several: bool, out: &mut String) {
    if several {
        *out += BEYOND;
    } else {
        *out += "        if (is_read) {\n";
    }
    *out += "            bool was_known = seen || stream.known == 1;\n            message_status why = status;\n";
    if several {
        *out += "            if (status != message_status.OTHER && !has_body) { why = messages.read_behind(ticket, at, end - at); }\n";
    }
    let signature = schema.signature_bytes();
    let _ = writeln!(
        out,
        "            bool is_cut = why == message_status.TRUNCATED || why == message_status.LENGTH_PAST_END;
            bool waits = is_cut;
            if (status == message_status.OTHER) {{
                // They may be its first bytes.
                waits = was_known && kept + (end - at) < {signature};
                is_cut = was_known;
            }} else {{
                seen = true;
            }}
            stream.known = 0;
            stream.begun = 0;"
    );
    *out += "            ";
    if several {
        *out += WHOLE;
    }
    *out += END;
}

/// The messages of a segment were too many.
const BEYOND: &str = "        if (more) {
            packets.increment(6);
            stream.known = 0;
            stream.begun = 0;
        } else if (is_read) {
";

/// Behind a message that is whole, the next one begins in a later segment.
const WHOLE: &str = "if (has_body && is_open) {
                packets.increment(12);
            } else if (has_body) {
                stream.known = 1;
                stream.skip = next - (bit<64>)end;
                if (next > (bit<64>)end && body_at < end) { stream.begun = 1; }
            } else ";

const END: &str = "if (waits && !alone && kept + (end - at) <= MOST_KEPT) {
                stream.known = 1;
                stream.begun = 1;
                stream.kept = kept + (end - at);
                stream.ticket = messages.keep(stream.kept);
                if (status == message_status.READ) { stream.recorded = 1; }
            } else if (is_cut) {
                packets.increment(12);
            } else if (status != message_status.OTHER && status != message_status.READ) {
                if (why == message_status.TOO_LONG) { packets.increment(6); } else { packets.increment(4); }
            }
        }
        if (!alone && (is_followed || seen)) {
            if (stream.begun == 1 && was_begun == 0) { packets.increment(13); }
            if (stream.begun == 0 && was_begun == 1) { packets.increment(14); }
            streams.update(direction, stream);
        }
";

//! Parsers of many states.

use crate::common::{Files, check};
use std::fmt::Write as _;

/// Number of states, each of which leads to the next two. On the paths through them any of their headers may be valid.
const STATES: usize = 300;

#[test]
fn what_is_never_set_is_reported_behind_hundreds_of_states() {
    let last = STATES - 1;
    let mut headers = String::new();
    let mut states = String::new();
    for i in 0..STATES {
        let _ = writeln!(headers, "    one_t h{i};");
        let (next, other) = ((i + 1).min(last), (i + 2).min(last));
        let after = match i {
            _ if i == last => "hdr.h0.next = unset; transition accept;".to_string(),
            _ => format!("transition select(hdr.h{i}.next) {{ 1: s{next}; default: s{other}; }}"),
        };
        let _ = writeln!(
            states,
            "    state s{i} {{ packet.extract(hdr.h{i}); {after} }}"
        );
    }
    let text = format!(
        "#include <core.p4>
header one_t {{ bit<8> next; }}
struct headers_t {{
{headers}}}
parser prs(packet_in packet, out headers_t hdr) {{
    bit<8> unset;
    state start {{ transition s0; }}
{states}}}
"
    );
    let (_, module, diagnostics) = check(&Files::with("states.p4", &text), "states.p4");
    assert!(module.is_some());
    let mut messages = diagnostics.iter().map(|d| d.message.as_str());
    let reported = messages.any(|message| message == "`unset` may be read before it is written");
    assert!(reported);
}

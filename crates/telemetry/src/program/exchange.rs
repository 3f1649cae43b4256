//! Requests and their responses in P4: requests wait in a flow state. It does what [`crate::exchange`] does.

use super::attribute::Attribute;
use crate::errors::program as errors;
use crate::exchange::{FLOWS, WAITING};
use crate::query::{Condition, Predicate, Query};
use diag::Diagnostic;
use payload::{Exchange, Kind, Schema, Side, Sides, Transport};
use std::fmt::Write;

/// The flow states.
const STATES: [&str; 2] = ["waiting", "connections"];

/// The flow states of a program that pairs messages.
pub(super) fn states(rules: &Exchange) -> &'static [&'static str] {
    match rules.id {
        Some(_) => &STATES[..1],
        None => &STATES,
    }
}

const PAD: &str = "                ";

/// How the messages of a query are paired.
pub(super) struct Pairing<'q> {
    schema: &'q Schema,
    rules: &'q Exchange,
    /// The attributes that show the side and the number of a message, and that the query does not read.
    pub attributes: Vec<Attribute>,
    /// Regular expressions that the condition has, each with the index of its attribute in the query.
    patterns: Vec<(usize, String)>,
}

/// How the messages of a query are paired, if it is about response times.
///
/// # Errors
/// No program reads what shows the sides.
pub(super) fn pairing<'q>(
    query: &'q Query,
    schema: &'q Schema,
    read: &[Attribute],
) -> Result<Option<Pairing<'q>>, Box<Diagnostic>> {
    let (Some(rules), Some(response_time)) = (&schema.exchange, query.response_time()) else {
        return Ok(None);
    };
    let mut attributes: Vec<Attribute> = Vec::new();
    for name in rules.attributes() {
        if read
            .iter()
            .chain(&attributes)
            .any(|known| known.name == name)
        {
            continue;
        }
        let asked = schema.asked(name);
        attributes.push(Attribute {
            index: usize::MAX,
            name: name.to_owned(),
            variable: format!("pairing_{}", attributes.len()),
            kind: asked
                .map_err(|_| errors::message(response_time.at, name))?
                .kind,
            width: 8,
        });
    }
    let mut patterns = Vec::new();
    if let Some(condition) = &query.condition {
        find_patterns(condition, &mut patterns);
    }
    Ok(Some(Pairing {
        schema,
        rules,
        attributes,
        patterns,
    }))
}

fn find_patterns(condition: &Condition, found: &mut Vec<(usize, String)>) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter().for_each(|part| find_patterns(part, found));
        }
        Condition::Not(part) => find_patterns(part, found),
        Condition::Test(attribute, Predicate::Matches(pattern)) => {
            let pattern = (*attribute, pattern.text().to_owned());
            if !found.contains(&pattern) {
                found.push(pattern);
            }
        }
        Condition::Test(..) => {}
    }
}

/// The types of what is kept of connections.
const TYPES: &str = "
struct ends_t {
    bit<128> client;
    bit<128> server;
    bit<16>  client_port;
    bit<16>  server_port;
}

struct request_key_t {
    bit<128> client;
    bit<128> server;
    bit<16>  client_port;
    bit<16>  server_port;
    bit<64>  number;
}
";

/// How many requests and responses a connection had, and where the last of each begins.
const CONNECTION: &str = "
struct connection_t {
    bit<32> requests;
    bit<32> responses;
    bit<32> last_request;
    bit<32> last_response;
}
";

/// The packet's ends, as if it came from the client.
const ENDS: &str = "        ends_t ends = { 0, 0, 0, 0 };
        if (hdr.ipv4.isValid()) {
            ends.client = 80w0 ++ 16w0xffff ++ hdr.ipv4.src;
            ends.server = 80w0 ++ 16w0xffff ++ hdr.ipv4.dst;
        } else if (hdr.ipv6.isValid()) {
            ends.client = hdr.ipv6.src;
            ends.server = hdr.ipv6.dst;
        }
";

/// The number of a message on its connection.
const NUMBER: &str = "                bit<64> number = 0;
                bool is_next = false;
                bool is_numbered = false;
                if (is_request || is_response) {
                    connection_t connection;
                    @atomic {
                        bool known = connections.lookup(ends, connection);
                        if (is_request) {
                            is_next = SENT_ONCE || connection.requests == 0 || (int<32>)(position - connection.last_request) > 0;
                            if (is_next) {
                                number = (bit<64>)connection.requests;
                                is_numbered = true;
                                connection.requests = connection.requests + 1;
                                connection.last_request = position;
                            }
                        } else {
                            is_next = SENT_ONCE || connection.responses == 0 || (int<32>)(position - connection.last_response) > 0;
                            if (is_next) {
                                number = (bit<64>)connection.responses;
                                is_numbered = known && connection.responses != connection.requests;
                                if (is_numbered) { connection.responses = connection.responses + 1; }
                                connection.last_response = position;
                            }
                        }
                        if (is_next && (known || is_request)) { connections.update(ends, connection); }
                    }
                }
";

impl Pairing<'_> {
    /// The regular expressions that are asked of an attribute, and the variable that says whether each is found.
    pub(super) fn matched(&self, index: usize) -> Vec<(String, String)> {
        let all = self.patterns.iter().enumerate();
        let own = all.filter(|(_, (known, _))| *known == index);
        own.map(|(number, (_, pattern))| (pattern.clone(), format!("match_{number}")))
            .collect()
    }

    /// Whether messages are matched by their order.
    fn in_order(&self) -> bool {
        self.rules.id.is_none()
    }

    fn is_tcp(&self) -> bool {
        self.schema.transport == Transport::Tcp
    }

    /// The types of what waits, with what is kept of these attributes.
    pub(super) fn types(&self, read: &[Attribute], out: &mut String) {
        *out += TYPES;
        if self.in_order() {
            *out += CONNECTION;
        }
        *out += "\nstruct request_t {\n    bit<64> time;\n";
        for attribute in read {
            let variable = &attribute.variable;
            let _ = match attribute.kind {
                Kind::Number { bits, .. } => writeln!(out, "    bit<{bits}> {variable};"),
                Kind::Bytes | Kind::DnsName => writeln!(
                    out,
                    "    bit<{}> {variable};\n    bit<16> {variable}_length;",
                    8 * attribute.width
                ),
            };
            let _ = writeln!(out, "    bit<1> has_{variable};");
        }
        for number in 0..self.patterns.len() {
            let _ = writeln!(out, "    bit<1> match_{number};");
        }
        *out += "}\n";
    }

    /// The objects.
    pub(super) fn objects(&self, out: &mut String) {
        let [waiting, connections] = STATES;
        if self.in_order() {
            let once = !self.is_tcp();
            let _ = writeln!(
                out,
                "    const bool SENT_ONCE = {once};   // or again, if it was lost"
            );
            let _ = writeln!(
                out,
                "    flow_state<ends_t, connection_t>({FLOWS}) {connections};"
            );
        }
        let _ = writeln!(
            out,
            "    flow_state<request_key_t, request_t>({WAITING}) {waiting};"
        );
    }

    /// In front of all messages of a packet.
    pub(super) fn begin(&self, out: &mut String) {
        *out += ENDS;
        let transport = self.schema.transport.name();
        let _ = writeln!(
            out,
            "        if (hdr.{transport}.isValid()) {{\n            ends.client_port = hdr.{transport}.src_port;\n            \
             ends.server_port = hdr.{transport}.dst_port;\n        }}"
        );
        if self.in_order() && self.is_tcp() {
            *out += "        // A connection that is opened has nothing of one before.\n";
            *out += "        if (hdr.tcp.isValid() && (hdr.tcp.flags & 0x12) == 2) { @noWarn(\"unused\") bool forgotten = connections.remove(ends); }\n";
        }
        *out += "        ends_t opposite = { ends.server, ends.client, ends.server_port, ends.client_port };\n";
        *out += "        ends_t sent = ends;\n";
    }

    /// A message, `whole` or not: `record` gets its attributes and those of its request.
    pub(super) fn message(
        &self,
        out: &mut String,
        read: &[Attribute],
        record: impl FnOnce(&mut String),
    ) {
        let find = |name: &str| {
            let mut all = read.iter().chain(&self.attributes);
            all.find(|a| a.name == name)
                .map_or("", |a| a.variable.as_str())
        };
        let transport = self.schema.transport.name();
        let (is_request, is_response) = match &self.rules.sides {
            Sides::Ports => {
                let any = |end: &str| {
                    let ports = self.schema.ports.iter();
                    let ports: Vec<String> = ports
                        .map(|port| format!("hdr.{transport}.{end}_port == {port}"))
                        .collect();
                    ports.join(" || ")
                };
                (any("dst"), any("src"))
            }
            Sides::Attributes { request, response } => {
                let test = |side: &Side| side_test(side, find(&side.attribute));
                (test(request), test(response))
            }
        };
        let _ = writeln!(out, "{PAD}bool is_request = {is_request};");
        let _ = writeln!(
            out,
            "{PAD}bool is_response = !is_request && ({is_response});"
        );
        let _ = writeln!(
            out,
            "{PAD}if (is_response) {{ ends = opposite; }} else {{ ends = sent; }}"
        );
        match &self.rules.id {
            Some(id) => {
                let id = find(id);
                let _ = writeln!(
                    out,
                    "{PAD}bit<64> number = (bit<64>){id};\n{PAD}bool is_next = (is_request || is_response) && has_{id};\n\
                     {PAD}bool is_numbered = is_next;"
                );
            }
            None => {
                let first = if self.is_tcp() { "hdr.tcp.seq" } else { "0" };
                let kept = if self.schema.follow { " - kept" } else { "" };
                let _ = writeln!(out, "{PAD}bit<32> position = {first} + at{kept};");
                *out += NUMBER;
            }
        }
        for (number, (index, pattern)) in self.patterns.iter().enumerate() {
            let name = read.iter().find(|a| a.index == *index);
            let name = name.map_or("", |a| a.name.as_str());
            let pattern = super::condition::escaped(pattern);
            let _ = writeln!(
                out,
                "{PAD}bool match_{number} = messages.matches(\"{name}\", \"{pattern}\");"
            );
        }
        let _ = writeln!(
            out,
            "{PAD}request_key_t request_key = {{ ends.client, ends.server, ends.client_port, ends.server_port, number }};"
        );
        // The time, and what is kept.
        let mut zeros = vec!["0"];
        self.each(read, |_, _| zeros.push("0"));
        let zeros = zeros.join(", ");
        let _ = writeln!(out, "{PAD}request_t request = {{ {zeros} }};");
        let _ = writeln!(out, "{PAD}if (is_request && is_numbered && whole) {{");
        let _ = writeln!(out, "{PAD}    request.time = input.timestamp;");
        self.each(read, |to, from| {
            let _ = writeln!(out, "{PAD}    request.{to} = {from};");
        });
        let _ = writeln!(
            out,
            "{PAD}    waiting.update(request_key, request);\n{PAD}    packets.increment(7);\n{PAD}}}"
        );
        let _ = writeln!(
            out,
            "{PAD}// One of an earlier connection with the same number would get the response.\n\
             {PAD}if (is_request && is_numbered && !whole) {{ @noWarn(\"unused\") bool earlier = waiting.remove(request_key); }}"
        );
        let _ = writeln!(out, "{PAD}if (is_response && is_next) {{");
        let _ = writeln!(out, "{PAD}    bool is_known = false;");
        let _ = writeln!(
            out,
            "{PAD}    if (is_numbered) {{ is_known = waiting.lookup(request_key, request); }}"
        );
        let _ = writeln!(out, "{PAD}    if (is_known) {{");
        let _ = writeln!(
            out,
            "{PAD}        @noWarn(\"unused\") bool gone = waiting.remove(request_key);\n{PAD}        packets.increment(8);\n{PAD}    }} else {{\n\
             {PAD}        packets.increment(9);\n{PAD}    }}"
        );
        let _ = writeln!(out, "{PAD}    if (is_known && whole) {{");
        let _ = writeln!(
            out,
            "{PAD}        bit<64> response_time = 0;\n\
             {PAD}        if (input.timestamp > request.time) {{ response_time = input.timestamp - request.time; }}"
        );
        let _ = writeln!(
            out,
            "{PAD}        // What the response lacks is the request's."
        );
        for attribute in read {
            let variable = &attribute.variable;
            let _ = writeln!(
                out,
                "{PAD}        if (!has_{variable} && request.has_{variable} == 1) {{\n{PAD}            has_{variable} = true;\n\
                 {PAD}            {variable} = request.{variable};"
            );
            if !matches!(attribute.kind, Kind::Number { .. }) {
                let _ = writeln!(
                    out,
                    "{PAD}            {variable}_length = (bit<32>)request.{variable}_length;"
                );
            }
            for (number, (index, _)) in self.patterns.iter().enumerate() {
                if *index == attribute.index {
                    let _ = writeln!(
                        out,
                        "{PAD}            match_{number} = request.match_{number} == 1;"
                    );
                }
            }
            let _ = writeln!(out, "{PAD}        }}");
        }
        record(out);
        let _ = writeln!(out, "{PAD}    }}\n{PAD}}}");
    }

    /// What is kept of a request: a field, and the expression of its value.
    fn each(&self, read: &[Attribute], mut keep: impl FnMut(&str, &str)) {
        for attribute in read {
            let variable = &attribute.variable;
            keep(variable, variable);
            if !matches!(attribute.kind, Kind::Number { .. }) {
                let length = format!("{variable}_length");
                keep(&length, &format!("(bit<16>){length}"));
            }
            let has = format!("has_{variable}");
            keep(&has, &format!("(bit<1>){has}"));
        }
        for number in 0..self.patterns.len() {
            let name = format!("match_{number}");
            keep(&name, &format!("(bit<1>){name}"));
        }
    }
}

/// Whether a message is of a side, as its attribute in a variable shows.
fn side_test(side: &Side, variable: &str) -> String {
    let tests = |values: &[u64], operator: &str, by: &str| {
        let tests = values.iter();
        let tests: Vec<String> = tests
            .map(|value| format!("(bit<64>){variable} {operator} {value}"))
            .collect();
        match tests.is_empty() {
            true => String::new(),
            false => format!(" && ({})", tests.join(by)),
        }
    };
    format!(
        "has_{variable}{}{}",
        tests(&side.values, "==", " || "),
        tests(&side.except, "!=", " && ")
    )
}

/// How a response time is found in P4.
pub(super) fn source() -> super::field::Source {
    super::field::Source {
        has: "true".into(),
        value: "response_time".into(),
        attribute: String::new(),
        width: 0,
        key: "response_time".into(),
        ty: "bit<64>".into(),
        matched: Vec::new(),
    }
}

//! Program that reports the attributes that it reads: it overwrites the first bytes of the packet with the status and
//! each attribute.

use payload::{AttributeKind, Pattern, Schema, Value};
use std::fmt::Write;
use std::sync::OnceLock;

/// Number of bytes before the message, where the program writes its report.
pub(crate) const AREA: usize = 512;
/// Maximum number of bytes of an attribute that are reported.
const FIRST: usize = 20;

/// Regular expressions that attributes of bytes are matched with: one anchored at the start, one unanchored, and one
/// anchored at the end.
const PATTERNS: [&str; 3] = [
    r"^/?[a-z]+[0-9]?[.=]",
    r"[^\x20-\x7e]|ee|\\",
    r"(?i)[^x]*[es]t$",
];

/// Members of documents: nested ones, paths that are prefixes of others, names with a dot, and empty names.
const JSON: [&str; 12] = [
    "id",
    "user.id",
    "user.name",
    "user.name.first",
    "user",
    "tags[0]",
    "tags[10]",
    "rows[1].x[0]",
    "[0]",
    "[1][2]",
    ".a",
    "é\\n",
];
const XML: [&str; 10] = [
    "a/@x",
    "a/@y",
    "a/b/@x",
    "a/b/@xy",
    "a/b/b/@x",
    "order/@id",
    "order/item/@sku",
    "order/item/@n",
    "é/@é",
    "a:b/@c:d",
];

/// An attribute that is reported.
pub(crate) struct Attribute {
    pub(crate) name: String,
    number: Option<u32>,
}

/// Returns all attributes of a schema, with some examples for attributes with a free name.
pub(crate) fn attributes(schema: &Schema) -> Vec<Attribute> {
    let names = schema.names().into_iter().map(|attribute| {
        let many: &[&str] = match (schema.name.as_str(), attribute) {
            ("http", "header.*") => &["header.accept", "header.host"],
            ("http", "query.*") => &["query.q", "query.item"],
            ("tls", "extension.*") => &["extension.0", "extension.43"],
            ("pfcp", "element.*") => &["element.1", "element.56"],
            ("postgresql", "parameter.*") => &["parameter.application_name"],
            ("json", _) => &JSON,
            ("xml", _) => &XML,
            (_, name) => return vec![name.to_string()],
        };
        many.iter().map(ToString::to_string).collect()
    });
    names
        .flatten()
        .map(|name| Attribute {
            number: match schema.asked(&name).expect("an attribute").kind {
                AttributeKind::Number { bits, .. } => Some(bits),
                _ => None,
            },
            name,
        })
        .collect()
}

/// Returns the length of the report, in bytes.
pub(crate) fn length(attributes: &[Attribute]) -> usize {
    1 + attributes.iter().map(Attribute::size).sum::<usize>()
}

impl Attribute {
    fn size(&self) -> usize {
        match self.number {
            Some(_) => 9,
            None => 6 + FIRST,
        }
    }

    /// Adds the expected report of a value.
    pub(crate) fn expected(&self, value: Option<&Value>, report: &mut Vec<u8>) {
        report.push(value.is_some().into());
        match (self.number, value) {
            (Some(_), Some(Value::Number(number))) => report.extend((*number as u64).to_be_bytes()),
            (None, Some(Value::Bytes(bytes))) => {
                report.extend((bytes.len() as u32).to_be_bytes());
                let mut first = bytes.clone();
                first.resize(FIRST, 0);
                report.extend(first);
                report.push(found(bytes));
            }
            (_, None) => report.resize(report.len() + self.size() - 1, 0),
            other => panic!("{}: {other:?}", self.name),
        }
    }
}

/// Returns a bit for each expression that matches; the first one is the highest bit.
fn found(bytes: &[u8]) -> u8 {
    static COMPILED: OnceLock<Vec<Pattern>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| {
        let all = PATTERNS.iter().map(|text| Pattern::new(text));
        all.collect::<Result<_, _>>().expect("patterns")
    });
    let all = compiled.iter();
    all.fold(0, |bits, pattern| {
        bits << 1 | u8::from(pattern.is_in(bytes))
    })
}

/// Returns a report as text.
pub(crate) fn show(attributes: &[Attribute], report: &[u8]) -> String {
    let mut text = format!("status {}", report[0]);
    let mut at = 1;
    for attribute in attributes {
        let of = &report[at..at + attribute.size()];
        if of[0] != 0 {
            let rest = String::from_utf8_lossy(&of[5..]);
            let _ = write!(text, "\n{}: {:02x?} {rest:?}", attribute.name, &of[1..]);
        }
        at += attribute.size();
    }
    text
}

/// Returns the text of the program.
pub(crate) fn text(schema: &Schema, attributes: &[Attribute]) -> String {
    let (mut fields, mut calls) = (String::new(), String::new());
    for (number, attribute) in attributes.iter().enumerate() {
        let name = &attribute.name;
        let found = format!("hdr.report.has{number} = (bit<8>)(bit<1>)");
        match attribute.number {
            Some(_) => {
                let _ = writeln!(fields, "bit<8> has{number}; bit<64> value{number};");
                let _ = writeln!(
                    calls,
                    "{found}m.get_number({name:?}, hdr.report.value{number});"
                );
            }
            None => {
                let bits = 8 * FIRST;
                let _ = writeln!(
                    fields,
                    "bit<8> has{number}; bit<32> length{number}; bit<{bits}> value{number}; bit<8> found{number};"
                );
                let _ = writeln!(
                    calls,
                    "{found}m.get_bytes({name:?}, hdr.report.value{number}, hdr.report.length{number});"
                );
                let bits =
                    PATTERNS.map(|pattern| format!("(bit<1>)m.matches({name:?}, {pattern:?})"));
                let _ = writeln!(
                    calls,
                    "hdr.report.found{number} = 5w0 ++ {};",
                    bits.join(" ++ ")
                );
            }
        }
    }
    let objects = format!("message({:?}) m;", schema.name);
    let calls = format!("hdr.report.status = m.read(0);\n{calls}");
    let fields = format!("message_status status; {fields}");
    around(&fields, length(attributes), &objects, &calls)
}

/// Returns lists of attributes that messages are read for: some alone, and two together.
pub(crate) fn lists(attributes: &[Attribute]) -> Vec<Vec<&Attribute>> {
    const MOST: usize = 6;
    let step = attributes.len().div_ceil(MOST);
    let alone = attributes.iter().step_by(step).map(|one| vec![one]);
    let two = [attributes.first(), attributes.last()];
    alone.chain([two.into_iter().flatten().collect()]).collect()
}

/// Returns a program that reads messages for some attributes, with one object for each list. It reports the status,
/// and a flag for each attribute that is present.
pub(crate) fn text_for(schema: &Schema, lists: &[Vec<&Attribute>]) -> String {
    let (mut fields, mut objects, mut calls) = (String::new(), String::new(), String::new());
    let mut bytes = 0;
    for (number, list) in lists.iter().enumerate() {
        let _ = writeln!(objects, "message({:?}) m{number};", schema.name);
        let _ = writeln!(fields, "message_status status{number};");
        let names: Vec<&str> = list
            .iter()
            .map(|attribute| attribute.name.as_str())
            .collect();
        let _ = writeln!(
            calls,
            "hdr.report.status{number} = m{number}.read_for(0, 65535, {:?});",
            names.join(",")
        );
        for (place, attribute) in list.iter().enumerate() {
            let _ = writeln!(fields, "bit<8> has{number}_{place};");
            let call = match attribute.number {
                Some(_) => format!("get_number({:?}, number)", attribute.name),
                None => format!("get_bytes({:?}, text, size)", attribute.name),
            };
            let _ = writeln!(
                calls,
                "hdr.report.has{number}_{place} = (bit<8>)(bit<1>)m{number}.{call};"
            );
        }
        bytes += 1 + list.len();
    }
    let calls = format!("bit<64> number; bit<8> text; bit<32> size;\n{calls}");
    around(&fields, bytes, &objects, &calls)
}

/// Returns a program with these objects and calls. The calls set the fields of the report, which has `bytes` bytes.
pub(crate) fn around(fields: &str, bytes: usize, objects: &str, calls: &str) -> String {
    let rest = 8 * (AREA - bytes);
    format!(
        "#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>
header report_t {{ {fields} }}
header rest_t {{ bit<{rest}> bits; }}
struct headers_t {{ report_t report; rest_t rest; }}
parser p(packet_in packet, out headers_t hdr) {{
    state start {{ packet.extract(hdr.report); packet.extract(hdr.rest); transition accept; }}
}}
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
    {objects}
    apply {{
        xout.output_action = xdp_action.XDP_TX;
        xout.output_port = 0;
        {calls}
    }}
}}
control d(in headers_t hdr, packet_out packet) {{
    apply {{ packet.emit(hdr.report); packet.emit(hdr.rest); }}
}}
xdp(p(), c(), d()) main;
"
    )
}

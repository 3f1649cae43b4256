//! Programs at XDP that read messages or search payloads, and their packets.

use super::inputs;
use crate::error::Error;
use crate::programs::{Ready, from_p4};
use ::payload::builtin::Builtin;
use ::payload::{AttributeKind, Schema};
use std::fmt::Write;
use std::path::Path;

/// Example names for attributes that stand for many: message, attribute, names.
const NAMED: [(&str, &str, &[&str]); 7] = [
    ("http", "header.*", &["header.accept", "header.referer"]),
    ("http", "query.*", &["query.q", "query.id"]),
    ("tls", "extension.*", &["extension.0", "extension.43"]),
    ("pfcp", "element.*", &["element.1", "element.56"]),
    ("postgresql", "parameter.*", &["parameter.application_name"]),
    (
        "json",
        "*",
        &[
            "id",
            "user.id",
            "user.name",
            "tags[0]",
            "tags[10]",
            "items[1].sku",
        ],
    ),
    (
        "xml",
        "*",
        &["a/@x", "a/@y", "a/b/@x", "order/@id", "order/item/@sku"],
    ),
];

/// Program, and payloads for it.
pub(super) struct Reader {
    pub(super) name: String,
    pub(super) ready: Ready,
    /// Returns the bytes before a payload of this size in a packet.
    front: fn(usize) -> Vec<u8>,
    /// Usual payloads, which define the typical time.
    pub(super) usual: Vec<Vec<u8>>,
    /// Payloads that may be slow.
    pub(super) slow: Vec<Vec<u8>>,
}

impl Reader {
    /// Makes a reader of all attributes of a message.
    pub(super) fn of_message(root: &Path, name: &str) -> Result<Reader, Error> {
        let schema = Builtin::named(name).and_then(|builtin| builtin.schema().ok());
        let schema = schema.ok_or_else(|| Error::new(format!("no message `{name}`")))?;
        Ok(Reader {
            name: name.to_owned(),
            ready: compiled(root, &of_message(&schema))?,
            front: |_| vec![0; HEADER],
            usual: inputs::usual(name),
            slow: inputs::slow(name),
        })
    }

    /// Makes a reader that searches.
    pub(super) fn of_search(root: &Path, search: &Search) -> Result<Reader, Error> {
        let (text, front): (String, fn(usize) -> Vec<u8>) = match search.by {
            By::Find => (of_find(search.value), |_| vec![0; HEADER]),
            By::Matches => (of_matches(search.value), |_| vec![0; HEADER]),
            By::Parser(file) => {
                let path = root.join(file);
                let text = std::fs::read_to_string(&path);
                let text = text.map_err(|e| Error::file("read", &path, &e))?;
                (with_value(&text, search.value), udp)
            }
        };
        Ok(Reader {
            name: search.name(),
            ready: compiled(root, &text)?,
            front,
            usual: search.usual(),
            slow: search.slow(),
        })
    }

    /// Returns the packet with a payload.
    pub(super) fn packet(&self, payload: &[u8]) -> Vec<u8> {
        let mut packet = (self.front)(payload.len());
        packet.extend(payload);
        packet
    }
}

/// Method of searching.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// `payload_find`
    Find,
    /// `payload_matches`, with a regular expression
    Matches,
    /// Parser in P4, in this file
    Parser(&'static str),
}

/// Search for a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) by: By,
    pub(super) value: &'static str,
}

/// A hundred times `a`, then another byte: more bytes than a word has bits.
const MORE_THAN_A_WORD_OF_BITS: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
const BY_BYTE: By = By::Parser("programs/payload/byte_by_byte.p4");
/// Search whose time per byte does not depend on the bytes before.
pub(super) const AUTOMATON: Search = Search {
    by: By::Parser("programs/payload/automaton.p4"),
    value: "",
};
/// Searches for values of all lengths that have a method of their own, also for values that overlap themselves.
pub(super) const SEARCHES: [Search; 12] = [
    AUTOMATON,
    Search {
        by: BY_BYTE,
        value: "k",
    },
    Search {
        by: BY_BYTE,
        value: "aaab",
    },
    Search {
        by: BY_BYTE,
        value: "aaaaaaaab",
    },
    Search {
        by: BY_BYTE,
        value: "aaaaaaaaaaaaaaaaaaab",
    },
    Search {
        by: BY_BYTE,
        value: "city=Paris;country=France",
    },
    Search {
        by: BY_BYTE,
        value: MORE_THAN_A_WORD_OF_BITS,
    },
    Search {
        by: By::Find,
        value: "aaab",
    },
    Search {
        by: By::Find,
        value: "city=Paris;country=France",
    },
    Search {
        by: By::Find,
        value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    },
    Search {
        by: By::Find,
        value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    },
    Search {
        by: By::Matches,
        value: "(ab|a)*c[0-9]+;",
    },
];

impl Search {
    pub(super) fn name(&self) -> String {
        let value = self.value;
        match self.by {
            By::Find => format!("payload_find: {value}"),
            By::Matches => format!("payload_matches: {value}"),
            By::Parser(_) if value.is_empty() => "parser, automaton: id=, digits, ;".to_owned(),
            By::Parser(_) => format!("parser, search: {value}"),
        }
    }

    /// Returns text and random bytes without the value.
    fn usual(&self) -> Vec<Vec<u8>> {
        let filling = |mut state: u64, letters: bool| -> Vec<u8> {
            let mut next = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            };
            let byte = |byte: u8| if letters { b'a' + byte % 26 } else { byte };
            (0..super::BYTES).map(|_| byte(next())).collect()
        };
        vec![filling(1, true), filling(2, false)]
    }

    /// Returns payloads of repeated pieces of the value, and of the value with one byte changed.
    fn slow(&self) -> Vec<Vec<u8>> {
        let value = match self.by {
            By::Matches => b"ababababac1",
            _ if self.value.is_empty() => b"id=12345678".as_slice(),
            _ => self.value.as_bytes(),
        };
        let times = |piece: &[u8]| piece.repeat(super::BYTES / piece.len() + 1);
        let pieces = (0..value.len()).flat_map(|from| {
            let to = (from + 1..=value.len()).filter(move |to| (from, *to) != (0, value.len()));
            to.map(move |to| times(&value[from..to]))
        });
        let changed = (0..value.len()).map(|at| {
            let mut other = value.to_vec();
            other[at] ^= 1;
            times(&other)
        });
        let all = pieces.chain(changed);
        all.filter(|bytes| !has(bytes, value)).collect()
    }

    /// Returns true if a payload contains the value, so that the search ends early.
    pub(super) fn ends_in(&self, payload: &[u8]) -> bool {
        !self.value.is_empty() && has(payload, self.value.as_bytes())
    }
}

fn has(bytes: &[u8], value: &[u8]) -> bool {
    memchr::memmem::find(bytes, value).is_some()
}

/// Size of the header before a message, which its program overwrites.
const HEADER: usize = 14;

/// Returns Ethernet, IPv4 and UDP headers for a payload of this size.
fn udp(payload: usize) -> Vec<u8> {
    let mut packet = vec![0; 12];
    packet.extend([8, 0, 0x45, 0]);
    packet.extend((28 + payload as u16).to_be_bytes());
    packet.extend([
        0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 4, 210, 4, 211,
    ]);
    packet.extend((8 + payload as u16).to_be_bytes());
    packet.extend([0, 0]);
    packet
}

fn compiled(root: &Path, text: &str) -> Result<Ready, Error> {
    let folder = tempfile::tempdir().map_err(Error::system("a folder"))?;
    let file = folder.path().join("reader.p4");
    std::fs::write(&file, text).map_err(|e| Error::file("write", &file, &e))?;
    from_p4(root, &file.to_string_lossy(), &[])
}

/// Returns the text of a program that searches for a value, with another value.
fn with_value(text: &str, value: &str) -> String {
    if value.is_empty() {
        return text.to_owned();
    }
    let digits: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let lines = text.lines().map(|line| {
        if line.starts_with("const bit<16> VALUE_BYTES") {
            format!("const bit<16> VALUE_BYTES = {};", value.len())
        } else if line.starts_with("const bit<200> VALUE") {
            format!("const bit<{}> VALUE = 0x{digits};", 8 * value.len())
        } else {
            line.replace("bit<200>", &format!("bit<{}>", 8 * value.len()))
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a program that reads all attributes, and counts those that are present.
fn of_message(schema: &Schema) -> String {
    let mut calls = String::from("hdr.report.status = (bit<8>)m.read(0);\n");
    for attribute in schema.names() {
        let named = NAMED
            .iter()
            .find(|(of, name, _)| (*of, *name) == (&schema.name, attribute));
        let names = named.map_or(vec![attribute], |(.., names)| names.to_vec());
        for name in names {
            let is_number =
                |asked: ::payload::Asked| matches!(asked.kind, AttributeKind::Number { .. });
            let call = match schema.asked(name).is_ok_and(is_number) {
                true => format!("m.get_number({name:?}, number)"),
                false => format!("m.get_bytes({name:?}, text, length)"),
            };
            // Writing to a string does not fail.
            let _ = writeln!(calls, "if ({call}) {{ found = found + 1; }}");
        }
    }
    around(&format!("message({:?}, 16384) m;", schema.name), &calls)
}

fn of_find(value: &str) -> String {
    let digits: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let call = format!("found = payload_find(0, {}w0x{digits});", 8 * value.len());
    around("", &call)
}

fn of_matches(expression: &str) -> String {
    let call = format!("if (payload_matches(0, 65535, {expression:?})) {{ found = 1; }}");
    around("", &call)
}

fn around(objects: &str, calls: &str) -> String {
    format!(
        "#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>
header report_t {{ bit<8> status; bit<32> found; bit<72> rest; }}
struct headers_t {{ report_t report; }}
parser p(packet_in packet, out headers_t hdr) {{
    state start {{ packet.extract(hdr.report); transition accept; }}
}}
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
    {objects}
    apply {{
        xout.output_action = xdp_action.XDP_TX;
        xout.output_port = 0;
        bit<64> number; bit<64> text; bit<32> length; bit<32> found = 0;
        {calls}
        hdr.report.found = found;
    }}
}}
control d(in headers_t hdr, packet_out packet) {{
    apply {{ packet.emit(hdr.report); }}
}}
xdp(p(), c(), d()) main;
"
    )
}

//! Messages as P4: where in a packet they begin, and the calls that read their attributes.

use super::attribute::{Attribute, get_bytes, is_kept, kept_of, kept_of_texts, longest_compared};
use super::bodiless::Bodiless;
use super::exchange::{self, Pairing};
use super::field::{Source, names};
use super::stream::{self, Following};
use crate::catalogue::Type;
use crate::errors::program as errors;
use crate::messages::{LOOKED_AT, Messages};
use crate::query::{Function, Query};
use diag::Diagnostic;
use payload::{Kind, Schema, Transport};
use std::fmt::Write;

/// Bytes of a message that are read: as many as the extern may.
const LIMIT: u32 = 16384;
/// Messages of a packet that are read.
const MOST: usize = 64;
/// The same where the groups of a packet's messages are compared, so that its bytes count once in each.
const MOST_COMPARED: usize = 4;

/// The messages that a query reads.
pub(super) struct Reader<'q> {
    query: &'q Query,
    schema: &'q Schema,
    /// Bytes of a text that are kept.
    kept: usize,
    attributes: Vec<Attribute>,
    /// How requests and responses are paired, if it is about these.
    pairing: Option<Pairing<'q>>,
}

/// What reads the messages of a query; `None` if it is about packets.
///
/// # Errors
/// No program reads these messages, or does with their attributes what the query asks for.
pub(super) fn reader<'q>(
    query: &'q Query,
    messages: &'q dyn Messages,
) -> Result<Option<Reader<'q>>, Box<Diagnostic>> {
    let Some(kind) = query.kind else {
        return Ok(None);
    };
    let all = query.attributes.iter().enumerate();
    let of_message = all.filter(|(_, attribute)| attribute.field().is_none());
    let mut attributes = Vec::new();
    let schema = messages.schema(kind);
    let kept = kept_of_texts(query)?;
    let names = names(query);
    for (index, attribute) in of_message.filter(|(_, a)| a.ty != Type::Time) {
        let refused = || errors::message(attribute.at, &attribute.name);
        let name_there = attribute.name_in_message();
        let asked = schema.and_then(|schema| schema.asked(name_there).ok());
        let kind = asked.ok_or_else(refused)?.kind;
        let is_number = matches!(kind, Kind::Number { .. });
        if is_number != matches!(attribute.ty, Type::Number(_)) {
            return Err(refused());
        }
        let compared = longest_compared(index, query)?;
        attributes.push(Attribute {
            index,
            name: name_there.to_owned(),
            variable: names[index].clone(),
            kind,
            width: kept_of(query, index, kept).max(compared.next_multiple_of(8)),
        });
    }
    let first = &query.attributes[0];
    let schema = schema.ok_or_else(|| errors::message(first.at, &first.name))?;
    let pairing = exchange::pairing(query, schema, &attributes)?;
    Ok(Some(Reader {
        query,
        schema,
        kept,
        attributes,
        pairing,
    }))
}

impl Reader<'_> {
    /// How an attribute of the query is found in P4; `None` if it is none of the message.
    pub(super) fn source(&self, index: usize) -> Option<Source> {
        if self.query.attributes[index].ty == Type::Time {
            return Some(exchange::source());
        }
        let mut all = self.attributes.iter();
        let attribute = all.find(|attribute| attribute.index == index)?;
        let variable = &attribute.variable;
        let (key, ty) = match attribute.kind {
            Kind::Number { bits, .. } => (variable.clone(), format!("bit<{bits}>")),
            Kind::Bytes | Kind::DnsName => (format!("{variable}_kept"), "text_t".to_owned()),
        };
        Some(Source {
            has: format!("has_{variable}"),
            value: variable.clone(),
            attribute: attribute.name.clone(),
            width: 8 * attribute.width,
            key,
            ty,
            matched: self
                .pairing
                .as_ref()
                .map_or(Vec::new(), |p| p.matched(index)),
        })
    }

    /// The type of texts, if there are some.
    pub(super) fn types(&self, out: &mut String) {
        let mut all = self.attributes.iter();
        if all.any(|attribute| self.keeps_text(attribute)) {
            let _ = writeln!(
                out,
                "\nstruct text_t {{\n    bit<{}> bytes;\n    bit<16> length;\n}}",
                8 * self.kept
            );
        }
        if let Some(pairing) = &self.pairing {
            pairing.types(&self.attributes, out);
        }
        if self.schema.follow {
            *out += stream::TYPES;
        }
    }

    /// The object that reads messages.
    pub(super) fn object(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "    const bit<32> LIMIT = {LIMIT};\n    message(\"{}\", LIMIT) messages;",
            self.schema.name
        );
        if let Some(pairing) = &self.pairing {
            pairing.objects(out);
        }
        if self.several() {
            let _ = writeln!(
                out,
                "    const bit<32> LOOKED_AT = {LOOKED_AT};   // the bytes that show whether a message begins in the place of a body
    const bit<16> SHORT = 0x10c;    // a bit for each status that says that more bytes may show it: TRUNCATED, LENGTH_PAST_END and BEGINS"
            );
        }
        if self.schema.follow {
            stream::object(out);
        }
    }

    /// How messages are followed, if they are.
    fn following(&self) -> Option<Following> {
        self.schema.follow.then(|| Following {
            several: self.several(),
            in_order: self.pairing.is_some(),
        })
    }

    /// Whether messages go on in the next segment.
    pub(super) fn follows(&self) -> bool {
        self.schema.follow
    }

    /// Whether several messages may follow one another in a packet.
    fn several(&self) -> bool {
        self.schema.next.is_some()
    }

    /// Whether the bytes of a packet are to count once in each group of its messages.
    pub(super) fn compares_groups(&self) -> bool {
        let mut all = self.query.aggregates.iter();
        self.several() && all.any(|a| a.function == Function::Bytes)
    }

    /// Messages of a packet that are read.
    fn most(&self) -> usize {
        match (self.several(), self.compares_groups()) {
            (false, _) => 1,
            (true, false) => MOST,
            (true, true) => MOST_COMPARED,
        }
    }

    /// What is added to the bytes of a group: the packet's length, but not once more.
    pub(super) fn bytes(&self, out: &mut String) {
        let pad = "                ";
        let _ = writeln!(out, "{pad}bit<64> bytes = (bit<64>)input.length;");
        for earlier in 0..MOST_COMPARED - 1 {
            let _ = writeln!(
                out,
                "{pad}if (turn > {earlier} && group{earlier} == group) {{ bytes = 0; }}"
            );
        }
        for this in 0..MOST_COMPARED - 1 {
            let _ = writeln!(out, "{pad}if (turn == {this}) {{ group{this} = group; }}");
        }
    }

    /// The statements around a record of a message, which `record` gives as of a packet; `no_group` is any group.
    pub(super) fn around(
        &self,
        out: &mut String,
        no_group: &str,
        record: impl FnOnce(&mut String),
    ) {
        *out += "        bit<32> at = 0;\n";
        let _ = writeln!(out, "        bit<32> end = payload_length();");
        *out += "        if (end > hdr.payload_bytes) { end = hdr.payload_bytes; }\n";
        let carried = match self.schema.transport {
            Transport::Tcp => self.carried("tcp"),
            Transport::Udp => {
                *out += "        bit<32> datagram = (bit<32>)hdr.udp.length;\n";
                *out +=
                    "        if (datagram >= 8 && datagram - 8 < end) { end = datagram - 8; }\n";
                self.carried("udp")
            }
        };
        let _ = writeln!(out, "        bool more = {carried} && end != 0;");
        let following = self.following();
        if let Some(following) = following {
            following.begin(self.bodiless().as_ref(), out);
        }
        if let Some(pairing) = &self.pairing {
            pairing.begin(out);
        }
        if self.compares_groups() {
            for earlier in 0..MOST_COMPARED - 1 {
                let _ = writeln!(out, "        group_t group{earlier} = {no_group};");
            }
        }
        match following {
            Some(following) => following.first(out),
            None if self.several() => *out += ALONE,
            None => {}
        }
        if self.several() {
            *out += BODY;
        }
        match self.most() {
            // A loop would take more of the verifier, also one of a single turn.
            1 => *out += "        if (more) {\n",
            most => {
                let _ = writeln!(
                    out,
                    "        for (bit<32> turn = 0; turn < {most} && more; turn = turn + 1) {{\n            more = false;"
                );
            }
        }
        if self.several() {
            *out += "            has_body = false;\n";
        }
        let (read_it, whole) = self.call();
        let status = match following {
            Some(_) => "status",
            None => "message_status status",
        };
        let _ = writeln!(out, "            {status} = messages.{read_it};");
        let is_none = match following {
            Some(following) => {
                following.again(&read_it, out);
                stream::IS_NONE
            }
            None => "(status == message_status.OTHER)",
        };
        let _ = writeln!(out, "            if (!{is_none}) {{");
        self.read().for_each(|attribute| attribute.get(out));
        let _ = writeln!(out, "                bool whole = {whole};");
        // The verifier would follow each combination of what is about the next message through all that is done with this one.
        if self.pairing.is_none() {
            self.taken(out, record);
            self.about_next(out);
        } else {
            self.about_next(out);
            self.taken(out, record);
        }
        if self.several() {
            self.next(out);
        }
        *out += "            }\n";
        if let Some(following) = following.filter(|following| following.several) {
            following.next_part(out);
        }
        *out += "        }\n";
        match following {
            Some(following) => following.end(out),
            // Not in the last turn: a verifier would have to tell that from the others.
            None if self.several() => *out += "        if (more) { packets.increment(6); }\n",
            None => {}
        }
    }

    /// What tells where the next message begins: behind the body, if the length of that is known.
    fn about_next(&self, out: &mut String) {
        let next = self.schema.next.as_ref();
        if let Some(next) = next.filter(|_| self.several()) {
            get_bytes(out, "rest", 8, Some(&next.body));
            get_bytes(out, "digits", 80, Some(&next.length));
            get_bytes(out, "open", 8, next.unless.as_deref());
            *out += "                has_body = has_rest;\n";
            match self.bodiless() {
                Some(bodiless) => bodiless.read("                ", out),
                None => *out += "                bool is_empty = false;\n",
            }
        }
    }

    /// Where the next message begins.
    fn next(&self, out: &mut String) {
        *out += NEXT;
        if let Some(bodiless) = self.bodiless() {
            *out += "                may_be_empty = has_bodiless;
                if (may_be_empty && has_body && !is_open && body_bytes != 0 && body_at < end) {\n";
            bodiless.look("                    ", None, "body_at", out);
            *out += "                    bit<64> came = (bit<64>)(end - body_at);
                    may_be_empty = (is_short & (came - body_bytes)[63:63]) == 1;
                    bit<1> is_next = is_message | is_short & (body_bytes - came)[63:63];
                    body_bytes = body_bytes & ((bit<64>)is_next - 1);\n                }\n";
        }
        *out += BEHIND;
    }

    /// The attribute of messages that may have no body, if there are such.
    fn bodiless(&self) -> Option<Bodiless<'_>> {
        let none = self.schema.next.as_ref()?.none.as_ref()?;
        match self.schema.asked(&none.attribute).ok()?.kind {
            Kind::Number { bits, .. } => Some(Bodiless {
                attribute: &none.attribute,
                bits,
                values: &none.values,
            }),
            Kind::Bytes | Kind::DnsName => None,
        }
    }

    /// The attributes that are read.
    fn read(&self) -> impl Iterator<Item = &Attribute> {
        let pairing = self.pairing.as_ref();
        let pairing = pairing.map_or(&[][..], |pairing| &pairing.attributes);
        self.attributes.iter().chain(pairing)
    }

    /// The call that reads a message, and the condition that all that is asked for was found: what is wrong behind that does not matter.
    fn call(&self) -> (String, &'static str) {
        let names: Vec<&str> = self.read().map(|a| a.name.as_str()).collect();
        let names = names.join(",");
        let whole = if names.is_empty() {
            "true"
        } else {
            "status == message_status.READ"
        };
        let call = match (self.schema.follow, names.is_empty()) {
            (false, true) => "read(at, end - at)".to_owned(),
            (true, true) => "read_behind(ticket, at, end - at)".to_owned(),
            (false, false) => format!("read_for(at, end - at, \"{names}\")"),
            (true, false) => format!("read_behind(ticket, at, end - at, \"{names}\")"),
        };
        (call, whole)
    }

    /// What becomes of a message: `record` is what does if it is whole.
    fn taken(&self, out: &mut String, record: impl FnOnce(&mut String)) {
        const WRONG: &str = "if (status == message_status.TOO_LONG) { packets.increment(6); } else { packets.increment(4); }";
        let counted = |out: &mut String| {
            *out += "                    packets.increment(3);\n";
            self.keep(out);
            let mut text = String::new();
            record(&mut text);
            for line in text.lines() {
                let _ = writeln!(out, "            {line}");
            }
        };
        // Of streams, what is wrong with the last message is counted behind it.
        let is_taken = match (&self.pairing, self.schema.follow) {
            (None, true) => "if (whole && !recorded) {".to_owned(),
            (None, false) => format!("if (!whole) {{ {WRONG} }} else {{"),
            (Some(_), true) => "{".to_owned(),
            (Some(_), false) => format!("if (!whole) {{ {WRONG} }}\n                {{"),
        };
        let _ = writeln!(out, "                {is_taken}");
        match &self.pairing {
            None => counted(out),
            Some(pairing) => pairing.message(out, &self.attributes, counted),
        }
        *out += "                }\n";
    }

    /// The condition that a packet may carry such a message.
    fn carried(&self, transport: &str) -> String {
        let valid = format!("hdr.{transport}.isValid()");
        if !self.schema.recognise.is_empty() {
            return valid;
        }
        let ports = self.schema.ports.iter().map(|port| {
            format!("hdr.{transport}.src_port == {port} || hdr.{transport}.dst_port == {port}")
        });
        match ports.collect::<Vec<String>>().join(" || ").as_str() {
            "" => "false".to_owned(),
            ports => format!("{valid} && ({ports})"),
        }
    }

    /// Whether an attribute is a text that is a key or an item.
    fn keeps_text(&self, attribute: &Attribute) -> bool {
        !matches!(attribute.kind, Kind::Number { .. }) && is_kept(self.query, attribute.index)
    }

    /// What is kept of texts.
    fn keep(&self, out: &mut String) {
        let kept = 8 * self.kept;
        for attribute in &self.attributes {
            if !self.keeps_text(attribute) {
                continue;
            }
            let (variable, width) = (&attribute.variable, 8 * attribute.width);
            let _ = writeln!(
                out,
                "                    text_t {variable}_kept = {{ {variable}[{}:{}], (bit<16>){variable}_length }};",
                width - 1,
                width - kept
            );
            let _ = writeln!(
                out,
                "                    if ({variable}_length > {0}) {{ {variable}_kept.length = {0}; }}",
                self.kept
            );
        }
    }

    /// Texts that are longer than what is kept, where keys, `top` and `distinct` have them.
    pub(super) fn cut(&self, out: &mut String) {
        let mut cut = Vec::new();
        let keys = self.query.keys.iter().copied();
        let items = self
            .query
            .aggregates
            .iter()
            .filter_map(|a| match a.function {
                Function::Top(_, x) | Function::Distinct(x) => Some(x),
                _ => None,
            });
        for index in keys.chain(items) {
            let mut all = self.attributes.iter();
            let text = all.find(|a| a.index == index && !matches!(a.kind, Kind::Number { .. }));
            cut.extend(text.map(|a| a.variable.as_str()));
        }
        for variable in cut {
            let _ = writeln!(
                out,
                "                if (has_{variable} && {variable}_length > {}) {{ packets.increment(5); }}",
                self.kept
            );
        }
    }
}

/// What is known of the message that is read first, where it has nothing to do with earlier segments.
const ALONE: &str = "        bit<32> until = end;
        bit<64> ticket = 0;
        bit<32> kept = 0;
        bool recorded = false;
        bool seen = false;
";

/// What is known of the body of a message, behind which the next one begins.
const BODY: &str = "        bool has_body = false;
        bool is_open = false;
        bool may_be_empty = false;
        bit<32> body_at = 0;
        bit<64> next = 0;
";

/// Finds where the next of several messages begins, in this segment or a later one: behind the `body`, so many bytes as the `digits` say, unless
/// it is `open` how many these are.
const NEXT: &str = include_str!("next.p4h");

/// The same, when it is known whether there is a body.
const BEHIND: &str = include_str!("behind.p4h");

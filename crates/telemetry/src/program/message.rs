//! Messages in P4: their positions in a packet, and the calls that read their attributes. `p4include/streams.p4` does
//! the rest.

use super::attribute::{Attribute, MESSAGES, is_kept, kept_of, kept_of_texts, longest_compared};
use super::behind::behind;
use super::counted::{COUNTS, Count};
use super::exchange::{self, Pairing};
use super::field::{Held, Source, names};
use super::p4::{
    Block, Expr, Instance, Stmt, Struct, Type, all, any, call, declare, name, named, number, text,
    variable, when,
};
use crate::catalogue;
use crate::errors::program as errors;
use crate::messages::Messages;
use crate::query::{Function, Query};
use crate::streams::STREAMS;
use diag::Diagnostic;
use payload::{Asked, AttributeKind, Next, Schema};

/// Greatest number of messages in a packet that are read.
const MOST: u32 = 64;
/// The same limit if the groups of a packet's messages are compared, so that its bytes count once in each group.
const MOST_COMPARED: u32 = 4;

/// Names of the variables for the state of a segment, and for its endpoints.
pub(super) const SEGMENT: &str = "segment";
pub(super) const ENDS: &str = "ends";
/// Name of the flow state of requests that wait for their answers.
pub(super) const AWAITED: &str = "awaited";
/// Name of the variable that counts the messages of a segment.
const ITERATION: &str = "iteration";

/// Reader of a query's messages.
pub(super) struct Reader<'q> {
    query: &'q Query,
    schema: &'q Schema,
    /// Number of bytes of a text that are kept.
    kept: usize,
    attributes: Vec<Attribute>,
    /// Rule that pairs requests and responses, if the query is about them.
    pairing: Option<Pairing<'q>>,
}

/// Returns the reader of a query's messages; `None` if the query is about packets.
///
/// # Errors
/// No program can read these messages, or support what the query asks of their attributes.
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
    for (index, attribute) in of_message.filter(|(_, a)| a.ty != catalogue::Type::Time) {
        let refused = || errors::message(attribute.at, &attribute.name);
        let name_there = attribute.name_in_message();
        let asked = schema.and_then(|schema| schema.asked(name_there).ok());
        let Asked { kind, traits, .. } = asked.ok_or_else(refused)?;
        // The query may mean another value than the first one.
        if attribute.several || !traits.noise.is_empty() {
            let has_noise = !traits.noise.is_empty();
            return Err(errors::several(attribute.at, &attribute.name, has_noise));
        }
        let is_number = matches!(kind, AttributeKind::Number { .. });
        if is_number != matches!(attribute.ty, catalogue::Type::Number(_)) {
            return Err(refused());
        }
        let compared = longest_compared(index, query)?;
        attributes.push(Attribute {
            index,
            name: name_there.to_owned(),
            variable: names[index].clone(),
            kind,
            width: match attribute.ty {
                catalogue::Type::Ipv4 => 4,
                catalogue::Type::Ipv6 => 16,
                _ => kept_of(query, index, kept).max(compared.next_multiple_of(8)),
            },
            is_address: traits.is_address,
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
    /// Returns the source of the query's attribute in P4; `None` if it does not belong to the message.
    pub(super) fn source(&self, index: usize) -> Option<Source> {
        if self.query.attributes[index].ty == catalogue::Type::Time {
            return Some(exchange::source());
        }
        let mut all = self.attributes.iter();
        let attribute = all.find(|attribute| attribute.index == index)?;
        let pairing = self.pairing.as_ref();
        let (key, ty, text) = match attribute.is_text() {
            false => (attribute.value(), attribute.ty(), None),
            true => {
                let held = Held {
                    width: 8 * attribute.width,
                    length: attribute.length(),
                };
                (name(kept_name(attribute)), named("text_t"), Some(held))
            }
        };
        Some(Source {
            has: Some(attribute.has()),
            value: attribute.value(),
            attribute: attribute.name.clone(),
            text,
            key,
            ty,
            matched: pairing.map_or(Vec::new(), |pairing| pairing.matched(index)),
        })
    }

    /// Returns the include file that the program needs.
    pub(super) fn include(&self) -> &'static str {
        match self.pairing {
            Some(_) => "exchanges.p4",
            None => "streams.p4",
        }
    }

    /// Returns the types of texts, if there are any, and of waiting requests.
    pub(super) fn types(&self) -> Vec<Struct> {
        let mut all = self.attributes.iter();
        let keeps_text = all.any(|attribute| self.keeps_text(attribute));
        let texts = keeps_text.then(|| Struct {
            name: "text_t".to_owned(),
            fields: vec![
                (Type::Bits(8 * self.kept as u32), "bytes".to_owned()),
                (Type::Bits(16), "length".to_owned()),
            ],
        });
        let requests = self.pairing.iter();
        let requests = requests.map(|pairing| pairing.request_type(&self.attributes));
        texts.into_iter().chain(requests).collect()
    }

    /// Returns the objects that read messages.
    pub(super) fn objects(&self) -> Vec<Instance> {
        let schema = self.schema;
        let instance = |ty: Type, args: Vec<Expr>, name: &str| Instance {
            ty,
            args,
            name: name.to_owned(),
            comment: None,
        };
        let control = |ty: &str, args: Vec<Expr>, name: &str| instance(named(ty), args, name);
        let limit = name("STREAM_LIMIT");
        let message = vec![text(&schema.name), limit];
        let mut all = vec![control("message", message, MESSAGES)];
        let asked = [Expr::Bool(self.asks()), text(self.asked())];
        let several = || Expr::Bool(self.several());
        let [streams, of_messages, counts] = ["streams", MESSAGES, COUNTS].map(name);
        if schema.follow {
            let types = ["stream_ends", "stream_state"].map(named).to_vec();
            let size = vec![number(STREAMS as u64)];
            all.push(instance(
                Type::Generic("flow_state", types),
                size,
                "streams",
            ));
            let common = || vec![streams.clone(), of_messages.clone(), counts.clone()];
            let mut begin = common();
            begin.push(several());
            all.push(control("stream_begin", begin, "begin"));
            let mut read = vec![of_messages.clone(), counts.clone()];
            read.extend(asked);
            all.push(control("stream_read", read, "read"));
            let mut end = common();
            end.extend([several(), Expr::Bool(self.pairing.is_some())]);
            all.push(control("stream_end", end, "end"));
            if self.awaits() {
                let types = ["stream_ends", "stream_awaited"].map(named).to_vec();
                let size = vec![number(STREAMS as u64)];
                let requests = || name(AWAITED);
                all.push(instance(Type::Generic("flow_state", types), size, AWAITED));
                all.push(control("stream_recall", vec![requests()], "recall"));
                let remember = vec![requests(), counts];
                all.push(control("stream_remember", remember, "remember"));
            }
        } else {
            let mut read = vec![of_messages.clone()];
            read.extend(asked);
            all.push(control("stream_read_alone", read, "read"));
        }
        if let Some(next) = self.next() {
            let mut body = vec![of_messages, text(&next.body), text(&next.length)];
            body.extend(optional(next.chunked.as_deref()));
            all.push(control("stream_body", body, "body"));
        }
        if let Some(pairing) = &self.pairing {
            all.extend(pairing.objects());
        }
        all
    }

    /// Returns the rule that locates the next of several messages.
    fn next(&self) -> Option<&Next> {
        self.schema.next.as_ref()
    }

    /// Returns true if messages may follow one another in a packet.
    fn several(&self) -> bool {
        self.next().is_some()
    }

    /// Returns true if the request of a message may decide that it has no body.
    fn awaits(&self) -> bool {
        awaits(self.schema)
    }

    /// Returns true if the bytes of a packet must count once in each group of its messages.
    pub(super) fn compares_groups(&self) -> bool {
        let mut all = self.query.aggregates.iter();
        self.several() && all.any(|a| a.function == Function::Bytes)
    }

    /// Emits the computation of the bytes to add to a group: the packet's length, once.
    pub(super) fn bytes(&self) -> Block {
        let length = name("input").member("length").cast(Type::Bits(64));
        let mut out = vec![declare(Type::Bits(64), "bytes", length)];
        for earlier in 0..MOST_COMPARED - 1 {
            let is_same = name(earlier_group(earlier)).equals(name("group"));
            let known = all([name(is_earlier(earlier)), is_same]);
            out.push(when(known, vec![Stmt::Assign(name("bytes"), number(0u8))]));
        }
        for this in 0..MOST_COMPARED - 1 {
            let keep = vec![
                Stmt::Assign(name(earlier_group(this)), name("group")),
                Stmt::Assign(name(is_earlier(this)), Expr::Bool(true)),
            ];
            out.push(when(name(ITERATION).equals(number(this)), keep));
        }
        out
    }

    /// Emits the statements around a message's record. `record` emits those of the record, as for a packet; `no_group`
    /// is any group.
    pub(super) fn around(&self, no_group: &Expr, record: impl FnOnce() -> Block) -> Block {
        let segment = || name(SEGMENT);
        let transport = name("hdr").member(self.schema.transport.name());
        let mut out = vec![
            declare(Type::Bits(32), "payload", call("payload_length", vec![])),
            when(
                name("payload").binary(">", name("hdr").member("payload_bytes")),
                vec![Stmt::Assign(
                    name("payload"),
                    name("hdr").member("payload_bytes"),
                )],
            ),
        ];
        if self.schema.follow || self.pairing.is_some() {
            let ports = ["src_port", "dst_port"].map(|port| transport.clone().member(port));
            let mut ends = vec![number(0u8); 2];
            ends.extend(ports);
            out.push(declare(named("stream_ends"), ENDS, Expr::List(ends)));
            let addresses = ["src", "dst"].map(|end| name(ENDS).member(end));
            let args = [name("hdr")].into_iter().chain(addresses).collect();
            out.push(Stmt::Call(call("packet_addresses", args)));
        }
        let ends = || name(ENDS);
        if self.schema.follow {
            let flags = transport.clone().member("flags");
            let opens = Expr::Slice(flags.into(), 1, 1).equals(number(1u8));
            let sequence = transport.member("seq");
            out.push(variable(named("stream_segment"), SEGMENT));
            out.push(declare(Type::Bool, "opens", opens));
            let opens = || name("opens");
            let args = vec![segment(), ends(), sequence, opens(), name("payload")];
            out.push(apply("begin", args));
            if self.awaits() {
                out.push(apply("recall", vec![segment(), ends(), opens()]));
            }
        } else {
            let unknown = call("stream_unknown", vec![name("payload")]);
            out.push(declare(named("stream_segment"), SEGMENT, unknown));
        }
        if let Some(pairing) = &self.pairing {
            out.extend(pairing.begin());
        }
        if self.compares_groups() {
            for iteration in 0..MOST_COMPARED - 1 {
                let group = earlier_group(iteration);
                out.push(declare(named("group_t"), group, no_group.clone()));
                out.push(declare(
                    Type::Bool,
                    is_earlier(iteration),
                    Expr::Bool(false),
                ));
            }
        }
        let mut iteration = vec![
            apply("read", vec![segment()]),
            when(segment().member("is_message"), self.message(record)),
        ];
        let is_more = segment().member("more");
        if self.several() && self.schema.follow {
            iteration.push(Stmt::Call(call("stream_next", vec![segment()])));
        }
        out.push(match (self.several(), self.compares_groups()) {
            // Even a loop of a single iteration costs the verifier more than a conditional.
            (false, _) => when(is_more.clone(), iteration),
            (true, false) => Stmt::For(ITERATION, MOST, is_more.clone(), iteration),
            (true, true) => Stmt::For(ITERATION, MOST_COMPARED, is_more.clone(), iteration),
        });
        if self.schema.follow {
            out.push(apply("end", vec![segment(), ends()]));
            if self.awaits() {
                out.push(apply("remember", vec![segment(), ends()]));
            }
            out.extend(self.pairing.iter().flat_map(Pairing::end));
        } else if self.several() {
            // Not in the last iteration: a verifier would have to distinguish it from the others.
            out.push(when(is_more, vec![Count::Unread.increment()]));
        }
        vec![when(self.carried(), out)]
    }

    /// Emits the statements for a message.
    fn message(&self, record: impl FnOnce() -> Block) -> Block {
        let mut out: Block = self.read().flat_map(Attribute::get).collect();
        let whole = match self.asks() {
            true => name(SEGMENT).member("status").equals(status("READ")),
            // Faults after the attributes do not matter.
            false => Expr::Bool(true),
        };
        out.push(declare(Type::Bool, "whole", whole));
        out.extend(self.taken(record));
        if self.several() {
            out.extend(self.next().map_or(Block::new(), |next| {
                behind(self.schema, next, self.awaits())
            }));
        }
        out
    }

    /// Returns the attributes that are read.
    fn read(&self) -> impl Iterator<Item = &Attribute> {
        let pairing = self.pairing.as_ref();
        let pairing = pairing.map_or(&[][..], |pairing| &pairing.attributes);
        self.attributes.iter().chain(pairing)
    }

    /// Returns the names of the attributes that are read, as a list for the reader.
    fn asked(&self) -> String {
        let names: Vec<&str> = self.read().map(|a| a.name.as_str()).collect();
        names.join(",")
    }

    /// Returns true if attributes are read.
    fn asks(&self) -> bool {
        self.read().next().is_some()
    }

    /// Emits the statements that count a message; `record` emits those for one without a fault.
    fn taken(&self, record: impl FnOnce() -> Block) -> Block {
        let counted = || {
            let mut out = vec![Count::Message.increment()];
            out.extend(self.keep());
            out.extend(record());
            out
        };
        let [whole, segment] = ["whole", SEGMENT].map(name);
        let is_long = segment.clone().member("status").equals(status("TOO_LONG"));
        let wrong = || {
            let unread = vec![Count::Unread.increment()];
            vec![Stmt::If(
                is_long,
                unread,
                vec![Count::Malformed.increment()],
            )]
        };
        // In streams, a fault of the last message is counted after it.
        match (&self.pairing, self.schema.follow) {
            (None, true) => {
                let recorded = segment.member("message").member("recorded");
                vec![when(all([whole, recorded.not()]), counted())]
            }
            (None, false) => vec![Stmt::If(whole.not(), wrong(), counted())],
            (Some(pairing), true) => pairing.message(&self.attributes, counted),
            (Some(pairing), false) => {
                let mut out = vec![when(whole.not(), wrong())];
                out.extend(pairing.message(&self.attributes, counted));
                out
            }
        }
    }

    /// Tests that a packet may carry such a message.
    fn carried(&self) -> Expr {
        let transport = || name("hdr").member(self.schema.transport.name());
        if !self.schema.recognise.is_empty() {
            return transport().valid();
        }
        let ports = self.schema.ports.iter().flat_map(|&port| {
            ["src_port", "dst_port"].map(|end| transport().member(end).equals(number(port)))
        });
        all([transport().valid(), any(ports)])
    }

    /// Returns true if an attribute is a text that is a key or an item.
    fn keeps_text(&self, attribute: &Attribute) -> bool {
        attribute.is_text() && is_kept(self.query, attribute.index)
    }

    /// Emits the statements that keep the first bytes of texts.
    fn keep(&self) -> Block {
        let mut out = Block::new();
        let texts = self.attributes.iter().filter(|a| self.keeps_text(a));
        for attribute in texts {
            let width = 8 * attribute.width;
            let (first, last) = (width - 1, width - 8 * self.kept);
            let bytes = Expr::Slice(attribute.value().into(), first, last);
            let length = attribute.length().cast(Type::Bits(16));
            let kept = Expr::List(vec![bytes, length]);
            out.push(declare(named("text_t"), kept_name(attribute), kept));
            let length = name(kept_name(attribute)).member("length");
            let cut = Stmt::Assign(length, number(self.kept as u64));
            out.push(when(self.is_cut(attribute), vec![cut]));
        }
        out
    }

    /// Tests that a text is longer than the bytes that are kept.
    fn is_cut(&self, attribute: &Attribute) -> Expr {
        attribute.length().binary(">", number(self.kept as u64))
    }

    /// Emits the statements that count texts which were cut for keys, `top` and `distinct`.
    pub(super) fn cut(&self) -> Block {
        let keys = self.query.keys.iter().copied();
        let items = self.query.aggregates.iter();
        let items = items.filter_map(|a| match a.function {
            Function::Top(_, x) | Function::Distinct(x) => Some(x),
            _ => None,
        });
        let texts = keys.chain(items).filter_map(|index| {
            let mut all = self.attributes.iter();
            all.find(|a| a.index == index && a.is_text())
        });
        let cut = texts.map(|text| all([text.has(), self.is_cut(text)]));
        cut.map(|cut| when(cut, vec![Count::Cut.increment()]))
            .collect()
    }
}

/// Returns true if streams are followed and the request of a message may decide that it has no body.
pub(super) fn awaits(schema: &Schema) -> bool {
    let next = schema.next.as_ref().filter(|_| schema.follow);
    next.is_some_and(|next| !next.answers.is_empty())
}

/// Returns two arguments: true if there is an attribute, and its name.
fn optional(attribute: Option<&str>) -> [Expr; 2] {
    [
        Expr::Bool(attribute.is_some()),
        text(attribute.unwrap_or_default()),
    ]
}

/// Returns a status of messages.
pub(super) fn status(member: &str) -> Expr {
    name("message_status").member(member)
}

/// Emits a call of a control.
pub(super) fn apply(control: &str, args: Vec<Expr>) -> Stmt {
    Stmt::Call(name(control).method("apply", args))
}

/// Name of the variable with the kept bytes of a text.
fn kept_name(attribute: &Attribute) -> String {
    format!("{}_kept", attribute.variable)
}

/// Name of the variable with the group of an earlier message in the packet.
fn earlier_group(iteration: u32) -> String {
    format!("group{iteration}")
}

/// Name of the variable that is true if there is such a group.
fn is_earlier(iteration: u32) -> String {
    format!("is_group{iteration}")
}

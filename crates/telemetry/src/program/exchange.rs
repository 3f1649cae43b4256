//! Requests and responses in P4: requests wait in a flow state. With `p4include/exchanges.p4`, the code does the same
//! as [`crate::exchange`].

use super::attribute::{Attribute, matches};
use super::counted::Count;
use super::field::Source;
use super::message::{ENDS, SEGMENT, apply};
use super::p4::{
    Block, Expr, Instance, Stmt, Struct, Type, all, any, call, declare, name, named, number, when,
};
use crate::errors::program as errors;
use crate::exchange::{FLOWS, WAITING};
use crate::query::{Condition, Predicate, Query};
use diag::Diagnostic;
use payload::{Exchange, Schema, Side, Sides, Transport};

/// Names of the flow states.
const STATES: [&str; 2] = ["waiting", "connections"];

/// Returns the flow states of a program that pairs messages.
pub(super) fn states(rules: &Exchange) -> &'static [&'static str] {
    match rules.id {
        Some(_) => &STATES[..1],
        None => &STATES,
    }
}

/// Rule that pairs the messages of a query.
pub(super) struct Pairing<'q> {
    schema: &'q Schema,
    rules: &'q Exchange,
    /// Attributes that give the side and the number of a message, apart from those that the query reads.
    pub attributes: Vec<Attribute>,
    /// Regular expressions of the condition, each with the index of its attribute in the query.
    patterns: Vec<(usize, String)>,
}

/// Returns the rule that pairs a query's messages, if the query is about response times.
///
/// # Errors
/// No program can read an attribute that identifies the sides.
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
            is_address: false,
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

impl Pairing<'_> {
    /// Returns the regular expressions on an attribute, each with the variable of its result.
    pub(super) fn matched(&self, index: usize) -> Vec<(String, Expr)> {
        let all = self.patterns.iter().enumerate();
        let own = all.filter(|(_, (known, _))| *known == index);
        own.map(|(number, (_, pattern))| (pattern.clone(), name(match_name(number))))
            .collect()
    }

    /// Returns true if messages are matched by their order.
    fn in_order(&self) -> bool {
        self.rules.id.is_none()
    }

    fn is_tcp(&self) -> bool {
        self.schema.transport == Transport::Tcp
    }

    /// Returns the type of a waiting request: its time, and the preserved values of attributes.
    pub(super) fn request_type(&self, read: &[Attribute]) -> Struct {
        let kept = self.kept(read).into_iter();
        let kept = kept.map(|kept| (kept.ty, kept.field));
        Struct {
            name: "request_t".to_owned(),
            fields: [(Type::Bits(64), "time".to_owned())]
                .into_iter()
                .chain(kept)
                .collect(),
        }
    }

    /// Returns the objects of the program.
    pub(super) fn objects(&self) -> Vec<Instance> {
        let [waiting, connections] = STATES;
        let states = |types: [&str; 2], size: usize, name: &str| Instance {
            ty: Type::Generic("flow_state", types.map(named).to_vec()),
            args: vec![number(size as u64)],
            name: name.to_owned(),
            comment: None,
        };
        let mut all = vec![states(["exchange_key", "request_t"], WAITING, waiting)];
        if self.in_order() {
            let types = ["stream_ends", "exchange_connection"];
            all.push(states(types, FLOWS, connections));
            // TCP may retransmit.
            let once = Expr::Bool(!self.is_tcp());
            all.push(Instance {
                ty: named("exchange_number"),
                args: vec![name(connections), once],
                name: "in_order".to_owned(),
                comment: None,
            });
            if self.schema.follow {
                all.push(Instance {
                    ty: named("exchange_miss"),
                    args: vec![name(connections)],
                    name: "miss".to_owned(),
                    comment: None,
                });
            }
        }
        all
    }

    /// Emits the statements before all messages of a packet.
    pub(super) fn begin(&self) -> Block {
        if !self.in_order() || !self.is_tcp() {
            return Block::new();
        }
        let flags = name("hdr").member("tcp").member("flags");
        let opens = flags.binary("&", number(0x12u8)).equals(number(2u8));
        let [_, connections] = STATES;
        let forget = call("exchange_forget", vec![name(connections), name(ENDS)]);
        vec![
            Stmt::Comment("A connection that is opened has nothing of one before."),
            when(opens, vec![Stmt::Call(forget)]),
        ]
    }

    /// Emits the statements after all messages of a segment.
    pub(super) fn end(&self) -> Block {
        if !self.in_order() {
            return Block::new();
        }
        let missed = name(SEGMENT).member("missed").equals(number(1u8));
        vec![when(missed, vec![apply("miss", vec![name(ENDS)])])]
    }

    /// Tests that a message shows its side.
    fn is_sided(&self, read: &[Attribute]) -> Expr {
        match &self.rules.sides {
            Sides::Ports => Expr::Bool(true),
            Sides::Attributes { .. } => {
                let sides = self.rules.sides();
                let shown = sides.filter_map(|side| self.attribute(read, side));
                any(shown.map(Attribute::has))
            }
        }
    }

    /// Returns two conditions: the message is a request, and it is a response.
    fn sides(&self, read: &[Attribute]) -> [Expr; 2] {
        match &self.rules.sides {
            Sides::Ports => ["dst_port", "src_port"].map(|end| {
                let port = name("hdr").member(self.schema.transport.name()).member(end);
                let known = self.schema.ports.iter();
                any(known.map(|&known| port.clone().equals(number(known))))
            }),
            Sides::Attributes { request, response } => [request, response]
                .map(|side| side_test(side, self.attribute(read, &side.attribute))),
        }
    }

    /// Returns the attribute of this name among those that are read.
    fn attribute<'a>(&'a self, read: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
        let mut all = read.iter().chain(&self.attributes);
        all.find(|attribute| attribute.name == name)
    }

    /// Emits the statements for a message, malformed or not. `record` emits those for a record, with the attributes of
    /// the response and its request.
    pub(super) fn message(&self, read: &[Attribute], record: impl FnOnce() -> Block) -> Block {
        let [is_request, is_response] = self.sides(read);
        let is_response = all([name("is_request").not(), is_response]);
        let new = vec![name(ENDS), name("is_request"), name("is_response")];
        let new = call("exchange_message_of", new);
        let mut out = vec![
            declare(Type::Bool, "is_request", is_request),
            declare(Type::Bool, "is_response", is_response),
            declare(named("exchange_message"), EXCHANGE, new),
            self.number(read),
        ];
        if self.in_order() && self.schema.follow {
            let sided = name(SEGMENT).member("is_sided");
            out.push(Stmt::Assign(sided, self.is_sided(read)));
        }
        for (number, (index, pattern)) in self.patterns.iter().enumerate() {
            let of = read.iter().find(|a| a.index == *index);
            let found = of.map_or(Expr::Bool(false), |of| matches(&of.name, pattern));
            out.push(declare(Type::Bool, match_name(number), found));
        }
        out.extend(self.request(read));
        out.push(self.response(read, record));
        out
    }

    /// Emits the statement that numbers a message.
    fn number(&self, read: &[Attribute]) -> Stmt {
        let exchange = name(EXCHANGE);
        if let Some(id) = &self.rules.id {
            let id = self.attribute(read, id);
            let value = id.map_or(number(0u8), |id| id.value().cast(Type::Bits(64)));
            let has = id.map_or(Expr::Bool(false), Attribute::has);
            return Stmt::Call(call("exchange_by_number", vec![exchange, has, value]));
        }
        let segment = || name(SEGMENT);
        let at = segment().member("at");
        let position = match self.is_tcp() {
            true => {
                let sequence = name("hdr").member("tcp").member("seq");
                let kept = segment().member("message").member("kept");
                sequence.binary("+", at).binary("-", kept)
            }
            false => at,
        };
        let missed = segment().member("missed").equals(number(1u8));
        apply("in_order", vec![exchange, position, missed])
    }

    /// Emits the statements that keep a request until its response arrives.
    fn request(&self, read: &[Attribute]) -> Block {
        let kept = self.kept(read);
        let zeros = vec![number(0u8); 1 + kept.len()];
        let [waiting, _] = STATES;
        let key = || name(EXCHANGE).member("key");
        let is_numbered = || name(EXCHANGE).member("is_numbered");
        let has_number = all([name("is_request"), is_numbered()]);
        let mut waits = vec![Stmt::Assign(name(REQUEST).member("time"), now())];
        waits.extend(
            kept.into_iter()
                .map(|Kept { field, value, .. }| Stmt::Assign(name(REQUEST).member(field), value)),
        );
        let update = name(waiting).method("update", vec![key(), name(REQUEST)]);
        waits.extend([Stmt::Call(update), Count::Request.increment()]);
        let forget = call("exchange_forget", vec![name(waiting), key()]);
        let broken = all([has_number.clone(), name("whole").not()]);
        let mut out = vec![
            declare(named("request_t"), REQUEST, Expr::List(zeros)),
            when(all([has_number, name("whole")]), waits),
            Stmt::Comment(
                "One of an earlier connection with the same number would get the response.",
            ),
            when(broken, vec![Stmt::Call(forget)]),
        ];
        if self.in_order() {
            let is_next = name(EXCHANGE).member("is_next");
            let is_lost = all([name("is_request"), is_next, is_numbered().not()]);
            out.push(when(is_lost, vec![Count::Unfollowed.increment()]));
        }
        out
    }

    /// Emits the statement that finds the request of a response, and records both.
    fn response(&self, read: &[Attribute], record: impl FnOnce() -> Block) -> Stmt {
        let [waiting, _] = STATES;
        let take = vec![name(waiting), name(EXCHANGE), name(REQUEST)];
        let time = || name(REQUEST).member("time");
        let elapsed = Stmt::Assign(name(RESPONSE_TIME), now().binary("-", time()));
        let mut answered = vec![
            declare(Type::Bits(64), RESPONSE_TIME, number(0u8)),
            when(now().binary(">", time()), vec![elapsed]),
            Stmt::Comment("What the response lacks is the request's."),
        ];
        answered.extend(read.iter().map(|attribute| self.or_of_request(attribute)));
        answered.extend(record());
        let response = vec![
            declare(Type::Bool, "is_known", call("exchange_take", take)),
            Stmt::If(
                name("is_known"),
                vec![Count::Answered.increment()],
                vec![Count::Unmatched.increment()],
            ),
            when(all([name("is_known"), name("whole")]), answered),
        ];
        let is_next = name(EXCHANGE).member("is_next");
        when(all([name("is_response"), is_next]), response)
    }

    /// Emits the statement that takes an attribute from the request if the response lacks it.
    fn or_of_request(&self, attribute: &Attribute) -> Stmt {
        let of_request = |field: &str| name(REQUEST).member(field);
        let is_one = |field: &str| of_request(field).equals(number(1u8));
        let mut take = vec![
            Stmt::Assign(attribute.has(), Expr::Bool(true)),
            Stmt::Assign(attribute.value(), of_request(&attribute.variable)),
        ];
        if attribute.is_text() {
            let length = of_request(&length_name(attribute)).cast(Type::Bits(32));
            take.push(Stmt::Assign(attribute.length(), length));
        }
        for (number, (index, _)) in self.patterns.iter().enumerate() {
            if *index == attribute.index {
                let found = match_name(number);
                take.push(Stmt::Assign(name(&found), is_one(&found)));
            }
        }
        let lacks = all([attribute.has().not(), is_one(&attribute.has_name())]);
        when(lacks, take)
    }

    /// Returns the fields of a waiting request, besides its time.
    fn kept(&self, read: &[Attribute]) -> Vec<Kept> {
        let bit = |field: String| Kept {
            ty: Type::Bits(1),
            value: name(&field).cast(Type::Bits(1)),
            field,
        };
        let mut out = Vec::new();
        for attribute in read {
            out.push(Kept {
                ty: attribute.ty(),
                value: attribute.value(),
                field: attribute.variable.clone(),
            });
            if attribute.is_text() {
                out.push(Kept {
                    ty: Type::Bits(16),
                    value: attribute.length().cast(Type::Bits(16)),
                    field: length_name(attribute),
                });
            }
            out.push(bit(attribute.has_name()));
        }
        out.extend((0..self.patterns.len()).map(|number| bit(match_name(number))));
        out
    }
}

/// Field of a waiting request, and the value assigned to it.
struct Kept {
    ty: Type,
    field: String,
    value: Expr,
}

/// Name of the variable with the result of a regular expression.
fn match_name(number: usize) -> String {
    format!("match_{number}")
}

fn length_name(attribute: &Attribute) -> String {
    format!("{}_length", attribute.variable)
}

/// Tests the attribute that identifies a side.
fn side_test(side: &Side, attribute: Option<&Attribute>) -> Expr {
    let Some(attribute) = attribute else {
        return Expr::Bool(false);
    };
    let value = || attribute.value().cast(Type::Bits(64));
    let values = side.values.iter();
    let is_one = any(values.map(|&wanted| value().equals(number(wanted))));
    let excepted = side.except.iter();
    let is_none = excepted.map(|&other| value().binary("!=", number(other)));
    let is_one = (!side.values.is_empty()).then_some(is_one);
    all([attribute.has()].into_iter().chain(is_one).chain(is_none))
}

/// Names of the variables of a message in an exchange, and of its request.
const EXCHANGE: &str = "exchange";
const REQUEST: &str = "request";
/// Name of the variable of a response time, in nanoseconds.
const RESPONSE_TIME: &str = "response_time";

/// Time of the packet.
fn now() -> Expr {
    name("input").member("timestamp")
}

/// Returns the source of a response time in P4.
pub(super) fn source() -> Source {
    Source {
        has: None,
        value: name(RESPONSE_TIME),
        attribute: String::new(),
        text: None,
        key: name(RESPONSE_TIME),
        ty: Type::Bits(64),
        matched: Vec::new(),
    }
}

//! A message schema, as data.

use std::ops::RangeInclusive;

use crate::{CharSet, Condition, Exchange, Linear, Side, Signature, Site};

/// The protocol below the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// TCP: a message may span segments.
    Tcp,
    /// UDP: a message is a datagram.
    Udp,
}

impl Transport {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
        }
    }
}

/// Rule that locates the next message in the same segment, by the body of this one and its length. All names are those
/// of attributes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Next {
    /// Last attribute of a message. It extends to the end of the bytes that are read: the message's body, then all
    /// messages that follow.
    pub body: String,
    /// Attribute with the body's length in bytes, in decimal digits. A message without it has an empty body.
    pub length: String,
    /// Attribute with codings of the body. If the last one is `chunked`, the body is in chunks; with another one, its
    /// length is unknown.
    pub chunked: Option<String>,
    /// Fields of `length` and `chunked`.
    pub lengths: Lengths,
    /// Rule for messages that have no body, whatever the length says.
    pub none: Option<Side>,
    /// Responses that have no body because of their request, at most [`MOST_ANSWERS`]. They require an exchange whose
    /// sides are given by attributes.
    pub answers: Vec<Answers>,
    /// Attribute of messages whose body, without a length and without chunks, extends to the end of the connection.
    pub to_end: Option<String>,
}

/// Fields that give a body's length. A message is malformed if it has two different lengths, a length and a coding, or
/// two fields with codings (RFC 9112, section 6.3).
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lengths {
    /// Fields with a length.
    pub length: Vec<Site>,
    /// Fields with codings.
    pub chunked: Vec<Site>,
}

/// Responses without a body, by their request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers {
    /// Value of the request's identifying attribute.
    pub to: Vec<u8>,
    /// Values of the response's attribute (that of [`Next::none`]) for which it has no body.
    pub numbers: RangeInclusive<u64>,
}

/// Most entries of [`Answers`] in a schema.
pub const MOST_ANSWERS: usize = 3;

impl Next {
    /// Returns the number, from 1, of the entry in [`Next::answers`] for a request with this attribute; 0 if there is
    /// none.
    pub fn kind_of(&self, request: &[u8]) -> usize {
        let known = self
            .answers
            .iter()
            .position(|answers| answers.to == request);
        known.map_or(0, |known| known + 1)
    }

    /// Returns true if a response has no body because of its request. `kind` is the request's [`Next::kind_of`],
    /// `number` the response's attribute.
    pub fn is_bodiless(&self, kind: usize, number: u64) -> bool {
        let answers = kind.checked_sub(1).and_then(|kind| self.answers.get(kind));
        answers.is_some_and(|answers| answers.numbers.contains(&number))
    }
}

/// Bounds of the work on one message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Greatest nesting of layouts, JSON values or XML elements.
    pub depth: usize,
    /// Number of bytes from the start of the message in which a parser on the path looks for an attribute. Only the
    /// planner uses it; [`crate::read`] reads all bytes.
    pub bytes: u32,
    /// Number of attributes (headers, elements, members) among which a parser on the path finds one. Only the planner
    /// uses it.
    pub attributes: u32,
}

/// Index of a layout in [`Schema::layouts`].
pub type LayoutId = usize;
/// Index of a field in [`MessageLayout::fields`].
pub type FieldId = usize;

/// Schema of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schema {
    /// Name in commands.
    pub name: String,
    /// Short description.
    pub title: String,
    /// Document that defines the message.
    pub reference: String,
    /// Protocol that carries the message.
    pub transport: Transport,
    /// Usual ports.
    pub ports: Vec<u16>,
    /// Signatures, any of which identifies the message. If there are none, only the port does.
    pub recognise: Vec<Signature>,
    /// Rule that locates the next message in the same segment; `None` if none follows.
    pub next: Option<Next>,
    /// True if a message that a TCP segment cuts off continues in the next segment.
    pub follow: bool,
    /// Rule that pairs responses with requests, if there is one.
    pub exchange: Option<Exchange>,
    /// Bounds.
    pub limits: Limits,
    /// Layout of the whole payload.
    pub root: LayoutId,
    /// All layouts.
    pub layouts: Vec<MessageLayout>,
    /// Attributes, in the file's order.
    pub attributes: Vec<Attribute>,
}

impl Schema {
    /// Returns true if the first bytes of a payload are this message's.
    pub fn recognises(&self, payload: &[u8]) -> bool {
        self.recognise.is_empty() || self.recognise.iter().any(|s| s.is_of(payload))
    }

    /// Returns the names of the attributes, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for attribute in &self.attributes {
            // An attribute of several fields has consecutive entries, one a field.
            if names.last() != Some(&attribute.name.as_str()) {
                names.push(&attribute.name);
            }
        }
        names
    }

    /// Returns true if a message may begin with these bytes, which are too few for [`Schema::recognises`].
    pub fn may_begin(&self, bytes: &[u8]) -> bool {
        self.recognise.iter().any(|s| s.may_follow(bytes))
    }
}

/// Order of the fields in a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The order of the list, each field once.
    Fixed,
    /// Any order and number, to the end of the enclosing bytes; each field begins with its tag.
    Any,
}

/// Field whose value identifies the subject of a layout's instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// Index of the field in the layout.
    pub field: FieldId,
    /// True if ASCII letters are compared without case.
    pub ignore_case: bool,
}

/// Group of fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageLayout {
    /// Its name in the schema.
    pub name: String,
    /// Order of its fields.
    pub order: Order,
    /// Field that distinguishes its instances, if there is one.
    pub key: Option<Key>,
    /// True if the values in an instance count only if all of it was read.
    pub whole: bool,
    /// Its fields.
    pub fields: Vec<MessageField>,
}

/// End of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    /// A number of bits, from the highest bit of a byte on. Consecutive fields of bits make whole bytes.
    Bits(u32),
    /// A constant number of bytes.
    Size(usize),
    /// A number of bytes, computed from earlier fields.
    Length(Linear),
    /// Before the first of these byte strings, which is passed over. If several begin at one offset, the longest
    /// counts.
    Until {
        /// The byte strings.
        ends: Vec<Vec<u8>>,
        /// True if the field may also end with the enclosing bytes.
        or_end: bool,
        /// True if the byte string is not passed over.
        keep_end: bool,
    },
    /// At the end of the enclosing bytes.
    Rest,
    /// A number of 7 bits a byte, lowest first. The top bit is set in all bytes but the last; at most four bytes (MQTT
    /// 5, section 1.5.5).
    Varint,
    /// A DNS name: labels, with pointers to earlier labels (RFC 1035, sections 3.1 and 4.1.4).
    DnsName,
    /// The field `part` of consecutive instances of a layout, concatenated.
    Joined {
        /// The layout.
        layout: LayoutId,
        /// The field of the layout that is concatenated.
        part: FieldId,
    },
    /// At the end of its contents; without contents, directly after its tag.
    Contents,
}

/// Value that selects a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CaseKey {
    /// A number.
    Number(i128),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Layouts by a value, or by the first bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cases<K> {
    /// Cases in order; the first that fits is taken.
    pub cases: Vec<(K, LayoutId)>,
    /// Layout if no case fits. Without it, a field of known extent is left unread, and any other is malformed.
    pub default: Option<LayoutId>,
}

impl<K> Cases<K> {
    fn layouts(&self) -> Vec<LayoutId> {
        let others = self.cases.iter().map(|case| case.1);
        self.default.into_iter().chain(others).collect()
    }
}

/// Contents of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Bytes.
    Bytes,
    /// A whole number, of at most 8 bytes.
    Number {
        /// True if the first byte is the least significant.
        little_endian: bool,
    },
    /// A whole number in decimal digits, after a `-` if it is negative.
    Decimal,
    /// A layout.
    Layout(LayoutId),
    /// A layout, selected by the value of an earlier field.
    Select(FieldId, Cases<CaseKey>),
    /// A layout, selected by the first bytes, which belong to it.
    Starts(Cases<Vec<u8>>),
    /// A JSON text (RFC 8259).
    Json,
    /// An XML document (XML 1.0): elements and attributes, without a document type.
    Xml,
}

impl Contents {
    /// Returns the layouts that a field may hold. The default comes first, since most messages have it.
    pub(crate) fn layouts(&self) -> Vec<LayoutId> {
        match self {
            Contents::Layout(layout) => vec![*layout],
            Contents::Select(_, cases) => cases.layouts(),
            Contents::Starts(cases) => cases.layouts(),
            _ => Vec::new(),
        }
    }
}

/// Number of times that a field occurs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Repeat {
    /// Once.
    Once,
    /// Once, or not at all if no enclosing bytes are left.
    Optional,
    /// Until the enclosing bytes end.
    ToEnd,
    /// A number computed from earlier fields; not at all if it is negative.
    Count(Linear),
    /// Until one of these byte strings stands where the next one would begin. It is passed over.
    Stop(Vec<Vec<u8>>),
    /// As long as an earlier field is not 0. Each instance has a field of the same name that decides about the next
    /// one.
    Chain(FieldId),
}

/// Field of a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageField {
    /// Its name.
    pub name: String,
    /// Condition under which the field is present.
    pub when: Option<Condition>,
    /// Byte strings that are passed over before the field, any number of times.
    pub skip: Vec<Vec<u8>>,
    /// Constant bytes before the field; may be empty.
    pub tag: Vec<u8>,
    /// End of the field.
    pub extent: Extent,
    /// Contents of the field.
    pub contents: Contents,
    /// Number of times that the field occurs.
    pub repeat: Repeat,
    /// Set of bytes that the field may have; all if `None`.
    pub chars: Option<CharSet>,
    /// Bytes that are trimmed from its start and end.
    pub trim: Option<CharSet>,
    /// Least number of bytes, after trimming.
    pub min: usize,
    /// Set of bytes, one of which must follow the field.
    pub followed_by: Option<CharSet>,
    /// Greatest number of bytes, after trimming, if there is a limit.
    pub max: Option<usize>,
}

impl MessageField {
    /// Returns the set of bytes that may occur before the field's end, if trimmed bytes belong to it too.
    pub fn chars_to_end(&self) -> Option<CharSet> {
        let trim = self.trim.unwrap_or_else(CharSet::empty);
        self.chars.filter(|chars| {
            let mut trimmed = (0..=255u8).filter(|&byte| trim.contains(byte));
            trimmed.all(|byte| chars.contains(byte))
        })
    }

    /// Returns the number of bytes that the field has in every message, if it is constant.
    pub fn constant_size(&self) -> Option<usize> {
        match self.extent {
            Extent::Size(size) if self.trim.is_none() => Some(size),
            _ => self.max.filter(|&max| max == self.min),
        }
    }

    /// Returns true if a byte outside [`MessageField::chars`] shows that a field whose end has not arrived is
    /// malformed. The last byte seen may be the first one of a two-byte end.
    pub fn shows_early(&self) -> bool {
        match &self.extent {
            Extent::Until { ends, .. } => {
                self.chars_to_end().is_some() && ends.iter().all(|end| end.len() <= 2)
            }
            _ => false,
        }
    }
}

/// Selection of a field's values by an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Which {
    /// Every value.
    All,
    /// Values in instances with this key.
    Key(CaseKey),
    /// All values, each under its key's name.
    AnyKey,
    /// The value in the instance of this index in its repetition, from 0.
    Index(usize),
    /// The scalar of this path in JSON (`user.tags[0]`), or the attribute of this path in XML (`order/item/@id`).
    Member(String),
    /// All members, each under its path.
    AnyMember,
}

/// Attribute: a value that users may ask for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// Name. One that ends in `*` stands for many; a key or a path replaces the `*`.
    pub name: String,
    /// Layout of the field.
    pub layout: LayoutId,
    /// Field of the layout.
    pub field: FieldId,
    /// Selection of the field's values.
    pub which: Which,
    /// Particulars of the values.
    pub traits: Traits,
}

/// Particulars of the values of an attribute.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Traits {
    /// True if a message may have several values, each of which counts in a query.
    pub several: bool,
    /// Numbers without a meaning; for bytes, as numbers in network byte order. The first value is one of them only if
    /// there is no other.
    pub noise: Vec<u64>,
    /// True if the bytes are an IP address.
    pub is_address: bool,
}

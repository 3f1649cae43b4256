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

/// The place in a segment where another message begins: so many bytes behind the start of an attribute. Names are those of attributes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Next {
    /// What is behind all else, to the end of the bytes that are read: the bytes of the message, and those of all that follow it.
    pub body: String,
    /// How many of these bytes are the message's, in decimal digits; none if it is absent.
    pub length: String,
    /// If it is there and its last coding is `chunked`, the body is in chunks; with another one, no length is known.
    pub chunked: Option<String>,
    /// The places of `length` and `chunked`.
    pub lengths: Lengths,
    /// Which messages have no body, whatever the length says.
    pub none: Option<Side>,
    /// Responses that have none because of their request: [`MOST_ANSWERS`] at most. With them, the exchange has attributes for its sides.
    pub answers: Vec<Answers>,
    /// The attribute of messages to which, without a length and without chunks, all bytes belong that follow.
    pub to_end: Option<String>,
}

/// The fields that say how long a body is. A message is malformed that has two different lengths, a length and a coding, or two fields with codings
/// (RFC 9112, section 6.3).
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lengths {
    /// Those with a length.
    pub length: Vec<Site>,
    /// Those that may say that there are chunks.
    pub chunked: Vec<Site>,
}

/// Responses to a request, without a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers {
    /// The attribute of the request by which it is known as one.
    pub to: Vec<u8>,
    /// The numbers that the attribute of messages without a body has in them.
    pub numbers: RangeInclusive<u64>,
}

/// The most lines that a schema has of [`Answers`].
pub const MOST_ANSWERS: usize = 3;

impl Next {
    /// Number of the one of [`Next::answers`] that is about the answer to a request, from 1 on; 0 if none is.
    pub fn kind_of(&self, request: &[u8]) -> usize {
        let known = self
            .answers
            .iter()
            .position(|answers| answers.to == request);
        known.map_or(0, |known| known + 1)
    }

    /// True if a response with this number has no body because its request is of this kind.
    pub fn is_bodiless(&self, kind: usize, number: u64) -> bool {
        let answers = kind.checked_sub(1).and_then(|kind| self.answers.get(kind));
        answers.is_some_and(|answers| answers.numbers.contains(&number))
    }
}

/// What bounds the work on one message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Layouts, JSON values or XML elements inside one another, at most.
    pub depth: usize,
    /// Bytes from the start of the message in which a parser on the path looks for an attribute. The planner uses it; [`crate::read`] reads all.
    pub bytes: u32,
    /// Attributes (headers, elements, members) among which a parser on the path finds one. Only the planner uses it.
    pub attributes: u32,
}

/// Index of a layout in [`Schema::layouts`].
pub type LayoutId = usize;
/// Index of a field in [`Layout::fields`].
pub type FieldId = usize;

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schema {
    /// By which commands name it.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// The document that defines the message.
    pub reference: String,
    /// What carries it.
    pub transport: Transport,
    /// Its ports.
    pub ports: Vec<u16>,
    /// Any of these marks the message; if there are none, the port alone does.
    pub recognise: Vec<Signature>,
    /// Where another message begins in the same segment; `None` if there is none.
    pub next: Option<Next>,
    /// Whether a message that a segment of TCP ends in goes on in the next one.
    pub follow: bool,
    /// What answers what; `None` if nothing says that.
    pub exchange: Option<Exchange>,
    /// Bounds.
    pub limits: Limits,
    /// The layout of the whole payload.
    pub root: LayoutId,
    /// All layouts.
    pub layouts: Vec<Layout>,
    /// What users may ask for, in the file's order.
    pub attributes: Vec<Attribute>,
}

impl Schema {
    /// Whether a payload is this message, as far as its first bytes show.
    pub fn recognises(&self, payload: &[u8]) -> bool {
        self.recognise.is_empty() || self.recognise.iter().any(|s| s.is_of(payload))
    }

    /// The names of the attributes, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for attribute in &self.attributes {
            // An attribute of several fields is listed once for each, one behind the other.
            if names.last() != Some(&attribute.name.as_str()) {
                names.push(&attribute.name);
            }
        }
        names
    }

    /// Whether a message may begin with these bytes, which are too few for [`Schema::recognises`].
    pub fn may_begin(&self, bytes: &[u8]) -> bool {
        self.recognise.iter().any(|s| s.may_follow(bytes))
    }
}

/// How the fields of a layout follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As they are listed, each once.
    Fixed,
    /// In any order and number, to the end of the bytes around them: each begins with its tag.
    Any,
}

/// The field whose value tells what an instance of a layout is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// Which.
    pub field: FieldId,
    /// Whether ASCII letters are compared without case.
    pub ignore_case: bool,
}

/// Fields that stand together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Its name in the schema.
    pub name: String,
    /// How its fields follow one another.
    pub order: Order,
    /// What distinguishes its instances, if anything does.
    pub key: Option<Key>,
    /// True if the values in an instance count only if all of it was read.
    pub whole: bool,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// Where a field ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    /// A number of bits, the first bit being the highest of a byte. Such fields in a row make whole bytes.
    Bits(u32),
    /// A constant number of bytes.
    Size(usize),
    /// A number of bytes that earlier fields have.
    Length(Linear),
    /// In front of the first of these byte strings, which is passed over; the longest of those that begin at one place.
    Until {
        /// The byte strings.
        ends: Vec<Vec<u8>>,
        /// Whether the end of the bytes around the field will do.
        or_end: bool,
        /// True if the byte string is not passed over.
        keep_end: bool,
    },
    /// At the end of the bytes around it.
    Rest,
    /// A number of 7 bits a byte, the lowest first, the top bit set in all bytes but the last; four bytes at most (MQTT 5, section 1.5.5).
    Varint,
    /// Labels, with pointers to labels further to the front (RFC 1035, sections 3.1 and 4.1.4).
    DnsName,
    /// The parts `FIELD` of consecutive instances of a layout, read as one.
    Joined {
        /// The layout.
        layout: LayoutId,
        /// Which of its fields.
        part: FieldId,
    },
    /// Where its contents end, or, without contents, behind its tag.
    Contents,
}

/// A value by which cases are distinguished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CaseKey {
    /// A number.
    Number(i128),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Layouts by a value or by the first bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cases<K> {
    /// The first that fits is taken.
    pub cases: Vec<(K, LayoutId)>,
    /// If none fits. Without it a field of known extent is left unread, and any other is malformed.
    pub default: Option<LayoutId>,
}

impl<K> Cases<K> {
    fn layouts(&self) -> Vec<LayoutId> {
        let others = self.cases.iter().map(|case| case.1);
        self.default.into_iter().chain(others).collect()
    }
}

/// What a field holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Bytes.
    Bytes,
    /// A whole number, of at most 8 bytes.
    Number {
        /// Whether its first byte is the lowest.
        little_endian: bool,
    },
    /// A whole number in decimal digits, with `-` in front if it is negative.
    Decimal,
    /// A layout.
    Layout(LayoutId),
    /// A layout by the value of an earlier field.
    Select(FieldId, Cases<CaseKey>),
    /// A layout by the first bytes, which belong to it.
    Starts(Cases<Vec<u8>>),
    /// A JSON text (RFC 8259).
    Json,
    /// An XML document (XML 1.0): elements and attributes, without a document type.
    Xml,
}

impl Contents {
    /// The layouts that a field may hold, the default first: it is what most messages have.
    pub(crate) fn layouts(&self) -> Vec<LayoutId> {
        match self {
            Contents::Layout(layout) => vec![*layout],
            Contents::Select(_, cases) => cases.layouts(),
            Contents::Starts(cases) => cases.layouts(),
            _ => Vec::new(),
        }
    }
}

/// How often a field stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Repeat {
    /// Once.
    Once,
    /// Once, or not at all if the bytes around it have ended.
    Optional,
    /// Until the bytes around it end.
    ToEnd,
    /// As often as earlier fields count; not at all if that is negative.
    Count(Linear),
    /// Until one of these byte strings stands where the next would begin; it is passed over.
    Stop(Vec<Vec<u8>>),
    /// As long as an earlier field is not 0. Each instance has a field of the same name, which is about the next.
    Chain(FieldId),
}

/// A part of a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// It is only there if this holds.
    pub when: Option<Condition>,
    /// Byte strings that are passed over in front of it, as often as one stands there.
    pub skip: Vec<Vec<u8>>,
    /// Constant bytes in front of it; may be empty.
    pub tag: Vec<u8>,
    /// Where it ends.
    pub extent: Extent,
    /// What it holds.
    pub contents: Contents,
    /// How often it stands.
    pub repeat: Repeat,
    /// The only bytes that it may have.
    pub chars: Option<CharSet>,
    /// Bytes that are no part of it at its start and end.
    pub trim: Option<CharSet>,
    /// Fewest bytes, after trimming.
    pub min: usize,
    /// The only bytes of which one may stand behind it, and has to.
    pub followed_by: Option<CharSet>,
    /// Most bytes, after trimming, if there is such a limit.
    pub max: Option<usize>,
}

impl Field {
    /// The only bytes that may stand in front of the end of the field, where those that are trimmed are among them.
    pub fn chars_to_end(&self) -> Option<CharSet> {
        let trim = self.trim.unwrap_or_else(CharSet::empty);
        self.chars.filter(|chars| {
            let mut trimmed = (0..=255u8).filter(|&byte| trim.contains(byte));
            trimmed.all(|byte| chars.contains(byte))
        })
    }

    /// The bytes that it has in each message, if that is one number.
    pub fn constant_size(&self) -> Option<usize> {
        match self.extent {
            Extent::Size(size) if self.trim.is_none() => Some(size),
            _ => self.max.filter(|&max| max == self.min),
        }
    }

    /// Of a field whose end has not come so far: whether a byte that cannot stand in it shows that none may come. The last byte may be the first
    /// one of an end of two.
    pub fn shows_early(&self) -> bool {
        match &self.extent {
            Extent::Until { ends, .. } => {
                self.chars_to_end().is_some() && ends.iter().all(|end| end.len() <= 2)
            }
            _ => false,
        }
    }
}

/// Which of a field's values an attribute is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Which {
    /// Every one.
    All,
    /// Those in instances with this key.
    Key(CaseKey),
    /// All, each under its key's name.
    AnyKey,
    /// The one in the instance of this number in its repetition, from 0.
    Index(usize),
    /// The scalar of this path in JSON (`user.tags[0]`), or the attribute of this path in XML (`order/item/@id`).
    Member(String),
    /// All members, each under its path.
    AnyMember,
}

/// A value that users may ask for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// Its name. One that ends in `*` stands for many: the key or path takes that place.
    pub name: String,
    /// Where it is.
    pub layout: LayoutId,
    /// Which field of the layout.
    pub field: FieldId,
    /// Which of the field's values.
    pub which: Which,
    /// Particulars of its values.
    pub traits: Traits,
}

/// Particulars of the values of an attribute.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Traits {
    /// True if a message may have several, of which each counts in a query.
    pub several: bool,
    /// Numbers without a meaning; of bytes, those that they are in network byte order. None of them is the first one where there is another.
    pub noise: Vec<u64>,
    /// True if the bytes are an address of IP.
    pub is_address: bool,
}

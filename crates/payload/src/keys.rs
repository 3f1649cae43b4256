//! Every key of a schema's TOML form: what values it takes, and what it means. The reader checks files against these
//! lists, and the JSON Schema for editors is made from them.

/// What a key's value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A string.
    Text,
    /// A string by which sums, paths and queries can name something.
    Name,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// A string, or a list of numbers from 0 to 255.
    Bytes,
    /// [`Kind::Bytes`], or a list of them.
    ByteStrings,
    /// A whole number in a range, both ends included.
    Number(i64, i64),
    /// A list of such numbers.
    Numbers(i64, i64),
    /// `true` or `false`.
    Flag,
    /// A table of this kind.
    Table(&'static Spec),
    /// A list of tables of this kind.
    Tables(&'static Spec),
    /// A table from values or bytes to the names of layouts.
    Cases,
    /// A sum of fields and constants: a string, or a number.
    Sum,
    /// A string or a whole number.
    TextOrNumber,
}

/// A key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeySpec {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// What it means, in one sentence.
    pub(crate) text: &'static str,
    /// What it looks like.
    pub(crate) example: &'static str,
}

/// A kind of table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    /// With its article, for messages.
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [KeySpec],
}

const fn required(
    name: &'static str,
    kind: Kind,
    text: &'static str,
    example: &'static str,
) -> KeySpec {
    KeySpec {
        name,
        kind,
        required: true,
        text,
        example,
    }
}

const fn optional(
    name: &'static str,
    kind: Kind,
    text: &'static str,
    example: &'static str,
) -> KeySpec {
    KeySpec {
        name,
        kind,
        required: false,
        text,
        example,
    }
}

/// The file.
pub(crate) static MESSAGE: Spec = Spec {
    name: "a message",
    keys: &[
        required(
            "name",
            Kind::Name,
            "By which commands name the message.",
            "name = \"dns\"",
        ),
        required(
            "title",
            Kind::Text,
            "What it is, in a few words.",
            "title = \"DNS message\"",
        ),
        required(
            "reference",
            Kind::Text,
            "The document that defines it.",
            "reference = \"RFC 1035\"",
        ),
        required(
            "transport",
            Kind::Word(&["tcp", "udp"]),
            "The protocol that carries it.",
            "transport = \"udp\"",
        ),
        required(
            "ports",
            Kind::Numbers(0, 65_535),
            "Its usual ports.",
            "ports = [53]",
        ),
        optional(
            "recognise",
            Kind::Tables(&SIGNATURE),
            "Bytes by which it is recognised on any port: one of these suffices.",
            "recognise = [{ bytes = \"GET \" }]",
        ),
        optional(
            "next",
            Kind::Table(&NEXT),
            "Where another message begins in the same segment.",
            "next = { body = \"body\", length = \"content_length\" }",
        ),
        optional(
            "follow",
            Kind::Flag,
            "Whether a message that a segment of TCP ends in goes on in the next one.",
            "follow = true",
        ),
        optional(
            "exchange",
            Kind::Table(&EXCHANGE),
            "Which messages are requests, and which are the responses to them; without `request` and `response`, those to and from its ports.",
            "exchange = { request = { attribute = \"method\" }, response = { attribute = \"status\" } }",
        ),
        optional(
            "limits",
            Kind::Table(&LIMITS),
            "Bounds of the work on one message.",
            "limits = { depth = 8 }",
        ),
        required(
            "root",
            Kind::Text,
            "The layout of the whole payload.",
            "root = \"message\"",
        ),
        required(
            "layout",
            Kind::Tables(&LAYOUT),
            "The layouts.",
            "[[layout]]",
        ),
        required(
            "attribute",
            Kind::Tables(&ATTRIBUTE),
            "What users may ask for.",
            "[[attribute]]",
        ),
    ],
};

/// A signature.
pub(crate) static SIGNATURE: Spec = Spec {
    name: "a signature",
    keys: &[
        optional(
            "at",
            Kind::Number(0, 65_535),
            "Offset in the payload; 0 if it is left out.",
            "at = 4",
        ),
        required(
            "bytes",
            Kind::Bytes,
            "What stands there.",
            "bytes = [0x16, 0x03]",
        ),
        optional(
            "and",
            Kind::Table(&FURTHER),
            "What stands somewhere else too, in a message that goes on so far.",
            "and = { at = 5, bytes = [1] }",
        ),
    ],
};

/// What a signature has besides.
pub(crate) static FURTHER: Spec = Spec {
    name: "the rest of a signature",
    keys: &[
        required(
            "at",
            Kind::Number(0, 65_535),
            "Offset in the payload.",
            "at = 5",
        ),
        required("bytes", Kind::Bytes, "What stands there.", "bytes = [1]"),
    ],
};

/// Where another message begins.
pub(crate) static NEXT: Spec = Spec {
    name: "the next message",
    keys: &[
        required(
            "body",
            Kind::Text,
            "The attribute behind all else, which is the rest of the root layout: it has the message's last bytes, and all messages that follow.",
            "body = \"body\"",
        ),
        required(
            "length",
            Kind::Text,
            "The attribute that says how many of these bytes are the message's, in decimal digits; none if it is absent.",
            "length = \"content_length\"",
        ),
        optional(
            "unless",
            Kind::Text,
            "An attribute with which the length is not known.",
            "unless = \"header.transfer-encoding\"",
        ),
        optional(
            "none",
            Kind::Table(&NO_BODY),
            "Which messages have no such bytes, whatever the length says. Others with the attribute may have none too: if another such message begins in their place.",
            "none = { attribute = \"status\", values = [204, 304] }",
        ),
    ],
};

/// Messages without a body.
pub(crate) static NO_BODY: Spec = Spec {
    name: "the messages without a body",
    keys: &[
        required(
            "attribute",
            Kind::Text,
            "The attribute that tells them.",
            "attribute = \"status\"",
        ),
        required(
            "values",
            Kind::Numbers(0, u32::MAX as i64),
            "The numbers that it has in them.",
            "values = [204, 304]",
        ),
    ],
};

/// What answers what.
pub(crate) static EXCHANGE: Spec = Spec {
    name: "an exchange",
    keys: &[
        optional(
            "request",
            Kind::Table(&SIDE),
            "By what a request shows that it is one.",
            "request = { attribute = \"response\", values = [0] }",
        ),
        optional(
            "response",
            Kind::Table(&SIDE),
            "By what a response shows that it is one.",
            "response = { attribute = \"response\", values = [1] }",
        ),
        optional(
            "id",
            Kind::Text,
            "The attribute, a number, that a response has from its request. Without it responses come in the order of the requests.",
            "id = \"id\"",
        ),
    ],
};

/// A side of an exchange.
pub(crate) static SIDE: Spec = Spec {
    name: "a side of an exchange",
    keys: &[
        required(
            "attribute",
            Kind::Text,
            "The attribute that messages of this side have.",
            "attribute = \"status\"",
        ),
        optional(
            "values",
            Kind::Numbers(0, u32::MAX as i64),
            "The numbers that it may be; any if this is left out.",
            "values = [0]",
        ),
        optional(
            "except",
            Kind::Numbers(0, u32::MAX as i64),
            "Numbers that it may not be.",
            "except = [100]",
        ),
    ],
};

/// Bounds.
pub(crate) static LIMITS: Spec = Spec {
    name: "the limits",
    keys: &[
        optional(
            "depth",
            Kind::Number(1, 1_024),
            "Layouts, JSON values or XML elements inside one another, at most; 16 if it is left out.",
            "depth = 8",
        ),
        optional(
            "bytes",
            Kind::Number(1, 65_535),
            "Bytes from the start of the message in which attributes are looked for; 1400 if it is left out.",
            "bytes = 512",
        ),
        optional(
            "attributes",
            Kind::Number(1, 4_096),
            "Attributes (headers, elements, members) among which one is found, for the planner; 16 if it is left out.",
            "attributes = 32",
        ),
    ],
};

/// A layout.
pub(crate) static LAYOUT: Spec = Spec {
    name: "a layout",
    keys: &[
        required("name", Kind::Name, "Its name.", "name = \"header\""),
        optional(
            "order",
            Kind::Word(&["fixed", "any"]),
            "Whether its fields follow one another as listed (fixed, the default), or in any order and number, each behind its tag (any).",
            "order = \"any\"",
        ),
        optional(
            "key",
            Kind::Text,
            "The field whose value tells what an instance is about.",
            "key = \"type\"",
        ),
        optional(
            "ignore_case",
            Kind::Flag,
            "Whether the key is compared without the case of ASCII letters.",
            "ignore_case = true",
        ),
        required(
            "field",
            Kind::Tables(&FIELD),
            "Its fields.",
            "field = [{ name = \"type\", size = 2 }]",
        ),
    ],
};

/// A field.
pub(crate) static FIELD: Spec = Spec {
    name: "a field",
    keys: &[
        required("name", Kind::Name, "Its name.", "name = \"length\""),
        optional(
            "when",
            Kind::Text,
            "It is only there if this holds: a comparison of a sum of earlier fields with a number.",
            "when = \"flags != 0\"",
        ),
        optional(
            "tag",
            Kind::Bytes,
            "Constant bytes in front of it.",
            "tag = \"HTTP/\"",
        ),
        optional(
            "bits",
            Kind::Number(1, 64),
            "It has so many bits, from the highest of a byte on.",
            "bits = 4",
        ),
        optional(
            "size",
            Kind::Number(0, 65_535),
            "It has so many bytes.",
            "size = 2",
        ),
        optional(
            "length",
            Kind::Sum,
            "It has as many bytes as this sum of earlier fields.",
            "length = \"4 * words - 2\"",
        ),
        optional(
            "until",
            Kind::ByteStrings,
            "It ends in front of the first of these, which is passed over.",
            "until = \"\\r\\n\"",
        ),
        optional(
            "or_end",
            Kind::Flag,
            "With `until`: the end of the bytes around it will do.",
            "or_end = true",
        ),
        optional(
            "rest",
            Kind::Flag,
            "It reaches to the end of the bytes around it.",
            "rest = true",
        ),
        optional(
            "join",
            Kind::Text,
            "It is the parts LAYOUT.FIELD of consecutive instances of that layout, read as one.",
            "join = \"record.fragment\"",
        ),
        optional(
            "form",
            Kind::Word(&["varint", "dns-name", "json", "xml"]),
            "It has this form.",
            "form = \"dns-name\"",
        ),
        optional(
            "type",
            Kind::Word(&["number", "bytes", "decimal"]),
            "How its value is read; `number` for at most 8 bytes of constant size, otherwise `bytes`.",
            "type = \"decimal\"",
        ),
        optional(
            "endian",
            Kind::Word(&["big", "little"]),
            "Which byte of a number is first; `big` if it is left out.",
            "endian = \"little\"",
        ),
        optional(
            "layout",
            Kind::Text,
            "It holds this layout.",
            "layout = \"header\"",
        ),
        optional(
            "select",
            Kind::Text,
            "It holds a layout by the value of this earlier field, from `case`.",
            "select = \"type\"",
        ),
        optional(
            "case",
            Kind::Cases,
            "With `select`: layouts by value.",
            "case = { 1 = \"address\" }",
        ),
        optional(
            "starts",
            Kind::Cases,
            "It holds a layout by its first bytes.",
            "starts = { \"HTTP/\" = \"status_line\" }",
        ),
        optional(
            "default",
            Kind::Text,
            "With `select` or `starts`: the layout if none fits.",
            "default = \"request_line\"",
        ),
        optional(
            "optional",
            Kind::Flag,
            "It is only there if the bytes around it have not ended.",
            "optional = true",
        ),
        optional(
            "repeat",
            Kind::Flag,
            "It stands again and again, until the bytes around it end.",
            "repeat = true",
        ),
        optional(
            "count",
            Kind::Sum,
            "It stands as often as this sum of earlier fields.",
            "count = \"questions\"",
        ),
        optional(
            "stop",
            Kind::ByteStrings,
            "It stands again and again, until one of these stands where the next would begin; it is passed over.",
            "stop = \"\\r\\n\"",
        ),
        optional(
            "chain",
            Kind::Text,
            "It stands again and again, as long as this earlier field is not 0; each instance has a field of that name for the next.",
            "chain = \"next_type\"",
        ),
        optional(
            "chars",
            Kind::Text,
            "The only characters that it may have: single ones, and ranges with `-`.",
            "chars = \"A-Za-z0-9\"",
        ),
        optional(
            "trim",
            Kind::Text,
            "Characters that are no part of it at its start and end.",
            "trim = \" \\t\"",
        ),
        optional("min", Kind::Number(0, 65_535), "Fewest bytes.", "min = 1"),
    ],
};

/// An attribute.
pub(crate) static ATTRIBUTE: Spec = Spec {
    name: "an attribute",
    keys: &[
        required(
            "name",
            Kind::Text,
            "Its name; one that ends in `*` stands for many.",
            "name = \"host\"",
        ),
        required(
            "field",
            Kind::Text,
            "Where it is: LAYOUT.FIELD.",
            "field = \"header.value\"",
        ),
        optional(
            "key",
            Kind::TextOrNumber,
            "It is only in instances of the layout with this key; `*` takes all, each under its key's name.",
            "key = \"host\"",
        ),
        optional(
            "index",
            Kind::Number(0, 65_535),
            "It is only in the instance of this number, from 0, in its repetition.",
            "index = 0",
        ),
        optional(
            "member",
            Kind::Text,
            "It is at this path of the JSON or XML in the field; `*` takes all, each under its path.",
            "member = \"user.id\"",
        ),
    ],
};

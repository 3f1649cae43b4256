//! Keys of a schema's TOML form, with the values they take and their meaning. The reader checks files against these
//! lists, and the JSON Schema for editors is made from them.

use settings::ValueKind::*;
use settings::{Codes, FileFormat};

/// Form of a schema's file.
pub(crate) static FORM: FileFormat = FileFormat {
    codes: Codes {
        syntax: "E1001",
        unknown: "E1002",
        kind: "E1003",
        missing: "E1004",
    },
    lines: "a schema has lines such as `name = \"dns\"`, and `[[layout]]` in front of each layout",
    keys: &MESSAGE,
};

settings::keys! {
    /// The file.
    pub(crate) MESSAGE: "a message" {
        required "name": Name, r#"name = "dns""#, "by which commands name the message";
        required "title": Text, r#"title = "DNS message""#, "what it is, in a few words";
        required "reference": Text, r#"reference = "RFC 1035""#, "the document that defines it";
        required "transport": Word(&["tcp", "udp"]), r#"transport = "udp""#, "the protocol that carries it";
        required "ports": List(&Number(0, 65_535)), "ports = [53]", "its usual ports";
        optional "recognise": Tables(&SIGNATURE), r#"recognise = [{ bytes = "GET " }]"#,
            "bytes by which it is recognised on any port: one of these suffices";
        optional "next": Table(&NEXT), r#"next = { body = "body", length = "content_length" }"#,
            "where another message begins in the same segment";
        optional "follow": Flag, "follow = true", "whether a message that a segment of TCP ends in goes on in the next one";
        optional "exchange": Table(&EXCHANGE), r#"exchange = { request = { attribute = "method" }, response = { attribute = "status" } }"#,
            "which messages are requests, and which are the responses to them; without `request` and `response`, those to and from its ports";
        optional "limits": Table(&LIMITS), "limits = { depth = 8 }", "bounds of the work on one message";
        required "root": Text, r#"root = "message""#, "the layout of the whole payload";
        required "layout": Tables(&LAYOUT), "[[layout]]", "the layouts";
        required "attribute": Tables(&ATTRIBUTE), "[[attribute]]", "what users may ask for";
    }

    /// A signature.
    pub(crate) SIGNATURE: "a signature" {
        optional "at": Number(0, 65_535), "at = 4", "offset in the payload; 0 if it is left out";
        optional "bytes": Bytes, "bytes = [0x16, 0x03]", "what stands there";
        optional "and": Table(&FURTHER), "and = { at = 5, bytes = [1] }",
            "what stands somewhere else too, in a message that goes on so far";
        optional "pattern": Text, r#"pattern = "^[A-Z]{1,16} /""#,
            "in place of `bytes`: a regular expression for the first bytes, which begins with `^`";
    }

    /// The second part of a signature.
    pub(crate) FURTHER: "the rest of a signature" {
        required "at": Number(0, 65_535), "at = 5", "offset in the payload";
        required "bytes": Bytes, "bytes = [1]", "what stands there";
    }

    /// The rule by which the next message is found.
    pub(crate) NEXT: "the next message" {
        required "body": Text, r#"body = "body""#,
            "the attribute behind all else, which is the rest of the root layout: it has the message's last bytes, and all messages that follow";
        required "length": Text, r#"length = "content_length""#,
            "the attribute that says how many of these bytes are the message's, in decimal digits; none if it is absent";
        optional "chunked": Text, r#"chunked = "header.transfer-encoding""#,
            "the attribute with whose last coding, `chunked`, these bytes are in chunks, as those of HTTP; with any other, the length is not known. A message may have only one of it";
        optional "none": Table(&NO_BODY), r#"none = { attribute = "status", values = [204, 304] }"#,
            "which messages have no such bytes, whatever the length says";
        optional "to_end": Text, r#"to_end = "status""#,
            "the attribute of messages to which, without the length and without chunks, all bytes belong that follow on the connection";
    }

    /// Messages without a body.
    pub(crate) NO_BODY: "the messages without a body" {
        required "attribute": Text, r#"attribute = "status""#, "the attribute that tells them";
        required "values": List(&Number(0, u32::MAX as i64)), "values = [204, 304]", "the numbers that it has in them";
        optional "answers": Tables(&ANSWER), r#"answers = [{ to = "HEAD" }]"#,
            "which responses have none because of their request, by the `exchange`: up to three lines";
    }

    /// Responses without a body, by their request.
    pub(crate) ANSWER: "the responses to a request" {
        required "to": Bytes, r#"to = "HEAD""#, "the attribute of the request by which it is known as one: up to eight bytes";
        optional "least": Number(0, u32::MAX as i64), "least = 200", "the least number that the response's attribute has then; 0 if it is left out";
        optional "most": Number(0, u32::MAX as i64), "most = 299", "the greatest one; any if it is left out";
    }

    /// The rule by which a response is found for a request.
    pub(crate) EXCHANGE: "an exchange" {
        optional "request": Table(&SIDE), r#"request = { attribute = "response", values = [0] }"#, "by what a request shows that it is one";
        optional "response": Table(&SIDE), r#"response = { attribute = "response", values = [1] }"#,
            "by what a response shows that it is one";
        optional "id": Text, r#"id = "id""#,
            "the attribute, a number, that a response has from its request. Without it responses come in the order of the requests";
    }

    /// A side of an exchange.
    pub(crate) SIDE: "a side of an exchange" {
        required "attribute": Text, r#"attribute = "status""#, "the attribute that messages of this side have";
        optional "values": List(&Number(0, u32::MAX as i64)), "values = [0]", "the numbers that it may be; any if this is left out";
        optional "except": List(&Number(0, u32::MAX as i64)), "except = [100]", "numbers that it may not be";
    }

    /// Bounds.
    pub(crate) LIMITS: "the limits" {
        optional "depth": Number(1, 1_024), "depth = 8",
            "layouts, JSON values or XML elements inside one another, at most; 16 if it is left out";
        optional "bytes": Number(1, 65_535), "bytes = 512",
            "bytes from the start of the message in which attributes are looked for; 1400 if it is left out";
        optional "attributes": Number(1, 4_096), "attributes = 32",
            "attributes (headers, elements, members) among which one is found, for the planner; 16 if it is left out";
    }

    /// A layout.
    pub(crate) LAYOUT: "a layout" {
        required "name": Name, r#"name = "header""#, "its name";
        optional "order": Word(&["fixed", "any"]), r#"order = "any""#,
            "whether its fields follow one another as listed (fixed, the default), or in any order and number, each behind its tag (any)";
        optional "key": Text, r#"key = "type""#, "the field whose value tells what an instance is about";
        optional "ignore_case": Flag, "ignore_case = true", "whether the key is compared without the case of ASCII letters";
        optional "whole": Flag, "whole = true", "whether the values in it count only if all of it was read";
        required "field": Tables(&FIELD), r#"field = [{ name = "type", size = 2 }]"#, "its fields";
    }

    /// A field.
    pub(crate) FIELD: "a field" {
        required "name": Name, r#"name = "length""#, "its name";
        optional "when": Text, r#"when = "flags != 0""#,
            "it is only there if this holds: a comparison of a sum of earlier fields with a number";
        optional "skip": ByteStrings, "skip = [\"\\r\\n\", \"\\n\"]", "these are passed over in front of it and its tag, as often as one stands there";
        optional "tag": Bytes, r#"tag = "HTTP/""#, "constant bytes in front of it";
        optional "bits": Number(1, 64), "bits = 4", "it has so many bits, from the highest of a byte on";
        optional "size": Number(0, 65_535), "size = 2", "it has so many bytes";
        optional "length": TextOrNumber, r#"length = "4 * words - 2""#, "it has as many bytes as this sum of earlier fields";
        optional "until": ByteStrings, "until = \"\\r\\n\"", "it ends in front of the first of these, which is passed over";
        optional "or_end": Flag, "or_end = true", "with `until`: the end of the bytes around it will do";
        optional "keep_end": Flag, "keep_end = true", "with `until`: its end is not passed over, and begins what follows";
        optional "rest": Flag, "rest = true", "it reaches to the end of the bytes around it";
        optional "join": Text, r#"join = "record.fragment""#,
            "it is the parts LAYOUT.FIELD of consecutive instances of that layout, read as one";
        optional "form": Word(&["varint", "dns-name", "json", "xml"]), r#"form = "dns-name""#, "it has this form";
        optional "type": Word(&["number", "bytes", "decimal"]), r#"type = "decimal""#,
            "how its value is read; `number` for at most 8 bytes of constant size, otherwise `bytes`";
        optional "endian": Word(&["big", "little"]), r#"endian = "little""#, "which byte of a number is first; `big` if it is left out";
        optional "layout": Text, r#"layout = "header""#, "it holds this layout";
        optional "select": Text, r#"select = "type""#, "it holds a layout by the value of this earlier field, from `case`";
        optional "case": Map(1, &Text), r#"case = { 1 = "address" }"#, "with `select`: layouts by value";
        optional "starts": Map(1, &Text), r#"starts = { "HTTP/" = "status_line" }"#, "it holds a layout by its first bytes";
        optional "default": Text, r#"default = "request_line""#, "with `select` or `starts`: the layout if none fits";
        optional "optional": Flag, "optional = true", "it is only there if the bytes around it have not ended";
        optional "repeat": Flag, "repeat = true", "it stands again and again, until the bytes around it end";
        optional "count": TextOrNumber, r#"count = "questions""#, "it stands as often as this sum of earlier fields";
        optional "stop": ByteStrings, "stop = \"\\r\\n\"",
            "it stands again and again, until one of these stands where the next would begin; it is passed over";
        optional "chain": Text, r#"chain = "next_type""#,
            "it stands again and again, as long as this earlier field is not 0; each instance has a field of that name for the next";
        optional "chars": Text, r#"chars = "A-Za-z0-9""#, "the only characters that it may have: single ones, and ranges with `-`; with `^` in front, all others";
        optional "followed_by": Text, r#"followed_by = "^ \t""#,
            "the only characters of which one may stand behind it, and has to: where the bytes around it end, it is truncated";
        optional "trim": Text, "trim = \" \\t\"", "characters that are no part of it at its start and end";
        optional "min": Number(0, 65_535), "min = 1", "fewest bytes";
        optional "max": Number(0, 65_535), "max = 16", "most bytes";
    }

    /// An attribute.
    pub(crate) ATTRIBUTE: "an attribute" {
        required "name": Text, r#"name = "host""#, "its name; one that ends in `*` stands for many";
        required "field": Texts, r#"field = "header.value""#,
            "where it is: LAYOUT.FIELD, or a list of these where several layouts have it";
        optional "key": TextOrNumber, r#"key = "host""#,
            "it is only in instances of the layout with this key, of several fields in those that have a key; `*` takes all, each under its key's name";
        optional "index": Number(0, 65_535), "index = 0", "it is only in the instance of this number, from 0, in its repetition";
        optional "member": Text, r#"member = "user.id""#,
            "it is at this path of the JSON or XML in the field; `*` takes all, each under its path";
        optional "several": Flag, "several = true",
            "whether a message may have several values of it, of which each counts in a query";
        optional "noise": List(&Number(0, u32::MAX as i64)), "noise = [0x0a0a, 0x1a1a]",
            "values without a meaning: where there is another one, none of them is taken for the first. Of bytes, the number that they are in network byte order";
        optional "address": Flag, "address = true", "whether its bytes are an IPv4 or IPv6 address: its fields are always 4 or 16 bytes";
    }
}

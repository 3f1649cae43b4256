//! Keys of a bundle's file.

use settings::ValueKind::*;
use settings::{Codes, FileFormat};

/// The form of a bundle's file.
pub(super) static FORM: FileFormat = FileFormat {
    codes: Codes {
        syntax: "E0901",
        unknown: "E0902",
        kind: "E0903",
        missing: "E0904",
    },
    lines: "a bundle has lines such as `source = \"count.p4\"` below `[[program]]`",
    keys: &BUNDLE,
};

settings::keys! {
    /// The file.
    pub(super) BUNDLE: "a bundle" {
        optional "name": Text, r#"name = "flows""#, "what other commands know it by";
        required "program": Tables(&PROGRAM), "[[program]]", "each program has this line and below it, at least, `source`";
        optional "share": Map(0, &List(&Text)), r#"share = { flows = ["egress.flows", "ingress.flows"] }"#,
            "states of two programs or more that are one";
    }

    /// A program.
    pub(super) PROGRAM: "a program" {
        optional "name": Text, r#"name = "count""#, "what the bundle and other commands know it by";
        required "source": Text, r#"source = "count.p4""#, "a P4 file, or an object";
        optional "include": Texts, r#"include = "include""#, "a folder for `#include`, or a list of them";
        optional "define": List(&Text), r#"define = ["LARGE", "FLOWS=1024"]"#, "macros, with values or without";
        optional "extern": Texts, r#"extern = "sum.c""#, "a C file with extern functions, or a list of them";
        optional "target": Text, r#"target = "tc-ingress""#, "where it runs";
        optional "dev": Texts, r#"dev = "eth0""#, "the interface at which it runs, or a list of them";
        optional "ports": Map(0, &Text), r#"ports = { 3 = "eth3" }"#, "interfaces at which it runs, by their ports";
        optional "reach": Map(0, &Text), r#"reach = { 3 = "eth3" }"#, "interfaces to which it may only send, by their ports";
        optional "groups": Map(0, &List(&TextOrNumber)), "groups = { 1 = [0, 1, 2] }", "multicast groups and their ports";
        optional "entries": Texts, r#"entries = "count.txt""#, "a file of entries, or a list of their lines";
    }
}

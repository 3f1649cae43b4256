//! Malicious objects and descriptions. Each has the right digest, so only its contents can reveal it.

use super::*;
use crate::bpf_target::{Request, Trial, compile};
use crate::{Input, elaborate};
use layout::{KeyAbi, MetricsAbi};
use std::fs;

/// A program that calls a C function of its own.
const PROGRAM: &str = "#include <core.p4>
#include <ebpf_model.p4>
extern bit<32> chosen(in bit<32> offset);
struct headers_t { }
parser prs(packet_in packet, out headers_t hdr) { state start { transition accept; } }
control ctl(inout headers_t hdr, out bool accept) {
    CounterArray(4, false) seen;
    apply { seen.increment(0); accept = chosen(3) != 0; }
}
ebpfFilter(prs(), ctl()) main;
";

/// The C function of an honest object.
const HONEST: &str = "u32 chosen(u32 offset) { return offset; }\n";

/// C of an object with a map `name`, whose declaration has the lines `more`.
fn map(name: &str, more: &str) -> String {
    format!("struct {{ {more} }} {name} __attribute__((section(\".maps\"), used));\n{HONEST}")
}

/// Declaration of an array of `entries` values of 8 bytes.
fn array(entries: u32) -> String {
    format!(
        "int (*type)[2]; int (*key_size)[4]; int (*value_size)[8]; int (*max_entries)[{entries}];"
    )
}

/// Builds [`PROGRAM`] with this C, and returns the object and its description.
fn built(c: &str) -> (Vec<u8>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("p.p4");
    let file = folder.path().join("chosen.c");
    fs::write(&text, PROGRAM).expect("room");
    fs::write(&file, c).expect("room");
    let elaborated = elaborate(&Input::file(&text)).ok().expect("accepted");
    let request = Request {
        externs: &[file],
        trial: Trial::None,
        ..Request::hook(Hook::Xdp)
    };
    let compiled = compile(&elaborated.program, &elaborated.map, request).expect("compiles");
    (compiled.object.clone(), description(&compiled))
}

/// Writes an object and a description with a matching digest, and reads them back.
fn given(object: &[u8], mut described: Value) -> Result<Built, String> {
    let abi = Abi::deserialize(&described["bpf"]).expect("a description");
    let schema = Schema::deserialize(&described["object"]["schema"]).expect("a schema");
    described["object"]["sha256"] = digest(object, &abi, &schema).into();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.o");
    fs::write(&path, object).expect("room");
    fs::write(description_of(&path), described.to_string()).expect("room");
    read(&path).map_err(|refused| {
        let folder = format!("{}/", folder.path().display());
        format!("{} {}", refused.code.0, refused.message).replace(&folder, "")
    })
}

#[test]
fn an_honest_object_is_read_with_all_its_maps() {
    let (object, described) = built(HONEST);
    assert!(given(&object, described).is_ok());
    // A map of the C function's own is in the description too.
    let (object, described) = built(&map("own", &array(4)));
    let maps = described["object"]["contents"]["maps"].as_array();
    let names = maps.expect("a list").iter().map(|map| map["name"].as_str());
    assert!(names.flatten().any(|name| name == "own"));
    assert!(given(&object, described).is_ok());
}

#[test]
fn a_map_that_asks_to_be_pinned_is_refused() {
    let (object, described) = built(&map("seized", &format!("{} int (*pinning)[1];", array(4))));
    assert_eq!(
        given(&object, described).expect_err("refused"),
        "E0940 `p.o` is not loaded: map `seized` of the object is to be pinned at `/sys/fs/bpf/seized`"
    );
}

#[test]
fn a_map_of_a_type_that_programs_do_not_have_is_refused() {
    // An arena: as many pages as it has entries.
    let arena = "int (*type)[33]; int (*map_flags)[1024]; int (*max_entries)[16];";
    let (object, described) = built(&map("pages", arena));
    assert_eq!(
        given(&object, described).expect_err("refused"),
        "E0941 `p.o` is not loaded: map `pages` of the object is of type 33, whose memory Onpath cannot tell"
    );
}

#[test]
fn a_map_that_the_description_lacks_is_refused() {
    let (_, described) = built(HONEST);
    let (object, _) = built(&map("hidden", &array(1 << 28)));
    assert_eq!(
        given(&object, described).expect_err("refused"),
        "E0942 `p.o` is not loaded: map `hidden` of the object is not in its description"
    );
}

#[test]
fn a_map_that_is_larger_than_described_is_refused() {
    let (_, described) = built(&map("own", &array(4)));
    let (object, _) = built(&map("own", &array(5)));
    assert_eq!(
        given(&object, described).expect_err("refused"),
        "E0762 `p.o` is not loaded: the object and its description disagree about map `own`: entries 5 instead of 4"
    );
    // The ABI in the description has to match the object too.
    let (object, mut described) = built(HONEST);
    described["bpf"]["maps"][0]["max_entries"] = 1.into();
    let refused = given(&object, described).expect_err("refused");
    assert!(
        refused.starts_with("E0762 ") && refused.ends_with("instead of 1"),
        "{refused}"
    );
}

#[test]
fn a_map_of_which_the_description_gives_two_sizes_is_refused() {
    let (object, mut described) = built(&map("own", &array(4)));
    let metrics = |sets| {
        let key = KeyAbi {
            size: 4,
            fields: vec![],
        };
        let metrics = MetricsAbi {
            index: 0,
            name: "own".into(),
            map: "own".into(),
            sets,
            ways: 8,
            lost_offset: 8,
            tags_offset: 16,
            ways_offset: 48,
            way_size: 40,
            metric_offset: 8,
            key,
        };
        serde_json::to_value(metrics).expect("it is data")
    };
    // Memory would be counted for the first, and the kernel asked for the last.
    described["bpf"]["metrics"] = vec![metrics(1), metrics(1 << 20)].into();
    assert_eq!(
        given(&object, described).expect_err("refused"),
        "E0942 `p.o` is not loaded: its description gives map `own` several sizes"
    );
}

#[test]
fn a_program_more_is_refused_even_where_it_is_described() {
    let second = format!(
        "{HONEST}__attribute__((section(\"xdp\"), used)) int second(void *c) {{ return 2; }}\n"
    );
    let (object, described) = built(&second);
    let refused =
        "E0942 `p.o` is not loaded: program `second` of the object is not in its description";
    let (_, honest) = built(HONEST);
    assert_eq!(given(&object, honest).expect_err("refused"), refused);
    assert_eq!(given(&object, described).expect_err("refused"), refused);
}

#[test]
fn what_is_no_object_is_refused_whatever_its_digest() {
    let (_, described) = built(HONEST);
    let refused = given(b"\x7fELF, but no more", described).expect_err("refused");
    assert!(
        refused.starts_with("E0939 `p.o` is not loaded: the object is not one that clang makes"),
        "{refused}"
    );
}

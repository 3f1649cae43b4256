//! Refusals of the kernel itself, shown at the line of P4 that they come from.

use crate::hand_written::{compile, compile_with};
use bpf::abi::Abi;
use diag::{SourceMap, Span};
use kernel::build::Obstacle;
use kernel::bundle::{Loader, Source};
use kernel::sys::{Adjust, load_object_with, path_log};
use kernel::{Failure, load, verifier_log, verify};
use schema::Schema;
use std::sync::Arc;

const P4: &str = "control c() {\n    hdr.ip.ttl = hdr.ip.ttl - 1;\n}\n";

const HEAD: &str = "\
struct xdp_md { unsigned data, data_end; };
static long (*const csum_diff)(void *, int, void *, int, int) = (void *)28;
static unsigned (*const random)(void) = (void *)7;
static long (*const no_such_helper)(void *) = (void *)9999;
char text[] __attribute__((section(\"license\"), used)) = \"GPL\";
";

/// Compiles an object of a program with this body, whose statements are on line 2 of the P4 text.
fn object(before: &str, body: &str) -> Vec<u8> {
    let text = format!(
        "{HEAD}{before}\n__attribute__((section(\"xdp\"), used)) int f(struct xdp_md *ctx) {{\n\
         unsigned char *data = (void *)(long)ctx->data;\n#line 2 \"router.p4\"\n{body}\n}}\n"
    );
    compile(&text, false)
}

fn sources() -> SourceMap {
    let mut sources = SourceMap::new();
    sources.add("router.p4", P4).expect("room");
    sources
}

fn abi() -> Abi {
    serde_json::from_str(
        r#"{"version":1,"source":"","arch":"","programs":[],"maps":[],"globals":null,"tables":[],
            "value_sets":[],"counters":[],"ports":{"devmap":null,"input":null},"events":null}"#,
    )
    .expect("an empty description")
}

/// Returns the kernel's refusal of a program with this body.
fn refused(before: &str, body: &str) -> (Failure, SourceMap) {
    let sources = sources();
    let schema = Arc::new(Schema::default());
    let failure = load(&object(before, body), &Arc::new(abi()), &schema, &sources)
        .expect_err("the kernel refuses it; these tests need root");
    (failure, sources)
}

fn code_and_place(before: &str, body: &str) -> (&'static str, String) {
    let (failure, sources) = refused(before, body);
    assert!(!failure.log.is_empty());
    let place = sources.text(failure.diagnostic.primary.span).to_owned();
    (failure.diagnostic.code.0, place)
}

const LINE: &str = "hdr.ip.ttl = hdr.ip.ttl - 1;";

#[test]
fn an_access_without_a_check() {
    assert_eq!(
        code_and_place("", "return data[8];"),
        ("E0774", LINE.into())
    );
}

#[test]
fn a_line_is_found_by_the_instruction_where_the_log_does_not_name_it() {
    let object = object("", "return data[8];");
    let failure = load_object_with(&object, Adjust::trial()).expect_err("the kernel refuses it");
    let log = path_log(&object, &failure.log).expect("it is short");
    // As Linux 6.1 writes it.
    let without_places: Vec<&str> = log
        .lines()
        .map(|line| line.split(" @ ").next().unwrap_or(line))
        .collect();
    let mut refusal = verifier_log::read(&without_places.join("\n")).expect("a refusal");
    assert_eq!(refusal.location, None);
    verifier_log::locate(&mut refusal, &object);
    let (file, line) = refusal.location.expect("the object knows it");
    assert!(file.ends_with("router.p4") && line == 2, "{file}:{line}");
}

/// Compiles a program that reads out of bounds, in a line of this file.
fn out_of_bounds_at(file: &str, defines: &[&str]) -> Vec<u8> {
    let text = format!(
        "{HEAD}\n__attribute__((section(\"xdp\"), used)) int f(struct xdp_md *ctx) {{\n\
         unsigned char *data = (void *)(long)ctx->data;\n#line 2 \"{file}\"\nreturn data[8];\n}}\n"
    );
    compile_with(&text, defines)
}

#[test]
fn a_long_program_has_the_numbers_of_its_lines_and_not_their_text() {
    let here = std::env::current_dir().expect("a folder");
    let whole = here.join("Cargo.toml").display().to_string();
    let text = "name = \"kernel\"";
    for file in ["Cargo.toml", &whole] {
        let has_text = |object: &[u8]| object.windows(text.len()).any(|at| at == text.as_bytes());
        assert!(has_text(&out_of_bounds_at(file, &[])));
        let object = out_of_bounds_at(file, &[clang::LONG]);
        assert!(!has_text(&object));

        let manifest = std::fs::read_to_string("Cargo.toml").expect("a manifest");
        let mut sources = SourceMap::new();
        sources.add(file, manifest).expect("room");
        let schema = Arc::new(Schema::default());
        let failure = load(&object, &Arc::new(abi()), &schema, &sources).expect_err("needs root");
        let place = sources.text(failure.diagnostic.primary.span);
        assert_eq!((failure.diagnostic.code.0, place), ("E0774", text));
        let mut refusal = verifier_log::Refusal {
            instruction: Some(1),
            ..Default::default()
        };
        verifier_log::locate(&mut refusal, &object);
        let (found, line) = refusal.location.expect("the object knows it");
        assert!(file.ends_with(&found) && line == 2, "{found}:{line}");
    }
}

#[test]
fn a_helper_that_is_not_there() {
    let found = code_and_place("", "return no_such_helper(ctx);");
    assert_eq!(found, ("E0775", LINE.into()));
}

#[test]
fn a_loop_without_an_end_in_sight() {
    let body = "unsigned n = random(), s = 0; for (unsigned i = 0; i < n; i++) { s += random(); \
                if (s == 77) break; } return s + data[0] * 0;";
    let (code, _) = code_and_place("", body);
    assert!(["E0771", "E0773", "E0774"].contains(&code), "{code}");
}

/// A million instructions are processed once, without a log of them. A second look at a part shows the line that they
/// are of.
#[test]
fn a_program_that_is_too_large_is_refused_about_as_fast_as_it_is_checked() {
    let body = "unsigned n = random(), s = 0;\n#line 3\nfor (unsigned i = 0; i < 1000000; i++) {\n\
                #line 2\ns = s * 31 + i; if ((s ^ n) == i * 77 + 5) break; s ^= random(); s += i << 2; s *= 17; } return s + data[0] * 0;";
    is_too_large_at_its_line(body);
}

const LOOP_ON_A_LINE: &str = "unsigned n = random(), s = 0; for (unsigned i = 0; i < 1000000; i++) { \
    s = s * 31 + i; if ((s ^ n) == i * 77 + 5) break; s ^= random(); s += i << 2; s *= 17; }\n\
    #line 3\nreturn s + data[0] * 0;";

/// The log repeats no line whose number does not change.
#[test]
fn a_loop_on_a_single_line_is_shown_at_that_line() {
    is_too_large_at_its_line(LOOP_ON_A_LINE);
}

/// The verifier is asked once, and once more only if somebody wants to know the location.
#[test]
fn a_refusal_has_no_place_until_it_is_asked_for() {
    for (body, code) in [(LOOP_ON_A_LINE, "E0771"), ("return data[8];", "E0774")] {
        let object = object("", body);
        let verified = verify(&object, &abi(), &sources());
        let mut failure = verified.instructions.expect_err("the kernel refuses it");
        assert_eq!(failure.diagnostic.code.0, code);
        assert_eq!(failure.diagnostic.primary.span, Span::NONE);
        failure.find_place(&object, &sources());
        assert_eq!(failure.diagnostic.code.0, code);
        assert_eq!(sources().text(failure.diagnostic.primary.span), LINE);
    }
}

fn is_too_large_at_its_line(body: &str) {
    let (failure, sources) = refused("", body);
    assert_eq!(failure.diagnostic.code.0, "E0771");
    assert_eq!(sources.text(failure.diagnostic.primary.span), LINE);
    assert_eq!(
        failure.diagnostic.primary.text,
        "the verifier spent the most instructions here"
    );
    assert!(
        failure.diagnostic.message.contains("too large")
            || failure.diagnostic.message.contains("too complex"),
        "{}",
        failure.diagnostic.message
    );
    assert!(failure.log.lines().count() < 10, "{}", failure.log);
}

#[test]
fn two_functions_with_too_much_stack_between_them() {
    let before = "static __attribute__((noinline)) int deep(int x) { char b[400] = {0}; return csum_diff(b, 400, 0, 0, x); }";
    let body = "char a[300] = {0}; return csum_diff(a, 300, 0, 0, 1) + deep(a[2]);";
    let (failure, _) = refused(before, body);
    assert_eq!(failure.diagnostic.code.0, "E0772");
    assert!(
        failure.log.contains("combined stack size"),
        "{}",
        failure.log
    );
}

#[test]
fn the_verifier_is_asked_whether_another_object_may_fare_better() {
    let trial = |body: &str| kernel::build::trial(&object("", body)).obstacle;
    let (obstacle, reason) = trial("return data[8];").expect("refused");
    assert_eq!(obstacle, Obstacle::LostPointer);
    assert!(reason.contains("invalid access to packet"), "{reason}");
    assert_eq!(trial("return 2;"), None);
}

/// Makes an object of a program beside a map with these members.
fn with_map(members: &str) -> Vec<u8> {
    let map = format!("struct {{ {members} }} hidden __attribute__((section(\".maps\"), used));");
    object(&map, "return 2;")
}

/// The description of a program that has no map.
fn described() -> Arc<Abi> {
    let mut abi = abi();
    abi.programs = serde_json::from_str(
        r#"[{"hook":"xdp","function":"f","section":"xdp","stack_estimate":0,"instruction_estimate":0,"moves_head":false}]"#,
    )
    .expect("a program");
    Arc::new(abi)
}

#[test]
fn memory_is_that_of_the_objects_maps_whatever_is_described() {
    let object = with_map(
        "int (*type)[2]; int (*key_size)[4]; int (*value_size)[8]; int (*max_entries)[1 << 20];",
    );
    let (abi, schema, sources) = (described(), Arc::new(Schema::default()), SourceMap::new());
    let source = Source {
        name: "p",
        object: &object,
        abi: &abi,
        schema: &schema,
        sources: &sources,
    };
    let load = |bytes| {
        let sources = [source];
        let mut loader = Loader::new(&sources, &[]).allow_memory(Some(bytes));
        loader.load_next().map_err(|refused| {
            let refused = refused.failure.diagnostic;
            (refused.code.0, refused.message)
        })
    };
    let message =
        "map `hidden` with 1048576 entries takes 8.0 MB, but `--allow-memory` allows 1.0 MB";
    assert_eq!(load(1 << 20), Err(("E0767", message.to_owned())));
    assert_eq!(load(9 << 20), Ok(()));
}

#[test]
fn a_map_that_asks_to_be_pinned_is_refused_before_anything_is_loaded() {
    let object = with_map(
        "int (*type)[2]; int (*key_size)[4]; int (*value_size)[8]; int (*max_entries)[1]; int (*pinning)[1];",
    );
    let refused = load(&object, &described(), &Arc::default(), &SourceMap::new());
    let refused = refused.expect_err("refused").diagnostic;
    assert_eq!(refused.code.0, "E0940");
    assert!(!std::path::Path::new("/sys/fs/bpf/hidden").exists());
}

//! Hashes of the generated C and instructions of every program of the repository, at every hook, for kernels of three
//! generations. A refactoring of the compiler changes none of them. `ONPATH_BLESS=1` writes them again.
//!
//! The C is hashed without the headers, and the instructions with the names of the symbols that they refer to. Each
//! version of clang makes other instructions. With a version that differs from the file's, only the C is compared.

use bpf::abi::Hook;
use bpf::features::FLOOR;
use driver::bpf_target::{Compiled, Request, Trial, compile};
use driver::{Elaborated, Input};
use kernel::features::Kernel;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use telemetry::{Catalogue, Schemas};
use testkit::files;

/// The newest kernel, the oldest, and one between them. Each has its own lowering of loops or jumps.
const KERNELS: [Kernel; 3] = [
    Kernel::Version((99, 0)),
    Kernel::Version((6, 6)),
    Kernel::Version(FLOOR),
];
/// Queries, whose programs are in no file.
const QUERIES: [&str; 6] = [
    "count by http.host",
    "histogram(http.response_time), top(5, http.path), distinct(http.host) by http.status, ip.src where http.method == \"GET\"",
    "count, bytes by tls.sni",
    "mean(dns.response_time) by dns.qname",
    "count by redis.command, redis.key",
    "count, bytes, rate by ip.src, ip.dst where tcp.dst_port == 443",
];
const FOLDERS: [&str; 6] = [
    "programs",
    "tests/stf",
    "tests/scale",
    "tests/traffic",
    "tests/offloads",
    "tests/language/accept",
];
const FILE: &str = "crates/driver/tests/generated.txt";

/// Hashes of a program's C and of its instructions, at one hook.
type Hashes = (String, String);

#[test]
#[ignore = "long: make test-all"]
fn generated_code_is_as_it_was() {
    let programs = programs();
    let found = all(&programs);
    let head = clang_version();
    if std::env::var_os("ONPATH_BLESS").is_some() {
        let path = files::root().join(FILE);
        std::fs::write(path, written(&head, &found)).expect("the hashes are written");
        return;
    }
    let text = std::fs::read_to_string(files::root().join(FILE)).expect("the hashes");
    let (known_head, known) = read(&text);
    let has_same_clang = known_head == head;
    let mut differ = String::new();
    for (name, (c, code)) in &found {
        let what = match known.get(name) {
            None => "is not known",
            Some((known, _)) if known != c => "has other C",
            Some((_, known)) if has_same_clang && known != code => "has other instructions",
            Some(_) => continue,
        };
        // Writing to a string does not fail.
        let _ = writeln!(differ, "{name} {what}");
    }
    let gone = known.keys().filter(|name| !found.contains_key(*name));
    gone.for_each(|name| differ += &format!("{name} is gone\n"));
    assert!(differ.is_empty(), "{differ}");
}

/// Returns the first line of clang's version.
fn clang_version() -> String {
    let clang = clang::find().expect("clang");
    let said = Command::new(clang.path).arg("--version").output();
    let said = String::from_utf8(said.expect("clang runs").stdout).expect("text");
    said.lines().next().expect("a line").to_owned()
}

/// Returns every program with its name.
fn programs() -> Vec<(String, Input)> {
    let files = FOLDERS.iter().flat_map(|folder| files::below(folder, "p4"));
    let files = files.map(|file| (files::short(&file), Input::file(file)));
    let schemas = Schemas::builtin();
    let queries = QUERIES.iter().map(|text| {
        let query = telemetry::compile(text, &Catalogue::new(&schemas), &mut Default::default());
        let program = telemetry::program(&query.expect(text), text, &schemas, 4096);
        let input = Input {
            text: Some(program.expect(text).into()),
            ..Input::file("query")
        };
        (format!("query: {text}"), input)
    });
    files.chain(queries).collect()
}

/// Returns the hashes of all programs. It uses as many threads as there are processors.
fn all(programs: &[(String, Input)]) -> BTreeMap<String, Hashes> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut some = BTreeMap::new();
        while let Some((name, input)) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            // A program that the front end refuses has no code.
            let Ok(elaborated) = driver::elaborate(input) else {
                continue;
            };
            for hook in Hook::ALL {
                some.insert(format!("{} {name}", hook.name()), hashes(&elaborated, hook));
            }
        }
        some
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        let all = all.into_iter().map(|thread| thread.join().expect("hashes"));
        all.flatten().collect()
    })
}

fn hashes(program: &Elaborated, hook: Hook) -> Hashes {
    let (mut c, mut code) = (Sha256::new(), Sha256::new());
    let root = files::root().to_string_lossy().into_owned();
    for kernel in KERNELS {
        let request = Request {
            kernel,
            trial: Trial::None,
            ..Request::hook(hook)
        };
        match compile(&program.program, &program.map, request) {
            Ok(compiled) => {
                // The C contains the program's path, whose beginning differs between machines.
                c.update(compiled.c_source.replace(&root, ""));
                add_code(&mut code, &compiled);
            }
            Err(refused) => {
                let codes = refused.iter().map(|d| format!("{:?}", d.code));
                c.update(codes.collect::<String>());
            }
        }
        c.update([0]);
        code.update([0]);
    }
    let short = |hash: Sha256| -> String {
        let bytes = hash.finalize();
        bytes[..6]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    (short(c), short(code))
}

/// Hashes the instructions of each section, and the symbols that they refer to.
fn add_code(hash: &mut Sha256, compiled: &Compiled) {
    let file = object::File::parse(&*compiled.object).expect("an object");
    for section in file.sections().filter(|s| s.kind() == SectionKind::Text) {
        hash.update(section.name().expect("a name"));
        hash.update(section.data().expect("code"));
        for (at, relocation) in section.relocations() {
            let RelocationTarget::Symbol(symbol) = relocation.target() else {
                continue;
            };
            let symbol = file.symbol_by_index(symbol).expect("a symbol");
            hash.update(at.to_le_bytes());
            hash.update(symbol.name().expect("a name"));
        }
    }
}

fn written(head: &str, hashes: &BTreeMap<String, Hashes>) -> String {
    let lines = hashes
        .iter()
        .map(|(name, (c, code))| format!("{c} {code} {name}\n"));
    format!("{head}\n{}", lines.collect::<String>())
}

fn read(text: &str) -> (&str, BTreeMap<String, Hashes>) {
    let (head, lines) = text.split_once('\n').expect("a first line");
    let hashes = lines.lines().map(|line| {
        let mut words = line.splitn(3, ' ').map(String::from);
        let mut word = || words.next().expect("three words");
        let (c, code) = (word(), word());
        (word(), (c, code))
    });
    (head, hashes.collect())
}

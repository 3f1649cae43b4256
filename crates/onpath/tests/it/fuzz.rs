//! Fuzzing of the front end with mutated P4 text: it may refuse a text, but must not panic or hang.
//!
//! It runs for a few seconds in the test suite, and for ten minutes in `make fuzz`. A failing text is kept under
//! `target/fuzz/` and named in the failure.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use syntax::{LoadError, Loaded, SourceLoader};
use testkit::files;
use testkit::generate::{self, Model};

/// Maximum time for one text, in a debug build on a busy machine.
const LONGEST: Duration = Duration::from_secs(20);

/// Loader of the text under test and of the built-in headers.
struct OneText<'a> {
    text: &'a str,
    files: driver::FileLoader,
}

impl SourceLoader for OneText<'_> {
    fn load(&self, path: &str, from: Option<&str>, system: bool) -> Result<Loaded, LoadError> {
        match from {
            None => Ok(Loaded::new(path, self.text)),
            // Mutated names must not lead into the file system.
            Some(from) => self
                .files
                .load(path, Some(from), system && !path.contains('/')),
        }
    }
}

/// Compiles a text to IR and renders all diagnostics. The result does not matter.
fn compile(text: &str) {
    let loader = OneText {
        text,
        files: driver::FileLoader {
            include: Vec::new(),
            given: None,
        },
    };
    let mut map = diag::SourceMap::new();
    let parsed = syntax::parse(&mut map, &loader, "fuzz.p4", &[]);
    let mut all = parsed.diagnostics;
    let refused = all.has_errors();
    let checked = sema::check(&parsed.program, &map);
    all.append(checked.diagnostics);
    if let (false, Some(module)) = (refused, checked.module) {
        match elab::elaborate(&module) {
            Ok((mut program, warnings)) => {
                all.append(warnings);
                if let Err(errors) = ir::verify::verify(&program) {
                    panic!("the IR does not verify: {errors:?}");
                }
                let options = ir::passes::Options {
                    level: ir::passes::Level::Optimize,
                    function_params: 5,
                    follows_iterations: false,
                    rejects: ir::passes::Rejects::Stay,
                };
                ir::passes::pipeline(&mut program, &options);
            }
            Err(errors) => all.append(errors),
        }
    }
    // Rendering walks every span.
    diag::render_text(&all, &map, false);
    diag::to_json(&all, &map);
}

/// Pieces that mutations insert, which most often lead to corner cases.
const PIECES: &[&str] = &[
    "0",
    "1",
    "8w255",
    "16w0xffff",
    "32s-1",
    "4294967295",
    "bit<0>",
    "bit<65536>",
    "int<1>",
    "varbit<8>",
    "{}",
    "{#}",
    "...",
    "_",
    "default",
    "error.NoMatch",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    ">>",
    ";",
    ",",
    "=",
    "==",
    "&&&",
    "..",
    "++",
    "?",
    ":",
    "this",
    "exit;",
    "return;",
    "break;",
    "isValid()",
    ".apply()",
    ".next",
    ".last",
    "[0]",
    "[7:0]",
    "#define X X",
    "@name(\"\")",
    "[x]",
    "[0][x]",
    "[x +: 4]",
    "[2] = {1, 2}",
    "bit<8>[4]",
    "bit<1 << 3>",
    "bit<W>",
    "error[2] es;",
    "const int n[2] = {1, 2};",
    "tuple<int>",
    "<T>(inout T x)",
    "<_>",
    "(int from = 2)",
    "= none()",
    "f(x) += 1;",
    "x |+|= y;",
    "t.apply().hit: exact;",
    "{1}: a();",
    "x &&& y: accept;",
    "x .. y: accept;",
    "priority = 1:",
    "for (bit<8> e in all) { }",
];

fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let len = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if first.is_whitespace() {
            rest.find(|c: char| !c.is_whitespace())
                .unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, tail) = rest.split_at(len);
        out.push(token);
        rest = tail;
    }
    out
}

fn mutate(random: &mut ChaCha8Rng, corpus: &[String]) -> String {
    let base = corpus.choose(random).expect("a corpus");
    let other = corpus.choose(random).expect("a corpus");
    let mut text = tokens(base);
    let donor = tokens(other);
    for _ in 0..random.random_range(1..=6) {
        if text.is_empty() {
            break;
        }
        let at = random.random_range(0..text.len());
        let end = (at + random.random_range(1..=12)).min(text.len());
        match random.random_range(0..9) {
            0 => drop(text.drain(at..end)),
            1 => text.insert(at, PIECES.choose(random).expect("pieces")),
            2 => text[at] = PIECES.choose(random).expect("pieces"),
            3 => {
                let copy = text[at..end].to_vec();
                text.splice(at..at, copy);
            }
            4 => {
                let with = random.random_range(0..text.len());
                text.swap(at, with);
            }
            5 if !donor.is_empty() => {
                let from = random.random_range(0..donor.len());
                let to = (from + random.random_range(1..=40)).min(donor.len());
                text.splice(at..at, donor[from..to].iter().copied());
            }
            6 => text[at..end].shuffle(random),
            7 => text[at] = text[random.random_range(0..text.len())],
            _ => text.truncate(at),
        }
    }
    let mut text = text.concat();
    if random.random_range(0..8) == 0 && !text.is_empty() {
        // Besides tokens, any character may be inserted anywhere.
        let at = random.random_range(0..text.len());
        if text.is_char_boundary(at) {
            text.insert(
                at,
                char::from_u32(random.random_range(0..0x2ff)).unwrap_or('\u{0}'),
            );
        }
    }
    if random.random_range(0..60) == 0 {
        let open = ["(", "{", "[", "-", "!", "bit<(", "1+", "tuple<"]
            .choose(random)
            .expect("some");
        let deep = open.repeat(random.random_range(100..20_000));
        let at = text.len() / 2;
        if text.is_char_boundary(at) {
            text.insert_str(at, &deep);
        }
    }
    text
}

fn keep(text: &str) -> PathBuf {
    let dir = files::root().join("target/fuzz");
    std::fs::create_dir_all(&dir).expect("a directory for the failing text");
    let path = dir.join("failing.p4");
    std::fs::write(&path, text).expect("the failing text is kept");
    path
}

#[test]
fn mutated_text_neither_panics_nor_hangs() {
    let seconds = |name: &str| std::env::var(name).ok().and_then(|v| v.parse().ok());
    let budget = Duration::from_secs(seconds("ONPATH_FUZZ_SECONDS").unwrap_or(10));
    let seed: u64 = seconds("ONPATH_FUZZ_SEED").unwrap_or(1);
    let mut paths = files::below("programs", "p4");
    paths.extend(files::below("tests", "p4"));
    let written = paths.iter();
    let written = written.map(|p| std::fs::read_to_string(p).expect("a P4 file"));
    let models = [Model::Xdp, Model::Tc, Model::V1, Model::Copies];
    let random = (0..40)
        .zip(models.into_iter().cycle())
        .map(|(seed, model)| generate::program(model, &mut ChaCha8Rng::seed_from_u64(seed)).text());
    let corpus: Vec<String> = written.chain(random).collect();
    let start = Instant::now();
    // A watchdog detects that the working thread hangs.
    let current = Mutex::new(String::new());
    let began = AtomicU64::new(u64::MAX);
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while done.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(50));
                let since = began.load(Ordering::Relaxed);
                let now = start.elapsed().as_millis() as u64;
                if since != u64::MAX && now.saturating_sub(since) > LONGEST.as_millis() as u64 {
                    let path = keep(&current.lock().expect("the text"));
                    eprintln!("hangs: {}", path.display());
                    std::process::abort();
                }
            }
        });
        let worker = std::thread::Builder::new()
            .stack_size(8 << 20)
            .spawn_scoped(scope, || {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let mut count = 0u64;
                while start.elapsed() < budget {
                    let text = mutate(&mut random, &corpus);
                    current.lock().expect("the text").clone_from(&text);
                    began.store(start.elapsed().as_millis() as u64, Ordering::Relaxed);
                    if catch_unwind(AssertUnwindSafe(|| compile(&text))).is_err() {
                        done.store(1, Ordering::Relaxed);
                        panic!("panics: {}", keep(&text).display());
                    }
                    began.store(u64::MAX, Ordering::Relaxed);
                    count += 1;
                }
                done.store(1, Ordering::Relaxed);
                count
            });
        let count = worker
            .expect("a thread")
            .join()
            .expect("no text brings the front end down");
        println!("{count} mutated programs in {:.0?}", start.elapsed());
        assert!(count > 0);
    });
}

//! Readers under test, with their corpora.

use control::entries;
use diag::{Diagnostics, FileId, SourceMap};
use driver::{Input, built, bundle};
use schema::Schema;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;
use telemetry::capture::{self, Capture};
use telemetry::{Catalogue, Evaluator, Schemas};
use testkit::files;

/// Function that reads an input.
type Read = Box<dyn Fn(&[u8])>;

/// A reader of inputs from outside.
pub(super) struct Reader {
    /// Valid inputs.
    pub(super) corpus: Vec<Vec<u8>>,
    /// Pieces that lead to corner cases of the language.
    pub(super) pieces: Vec<String>,
    /// Function that reads an input and renders all diagnostics.
    pub(super) read: Read,
}

/// Built-in schemas, which take longer to read than most inputs.
static MESSAGES: LazyLock<Schemas> = LazyLock::new(Schemas::builtin);

/// Returns the reader of this name.
pub(super) fn reader(name: &str) -> Reader {
    match name {
        "entries" => of_entries(),
        "stf" => of_stf(),
        "descriptions" => of_descriptions(),
        "bundles" => of_bundles(),
        "schemas" => of_schemas(),
        "captures" => of_captures(),
        "queries" => of_queries(),
        "patterns" => of_patterns(),
        other => panic!("there is no reader `{other}`"),
    }
}

fn words(all: &str) -> Vec<String> {
    let numbers = "0 1 -1 4294967296 18446744073709551616 0x 1e999 99999999999999999999999999999999999999999 \u{0} \u{1b}[2J \u{fffd}";
    let all = all.split(' ').chain(numbers.split(' '));
    all.map(String::from).collect()
}

fn texts(paths: &[std::path::PathBuf]) -> Vec<Vec<u8>> {
    let read = |path: &std::path::PathBuf| std::fs::read(path).expect("a file of the repository");
    paths.iter().map(read).collect()
}

/// Reads a text as a file of a source map, and renders its diagnostics in both formats.
fn shown<T>(bytes: &[u8], read: impl FnOnce(&SourceMap, FileId) -> Result<T, Diagnostics>) {
    let text = String::from_utf8_lossy(bytes);
    let mut map = SourceMap::new();
    let file = map.add("input", text.as_ref()).expect("it is not large");
    if let Err(wrong) = read(&map, file) {
        show(&wrong, &map);
    }
}

fn show(wrong: &Diagnostics, map: &SourceMap) {
    diag::render_text(wrong, map, false);
    diag::to_json(wrong, map);
}

fn schema_of(program: &str) -> Schema {
    let input = Input::file(files::root().join(program));
    let elaborated = driver::elaborate(&input).ok().expect("it is accepted");
    Schema::of(&elaborated.program)
}

fn of_entries() -> Reader {
    let schema = schema_of("programs/v1model/load_balancer/load_balancer.p4");
    let router = schema_of("programs/router/router.p4");
    let mut corpus = texts(&files::below("programs", "txt"));
    corpus.push(
        b"add routes 10.9.0.0/16 next_hop(port: 1, src_mac: 02:00:00:00:02:01, dst_mac: 02:00:00:00:02:02)\n\
          setdefault routes to_host()\nclear routes\nmulticast_group 1 0:5,2:6\n\
          clone_session 3 1:2 group 4 truncate 64\nmeter_set m[0] 1M 1K 2M 2K\n"
            .to_vec(),
    );
    Reader {
        corpus,
        pieces: words(
            "add modify remove clear setdefault value_set_add multicast_group clone_session action_member action_group meter_set # : / .. &&& , ( ) [ ] 10.0.0.1/33 ::/129 02: \"",
        ),
        read: Box::new(move |bytes| {
            for schema in [&schema, &router] {
                shown(bytes, |map, file| entries::parse(schema, map, file));
            }
        }),
    }
}

fn of_stf() -> Reader {
    let schema = schema_of("programs/router/router.p4");
    let mut corpus = texts(&files::below("programs", "stf"));
    corpus.extend(texts(&files::below("tests/stf", "stf")));
    Reader {
        corpus,
        pieces: words(
            "packet expect no_packet wait add setdefault check_counter expect_digest register_read mirroring_add * $ : / .. &&& == >= #  ** ff f",
        ),
        read: Box::new(move |bytes| {
            shown(bytes, |map, file| {
                let (script, wrong) = control::stf::parse(map, file);
                match control::stf::bind(&script, &schema) {
                    _ if wrong.has_errors() => Err(wrong),
                    bound => bound.map(|_| ()),
                }
            });
        }),
    }
}

fn of_descriptions() -> Reader {
    let corpus: Vec<Vec<u8>> = [
        "programs/router/router.p4",
        "programs/guard/out.p4",
        "programs/talkers/talkers.p4",
    ]
    .map(description_of)
    .into();
    Reader {
        corpus,
        pieces: words(
            "{ } [ ] \" : , null true {\"a\":[ \\u0000 \\ud800 \"maps\": \"bpf\": \"object\": 1.5",
        ),
        read: Box::new(|bytes| {
            let file = Path::new("p.o");
            if let Err(refused) = built::of_bytes(file, b"\x7fELF".to_vec(), bytes) {
                show(&refused.into(), &SourceMap::new());
            }
        }),
    }
}

/// Returns the description of a program without its object.
fn description_of(program: &str) -> Vec<u8> {
    use driver::bpf_target::{Request, generate};
    let input = Input::file(files::root().join(program));
    let elaborated = driver::elaborate(&input).ok().expect("it is accepted");
    let hook = driver::hooks::default_hook(&elaborated.program);
    let request = Request {
        kernel: kernel::features::Kernel::Version((6, 18)),
        ..Request::hook(hook)
    };
    let output = generate(&elaborated.program, &elaborated.map, request).expect("it compiles");
    let schema = Schema::of(&elaborated.program);
    built::describe(&[], &output.abi, &schema)
        .to_string()
        .into_bytes()
}

fn of_bundles() -> Reader {
    let mut corpus = texts(&files::below("programs", "toml"));
    corpus.push(
        b"name = \"a\"\n[[program]]\nsource = \"a.p4\"\nname = \"b\"\ntarget = \"xdp\"\nports = { 1 = \"eth0\" }\nreach = { 2 = \"eth1\" }\n\
          groups = { 1 = [0, \"1:2\"] }\ndefine = [\"A=1\"]\nentries = \"e.txt\"\n[share]\nflows = [\"out.flows\", \"in.flows\"]\n"
            .to_vec(),
    );
    Reader {
        corpus,
        pieces: words(
            "[[program]] [share] = \"\"\" ''' { } [ ] , . 1979-05-27T07:32:00Z inf nan true 0b1 a.b.c [a. source target ports",
        ),
        read: Box::new(|bytes| shown(bytes, bundle::read)),
    }
}

fn of_schemas() -> Reader {
    Reader {
        corpus: texts(&files::below("messages", "toml")),
        pieces: words(
            "[[field]] [message] = \"\"\" { } [ ] , . repeat until length size bits when attribute follow kind \"a - b\" \"a * 65536\"",
        ),
        read: Box::new(|bytes| shown(bytes, payload::load)),
    }
}

fn of_captures() -> Reader {
    let catalogue = Catalogue::new(&*MESSAGES);
    let mut map = SourceMap::new();
    let text = "count, bytes by ip.src";
    let Ok(query) = telemetry::compile(text, &catalogue, &mut map) else {
        panic!("{text} is no query");
    };
    Reader {
        corpus: vec![pcap(), pcapng()],
        pieces: words("\n\r\r\n \u{a}\u{d}\u{d}\u{a} \u{6}\u{0}\u{0}\u{0}"),
        read: Box::new(move |bytes| {
            let mut evaluator = Evaluator::new(query.clone(), &*MESSAGES, Some(64), [0, 1]);
            let done = Capture::open("input", bytes)
                .map_err(Diagnostics::from)
                .and_then(|capture| {
                    capture::read(vec![capture], |frame| {
                        evaluator.packet(frame);
                        ControlFlow::Continue(())
                    })
                });
            if let Err(wrong) = done {
                show(&wrong, &SourceMap::new());
            }
        }),
    }
}

/// An Ethernet frame with a UDP packet of IPv4.
fn frame() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend([
        0x45, 0, 0, 36, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ]);
    frame.extend([0x30, 0x39, 0, 53, 0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    frame
}

fn pcap() -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        file.extend(word.to_le_bytes());
    }
    let frame = frame();
    for second in 0..8u32 {
        for word in [second, 7, frame.len() as u32, frame.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(&frame);
    }
    file
}

fn pcapng() -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let length = 12 + body.len().next_multiple_of(4) as u32;
        file.extend(kind.to_le_bytes());
        file.extend(length.to_le_bytes());
        file.extend(body);
        file.extend(vec![0; body.len().next_multiple_of(4) - body.len()]);
        file.extend(length.to_le_bytes());
    };
    let mut section = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
    section.extend([1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    block(0x0a0d_0d0a, &section);
    // An interface of Ethernet, with a resolution of nanoseconds.
    block(
        1,
        &[
            1, 0, 0, 0, 255, 255, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0,
        ],
    );
    let frame = frame();
    for packet in 0..8u32 {
        let mut body = Vec::new();
        for word in [0, 0, packet, frame.len() as u32, frame.len() as u32] {
            body.extend(word.to_le_bytes());
        }
        body.extend(&frame);
        block(6, &body);
    }
    // A simple packet.
    let mut body = (frame.len() as u32).to_le_bytes().to_vec();
    body.extend(&frame);
    block(3, &body);
    file
}

fn of_queries() -> Reader {
    let documentation = files::root().join("docs/queries.md");
    let text = std::fs::read_to_string(documentation).expect("the documentation");
    let examples = text.split("```query\n").skip(1);
    let corpus = examples.filter_map(|block| block.split("```").next());
    Reader {
        corpus: corpus.map(|query| query.as_bytes().to_vec()).collect(),
        pieces: words(
            "count bytes top distinct histogram sum percentile by where and or not ( ) , == != ~ < in as \"\\x \"a\" 10.0.0.0/8 ip.src http.host 50% 1ms",
        ),
        read: Box::new(|bytes| {
            let catalogue = Catalogue::new(&*MESSAGES);
            let mut map = SourceMap::new();
            let text = String::from_utf8_lossy(bytes);
            match telemetry::compile(&text, &catalogue, &mut map) {
                Ok(query) => drop(telemetry::explain(&query, catalogue.messages(), None)),
                Err(wrong) => show(&wrong, &map),
            }
        }),
    }
}

fn of_patterns() -> Reader {
    let corpus = [
        "^/(api|static)/v[0-9]+/.*\\.(js|css)$",
        "(?i)mozilla/[4-9]\\.[0-9]",
        "a{2,5}b*?[^\\x00-\\x1f]",
        "(foo|bar|baz)+$",
        "\\bword\\b",
    ];
    Reader {
        corpus: corpus.map(|text| text.as_bytes().to_vec()).into(),
        pieces: words(
            "( ) [ ] { } {1000} {0,1000} * + ? | ^ $ . \\ \\d \\pL \\x{10ffff} (?i) (?u) (?P<a> [[:alpha:]] [^ - && ~~",
        ),
        read: Box::new(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            if let Ok(pattern) = payload::Pattern::new(&text) {
                pattern.is_in(b"GET /api/v1/x.js");
                drop(pattern.table());
            }
        }),
    }
}

//! Limits of hand-written payload parsers in the kernel, and Onpath's programs for the same work beyond them. Needs
//! root.
//!
//! The hand-written C is a chain of comparisons in a bounded loop that skips attributes, and a search that compares a
//! value byte by byte at every offset. The verifier's cost is the number of paths through all iterations, or the
//! number of branches that it still has to come back to.

use bpf::abi::Hook;
use clang::Source;
use diag::render_plain;
use driver::Input;
use driver::bpf_target::{self, Request};
use kernel::sys::{LoadFailure, Loaded, load_object};
use lab::attributes::{Messages, VALUE};
use std::fmt::Write;
use std::path::PathBuf;

/// Folders in which Debian and others keep the headers that `linux/bpf.h` includes.
const SYSTEM_INCLUDES: [&str; 2] = [
    "/usr/include/x86_64-linux-gnu",
    "/usr/include/aarch64-linux-gnu",
];

/// Loads a program in C.
fn load(body: &str) -> Result<Loaded, LoadFailure> {
    let text = format!(
        "#include <linux/bpf.h>
#define SEC(name) __attribute__((section(name), used))
#define ROLLED _Pragma(\"clang loop unroll(disable)\")
unsigned int start;
unsigned long long found;
unsigned char value[256];
SEC(\"xdp\") int parse(struct xdp_md *ctx)
{{
	unsigned char *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
{body}	return XDP_DROP;
}}
char _license[4] SEC(\"license\") = \"GPL\";
"
    );
    let include_dirs: Vec<PathBuf> = SYSTEM_INCLUDES.iter().map(PathBuf::from).collect();
    let source = Source {
        text: &text,
        headers: &[],
        include_dirs: &include_dirs,
        defines: &[],
        effort: clang::Effort::Full,
        jumps: clang::Jumps::Short,
    };
    let clang = clang::find().expect("this test needs clang");
    let object = clang::compile(&clang, source).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    load_object(&object, &[])
}

/// Loads a program that skips attributes by a chain of comparisons. There are `kinds` kinds with a tag of one byte
/// and different sizes, and the last one is the wanted attribute. As many attributes as there are other kinds may
/// precede it.
fn chain(kinds: u32) -> Result<Loaded, LoadFailure> {
    let mut body = String::from(
        "	unsigned int at = start;
	if (at > 1500)
		return XDP_DROP;
	unsigned char *here = data + at;
",
    );
    let _ = writeln!(
        body,
        "	ROLLED
	for (int turn = 0; turn < {kinds} - 1; turn++) {{
		if (here + 1 > end)
			return XDP_DROP;
		unsigned char tag = *here;"
    );
    for tag in 1..kinds {
        let size = 1 + tag;
        let _ = writeln!(body, "		if (tag == {tag})\n			here += {size};\n		else");
    }
    let _ = writeln!(
        body,
        "		if (tag == {kinds}) {{
			if (here + 9 <= end && here[8] == {VALUE})
				found++;
			return XDP_PASS;
		}} else
			return XDP_DROP;
	}}"
    );
    load(&body)
}

/// Loads a program that compares a value at many offsets, byte by byte.
fn search(value: u32, offsets: u32) -> Result<Loaded, LoadFailure> {
    load(&format!(
        "	ROLLED
	for (int at = 0; at < {offsets}; at++) {{
		int same = 0;
		ROLLED
		for (; same < {value}; same++) {{
			unsigned char *here = data + at + same;
			if (here + 1 > end)
				return XDP_DROP;
			if (*here != value[same])
				break;
		}}
		if (same == {value}) {{
			found++;
			return XDP_PASS;
		}}
	}}
"
    ))
}

/// Loads a program that compares a value of `words` words of 8 bytes at many offsets.
fn search_by_words(words: u32, offsets: u32) -> Result<Loaded, LoadFailure> {
    let mut body = format!(
        "	ROLLED
	for (int at = 0; at < {offsets}; at++) {{
		unsigned long long *here = (void *)(data + at);
		if ((void *)(here + {words}) > (void *)end)
			return XDP_DROP;
"
    );
    for word in 0..words {
        let _ = writeln!(
            body,
            "		if (here[{word}] != 0x41424344454647{word:02x}ull)\n			continue;"
        );
    }
    body += "		found++;\n		return XDP_PASS;\n	}\n";
    load(&body)
}

/// Returns the verifier's log for a program that it rejects.
fn refusal(loaded: Result<Loaded, LoadFailure>) -> String {
    loaded.expect_err("the verifier refuses it").log
}

#[test]
fn a_chain_of_comparisons_loads_for_eight_attributes_and_not_for_nine() {
    let loaded = chain(8).unwrap_or_else(|refused| panic!("{}", refused.log));
    let info = loaded.programs[0].1.info().expect("a loaded program");
    // With one more attribute the number is several times as large, beyond the limit of a million.
    let processed = info.verified_instructions;
    assert!(processed > 200_000, "{processed}");
    let log = refusal(chain(9));
    assert!(log.contains("processed 1000001 insns"), "{log}");
}

#[test]
fn a_search_byte_by_byte_ends_at_8192_decisions() {
    // There are two branches for each compared byte: one for the packet's end, and one for the comparison.
    for (value, offsets) in [(25, 200), (48, 1000)] {
        assert!(2 * value * offsets > 8192);
        let log = refusal(search(value, offsets));
        assert!(
            log.contains("The sequence of 8193 jumps is too complex"),
            "{value} bytes at {offsets} offsets: {log}"
        );
    }
}

/// The published limit, 48 bytes in 1,000, is that of a search by words. An iteration has a branch for each word, for
/// the packet's end and for the loop. Eight branches for six words make 8,000 in 1,000 iterations; nine for seven
/// would be too many. Present verifiers find that iterations reach equal states, and do not come to that limit.
#[test]
fn a_search_by_words_loads_past_what_was_published() {
    let decisions = |words| 1000 * (words + 2);
    assert!(decisions(48 / 8) <= 8192 && decisions(56 / 8) > 8192);
    for words in [6, 7] {
        if let Err(refused) = search_by_words(words, 1000) {
            panic!("{words} words: {}", refused.log);
        }
    }
}

#[test]
fn attributes_in_p4_cost_no_more_however_many_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    for kinds in [8, 9, 64, 512] {
        let messages = Messages { kinds };
        let file = folder.path().join(format!("skip_{kinds}.p4"));
        std::fs::write(&file, messages.program()).expect("the program is written");
        let elaborated = driver::elaborate(&Input::file(&file)).ok().expect("P4");
        let map = &elaborated.map;
        let compiled = bpf_target::compile(&elaborated.program, map, Request::hook(Hook::Xdp));
        let compiled = compiled.unwrap_or_else(|refused| panic!("{}", render_plain(&refused, map)));
        let instance = kernel::load(&compiled.object, &compiled.abi, &compiled.schema, map);
        let instance = instance.unwrap_or_else(|e| panic!("{kinds}: {e:?}"));
        let prog = instance.program.prog();
        let info = prog.info().expect("a loaded program");
        assert!(
            info.verified_instructions <= 200,
            "{kinds}: {}",
            info.verified_instructions
        );
        let verdict = |packet: &[u8]| {
            let mut out = vec![0; 4096];
            let ran = prog.run_xdp(packet, &mut out, 0, 1).expect("a test run");
            ran.verdict
        };
        let [dropped, passed] = [1, 2];
        let found = messages.packet(VALUE);
        assert_eq!(verdict(&found), passed, "{kinds}");
        assert_eq!(verdict(&messages.packet(VALUE + 1)), dropped, "{kinds}");
        assert_eq!(verdict(&found[..found.len() - 1]), dropped, "{kinds}");
    }
}

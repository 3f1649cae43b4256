//! The hash of keys in C, as the kernel runs it, compared with that in Rust.

use bpf::abi::SEED_SECTION;
use clang::Source;
use kernel::sys::{Adjust, Prog, load_object_with};
use layout::HashSeeds;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Offset of a packet's key, in bytes.
const AT: usize = 16;
/// The key of the published test vectors, and their hashes of the bytes 0, 1, 2, ...
/// (<https://github.com/veorq/SipHash>, with one round a word and three at the end), by the number of words.
const KEY: [u64; 2] = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
const VECTORS: [(usize, u64); 3] = [
    (1, 0x3690_9511_8d29_9a8e),
    (2, 0xcc4f_dd1a_7d90_8b66),
    (3, 0xf464_aeb2_6734_9c8c),
];

/// Compiles the object with all programs.
fn object() -> Vec<u8> {
    let clang = clang::find().expect("clang");
    let source = Source {
        text: include_str!("key_hash.c"),
        headers: bpf::headers(),
        include_dirs: &[],
        defines: &[],
        effort: clang::Effort::Full,
        jumps: clang::Jumps::Short,
    };
    clang::compile(&clang, source).expect("it compiles")
}

/// Loads the programs under a key, with the number of words that each hashes.
fn programs(object: &[u8], key: [u64; 2]) -> Vec<(usize, Prog)> {
    // The other seed is no part of it.
    let seeds = HashSeeds {
        key,
        buckets: u64::MAX,
    };
    let adjust = Adjust {
        data: &[(SEED_SECTION, &seeds.to_bytes())],
        ..Adjust::default()
    };
    let loaded = load_object_with(object, adjust).expect("this test needs root");
    let words = |name: &str| name.strip_prefix("hash_")?.parse().ok();
    let programs = loaded.programs.into_iter();
    programs
        .map(|(name, prog)| (words(&name).expect("a number"), prog))
        .collect()
}

/// Returns the hash of a key's bytes by a program.
fn hashed(prog: &Prog, key: &[u8]) -> u64 {
    let mut packet = vec![0; AT];
    packet.extend(key);
    let mut out = vec![0; packet.len()];
    let run = prog.run_xdp(&packet, &mut out, 0, 1).expect("a run");
    assert_eq!(run.verdict, 2);
    u64::from_ne_bytes(out[AT..AT + 8].try_into().expect("a word"))
}

#[test]
fn programs_hash_keys_as_user_space_does() {
    let object = object();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for secret in [[0, 0], [u64::MAX; 2], random.random(), random.random()] {
        let programs = programs(&object, secret);
        assert_eq!(programs.len(), 6);
        for (words, prog) in programs {
            for _ in 0..20 {
                let key: Vec<u8> = (0..8 * words).map(|_| random.random()).collect();
                let expected = externs::flow_state::hash(&key, secret);
                assert_eq!(hashed(&prog, &key), expected, "{secret:x?}, {key:x?}");
            }
        }
    }
}

#[test]
fn programs_hash_the_published_test_vectors() {
    let programs = programs(&object(), KEY);
    for (words, expected) in VECTORS {
        let (_, prog) = programs
            .iter()
            .find(|(w, _)| *w == words)
            .expect("it is there");
        let bytes = (0..8 * words as u8).collect::<Vec<_>>();
        // The function is defined on words whose first byte is the least significant one.
        let key = bytes.chunks(8).flat_map(|word| {
            let word = u64::from_le_bytes(word.try_into().expect("a word"));
            word.to_ne_bytes()
        });
        assert_eq!(
            hashed(prog, &key.collect::<Vec<_>>()),
            expected,
            "{words} words"
        );
    }
}

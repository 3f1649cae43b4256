//! A program of the native target as a process: packets in, verdicts and packets out.

use crate::target::Output;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What became of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fate {
    /// What the stage's function gave.
    pub verdict: u32,
    /// The port that it chose.
    pub port: u32,
    /// The packet.
    pub bytes: Vec<u8>,
}

/// Compiles a program in a folder of its own; gives the executable.
pub(crate) fn build(folder: &Path, output: &Output) -> PathBuf {
    let own = [
        ("native.h", include_str!("native.h")),
        ("main.c", include_str!("main.c")),
        ("program.c", output.c_source.as_str()),
    ];
    std::fs::create_dir_all(folder.join("onpath")).expect("a folder");
    for (name, text) in emit::HEADERS.into_iter().chain(own) {
        std::fs::write(folder.join(name), text).expect("room on the disk");
    }
    let program = folder.join("program");
    let compiled = Command::new("cc")
        .args(["-O1", "-std=gnu11", "-w", "-I."])
        .args(["main.c", "-o", "program"])
        .current_dir(folder)
        .output()
        .expect("a C compiler, `cc`");
    let messages = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{messages}\n{}", output.c_source);
    program
}

/// Gives packets, each with its port, to a program; and what it counted in the end.
pub(crate) fn run(program: &Path, packets: &[(u32, Vec<u8>)]) -> (Vec<Fate>, Vec<u64>) {
    let mut input = Vec::new();
    for (port, bytes) in packets {
        input.extend(port.to_ne_bytes());
        input.extend((bytes.len() as u32).to_ne_bytes());
        input.extend(bytes);
    }
    let mut process = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut stdin = process.stdin.take().expect("its input");
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = process.wait_with_output().expect("its output");
    writer.join().expect("no panic").expect("all packets taken");
    assert!(output.status.success(), "{}", output.status);
    let mut rest = &output.stdout[..];
    let fates = packets.iter().map(|_| Fate {
        verdict: word(&mut rest),
        port: word(&mut rest),
        bytes: {
            let length = word(&mut rest) as usize;
            let (bytes, after) = rest.split_at(length);
            rest = after;
            bytes.to_vec()
        },
    });
    let fates = fates.collect();
    let (counts, odd) = rest.as_chunks();
    assert!(odd.is_empty(), "{odd:?}");
    (
        fates,
        counts.iter().map(|c| u64::from_ne_bytes(*c)).collect(),
    )
}

fn word(rest: &mut &[u8]) -> u32 {
    let (word, after) = rest.split_first_chunk().expect("a word of the output");
    *rest = after;
    u32::from_ne_bytes(*word)
}

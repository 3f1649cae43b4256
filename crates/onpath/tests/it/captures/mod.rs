//! Names in nDPI's captures, against tshark: servers of TLS and hosts of HTTP over TCP, and questions of DNS at port 53.
//! How often each name is found in a capture is the same, except for the differences that `expected.txt` lists with
//! their reasons. `scripts/setup-captures` fetches the captures.
//!
//! Not compared are names in connections of QUIC, names in the first fragments of packets, and names with other bytes than host
//! names have, which the two print differently. They are counted.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of names by their kind and themselves.
type Names = BTreeMap<(&'static str, String), u64>;

/// The kinds of names, by Onpath's attributes.
const KINDS: [&str; 3] = ["tls.sni", "http.host", "dns.qname"];

/// Fields that tshark prints: ports, then marks of what is left out, and names in the order of the kinds.
const FIELDS: [&str; 7] = [
    "tcp.dstport",
    "udp.port",
    "ip.flags.mf",
    "quic.version",
    "tls.handshake.extensions_server_name",
    "http.host",
    "dns.qry.name",
];

/// Numbers of names that are not compared.
#[derive(Default, Debug)]
struct LeftOut {
    quic: u64,
    fragments: u64,
    other_bytes: u64,
}

/// Returns the captures.
fn captures() -> Vec<PathBuf> {
    let folder = testkit::files::root().join("target/captures");
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = files.map(|file| file.path()).collect();
    all.retain(|file| file.extension().is_some());
    all.sort();
    assert!(
        all.len() > 200,
        "no captures: `scripts/setup-captures` fetches them"
    );
    all
}

/// Runs a program, and returns its output if it succeeds.
fn output(program: &str, arguments: &[&str], file: &Path) -> Result<String, String> {
    let output = Command::new(program).args(arguments).arg(file).output();
    let output = output
        .unwrap_or_else(|why| panic!("{program}: {why}: `scripts/setup-captures` installs tshark"));
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stdout).into_owned()),
    }
}

/// Returns true if a name has bytes of host names only, with a port or as an address.
fn is_plain(name: &str) -> bool {
    let of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:[]".contains(&byte);
    name.bytes().all(of_host) && name.bytes().any(|byte| byte != b'.')
}

/// Adds a name, if it is compared.
fn add(names: &mut Names, left_out: &mut LeftOut, kind: &'static str, name: &str, count: u64) {
    match is_plain(name) {
        true => *names.entry((kind, name.to_owned())).or_default() += count,
        false => left_out.other_bytes += count,
    }
}

/// Returns the names that Onpath finds, or the code of its error.
fn by_onpath(file: &Path, left_out: &mut LeftOut) -> Result<Names, String> {
    let mut names = Names::new();
    for kind in KINDS {
        let query = format!("count by {kind}");
        let arguments = ["query", &query, "--json", "--read"];
        let read = output(env!("CARGO_BIN_EXE_onpath"), &arguments, file);
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        let report = json(&read.map_err(|text| {
            let code = json(&text)["diagnostics"][0]["code"].clone();
            code.as_str().expect("a code").to_owned()
        })?);
        for group in report["groups"].as_array().expect("groups") {
            let name = group["keys"][kind].as_str().expect("a name");
            let count = group["values"]["count"].as_u64().expect("a number");
            add(&mut names, left_out, kind, name, count);
        }
    }
    Ok(names)
}

/// Returns the names that tshark finds.
fn by_tshark(file: &Path, left_out: &mut LeftOut) -> Names {
    let mut arguments = vec![
        "-n",
        "-T",
        "fields",
        "-E",
        "separator=;",
        "-E",
        "aggregator=|",
    ];
    arguments.extend(FIELDS.iter().flat_map(|field| ["-e", field]));
    arguments.push("-r");
    // What it prints of a damaged capture before it fails counts.
    let text = output("tshark", &arguments, file).unwrap_or_else(|text| text);
    let mut names = Names::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.splitn(FIELDS.len(), ';').collect();
        let [tcp, udp, more, quic, server, host, question] = fields[..] else {
            panic!("{}: {line:?}", file.display());
        };
        if more.contains(['1', 'T']) {
            let all = [server, host, question].into_iter();
            left_out.fragments += all.filter(|names| !names.is_empty()).count() as u64;
            continue;
        }
        for name in server.split('|').filter(|name| !name.is_empty()) {
            match quic.is_empty() && !tcp.is_empty() {
                true => add(&mut names, left_out, KINDS[0], name, 1),
                false => left_out.quic += 1,
            }
        }
        for name in host
            .split('|')
            .filter(|name| !name.is_empty() && !tcp.is_empty())
        {
            add(&mut names, left_out, KINDS[1], name, 1);
        }
        // Of several questions Onpath reads the first.
        let first = question.split('|').next().filter(|name| !name.is_empty());
        if let Some(name) = first.filter(|_| udp.split(['|', ',']).any(|port| port == "53")) {
            add(&mut names, left_out, KINDS[2], name, 1);
        }
    }
    names
}

/// Returns the differences in a capture, one a line: the capture, the kind, the name, and how often tshark and Onpath find it.
fn differences(file: &Path, left_out: &mut LeftOut, compared: &mut u64) -> Vec<String> {
    let capture = file.file_name().expect("a name").to_string_lossy();
    let ours = match by_onpath(file, left_out) {
        Ok(ours) => ours,
        Err(code) => return vec![format!("{capture} {code}")],
    };
    let theirs = by_tshark(file, left_out);
    *compared += theirs.values().sum::<u64>();
    let mut all: Vec<&(&str, String)> = ours.keys().chain(theirs.keys()).collect();
    all.sort();
    all.dedup();
    let counts = all.into_iter().map(|key| {
        let count = |names: &Names| names.get(key).copied().unwrap_or(0);
        (key, count(&theirs), count(&ours))
    });
    counts
        .filter(|(_, theirs, ours)| theirs != ours)
        .map(|((kind, name), theirs, ours)| format!("{capture} {kind} {name} {theirs} {ours}"))
        .collect()
}

#[test]
#[ignore = "long: make test-captures"]
fn names_are_those_that_tshark_finds() {
    let (mut left_out, mut compared) = (LeftOut::default(), 0);
    let files = captures();
    let found: Vec<String> = files
        .iter()
        .flat_map(|file| differences(file, &mut left_out, &mut compared))
        .collect();
    println!(
        "{} captures, {compared} names compared, {left_out:?}",
        files.len()
    );
    let expected: Vec<&str> = include_str!("expected.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let new: Vec<&String> = found
        .iter()
        .filter(|line| !expected.contains(&line.as_str()))
        .collect();
    let gone: Vec<&&str> = expected
        .iter()
        .filter(|line| !found.iter().any(|found| found == *line))
        .collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new: {new:#?}\nno more: {gone:#?}"
    );
    assert!(
        compared > 3_000 && left_out.quic > 100,
        "{compared} names, {left_out:?}"
    );
}

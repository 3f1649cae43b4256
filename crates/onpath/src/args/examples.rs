//! Examples of commands, for the man pages.

/// Commands with their examples: the purpose of each, and the command line.
pub(crate) const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "check",
        &[
            ("Report what is wrong with a program", "onpath check fw.p4"),
            (
                "Check whether it can run at XDP, for an editor",
                "onpath check fw.p4 --target xdp --json",
            ),
        ],
    ),
    (
        "build",
        &[
            (
                "Compile a program to an object that runs without clang",
                "onpath build fw.p4 -o fw.o",
            ),
            (
                "See what the verifier and the tables take",
                "onpath build fw.p4 --report",
            ),
        ],
    ),
    (
        "test",
        &[
            (
                "Run a program's tests on the interpreter",
                "onpath test fw.p4 drops.stf",
            ),
            (
                "Run all tests of a folder in the kernel",
                "onpath test tests --target xdp",
            ),
        ],
    ),
    (
        "run",
        &[
            (
                "Run a program until it is interrupted",
                "onpath run fw.p4 --dev eth0",
            ),
            (
                "Leave it running, with entries in its tables",
                "onpath run fw.p4 --dev eth0 --entries fw.entries --detach",
            ),
            (
                "Run a bundle of programs as one",
                "onpath run guard.toml --detach",
            ),
        ],
    ),
    (
        "ls",
        &[
            ("List what runs, and at which interfaces", "onpath ls"),
            ("The same for programs", "onpath ls --json"),
        ],
    ),
    (
        "unload",
        &[
            ("End one program", "onpath unload fw"),
            ("End all of them", "onpath unload --all"),
        ],
    ),
    (
        "pdm",
        &[(
            "Measure the delay of flows at an interface",
            "onpath pdm --dev eth0",
        )],
    ),
    (
        "firewall",
        &[
            (
                "Block the sites of a list, for requests that come in at an interface",
                "onpath firewall --dev eth0 --block ads.txt",
            ),
            (
                "Print the list and line that decides for a site",
                "onpath firewall explain www.ads.example",
            ),
            (
                "Write the published program for a list of names",
                "onpath firewall --emit v1model names.txt -o out",
            ),
        ],
    ),
    (
        "query",
        &[(
            "Count packets by protocol in a capture",
            "onpath query \"count by ip.protocol\" --read trace.pcap",
        )],
    ),
    (
        "table",
        &[("Show what is in a table", "onpath table dump routes")],
    ),
    (
        "table add",
        &[(
            "Add an entry",
            "onpath table add routes 10.0.0.0/8 to_port(1)",
        )],
    ),
    (
        "table load",
        &[(
            "Make all changes of a file, or none",
            "onpath table load fw.entries",
        )],
    ),
    (
        "counter",
        &[("Show rates, every second", "onpath counter read --every 1s")],
    ),
    (
        "group",
        &[("Send copies to ports 1 and 2", "onpath group set 1 1,2")],
    ),
    (
        "mirror",
        &[(
            "Have the clones of session 5 go to port 3",
            "onpath mirror set 5 3",
        )],
    ),
    (
        "names",
        &[(
            "Show which rule decides for a name",
            "onpath names lookup blocked www.example.com",
        )],
    ),
    (
        "profile",
        &[("Show the members and groups", "onpath profile list")],
    ),
    ("meter", &[("Show the rates", "onpath meter list")]),
    (
        "register",
        &[("Show the registers", "onpath register read")],
    ),
    (
        "digests",
        &[("Print ten digests, then end", "onpath digests --count 10")],
    ),
    (
        "log",
        &[("Print what a program logs as it comes", "onpath log fw")],
    ),
    (
        "drops",
        &[("Show what was dropped, and why", "onpath drops fw")],
    ),
    (
        "port",
        &[
            ("Show the ports of what runs", "onpath port list"),
            (
                "Have it run at another interface, too",
                "onpath port add 2 eth2",
            ),
        ],
    ),
    (
        "metrics",
        &[("Show the metrics of what runs", "onpath metrics")],
    ),
    (
        "flows",
        &[(
            "Show the flows from one network",
            "onpath flows list src:10.0.0.0/8",
        )],
    ),
    (
        "graph",
        &[(
            "Draw a program for a browser",
            "onpath graph fw.p4 -o fw.svg",
        )],
    ),
    (
        "plan",
        &[(
            "See whether a switch finds a header of HTTP",
            "onpath plan http --attribute host --target tofino",
        )],
    ),
    (
        "explain",
        &[
            ("Explain an error", "onpath explain E0207"),
            ("Show what a header file declares", "onpath explain v1model"),
        ],
    ),
    (
        "doctor",
        &[("Report what this machine supports", "onpath doctor")],
    ),
    (
        "completions",
        &[(
            "Complete commands in this shell",
            "source <(onpath completions bash)",
        )],
    ),
    (
        "man",
        &[("Write all man pages to a folder", "onpath man man1")],
    ),
];

/// Returns the examples of a command.
pub(crate) fn examples(words: &str) -> &'static [(&'static str, &'static str)] {
    let found = EXAMPLES.iter().find(|(of, _)| *of == words);
    found.map_or(&[], |(_, examples)| examples)
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::{CommandFactory, Parser};

    /// Splits a line of a shell into words.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (number, piece) in line.split('"').enumerate() {
            match number % 2 {
                0 => words.extend(piece.split_whitespace().map(String::from)),
                _ => words.push(piece.to_owned()),
            }
        }
        words
    }

    #[test]
    fn each_command_has_examples_that_it_takes() {
        let command = Cli::command();
        for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            assert!(
                !examples(below.get_name()).is_empty(),
                "{}",
                below.get_name()
            );
        }
        for (of, examples) in EXAMPLES {
            for (_, line) in *examples {
                let line = line
                    .strip_prefix("source <(")
                    .map_or(*line, |l| l.trim_end_matches(')'));
                assert!(line.starts_with(&format!("onpath {of}")), "{line}");
                if let Err(error) = Cli::try_parse_from(words(line)) {
                    panic!("{line}: {error}");
                }
            }
        }
    }
}

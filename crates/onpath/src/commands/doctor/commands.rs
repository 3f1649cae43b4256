//! Commands that this machine can run, judged by the findings about it.

use kernel::probe::{Finding, ProbeOutcome};
use serde_json::{Value, json};

/// Requirements of a command: at least one finding of each group.
struct Needs {
    /// The commands, as users write them.
    name: &'static str,
    /// Names of findings.
    groups: &'static [&'static [&'static str]],
}

const KERNEL: &[&str] = &["kernel"];
const RIGHTS: &[&str] = &["capabilities"];
const CLANG: &[&str] = &["clang"];
const XDP: &[&str] = &["XDP programs"];
const AT_XDP: &[&str] = &["native XDP on veth", "generic XDP"];
const AT_TC: &[&str] = &["tcx", "tc filters"];
const SEVERAL: &[&str] = &["detached mounts"];

/// Every command with its requirements. Objects that were built earlier run without clang.
const COMMANDS: [Needs; 19] = [
    Needs {
        name: "check, explain, graph, plan, firewall --emit, firewall check, doctor, man, completions, query --read FILE",
        groups: &[],
    },
    Needs {
        name: "test --target interp, test --read FILE",
        groups: &[],
    },
    Needs {
        name: "build",
        groups: &[CLANG],
    },
    Needs {
        name: "build --report with the verifier's result",
        groups: &[KERNEL, RIGHTS, CLANG, XDP],
    },
    Needs {
        name: "test --target xdp",
        groups: &[KERNEL, RIGHTS, CLANG, &["native XDP on veth"]],
    },
    Needs {
        name: "test --target tc-ingress, tc-egress",
        groups: &[KERNEL, RIGHTS, CLANG, AT_TC],
    },
    Needs {
        name: "test --target xdp --fast",
        groups: &[KERNEL, RIGHTS, CLANG, &["test runs"]],
    },
    Needs {
        name: "test --target tc-ingress, tc-egress --fast",
        groups: &[KERNEL, RIGHTS, CLANG, &["test runs at tc"]],
    },
    Needs {
        name: "run PROG.p4 at XDP",
        groups: &[KERNEL, RIGHTS, CLANG, AT_XDP],
    },
    Needs {
        name: "run PROG.p4 at tc",
        groups: &[KERNEL, RIGHTS, CLANG, AT_TC],
    },
    Needs {
        name: "run BUNDLE.toml, run PROG.p4 at several interfaces",
        groups: &[KERNEL, RIGHTS, CLANG, SEVERAL],
    },
    Needs {
        name: "run OBJECT.o at XDP",
        groups: &[KERNEL, RIGHTS, AT_XDP],
    },
    Needs {
        name: "run OBJECT.o at tc",
        groups: &[KERNEL, RIGHTS, AT_TC],
    },
    Needs {
        name: "run DIR of a bundle, run OBJECT.o at several interfaces",
        groups: &[KERNEL, RIGHTS, SEVERAL],
    },
    Needs {
        name: "ls, unload, port, table, counter, register, flows, metrics, group, mirror, names, profile, meter, digests, log, drops, firewall reload, firewall stats",
        groups: &[KERNEL, RIGHTS],
    },
    Needs {
        name: "firewall --dev IF at XDP",
        groups: &[KERNEL, RIGHTS, CLANG, AT_XDP],
    },
    Needs {
        name: "firewall --dev IF at tc",
        groups: &[KERNEL, RIGHTS, CLANG, AT_TC],
    },
    Needs {
        name: "query --dev IF",
        groups: &[KERNEL, RIGHTS, CLANG, AT_TC],
    },
    Needs {
        name: "query --dev IF --off-path",
        groups: &[RIGHTS],
    },
];

/// Name of the measurement's command, and of the example with the programs that it runs.
pub(super) const PDM: &str = "pdm";

/// Commands that start the measurement.
const MEASURING: [Needs; 2] = [
    Needs {
        name: PDM,
        groups: &[KERNEL, RIGHTS, CLANG, AT_TC, SEVERAL],
    },
    Needs {
        name: "pdm --built DIR",
        groups: &[KERNEL, RIGHTS, AT_TC, SEVERAL],
    },
];

/// A command, with its state on this machine.
pub(super) struct Command {
    /// As users write it.
    pub name: &'static str,
    /// Present if the command runs. Unknown if this process lacks the capabilities to find out.
    pub state: ProbeOutcome,
    /// Requirements that are missing or unknown.
    pub lacks: Vec<String>,
}

impl Command {
    pub(super) fn as_json(&self) -> Value {
        json!({ "name": self.name, "state": self.state, "lacks": self.lacks })
    }
}

/// Examines all commands but those that measure.
pub(super) fn examine(findings: &[Finding]) -> Vec<Command> {
    commands(&COMMANDS, findings)
}

/// Examines the commands that measure, without the needs of their programs.
pub(super) fn measuring(findings: &[Finding]) -> Vec<Command> {
    commands(&MEASURING, findings)
}

fn commands(all: &[Needs], findings: &[Finding]) -> Vec<Command> {
    all.iter().map(|needs| command(needs, findings)).collect()
}

/// Examines one command.
fn command(needs: &Needs, findings: &[Finding]) -> Command {
    let state_of = |name: &&str| {
        let found = findings.iter().find(|finding| finding.name == *name);
        found.map_or(ProbeOutcome::Unknown, |finding| finding.state)
    };
    let mut state = ProbeOutcome::Present;
    let mut lacks = Vec::new();
    for group in needs.groups {
        let states: Vec<ProbeOutcome> = group.iter().map(state_of).collect();
        if states.contains(&ProbeOutcome::Present) {
            continue;
        }
        let unknown = states.contains(&ProbeOutcome::Unknown);
        if !(unknown && state == ProbeOutcome::Missing) {
            state = if unknown {
                ProbeOutcome::Unknown
            } else {
                ProbeOutcome::Missing
            };
        }
        lacks.push(group.join(" or "));
    }
    Command {
        name: needs.name,
        state,
        lacks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;
    use kernel::probe::Need;

    fn finding(name: &'static str, state: ProbeOutcome) -> Finding {
        Finding {
            name,
            state,
            detail: String::new(),
            need: Need::Useful,
            remedy: "",
        }
    }

    #[test]
    fn what_commands_need_is_looked_for() {
        let all = kernel::probe::examine();
        for needs in COMMANDS.iter().chain(&MEASURING) {
            for name in needs.groups.concat() {
                assert!(all.iter().any(|f| f.name == name), "{}: {name}", needs.name);
            }
        }
    }

    #[test]
    fn every_command_is_listed() {
        let listed = COMMANDS.iter().chain(&MEASURING);
        let listed: Vec<&str> = listed.flat_map(|needs| needs.name.split(", ")).collect();
        let cli = Cli::command();
        for command in cli.get_subcommands().filter(|c| !c.is_hide_set()) {
            let name = command.get_name();
            let is_it = |listed: &&str| listed.split(' ').next() == Some(name);
            assert!(listed.iter().any(is_it), "{name}");
        }
    }

    #[test]
    fn one_of_a_group_is_enough_and_a_missing_one_outweighs_an_unknown_one() {
        let needs = Needs {
            name: "c",
            groups: &[&["a", "b"], &["d"]],
        };
        let of = |states: [ProbeOutcome; 3]| {
            let [a, b, d] = states;
            let found = [finding("a", a), finding("b", b), finding("d", d)];
            let command = command(&needs, &found);
            (command.state, command.lacks.join("; "))
        };
        use ProbeOutcome::{Missing, Present, Unknown};
        assert_eq!(of([Missing, Present, Present]), (Present, String::new()));
        assert_eq!(of([Missing, Unknown, Present]), (Unknown, "a or b".into()));
        assert_eq!(
            of([Missing, Missing, Unknown]),
            (Missing, "a or b; d".into())
        );
        assert_eq!(
            of([Unknown, Missing, Missing]),
            (Missing, "a or b; d".into())
        );
    }
}

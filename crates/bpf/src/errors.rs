//! Diagnostics of programs that cannot become BPF programs. Codes E0719 to E0749.

use crate::abi::Hook;
use crate::costs::forecast::{Construct, Limit, Share, Stack};
use arch::Model;
use diag::{Diagnostic, Span};

/// The program is written for an architecture whose meaning the hook does not have.
pub fn wrong_architecture(hook: Hook, package: &str) -> Diagnostic {
    let target = hook.target();
    let written = arch::by_package(package);
    let is_of = |model| written.is_some_and(|arch| arch.model == model);
    let runs = match hook {
        Hook::Xdp | Hook::TcIngress => format!("the {target} target"),
        Hook::TcEgress => format!("the hook {}", hook.name()),
    };
    let known = arch::OWN
        .into_iter()
        .filter(|arch| arch.places.contains(&hook.place()));
    let known: Vec<&str> = known.map(|arch| arch.name).collect();
    let known = known.join(", ");
    let known = match known.rsplit_once(", ") {
        Some((others, last)) => format!("{others} and {last}"),
        None => known,
    };
    let help = match hook {
        Hook::Xdp if is_of(Model::Tc) => {
            "run it at tc-ingress or tc-egress (`--target`), or port it to `xdp(...) main` of xdp_model.p4"
                .to_owned()
        }
        Hook::TcEgress if is_of(Model::Pipeline) => {
            "the ports of a switch are where packets come in: run it at the hook xdp or tc-ingress".to_owned()
        }
        Hook::Xdp | Hook::TcIngress | Hook::TcEgress => format!(
            "test it with `onpath test --target interp`, or port it: a parser, one control and a deparser for \
             `{target}(...) main` of {target}_model.p4"
        ),
    };
    let written_for = written.map_or(package, |arch| arch.name);
    Diagnostic::error(
        "E0720",
        Span::NONE,
        format!("this program is written for {written_for}; {runs} runs {known}"),
    )
    .help(help)
}

/// An extern of `v1model` that the hook does not have.
pub fn v1model_extern(hook: Hook, name: &str, at: Span) -> Diagnostic {
    let target = hook.target();
    Diagnostic::error("E0721",
        at,
        format!("the {target} target has no extern `{name}`"),
    )
    .label("v1model has it, and no hook of the kernel does this")
    .help("test the program with `onpath test --target interp`; docs/v1model.md lists what runs in the kernel")
}

/// An extern without a meaning in the kernel.
pub fn unknown_extern(hook: Hook, name: &str, at: Span) -> Diagnostic {
    let target = hook.target();
    Diagnostic::error(
        "E0721",
        at,
        format!("the {target} target has no extern `{name}`"),
    )
    .label("nothing in the kernel does this")
    .help("supply it in C with `--extern FILE.c`, or write it as a P4 function")
}

/// A user's extern function has the name of something in every program's C.
pub fn reserved_extern(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0735",
        at,
        format!("`{name}` is a name of Onpath's own C, which no C file can define again"),
    )
    .label("a name that is taken")
    .help("give the extern another name, here and in the C file")
}

/// Variables that exceed what a per-CPU map's value holds.
pub fn too_much_state(bytes: u32, limit: u32) -> Diagnostic {
    Diagnostic::error(
        "E0727",
        Span::NONE,
        format!("the program needs {bytes} bytes of variables; the kernel gives {limit}"),
    )
    .help("use narrower types or fewer elements in header stacks")
}

/// A `v1model` program copies, resubmits or recirculates packets, at a hook that cannot.
pub fn no_copies(hook: Hook, what: &str, at: Span) -> Diagnostic {
    let target = hook.target();
    let (cannot, label) = match what {
        "multicast groups" => (
            "copy a packet, so that it has no multicast groups",
            "this chooses a group",
        ),
        "resubmit_preserving_field_list" => ("resubmit a packet", "this asks for it"),
        "recirculate_preserving_field_list" => ("recirculate a packet", "this asks for it"),
        "truncate" => ("cut a packet", "this asks for it"),
        _ => ("clone a packet", "this asks for it"),
    };
    Diagnostic::error("E0748", at, format!("the {target} target cannot {cannot}"))
        .label(label)
        .help("tc-ingress can: add `--target tc-ingress`")
}

/// A `v1model` program whose copies differ, or whose packets are resubmitted or recirculated, for a kernel that cannot
/// verify the loop over them.
pub fn copies_need_newer(at: Span) -> Diagnostic {
    Diagnostic::error("E0748",
        at,
        "a program that copies packets, or sends them round, needs Linux 6.9 (may_goto)",
    )
    .label("this asks for it")
    .help("run it on a newer kernel, or build it for one (`--kernel 6.9`); programs whose egress only drops copies of a multicast group run on older ones")
}

/// A verdict that sends the packet back, at a hook that cannot.
pub fn no_send_back(at: Span) -> Diagnostic {
    Diagnostic::error("E0732",
        at,
        "the tc-egress hook cannot send a packet back where it came from, which this program may do (XDP_TX)",
    )
    .label("this may give the verdict")
    .help("run the program at tc-ingress or xdp, or redirect to a port with XDP_REDIRECT")
}

/// A change of the payload at traffic control.
pub fn payload_unchanged(hook: Hook, at: Span) -> Diagnostic {
    let target = hook.target();
    let refused = format!("the {target} target cannot change the payload");
    Diagnostic::error("E0613", at, refused)
        .label("this changes it")
        .help("run the program at XDP: `--target xdp`, `--hook xdp`")
}

/// A program that no optimisation makes short enough. `at` is the longest part of it.
pub fn too_long(
    hook: Hook,
    estimate: u32,
    most: u32,
    has_long_jumps: bool,
    at: Span,
) -> Diagnostic {
    let limit = match has_long_jumps {
        true => format!("the kernel lets it have {most}"),
        false => format!("a jump passes over {most} at most"),
    };
    let target = hook.target();
    let refused = Diagnostic::error(
        "E0745",
        at,
        format!(
            "the {target} target would need about {estimate} instructions for this program, and {limit}"
        ),
    );
    refused.label("this is the longest part").help(
        "let the parser have fewer states and headers, let actions share what they do, or split the program and run its parts as a \
         bundle",
    )
}

/// A program with more instructions than the verifier or clang can process: at least `least`, most of which `share`
/// takes.
pub fn too_much(hook: Hook, least: u64, limit: Limit, share: &Share) -> Diagnostic {
    let target = hook.target();
    let most = limit.instructions();
    let limit = match limit {
        Limit::Compiler => format!("Onpath compiles programs of up to {most}"),
        Limit::Verifier => format!(
            "what makes copies that differ, or sends packets round, has to be one program: Onpath compiles it as one of up to {most}"
        ),
    };
    let (takes, help) = match share.construct {
        Construct::Parser { states, cases } => (
            format!("the {states} states of this parser, with {cases} cases, take"),
            "let the parser have fewer states, or loop in one state over headers that are alike; let a table decide what many cases do",
        ),
        Construct::Tables {
            tables: 1, actions, ..
        } => (
            format!("this table with its {actions} actions takes"),
            "let the table have fewer actions, and tell what they do apart by their parameters",
        ),
        Construct::Tables {
            tables,
            applied,
            actions,
        } => (
            format!(
                "{tables} tables like this one, applied at {applied} places, with {actions} actions take"
            ),
            "merge tables, or let them share actions",
        ),
        Construct::Control { conditions, calls } => (
            format!(
                "the {conditions} conditions here, with {calls} calls of counters, meters and registers, take"
            ),
            "let a table decide what many conditions do, and count by an index instead of by conditions",
        ),
    };
    let refused = Diagnostic::error(
        "E0745",
        share.span,
        format!(
            "the {target} target would need at least {least} instructions for this program, and {limit}"
        ),
    );
    let label = format!("{takes} at least {} of them", share.least);
    refused.label(label).help(format!(
        "{help}, or split the program and run its parts as a bundle"
    ))
}

/// A header stack that is too large: each element is a case of its own wherever the index is known only when a packet
/// passes.
pub fn stack_of_cases(hook: Hook, stack: &Stack) -> Diagnostic {
    let target = hook.target();
    let refused = Diagnostic::error(
        "E0719",
        stack.span,
        format!(
            "the {target} target takes header stacks of up to {} elements here, and `{}` has {}",
            stack.most, stack.name, stack.elements
        ),
    );
    refused.help("give the stack no more elements than packets have such headers")
}

/// More functions than a program may have.
pub fn too_many_functions(hook: Hook, functions: usize, limit: usize, at: Span) -> Diagnostic {
    let target = hook.target();
    let refused = Diagnostic::error(
        "E0744",
        at,
        format!(
            "the {target} target needs {functions} functions for this program, and the kernel lets it have {limit}"
        ),
    );
    refused.label("the last table").help(
        "each table with ternary, range or optional keys has one, as many tables with prefixes and long P4 functions have: make the \
         entries of small tables `const`, merge tables, or split the program and run its parts as a bundle",
    )
}

/// More maps than a program may use, even with as many as possible in outer maps. `count` and `what` name the objects
/// that most of them are for.
pub fn too_many_maps(
    hook: Hook,
    maps: usize,
    (count, what): (usize, &str),
    limit: usize,
    at: Span,
) -> Diagnostic {
    let target = hook.target();
    let refused = Diagnostic::error(
        "E0734",
        at,
        format!(
            "the {target} target needs {maps} maps for this program, and the kernel lets it use {limit}"
        ),
    );
    let refused = match count {
        0 => refused,
        _ => refused.label(format!("the last of {count} {what}")),
    };
    refused.help(
        "tables with like keys and arguments already share one, sparse counters and flow states never do: count in fewer of \
         them, give tables the same keys, make the entries of small ones `const`, or split the program and run its parts as a bundle",
    )
}

/// A payload that is read in a loop, for a kernel that cannot verify it.
pub fn needs_newer(at: Span) -> Diagnostic {
    Diagnostic::error("E0748",
        at,
        "a program that reads messages, or looks for bytes in the payload, needs Linux 6.9 (may_goto)",
    )
    .label("this asks for it")
    .help("run it on a newer kernel; `payload_read` and `payload_matches_ignore_case` run on older ones")
}

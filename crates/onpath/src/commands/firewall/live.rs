//! `onpath firewall --dev`: a firewall at interfaces.

use super::groups::{self, Clock};
use super::lists::{self, Files, size};
use super::reload;
use super::watched::Watched;
use crate::args::{EchArg, Firewall, HookArg, ModeArg, QuicArg, UnknownArg};
use crate::commands::start::{self, Settings};
use crate::output::{Done, Stop, err_line, out_line, refused, report_now};
use bpf::abi::Hook;
use clap::ValueEnum;
use driver::bundle::{Entries, MadeEntries, Ports};
use driver::run::{Alone, Options, Unit};
use firewall::config::Flags;
use firewall::errors;
use firewall::page::Page;
use host::interrupt::Signal;
use serde_json::json;
use std::sync::Arc;

/// Text of the program.
pub(super) const PROGRAM: &str =
    include_str!("../../../../../programs/url_firewall/url_firewall.p4");

/// Settings of a firewall: a flag of the command, or else of the file.
struct How {
    dev: Vec<String>,
    mode: ModeArg,
    unknown: UnknownArg,
    quic: QuicArg,
    aliases: bool,
    ech: EchArg,
    page: Option<Page>,
    hook: Hook,
}

impl How {
    fn of(args: &Firewall, files: &Files) -> Result<How, Stop> {
        let none = Flags::default();
        let config = files.config.as_ref();
        let set = config.map_or(&none, |config| &config.flags);
        let how = How {
            dev: if args.dev.is_empty() {
                set.dev.clone()
            } else {
                args.dev.clone()
            },
            mode: word(args.mode, set.mode.as_deref(), ModeArg::Drop),
            unknown: word(args.unknown, set.unknown.as_deref(), UnknownArg::Pass),
            quic: word(args.quic, set.quic.as_deref(), QuicArg::Count),
            aliases: args.aliases || set.aliases,
            ech: word(args.ech, set.ech.as_deref(), EchArg::Pass),
            page: args.page.clone().or_else(|| set.page.clone()),
            hook: word(args.hook, set.hook.as_deref(), HookArg::Xdp).hook(),
        };
        match how.dev.is_empty() {
            true => Err(Stop::Usage(
                "name interfaces: `--dev IF`, or `dev` in the file of settings".into(),
            )),
            false => Ok(how),
        }
    }
}

/// Returns a flag's value: the command's, or else that of the file, or else the default.
fn word<T: ValueEnum>(flag: Option<T>, set: Option<&str>, default: T) -> T {
    let set = || T::from_str(set?, false).ok();
    flag.or_else(set).unwrap_or(default)
}

/// Runs a firewall. Then waits for an interrupt, or leaves it running.
pub(super) fn run(args: &Firewall, files: &Files) -> Done {
    let interrupts = start::hold()?;
    // What changes from here on is read again.
    let mut watched = args.watch.then(|| Watched::new(files));
    if args.watch && files.are_read_once() {
        return Err(refused(errors::read_once(&args.name)));
    }
    let how = How::of(args, files)?;
    let sees_both = how.dev.len() > 1;
    if how.unknown == UnknownArg::Drop && !sees_both {
        return Err(refused(errors::one_direction("--unknown drop")));
    }
    if how.aliases && !sees_both {
        return Err(refused(errors::one_direction("--aliases")));
    }
    if how.mode == ModeArg::Reset && how.hook != Hook::Xdp {
        return Err(refused(errors::reset_at_tc()));
    }
    let asks_for_answers = [
        ("--ech strip", how.ech == EchArg::Strip),
        ("--page", how.page.is_some()),
    ];
    let asked = asks_for_answers.iter().find(|(_, asks)| *asks);
    if let Some((flag, _)) = asked.filter(|_| how.mode != ModeArg::Reset) {
        return Err(refused(errors::no_answers(flag)));
    }
    let made = lists::read(files, args.named.strict)?;
    let size = size(&made.rules.rules)?;
    if !args.json {
        out_line!("{}: {}", args.name, made.counts().text());
        if !sees_both {
            err_line!(
                "{}: it sees requests alone, so a client can hide a name; name the interface to the servers too: --dev IF,IF",
                args.name
            );
        }
    }
    let automata = made.urls.automata()?;
    let mut text = groups::entries(files.groups(), &Clock::of_machine());
    text += &groups::beginning(files.groups());
    let entries = Arc::new(MadeEntries {
        name: "the lists".to_owned(),
        rules: made.sets(),
        text: text.into(),
    });
    let mut define = vec![("MOST_RULES".to_owned(), Some(size.to_string()))];
    if !files.groups().is_empty() {
        define.push(("GROUPS".to_owned(), None));
    }
    if let Some(automata) = automata {
        define.push(("PATTERNS".to_owned(), None));
        define.push(("MOST_STATES".to_owned(), Some(automata.size.to_string())));
    }
    match how.mode {
        ModeArg::Drop => {}
        ModeArg::Count => define.push(("COUNT_ONLY".to_owned(), None)),
        ModeArg::Reset => define.push(("ANSWERS".to_owned(), None)),
    }
    if how.unknown == UnknownArg::Drop {
        define.push(("DROP_UNKNOWN".to_owned(), None));
    }
    if how.aliases {
        define.push(("READ_ALIASES".to_owned(), None));
    }
    define.extend(how.page.iter().flat_map(Page::macros));
    if how.ech == EchArg::Strip {
        define.push(("STRIP_ECH".to_owned(), None));
    }
    match how.quic {
        QuicArg::Count => {}
        QuicArg::Read => define.push(("READ_QUIC".to_owned(), None)),
        QuicArg::Refuse => define.push(("REFUSE_QUIC".to_owned(), None)),
    }
    let mut unit = Unit::alone(Alone {
        name: Some(args.name.clone()),
        file: "url_firewall.p4".into(),
        define,
        hook: Some(how.hook),
        ports: Ports {
            dev: how.dev,
            ..Ports::default()
        },
        ..Alone::default()
    });
    for member in &mut unit.bundle.programs {
        member.text = Some(PROGRAM.into());
        member.entries = Some(Entries::Made(Arc::clone(&entries)));
    }
    drop(entries);
    unit.notes = files.notes();
    let options = Options {
        memory: args.allow_memory,
        adjust: args.adjust,
        ..Options::default()
    };
    let settings = Settings {
        detach: args.detach,
        verbose: false,
        json: args.json,
        or_else: |name| format!(", and `onpath firewall reload {name}` reads its lists again"),
    };
    let mut meanwhile = |name: &str, signal: Option<Signal>| {
        let hangs_up = signal == Some(Signal::SIGHUP);
        if hangs_up || watched.as_mut().is_some_and(Watched::have_changed) {
            read_again(name, args);
        }
        hangs_up
    };
    start::start(unit, &interrupts, options, settings, &mut meanwhile)
}

/// Reads the lists again. If that fails, it says so, and the rules stay as they are.
fn read_again(name: &str, args: &Firewall) {
    match reload::read_again(Some(name), args.named.strict, args.json) {
        Ok(made) if args.json => return out_line!("{}", made.as_json()),
        Ok(made) => return made.print(),
        Err(Stop::Failed(text) | Stop::Usage(text)) => err_line!("{text}"),
        Err(Stop::AlreadyReported(_)) => report_now(),
    }
    if args.json {
        out_line!("{}", json!({ "name": name, "state": "not reloaded" }));
    } else {
        err_line!("{name}: its rules stay as they are");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_before_the_file_and_it_before_the_default() {
        let mode = |flag, set| word(flag, set, ModeArg::Drop);
        assert_eq!(mode(Some(ModeArg::Count), Some("reset")), ModeArg::Count);
        let words = [
            ("drop", ModeArg::Drop),
            ("reset", ModeArg::Reset),
            ("count", ModeArg::Count),
        ];
        for (text, value) in words {
            assert_eq!(mode(None, Some(text)), value);
        }
        assert_eq!(mode(None, None), ModeArg::Drop);
        let unknown = word(None, Some("drop"), UnknownArg::Pass);
        assert_eq!(unknown, UnknownArg::Drop);
        for (text, value) in [("read", QuicArg::Read), ("refuse", QuicArg::Refuse)] {
            assert_eq!(word(None, Some(text), QuicArg::Count), value);
        }
        let hook = |set| word(None, Some(set), HookArg::Xdp).hook();
        assert_eq!(hook("xdp"), Hook::Xdp);
        assert_eq!(hook("tc-ingress"), Hook::TcIngress);
        assert_eq!(hook("tc-egress"), Hook::TcEgress);
    }
}

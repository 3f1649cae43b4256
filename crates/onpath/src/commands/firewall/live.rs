//! `onpath firewall --dev`: a firewall at interfaces.

use super::groups::{self, Clock};
use super::lists::{self, Files, entries, size};
use super::reload;
use super::urls;
use super::watched::Watched;
use crate::args::{Firewall, ModeArg, QuicArg, UnknownArg};
use crate::commands::start::{self, Settings};
use crate::output::{Done, Stop, err_line, out_line, refused, report_now};
use driver::bundle::{Entries, Ports};
use driver::run::{Alone, Options, Unit};
use firewall::errors;
use host::interrupt::Signal;
use serde_json::json;
use std::sync::Arc;

/// Text of the program.
pub(super) const PROGRAM: &str =
    include_str!("../../../../../programs/url_firewall/url_firewall.p4");

/// Runs a firewall. Then waits for an interrupt, or leaves it running.
pub(super) fn run(args: &Firewall, files: &Files) -> Done {
    let interrupts = start::hold()?;
    // What changes from here on is read again.
    let mut watched = args.watch.then(|| Watched::new(files));
    if args.watch && files.are_read_once() {
        return Err(refused(errors::read_once(&args.name)));
    }
    let sees_both = args.dev.len() > 1;
    if args.unknown == UnknownArg::Drop && !sees_both {
        return Err(refused(errors::one_direction()));
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
    let mut text = entries(lists::SET, &made.rules.rules, None);
    text += &entries(urls::SET, &made.urls.rules, None);
    text += &groups::entries(files.groups(), &Clock::of_machine());
    text += &groups::pauses(files.groups());
    let text: Arc<str> = text.into();
    drop(made);
    let mut define = vec![("MOST_RULES".to_owned(), Some(size.to_string()))];
    if !files.groups().is_empty() {
        define.push(("GROUPS".to_owned(), None));
    }
    if let Some(automata) = automata {
        define.push(("PATTERNS".to_owned(), None));
        define.push(("MOST_STATES".to_owned(), Some(automata.size.to_string())));
    }
    if args.mode == ModeArg::Count {
        define.push(("COUNT_ONLY".to_owned(), None));
    }
    if args.unknown == UnknownArg::Drop {
        define.push(("DROP_UNKNOWN".to_owned(), None));
    }
    match args.quic {
        QuicArg::Count => {}
        QuicArg::Read => define.push(("READ_QUIC".to_owned(), None)),
        QuicArg::Refuse => define.push(("REFUSE_QUIC".to_owned(), None)),
    }
    let mut unit = Unit::alone(Alone {
        name: Some(args.name.clone()),
        file: "url_firewall.p4".into(),
        define,
        hook: Some(args.hook.hook()),
        ports: Ports {
            dev: args.dev.clone(),
            ..Ports::default()
        },
        ..Alone::default()
    });
    for member in &mut unit.bundle.programs {
        member.text = Some(PROGRAM.into());
        member.entries = Some(Entries::Text("the lists".to_owned(), Arc::clone(&text)));
    }
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

//! The traffic manager of `v1model` at traffic control, for packets that are resubmitted, recirculated, or copied such
//! that the copies may differ.
//!
//! The steps of [`arch::v1model::traffic`] decide the fate of a packet at the end of ingress and of egress. Egress and
//! everything after it are a loop, whose iterations are the packet and its copies. `onpath/traffic.h` has the queue of
//! waiting copies with their states. This module has the parts that depend on the program: its metadata, the fields
//! that a copy preserves ([`kept`]), and the packets that re-enter the program ([`rounds`]).

mod kept;
mod memory;
mod rounds;

pub(crate) use memory::declare_states;

use super::ETHERNET;
use super::resized::{deparse, ending};
use crate::copies::{ALL, BEGINS, LOST, NEXT, STATE, STATES, THIS, differ, fetch};
use crate::emitter::{Gen, barrier, needs};
use crate::errors;
use crate::features::Feature;
use crate::hook::ports::egress_ports;
use crate::hook::traffic::{count_drop, drops, groups, sessions};
use crate::hook::v1model::{self, masked};
use crate::hook::verdict::{self, is_read};
use crate::placed::Placed;
use crate::uses::Construct;
use arch::v1model::copying::{CLONE_SESSION, REQUESTS, TRUNCATE, TRUNCATE_TO};
use arch::v1model::traffic::{
    AT_EGRESS, AT_ONCE, AT_PARSER, DEPARSED, EGRESS_ENDS, FateRule, Given, INGRESS_ENDS, Instance,
    Made, Point, Then, When,
};
use arch::v1model::{EGRESS, STANDARD_METADATA};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type};
use diag::Span;
use emit::locals::LocalKind;
use ir::analysis::mentions::{Mentions, Storage};
use ir::{Program, Var};
use kept::{assign_var, made};
use memory::{ROUND, ROUNDS, declare};
use rounds::{come_in_again, comes_in_again, cut_and_send, kept_vars, may_be_cut};
use smol_str::SmolStr;

fn id(name: &str) -> C {
    C::id(name)
}

fn arrow(of: &str, member: &str) -> C {
    id(of).arrow(member)
}

fn call(name: &str, args: Vec<C>) -> C {
    C::call(name, args)
}

fn look_up(map: &str, key: C) -> C {
    call("bpf_map_lookup_elem", vec![id(map).addr(), key.addr()])
}

/// Copies the state at an address to an element of the map of states.
fn take_down(key: C, from: C) -> Stmt {
    let args = vec![id(STATES).addr(), key.addr(), from, id("BPF_ANY")];
    Stmt::Expr(call("bpf_map_update_elem", args))
}

/// Returns the address of the packet's present state.
fn this(g: &Gen<'_>) -> C {
    let options = &g.target.options;
    match options.spill_everything || options.outline.is_some() {
        // Accesses by its members are volatile; the kernel's functions do not take such a pointer.
        true => id(THIS).cast(Type::Void.ptr()),
        false => id(THIS),
    }
}

/// Returns the code that runs once before a packet's parser. It looks up the memory, and the preserved fields of a
/// packet that re-enters the program.
pub(super) fn start(g: &mut Gen<'_>) -> Block {
    declare(g);
    let stop = || vec![Stmt::Return(Some(id("TC_STOP")))];
    let mut out = vec![Stmt::decl(Type::U32, "this_state", C::int(0))];
    let kept = g.target.options.spill_everything;
    out.extend(fetch(&id("this_state"), &id("TC_STOP"), kept, |_| true));
    if !comes_in_again(g.p) {
        return out;
    }
    out.push(Stmt::decl(Type::U64, "this_number", C::int(0)));
    let round = Type::Struct(ROUND.into()).ptr();
    let args = vec![id("ctx"), id(ROUNDS).addr(), id("this_number").addr()];
    out.push(Stmt::decl(round, "this_round", call("round_of", args)));
    if !may_be_cut(g.p) {
        return out;
    }
    let begins = || arrow("this_round", "begins");
    let cut = C::and(id("this_round"), begins().member("truncate"));
    let args = vec![id("ctx"), drops(g), begins().addr()];
    let mut done = vec![Stmt::If(call("cut_packet", args), stop(), Block::new())];
    let args = vec![id("ctx"), egress_ports(g), drops(g), begins().addr()];
    let sent = vec![Stmt::Return(Some(call("send_cut", args)))];
    done.push(Stmt::If(
        C::not(begins().member("again")),
        sent,
        Block::new(),
    ));
    out.push(Stmt::If(cut, done, Block::new()));
    out
}

/// Sets the metadata that a packet comes in with.
pub(super) fn inputs(g: &mut Gen<'_>, placed: &Placed) -> Block {
    let again = comes_in_again(g.p);
    let begins = match again {
        true => {
            let begins = arrow("this_round", "begins").addr();
            C::choose(id("this_round"), begins, id("NULL"))
        }
        false => id("NULL"),
    };
    // Precedes each test for a round. Otherwise clang would keep the first answer as a number, which the verifier does
    // not connect with the pointer.
    let ask_anew = || again.then(|| barrier(&id("this_round")));
    let mut out = vec![take_down(id("this_state"), id("no_state").addr())];
    out.extend(ask_anew());
    out.push(Stmt::Expr(call(
        "traffic_begins",
        vec![id("ctx"), id("traffic"), begins],
    )));
    if again {
        let mut kept = Block::new();
        for (var, member) in kept_vars(g) {
            if let Some(place) = placed.place_of(g, var) {
                kept.extend(assign_var(g, var, place, arrow("this_round", &member)));
            }
        }
        out.extend(ask_anew());
        out.push(Stmt::If(id("this_round"), kept, Block::new()));
    }
    // Metadata of the packet's present location is never preserved.
    out.extend(v1model::inputs_of(g, placed, STANDARD_METADATA, "ifindex"));
    if !again {
        return out;
    }
    let mut begins = Block::new();
    for (name, given) in AT_PARSER {
        let member = match given {
            Given::InstanceType => "instance",
            Given::Came => "came",
            _ => continue,
        };
        let var = g.p.slot_var(STANDARD_METADATA, name);
        let var = var.filter(|&var| is_read(g.p, var));
        if let Some(place) = var.and_then(|var| placed.place_of(g, var)) {
            begins.push(Stmt::Assign(
                place,
                arrow("this_round", "begins").member(member),
            ));
        }
    }
    let args = vec![id(ROUNDS).addr(), id("this_number").addr()];
    begins.push(Stmt::Expr(call("bpf_map_delete_elem", args)));
    out.extend(ask_anew());
    out.push(Stmt::If(id("this_round"), begins, Block::new()));
    out
}

/// Saves the state after the parser, with which a clone of ingress begins.
pub(super) fn parsed(g: &mut Gen<'_>) {
    // No copy waits yet.
    g.target.next_copy = Some(ALL);
    let begins_so =
        |step: &FateRule| matches!(step.then, Then::Clones(made) if made.of == Made::Parsed);
    let mut steps = INGRESS_ENDS.steps.iter();
    if !steps.any(|step| begins_so(step) && may_be(g.p, &INGRESS_ENDS, step)) {
        return;
    }
    let key = g.file.names.fresh("parsed_state");
    g.push(Stmt::decl(Type::U32, key.clone(), id("PARSED_STATE")));
    let this = this(g);
    g.push(take_down(C::Ident(key), this));
}

/// Emits the code between ingress and egress.
pub(super) fn begin(g: &mut Gen<'_>) {
    decide(g, &INGRESS_ENDS);
    next_iteration(g);
}

/// Emits the steps that the traffic manager takes with a packet or copy at a point, in order.
fn decide(g: &mut Gen<'_>, point: &Point) {
    for step in point.steps {
        if !may_be(g.p, point, step) {
            continue;
        }
        let metadata = match step.when {
            When::Set(field) | When::Is(field, _) => Some(g.slot(STANDARD_METADATA, field)),
            When::Asked(_) | When::Otherwise => None,
        };
        let done = g.block(|g| {
            match step.then {
                Then::Clones(made) => return clones(g, made),
                Then::Anew(made) => anew(g, made),
                Then::Group(made) => group(g, made),
                Then::Sent(made) => return sent(g, made),
                Then::Dropped => {
                    let count = count_drop(g, "DROPPED_DROP_PORT");
                    g.push(count);
                }
                Then::Leaves => return leaves(g),
            }
            g.push(Stmt::Goto(NEXT.into()));
        });
        let condition = match (step.when, metadata) {
            (When::Asked(flag), _) => g.slot(REQUESTS, flag),
            (When::Is(_, number), Some(is)) => C::bin(BinOp::Eq, is, C::int(number.into())),
            (_, Some(is_set)) => is_set,
            (_, None) => {
                g.out.extend(done);
                continue;
            }
        };
        g.push(Stmt::If(condition, done, Block::new()));
    }
}

/// True if a step may ever be done at a point.
fn may_be(program: &Program, point: &Point, step: &FateRule) -> bool {
    match (step.when, step.then) {
        // There are several kinds of clones, each for requests since the last point.
        (When::Asked(flag), Then::Clones(_)) => asked_by(program, point.blocks, flag),
        (When::Asked(flag), _) => asks(program, flag),
        (When::Set(field), _) => writes(program, STANDARD_METADATA, field),
        (When::Is(..) | When::Otherwise, _) => true,
    }
}

/// Resubmits or recirculates the packet.
fn anew(g: &mut Gen<'_>, made: &Instance) {
    if made.of == Made::BytesAsReceived {
        // It comes in again in the form that the network stack has.
        g.push(Stmt::goto_if(call("packet_end", vec![id("ctx")]), LOST));
        g.set(arrow("traffic", "put_together"), C::int(1));
    }
    come_in_again(g, made);
}

/// Queues the copies for a multicast group.
fn group(g: &mut Gen<'_>, made: &Instance) {
    let from = this(g);
    let taken = new_state(g, from, made);
    let wait = g.block(|g| {
        template(g, made, &taken);
        let group = g.slot(STANDARD_METADATA, "mcast_grp");
        let args = vec![id("traffic"), groups(g), drops(g), group];
        g.push(Stmt::Expr(call("wait_group", args)));
    });
    g.push(Stmt::If(C::Ident(taken), wait, Block::new()));
}

/// Sends the packet on to egress, after the copies that wait.
fn sent(g: &mut Gen<'_>, made: &Instance) {
    let port = g.slot(STANDARD_METADATA, "egress_spec");
    g.set(arrow("traffic", "port"), port.clone());
    set_given(g, |given| match given {
        Given::Port => Some(port.clone()),
        Given::Rid => Some(C::int(0)),
        Given::InstanceType => Some(C::int(made.kind as u64)),
        _ => None,
    });
    let unless_waiting = call("nothing_waits", vec![id("traffic")]);
    g.push(Stmt::goto_if(unless_waiting, BEGINS));
    // Clones that ingress asked for come first.
    let from = this(g);
    let taken = new_state(g, from, made);
    let wait = g.block(|g| {
        template(g, made, &taken);
        let args = vec![id("traffic"), drops(g), port, C::int(0)];
        g.push(Stmt::Expr(call("wait_for_egress", args)));
    });
    g.push(Stmt::If(C::Ident(taken), wait, Block::new()));
}

/// Emits the begin of an iteration of the loop, which takes a waiting copy. At its second label it goes on with the
/// present state.
fn next_iteration(g: &mut Gen<'_>) {
    g.enter_loop();
    g.push(Stmt::Label(NEXT.into()));
    g.kill_computed();
    let ty = Type::Struct("waiting_copy".into()).ptr();
    let [copy, key, from] = ["copy", "key", "from"].map(|wish| g.file.names.fresh(wish));
    let found = call("next_waiting", vec![id("traffic")]);
    g.braces(|g| {
        g.push(Stmt::decl(ty, copy.clone(), found));
        g.push(Stmt::goto_if(C::not(C::Ident(copy.clone())), ALL));
        g.push(Stmt::decl(Type::U32, key.clone(), arrow(&copy, "state")));
        let state = Type::Struct(STATE.into()).ptr();
        g.push(Stmt::decl(
            state,
            from.clone(),
            look_up(STATES, C::Ident(key)),
        ));
        g.push(Stmt::goto_if(C::not(C::Ident(from.clone())), LOST));
        g.push(take_down(id("this_state"), C::Ident(from)));
        set_given(g, |given| match given {
            Given::Port => Some(arrow(&copy, "port")),
            Given::Rid => Some(arrow(&copy, "rid")),
            Given::InstanceType => Some(arrow(&copy, "instance")),
            _ => None,
        });
        if !may_be_cut(g.p) {
            return;
        }
        let cut = g.block(|g| {
            set_request(g, TRUNCATE, C::int(1));
            set_request(g, TRUNCATE_TO, arrow(&copy, "truncate"));
        });
        g.push(Stmt::If(arrow(&copy, "truncate"), cut, Block::new()));
    });
    g.push(Stmt::Label(BEGINS.into()));
    g.kill_computed();
    g.iteration(LOST);
    g.forget();
    g.target.next_copy = Some(NEXT);
    for name in AT_ONCE {
        set_request(g, name, C::int(0));
    }
    set_given(g, |given| (given == Given::Zero).then(|| C::int(0)));
    let mut timed = AT_EGRESS.iter().filter(|(_, given)| *given == Given::Now);
    if timed.any(|(name, _)| metadata_read(g, name).is_some()) {
        let microseconds = g.own_local("egress_time", Type::U64, None);
        let now = C::bin(BinOp::Div, call("now_ns", Vec::new()), C::int(1000));
        g.set(microseconds.clone(), now);
        set_given(g, |given| {
            (given == Given::Now).then(|| microseconds.clone())
        });
    }
}

/// Emits the code after egress.
pub(super) fn end(g: &mut Gen<'_>) {
    decide(g, &EGRESS_ENDS);
}

/// Emits the end of a packet or copy: it leaves, or re-enters the program.
pub(super) fn verdict(g: &mut Gen<'_>) {
    needs(g, Construct::Copies);
    if !g.target.options.features.has(Feature::MayGoto) {
        let first = arch::v1model::copies(g.p).first().copied();
        let at = first.map_or(Span::NONE, |(_, at)| at);
        g.refuse(errors::copies_need_newer(at));
    }
    // This map is declared before the maps of packets that come in again.
    egress_ports(g);
    let opened = call("packet_open", vec![id("ctx"), id("traffic")]);
    g.push(Stmt::goto_if(opened, LOST));
    let from = || C::int(ETHERNET.into());
    // In memory, so that the verifier does not follow whether there is a sum.
    let [to, sum] = ["sum_to", "sum"].map(|member| arrow("traffic", member));
    g.set(to.clone(), call("even", vec![id("keep")]));
    let of_device = call("packet_sum_start", vec![id("ctx"), from(), to.clone()]);
    g.set(sum.clone(), of_device);
    deparse(g);
    let args = vec![id("ctx"), sum, from(), to];
    g.push(Stmt::Expr(call("packet_sum_end", args)));
    g.forget();
    ends(g);
    decide(g, &DEPARSED);
    g.exit_loop();
    g.push(Stmt::Label(ALL.into()));
    g.push(Stmt::Return(Some(id("TC_STOP"))));
    g.target.extra_instructions += 400;
}

/// Sends a deparsed packet out by its port.
fn leaves(g: &mut Gen<'_>) {
    if may_be_cut(g.p) {
        cut_and_send(g);
    }
    let ports = egress_ports(g);
    let last = call("nothing_waits", vec![id("traffic")]);
    let sent = call(
        "forward_to",
        vec![ports.clone(), arrow("traffic", "port"), drops(g)],
    );
    let leaves = vec![Stmt::Return(Some(sent))];
    g.push(Stmt::If(last, leaves, Block::new()));
    let args = vec![id("ctx"), ports, drops(g), arrow("traffic", "port")];
    g.push(Stmt::Expr(call("send_differing", args)));
    g.push(Stmt::Goto(NEXT.into()));
}

/// Makes the packet one that the stack can handle. A packet that cannot be segmented in its new form is lost, but the
/// other copies are not.
fn ends(g: &mut Gen<'_>) {
    let ended = g.file.names.fresh("ended");
    let value = || C::Ident(ended.clone());
    let unsegmented = vec![
        count_drop(g, "DROPPED_QUEUE"),
        Stmt::Assign(arrow("traffic", "put_together"), C::int(0)),
        Stmt::Goto(NEXT.into()),
    ];
    g.braces(|g| {
        let ending = ending(g);
        g.push(Stmt::decl(Type::S64, ended.clone(), ending));
        let is_fault = C::bin(BinOp::Lt, value(), C::int(0));
        g.push(Stmt::goto_if(is_fault, LOST));
        g.push(Stmt::If(value(), unsegmented, Block::new()));
    });
}

/// Emits the loss of the current packet and of all waiting copies.
pub(super) fn lost(g: &mut Gen<'_>) {
    let args = vec![id("traffic"), drops(g)];
    g.push(Stmt::Expr(call("lose_all", args)));
}

/// Returns true if one of these controls, or the parser before ingress, asks the traffic manager for something.
fn asked_by(program: &Program, blocks: &[&str], flag: &str) -> bool {
    let Some(flag) = program.slot_var(REQUESTS, flag) else {
        return false;
    };
    let mut mentions = Mentions::default();
    for control in blocks.iter().filter_map(|name| program.control_block(name)) {
        mentions.add_block(program, &program.routines[control].body);
    }
    let parsers = program
        .parsers
        .values()
        .filter(|_| !blocks.contains(&EGRESS));
    for state in parsers.flat_map(|parser| parser.states.values()) {
        mentions.add_block(program, &state.body);
    }
    mentions.written.contains(&Storage::Var(flag))
}

/// Returns true if the program asks the traffic manager for something.
fn asks(program: &Program, flag: &str) -> bool {
    writes(program, REQUESTS, flag)
}

fn writes(program: &Program, slot: &str, name: &str) -> bool {
    verdict::writes(program, slot, name)
}

/// Returns the variable of metadata that the program reads.
fn metadata_read(g: &Gen<'_>, name: &str) -> Option<Var> {
    let var = g.p.slot_var(STANDARD_METADATA, name)?;
    (is_read(g.p, var) || name == "egress_spec").then_some(var)
}

/// Sets the metadata that is given at the entry of egress, as far as there is a value.
fn set_given(g: &mut Gen<'_>, value: impl Fn(Given) -> Option<C>) {
    for (name, given) in AT_EGRESS {
        if let Some(value) = value(given) {
            set_metadata(g, name, value);
        }
    }
}

/// Sets metadata if the program reads it.
fn set_metadata(g: &mut Gen<'_>, name: &str, value: C) {
    if let Some(var) = metadata_read(g, name) {
        let width = g.p.vars[var].ty.width();
        let place = g.local(LocalKind::Var(var));
        let value = match value.as_int() {
            Some(_) => value,
            None => masked(value, width),
        };
        g.set(place, value);
    }
}

fn set_request(g: &mut Gen<'_>, name: &str, value: C) {
    if let Some(var) = g.p.slot_var(REQUESTS, name) {
        let place = g.local(LocalKind::Var(var));
        g.set(place, value);
    }
}

/// Sets the properties of the copies that are queued next.
fn template(g: &mut Gen<'_>, made: &Instance, state: &SmolStr) {
    let next = || arrow("traffic", "next");
    g.set(next().member("instance"), C::int(made.kind as u64));
    g.set(next().member("state"), C::Ident(state.clone()));
    // For clones, `wait_clones` sets both.
    if !made.is_round {
        g.set(next().member("rounds"), arrow("traffic", "rounds"));
        g.set(next().member("truncate"), C::int(0));
    }
}

/// Saves the state at an address for copies that are made of it. Returns the variable with the number of the saved
/// state, which is 0 if there is no room.
fn new_state(g: &mut Gen<'_>, from: C, instance: &Instance) -> SmolStr {
    let [taken, copy] = ["taken", "copy"].map(|wish| g.file.names.fresh(wish));
    let number = call("new_state", vec![id("traffic"), drops(g)]);
    g.push(Stmt::decl(Type::U32, taken.clone(), number));
    let key = C::Ident(taken.clone());
    let take = g.block(|g| {
        g.push(take_down(key.clone(), from));
        let changes = g.block(|g| made(g, instance, &copy));
        if !changes.is_empty() {
            let ty = Type::Struct(STATE.into()).ptr();
            g.push(Stmt::decl(ty, copy.clone(), look_up(STATES, key.clone())));
            g.push(Stmt::If(id(&copy), changes, Block::new()));
        }
    });
    g.push(Stmt::If(key, take, Block::new()));
    taken
}

/// Makes the copies of a clone session.
fn clones(g: &mut Gen<'_>, made: &Instance) {
    let [session, parsed, key] =
        ["session", "parsed", "parsed_key"].map(|wish| g.file.names.fresh(wish));
    let number = g.slot(REQUESTS, CLONE_SESSION);
    let args = vec![id("traffic"), sessions(g), drops(g), number];
    let ty = Type::Struct("clone_session".into()).ptr();
    g.push(Stmt::decl(ty, session.clone(), call("session_of", args)));
    let in_session = g.block(|g| {
        let mut from = this(g);
        if made.of == Made::Parsed {
            g.push(Stmt::decl(Type::U32, key.clone(), id("PARSED_STATE")));
            let ty = Type::Struct(STATE.into()).ptr();
            let found = look_up(STATES, C::Ident(key.clone()));
            g.push(Stmt::decl(ty, parsed.clone(), found));
            g.push(Stmt::goto_if(C::not(id(&parsed)), LOST));
            from = id(&parsed);
        }
        let taken = new_state(g, from, made);
        let wait = g.block(|g| {
            template(g, made, &taken);
            let args = vec![id("traffic"), groups(g), drops(g), id(&session)];
            g.push(Stmt::Expr(call("wait_clones", args)));
        });
        g.push(Stmt::If(C::Ident(taken), wait, Block::new()));
    });
    g.push(Stmt::If(id(&session), in_session, Block::new()));
}

/// Returns the first control that runs for each copy.
pub(crate) fn first_of_copies(program: &Program) -> Option<ir::Routine> {
    differ(program).then(|| program.control_block(arch::v1model::EGRESS))?
}

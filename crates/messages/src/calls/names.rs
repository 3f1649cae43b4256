//! Look-ups in name sets: of an attribute of a message, and of bytes of the payload.

use super::{Payload, Reads, attribute, bytes_of, flag, from, is_there, object};
use crate::errors;
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::calls::{declare, places, values};
use emit::values::Value;
use emit::{Function, Gen};
use ir::{ExternArg, ExternCall, ExternInst};
use payload::AttributeKind;
use smol_str::SmolStr;
use tables::name_set::{self, NameSet};

/// `message.find_name`: looks up an attribute of the last message that was read.
pub(super) fn find_name<T: Payload>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    call: &ExternCall,
    span: Span,
) {
    let (name, set, was_read) = match &call.args[..] {
        [
            ExternArg::String(name),
            ExternArg::Object(set),
            _,
            _,
            ExternArg::In(was_read),
        ] => (name, *set, was_read),
        _ => {
            let target = g.target.name();
            return g.refuse(errors::of_copies(target, span));
        }
    };
    let Some((known, member, kind)) = attribute(g, object, name) else {
        return;
    };
    let (set, text) = (name_set::declare(g, set), name_set::TEXT.declare(g));
    let as_text = known.name_text.clone();
    let as_text = as_text.filter(|_| kind == AttributeKind::DnsName);
    let taken = taken(g, &known.structure, as_text.is_some());
    let by_labels = as_text
        .is_some()
        .then(|| found_by_labels(g, &known.structure, &set));
    nothing_found(g, call);
    let was_read = flag(g, was_read);
    let block = g.block(|g| {
        let memory = object::memory(g, &known);
        let there = C::and(was_read, is_there(&memory, &member));
        let then = g.block(|g| {
            let text = text_of_core(g, &text);
            let labels = by_labels.map(|function| {
                let start = member.of(memory.clone()).member("start");
                C::call(function, vec![memory.clone(), text.clone(), start])
            });
            let rule = labels.map(|labels| declare(g, CType::U32, "rule", labels));
            let by_text = g.block(|g| {
                let (start, size) = bytes_of(g, &memory, &member, as_text);
                let args = vec![memory, text.clone(), start, size];
                let length = declare(g, CType::U32, "name_length", C::call(taken, args));
                let found = C::call(set.find.clone(), vec![text, length]);
                match &rule {
                    Some(rule) => g.set(rule.clone(), found),
                    None => decide(g, call, &set, found),
                }
            });
            match rule {
                Some(rule) => {
                    let is_not_plain = C::bin(BinOp::Eq, rule.clone(), C::id("NAME_NOT_PLAIN"));
                    g.push(Stmt::If(is_not_plain, by_text, Block::new()));
                    decide(g, call, &set, rule);
                }
                None => g.push(Stmt::Block(by_text)),
            }
        });
        g.push(Stmt::If(there, then, Block::new()));
    });
    g.push(Stmt::Block(block));
}

/// `name_set.find`: looks up bytes of the payload.
pub(super) fn find_bytes<T: Payload>(
    g: &mut Gen<'_, T>,
    set: ExternInst,
    call: &ExternCall,
    span: Span,
) {
    let [[offset], [length], [parsed]] = [0, 1, 4].map(|at| values(call, at)) else {
        let target = g.target.name();
        return g.refuse(errors::of_copies(target, span));
    };
    if !T::reads(g, Reads::InLoops, span) {
        return;
    }
    T::shared(&mut g.file.own).reads_bytes = true;
    let (set, text) = (name_set::declare(g, set), name_set::TEXT.declare(g));
    let [offset, length, parsed] = [offset, length, parsed].map(|value| lower::scalar(g, *value));
    let function = loaded(g);
    let block = g.block(|g| {
        let text = text_of_core(g, &text);
        let args = vec![
            C::id("ctx"),
            text.clone(),
            from(parsed, offset),
            length,
            g.packet_length(),
        ];
        // The arguments may be the places of the results.
        let length = declare(g, CType::U32, "name_length", C::call(function, args));
        nothing_found(g, call);
        decide(g, call, &set, C::call(set.find.clone(), vec![text, length]));
    });
    g.push(Stmt::Block(block));
}

/// Returns the memory of a name on this core.
pub(super) fn text_of_core<T: Payload>(g: &mut Gen<'_, T>, map: &SmolStr) -> C {
    let zero = declare(g, CType::U32, "first", C::int(0));
    let ty = name_set::TEXT.pointer();
    declare(g, ty, "text", T::find(map, zero.addr()))
}

fn nothing_found<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall) {
    let outs = [2, 3].map(|at| places(call, at).first().copied());
    let result = call.result.first().copied();
    for (place, width) in [(result, 1), (outs[0], 32), (outs[1], 32)] {
        if let Some(place) = place {
            g.store(place, Value::zero(width));
        }
    }
}

/// Stores the values of the rule that was found: of its first record's number, or 0.
fn decide<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, set: &NameSet, found: C) {
    let found = declare(g, CType::U32, "decides", found);
    let record = T::find(&set.records, found.clone().addr());
    let ty = CType::Struct("name_record".into()).ptr();
    let record = declare(g, ty, "record", record);
    let then = g.block(|g| {
        if let Some(&place) = call.result.first() {
            g.store(place, Value::Scalar(C::int(1)));
        }
        for (at, member) in [(2, "number"), (3, "lists")] {
            if let Some(&place) = places(call, at).first() {
                g.store(place, Value::Scalar(record.clone().arrow(member)));
            }
        }
    });
    g.push(Stmt::If(C::and(found, record.clone()), then, Block::new()));
}

/// Returns the function that takes a name from a message's memory; emits it on first use. It returns the name's length.
pub(super) fn taken<T: Payload>(g: &mut Gen<'_, T>, structure: &SmolStr, is_text: bool) -> SmolStr {
    let key = (structure.clone(), is_text);
    if let Some(known) = T::shared(&mut g.file.own).names_taken.get(&key) {
        return known.clone();
    }
    let wish = if is_text { "text_name" } else { "name" };
    let name = g.file.names.fresh(&format!("{structure}_{wish}"));
    let memory = || C::id(crate::MEMORY);
    let (bytes, mask) = match is_text {
        true => (
            memory().arrow("text"),
            C::bin(BinOp::Sub, C::id("MESSAGE_TEXT"), C::int(1)),
        ),
        false => (
            memory().arrow("bytes"),
            C::call("message_mask", vec![memory()]),
        ),
    };
    let args = vec![C::id("text"), bytes, mask, C::id("start"), C::id("length")];
    push(
        g,
        &name,
        structure,
        &["start", "length"],
        C::call("name_copy", args),
    );
    let taken = &mut T::shared(&mut g.file.own).names_taken;
    taken.insert(key, name.clone());
    name
}

/// Returns the function that finds the rule of a DNS name in a message's memory by its labels; emits it on first use. Its
/// result may be NAME_NOT_PLAIN.
fn found_by_labels<T: Payload>(g: &mut Gen<'_, T>, structure: &SmolStr, set: &NameSet) -> SmolStr {
    let key = (structure.clone(), set.records.clone());
    if let Some(known) = T::shared(&mut g.file.own).names_found.get(&key) {
        return known.clone();
    }
    let name = g.file.names.fresh(&format!("{structure}_find_name"));
    let memory = || C::id(crate::MEMORY);
    let args = vec![
        C::Ident(set.records.clone()).addr(),
        C::Ident(set.probe.clone()),
        C::id("text"),
        memory().arrow("bytes"),
        C::call("message_mask", vec![memory()]),
        C::id("start"),
    ];
    push(
        g,
        &name,
        structure,
        &["start"],
        C::call("name_find_labels", args),
    );
    let found = &mut T::shared(&mut g.file.own).names_found;
    found.insert(key, name.clone());
    name
}

/// Adds a function of a message's memory, of the memory of a name, and of numbers.
fn push<T: Payload>(
    g: &mut Gen<'_, T>,
    name: &SmolStr,
    structure: &SmolStr,
    numbers: &[&str],
    result: C,
) {
    let memory = (CType::Struct(structure.clone()).ptr(), crate::MEMORY.into());
    let numbers = numbers.iter().map(|&name| (CType::U32, name.into()));
    let nothing = Stmt::Return(Some(C::int(0)));
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result: CType::U32,
        params: [memory, name_set::TEXT.parameter()]
            .into_iter()
            .chain(numbers)
            .collect(),
        body: vec![
            Stmt::If(C::not(C::id(crate::MEMORY)), vec![nothing], Block::new()),
            name_set::TEXT.unless_there(),
            Stmt::Return(Some(result)),
        ],
    });
}

/// Returns the function that loads a name from the packet; emits it on first use. It returns the name's length, or 0 if
/// the packet ends before.
fn loaded<T: Payload>(g: &mut Gen<'_, T>) -> SmolStr {
    if let Some(known) = T::shared(&mut g.file.own).name_loaded.clone() {
        return known;
    }
    let name = g.file.names.fresh("name_loaded");
    let args = ["ctx", "text", "from", "length", "all"].map(C::id).to_vec();
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result: CType::U32,
        params: vec![
            super::packet(g),
            name_set::TEXT.parameter(),
            (CType::U64, "from".into()),
            (CType::U32, "length".into()),
            (CType::U64, "all".into()),
        ],
        body: vec![
            name_set::TEXT.unless_there(),
            Stmt::Return(Some(C::call("payload_name", args))),
        ],
    });
    T::shared(&mut g.file.own).name_loaded = Some(name.clone());
    name
}

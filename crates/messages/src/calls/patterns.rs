//! Searches for the patterns of a set: in an attribute of a message that is a name, and in the URL of a request.

use super::names::{taken, text_of_core};
use super::{AttributeMember, Object, Payload, attribute, bytes_of, flag, is_there, object};
use crate::errors;
use arch::payload::OF_URL;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::calls::{declare, places};
use emit::values::Value;
use emit::{Function, Gen};
use ir::{ExternArg, ExternCall, ExternInst};
use payload::AttributeKind;
use smol_str::SmolStr;
use tables::{name_set, pattern_set};

/// Number of a set's first automaton for URLs, and for names, which have no prefixes of URLs.
const PREFIXES: u64 = 0;
const WORDS: u64 = 1;

/// `message.find_pattern`: searches an attribute of the last message that was read.
pub(super) fn find_pattern<T: Payload>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    call: &ExternCall,
    span: Span,
) {
    let [
        ExternArg::String(name),
        ExternArg::Object(set),
        _,
        _,
        ExternArg::In(was_read),
    ] = &call.args[..]
    else {
        let target = g.target.name();
        return g.refuse(errors::of_copies(target, span));
    };
    let Some((known, member, kind)) = attribute(g, object, name) else {
        return;
    };
    let search = Search::new(g, known, (member, kind), *set);
    nothing_found(g, call, 2);
    let was_read = flag(g, was_read);
    let block = g.block(|g| {
        let memory = object::memory(g, &search.object);
        let there = C::and(was_read, is_there(&memory, &search.member));
        let then = g.block(|g| {
            let url = url_of_core(g, &search.url);
            let size = declare(g, CType::U32, "url_size", C::int(0));
            search.run(g, (&memory, &url, &size), WORDS);
            found(g, call, &url, (2, 1));
        });
        g.push(Stmt::If(there, then, Block::new()));
    });
    g.push(Stmt::Block(block));
}

/// `message.find_url`: searches the URL of the last request that was read.
pub(super) fn find_url<T: Payload>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    call: &ExternCall,
    span: Span,
) {
    let [ExternArg::Object(set), _, _, _, _, ExternArg::In(was_read)] = &call.args[..] else {
        let target = g.target.name();
        return g.refuse(errors::of_copies(target, span));
    };
    let [
        Some((known, host, kind)),
        Some((_, path, _)),
        Some((_, target, _)),
    ] = OF_URL.map(|name| attribute(g, object, name))
    else {
        return;
    };
    let path_taken = path_taken(g, &known.structure);
    let search = Search::new(g, known, (host, kind), *set);
    nothing_found(g, call, 1);
    let was_read = flag(g, was_read);
    let block = g.block(|g| {
        let memory = object::memory(g, &search.object);
        let there = C::and(was_read, is_there(&memory, &search.member));
        let then = g.block(|g| {
            let url = url_of_core(g, &search.url);
            let size = declare(g, CType::U32, "url_size", C::int(0));
            let has_path = C::and(is_there(&memory, &path), is_there(&memory, &target));
            let with_path = g.block(|g| {
                let [path, target] = [path, target].map(|member| member.of(memory.clone()));
                let [start, length] = ["start", "length"].map(|part| path.clone().member(part));
                let [from, rest] = ["start", "length"].map(|part| target.clone().member(part));
                let end = C::bin(BinOp::Add, from, rest);
                let all = C::bin(BinOp::Sub, end, start.clone());
                let args = vec![memory.clone(), url.clone(), start, length, all];
                g.set(size.clone(), C::call(path_taken, args));
            });
            g.push(Stmt::If(has_path, with_path, Block::new()));
            search.run(g, (&memory, &url, &size), PREFIXES);
            found(g, call, &url, (1, 0));
            found(g, call, &url, (3, 1));
        });
        g.push(Stmt::If(there, then, Block::new()));
    });
    g.push(Stmt::Block(block));
}

/// Search in a text that begins with a name, which is an attribute of a message.
struct Search {
    object: Object,
    member: AttributeMember,
    /// Function that writes the text of a DNS name.
    name_text: Option<SmolStr>,
    /// Function that takes the name.
    taken: SmolStr,
    /// Function that puts it in front of the text.
    put: SmolStr,
    /// Function that searches the text.
    find: SmolStr,
    /// Maps of the memory for a name, and for a text.
    name: SmolStr,
    url: SmolStr,
}

impl Search {
    fn new<T: Payload>(
        g: &mut Gen<'_, T>,
        object: Object,
        (member, kind): (AttributeMember, AttributeKind),
        set: ExternInst,
    ) -> Search {
        let name_text = object.name_text.clone();
        let name_text = name_text.filter(|_| kind == AttributeKind::DnsName);
        Search {
            taken: taken(g, &object.structure, name_text.is_some()),
            put: name_put(g),
            find: pattern_set::declare(g, set),
            name: name_set::TEXT.declare(g),
            url: pattern_set::TEXT.declare(g),
            object,
            member,
            name_text,
        }
    }

    /// Puts the name in front of a text, and searches it.
    fn run<T: Payload>(&self, g: &mut Gen<'_, T>, (memory, url, size): (&C, &C, &C), first: u64) {
        let name = text_of_core(g, &self.name);
        let (start, length) = bytes_of(g, memory, &self.member, self.name_text.clone());
        let args = vec![memory.clone(), name.clone(), start, length];
        let length = declare(
            g,
            CType::U32,
            "name_length",
            C::call(self.taken.clone(), args),
        );
        let args = vec![url.clone(), name, size.clone(), length];
        g.set(size.clone(), C::call(self.put.clone(), args));
        let args = vec![url.clone(), size.clone(), C::int(first)];
        g.set(size.clone(), C::call(self.find.clone(), args));
    }
}

/// Returns the memory of a text on this core.
fn url_of_core<T: Payload>(g: &mut Gen<'_, T>, map: &SmolStr) -> C {
    let zero = declare(g, CType::U32, "first_url", C::int(0));
    let ty = pattern_set::TEXT.pointer();
    declare(g, ty, "url", T::find(map, zero.addr()))
}

/// Stores that nothing was found, in the result and in the arguments from `from` on.
fn nothing_found<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, from: usize) {
    let result = call.result.first().copied().map(|place| (place, 1));
    let outs = (from..call.args.len()).filter_map(|at| Some((*places(call, at).first()?, 32)));
    for (place, width) in result.into_iter().chain(outs) {
        g.store(place, Value::zero(width));
    }
}

/// Stores one of the values that a search has found in the arguments from `at` on.
fn found<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, url: &C, (at, which): (usize, u64)) {
    let then = g.block(|g| {
        let value = |part: &str| C::index(url.clone().arrow(part), C::int(which));
        let lists = declare(g, CType::U32, "lists_found", value("lists"));
        let stored = g.block(|g| {
            if let Some(&place) = call.result.first() {
                g.store(place, Value::Scalar(C::int(1)));
            }
            for (at, value) in [(at, value("numbers")), (at + 1, lists.clone())] {
                if let Some(&place) = places(call, at).first() {
                    g.store(place, Value::Scalar(value));
                }
            }
        });
        g.push(Stmt::If(lists, stored, Block::new()));
    });
    g.push(Stmt::If(url.clone(), then, Block::new()));
}

/// Returns the function that puts a name in front of a text; emits it on first use.
fn name_put<T: Payload>(g: &mut Gen<'_, T>) -> SmolStr {
    if let Some(known) = T::shared(&mut g.file.own).name_put.clone() {
        return known;
    }
    let name = g.file.names.fresh("url_name");
    let args = ["url", "size", "text", "length"].map(C::id).to_vec();
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result: CType::U32,
        params: vec![
            pattern_set::TEXT.parameter(),
            name_set::TEXT.parameter(),
            (CType::U32, "size".into()),
            (CType::U32, "length".into()),
        ],
        body: vec![
            pattern_set::TEXT.unless_there(),
            name_set::TEXT.unless_there(),
            Stmt::Return(Some(C::call("pattern_put_name", args))),
        ],
    });
    T::shared(&mut g.file.own).name_put = Some(name.clone());
    name
}

/// Returns the function that takes the path and the query of a request from a message's memory; emits it on first use. It returns
/// the size of the text.
fn path_taken<T: Payload>(g: &mut Gen<'_, T>, structure: &SmolStr) -> SmolStr {
    if let Some(known) = T::shared(&mut g.file.own).paths_taken.get(structure) {
        return known.clone();
    }
    let name = g.file.names.fresh(&format!("{structure}_path"));
    let memory = || C::id(crate::MEMORY);
    let mut args = vec![
        C::id("url"),
        memory().arrow("bytes"),
        C::call("message_mask", vec![memory()]),
    ];
    args.extend(["start", "path", "length"].map(C::id));
    let numbers = ["start", "path", "length"].map(|name| (CType::U32, name.into()));
    let nothing = Stmt::Return(Some(C::int(0)));
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result: CType::U32,
        params: [
            (CType::Struct(structure.clone()).ptr(), crate::MEMORY.into()),
            pattern_set::TEXT.parameter(),
        ]
        .into_iter()
        .chain(numbers)
        .collect(),
        body: vec![
            Stmt::If(C::not(memory()), vec![nothing], Block::new()),
            pattern_set::TEXT.unless_there(),
            Stmt::Return(Some(C::call("pattern_put_path", args))),
        ],
    });
    let taken = &mut T::shared(&mut g.file.own).paths_taken;
    taken.insert(structure.clone(), name.clone());
    name
}

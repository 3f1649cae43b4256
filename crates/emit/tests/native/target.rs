//! A target that needs nothing but a C compiler: the packet is in a buffer, tables are arrays that are searched
//! from the first entry to the last, and what the control plane put into them is compiled in.
//!
//! It is the proof that the emitter's joint holds, and what adding a target costs at least.

use arch::Model;
use cgen::tree::{BinOp, Block, Expr as C, Item, Member, Stmt, Type, Unit};
use diag::{Diagnostic, Diagnostics, SourceMap, Span};
use emit::access::Bytes;
use emit::locals::{Local, LocalKind};
use emit::plan::graph::Graph;
use emit::table::{TableShape, Value, has_priorities};
use emit::values::store_value;
use emit::{Code, File, Forms, Gen, Hints, Limits, Reserved, Target};
use ir::{
    ActionCall, Bits, Entry, Expr, ExternCall, ExternInst, KeyMatch, MatchKind, Program, ValueSet,
    ValueSetData,
};
use smol_str::SmolStr;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

/// What is in the tables.
#[derive(Default)]
pub(crate) struct Contents {
    /// Every entry, the program's own among them.
    pub entries: HashMap<ir::Table, Vec<Entry>>,
    /// Every default action.
    pub defaults: HashMap<ir::Table, ActionCall>,
}

/// The target.
#[derive(Clone)]
pub(crate) struct Native {
    model: Model,
    contents: Rc<Contents>,
    /// What the parser leaves is found again as in memory.
    record: bool,
}

/// What its functions share.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    /// Arrays of entries, and default actions.
    items: Vec<Item>,
    /// Counters that are incremented: their members and sizes.
    pub counters: Vec<(ExternInst, SmolStr, u32)>,
}

/// A table in C.
#[derive(Clone)]
pub(crate) struct Table {
    entries: Option<Entries>,
    default: C,
}

/// Entries in C.
#[derive(Clone)]
struct Entries {
    /// The array, and the struct of its elements.
    name: SmolStr,
    element: SmolStr,
    /// The struct that an element begins with, after which its match follows.
    value: SmolStr,
    count: u32,
    fields: Vec<Field>,
}

/// A key's field: whole bytes in network order.
#[derive(Clone, Copy)]
struct Field {
    at: u32,
    size: u32,
    width: u32,
}

/// The C of a program.
pub(crate) struct Output {
    /// The file, for `main.c` to include.
    pub c_source: String,
    /// Its counters in order, with their sizes.
    pub counters: Vec<(ExternInst, u32)>,
}

/// Compiles a program, as passes leave it, with what its tables hold.
pub(crate) fn compile(
    program: &Program,
    map: &SourceMap,
    contents: Rc<Contents>,
    record: bool,
) -> Result<Output, Diagnostics> {
    let unknown = || Box::new(refusal("such architecture", Span::NONE));
    let (model, stages) = stages(program).ok_or_else(unknown)?;
    let target = Native {
        model,
        contents,
        record,
    };
    let mut file: File<Native> = File::default();
    let mut functions = Vec::new();
    for joined in emit::joined(program, stages, &mut file.names) {
        let (body, shared) = emit::stage(program, map, &joined, &target, file)?;
        file = shared;
        functions.push(Item::Function {
            linkage: "static".into(),
            result: Type::U32,
            name: match joined.name.is_empty() {
                true => "stage_0".into(),
                false => joined.name.clone(),
            },
            params: std::iter::once((Type::Struct("packet".into()).ptr(), "ctx".into()))
                .chain(joined.params())
                .collect(),
            body,
        });
    }
    Ok(Output {
        counters: file.own.counters.iter().map(|(c, _, n)| (*c, *n)).collect(),
        c_source: cgen::print(&unit(file, functions)),
    })
}

fn unit(file: File<Native>, functions: Vec<Item>) -> Unit {
    let mut items = vec![Item::Include("native.h".into())];
    let members = file
        .own
        .counters
        .iter()
        .map(|(_, name, size)| Member::Field {
            ty: Type::U64.array(*size),
            name: name.clone(),
            note: String::new(),
        });
    items.push(Item::Struct {
        name: "counters".into(),
        members: members.collect(),
    });
    items.push(variable(Type::Struct("counters".into()), "counters", None));
    items.extend(file.structs);
    items.extend(file.own.items);
    items.extend(file.functions.into_iter().map(emit::Function::item));
    items.extend(functions);
    Unit { items }
}

/// The stages of a program, if it is of an architecture that this target has.
fn stages(program: &Program) -> Option<(Model, Vec<ir::Stage>)> {
    let arch = arch::by_package(&program.arch)?;
    let has = matches!(arch.model, Model::Filter | Model::Switch);
    has.then_some((arch.model, arch.stages_of(program)?))
}

fn refusal(what: &str, at: Span) -> Diagnostic {
    let message = format!("the native target has no {what}");
    Diagnostic::error("E0720", at, message)
}

fn variable(ty: Type, name: impl Into<SmolStr>, init: Option<C>) -> Item {
    Item::Variable {
        ty,
        name: name.into(),
        init,
        attribute: None,
        constant: false,
    }
}

impl Hints for Native {
    fn forms(&mut self, _: &Program, _: &ir::Stage, _: &Graph) -> Forms {
        Forms {
            record: self.record,
            ..Forms::default()
        }
    }
}

impl Target for Native {
    type File = Shared;
    type Table = Table;
    type ValueSet = ();
    type Function = Block;

    fn name(&self) -> &'static str {
        "native"
    }

    fn limits(&self) -> Limits {
        Limits {
            offset: 1 << 20,
            front_stays: false,
            kept_front: 2048,
        }
    }

    fn reserved() -> &'static [Reserved] {
        &[Reserved {
            names: "HEADROOM LONGEST packet key_matches find_entry counters stage_0 relocated main put \
                    MOST_TURNS turns may_leave",
            prefixes: &[],
        }]
    }

    fn afresh(&self) -> Native {
        self.clone()
    }

    fn linkage(&self) -> &'static str {
        "static"
    }

    fn bounds(&self) -> (C, C) {
        let ctx = C::id("ctx");
        (ctx.clone().arrow("data"), ctx.arrow("data_end"))
    }

    fn relocated(&self) -> C {
        C::id("relocated")
    }

    fn leave_loop(&self, label: &str) -> Option<Stmt> {
        Some(Stmt::MayJump {
            name: "may_leave".into(),
            args: Vec::new(),
            label: label.into(),
        })
    }

    fn dropped(_g: &Gen<'_, Native>) -> C {
        C::int(arch::xdp::Verdict::Drop as u64)
    }

    fn go_on(g: &mut Gen<'_, Native>, next: C) {
        g.deparse();
        g.push(Stmt::Return(Some(next)));
    }

    fn verdict(g: &mut Gen<'_, Native>) {
        match g.target.model {
            Model::Switch => {
                let action = g.slot(arch::xdp::OUTPUT, "output_action");
                let lives = C::bin(BinOp::Gt, action.clone(), C::int(1));
                let deparse = g.block(Gen::deparse);
                g.push(Stmt::If(lives, deparse, Block::new()));
                let port = g.slot(arch::xdp::OUTPUT, "output_port");
                g.set(C::id("ctx").arrow("out_port"), port);
                g.push(Stmt::Return(Some(action)));
            }
            _ => {
                let pass = g.slot(arch::ebpf::ACCEPT, "");
                g.push(Stmt::Return(Some(pass)));
            }
        }
    }

    fn reject(g: &mut Gen<'_, Native>) {
        g.push(Stmt::Return(Some(C::int(0))));
    }

    fn function(g: &mut Gen<'_, Native>, code: Code) -> Result<Block, Diagnostics> {
        let Code { locals, mut body } = code;
        let declare = |local: &Local| Stmt::Decl {
            ty: local.ty.clone(),
            name: local.name.clone(),
            init: local.init.clone(),
            align: None,
        };
        let mut all: Block = locals.iter().map(declare).collect();
        let relocated = g.rebuilding.relocated_bytes;
        if relocated > 0 {
            all.push(Stmt::Decl {
                ty: Type::U8.array(relocated),
                name: "relocated".into(),
                init: None,
                align: None,
            });
        }
        if let Some(var) = g.p.slot_var(arch::xdp::INPUT, "input_port")
            && let C::Ident(name) = g.local(LocalKind::Var(var))
            && locals.iter().any(|l| l.name == name)
        {
            let port = C::id("ctx").arrow("in_port");
            all.push(Stmt::Assign(C::Ident(name), port));
        }
        all.append(&mut body);
        Ok(all)
    }

    fn table(g: &mut Gen<'_, Native>, shape: &TableShape<'_>) -> Table {
        let contents = Rc::clone(&g.target.contents);
        let default = match (shape.stored.default(), contents.defaults.get(&shape.table)) {
            (Some(value), Some(call)) => declare_default(g, shape.short, value, call),
            _ => C::id("NULL"),
        };
        let mut entries = contents
            .entries
            .get(&shape.table)
            .cloned()
            .unwrap_or_default();
        sort(&mut entries, has_priorities(shape.data));
        let stored = shape.stored.entries();
        Table {
            entries: stored.map(|value| declare_entries(g, shape, value, &entries)),
            default,
        }
    }

    fn look_up(g: &mut Gen<'_, Native>, table: &Table, keys: &[Expr], entry: Type) -> C {
        let Some(entries) = &table.entries else {
            return C::id("NULL");
        };
        let key = build_key(g, &entries.fields, keys);
        let ends = C::Ident(g.file.names.fresh("ends"));
        let C::Ident(ends_name) = &ends else {
            return ends;
        };
        let list = entries.fields.iter();
        let list = list.map(|f| (None, C::int((f.at + f.size).into())));
        g.push(Stmt::decl(
            Type::U32.array(entries.fields.len() as u32),
            ends_name.clone(),
            C::Init(list.collect()),
        ));
        let found = g.file.names.fresh("entry");
        let args = vec![
            C::Ident(entries.name.clone()),
            C::int(entries.count.into()),
            C::SizeOf(Type::Struct(entries.element.clone())),
            C::SizeOf(Type::Struct(entries.value.clone())),
            key,
            ends,
            C::int(entries.fields.len() as u64),
        ];
        g.push(Stmt::decl(
            entry,
            found.clone(),
            C::call("find_entry", args),
        ));
        C::Ident(found)
    }

    fn default_action(_g: &Gen<'_, Native>, table: &Table) -> C {
        table.default.clone()
    }

    fn value_set(_g: &mut Gen<'_, Native>, _: ValueSet, _: &ValueSetData) {}

    /// No members are added.
    fn member(_g: &mut Gen<'_, Native>, _set: &(), _keys: &[Expr]) -> C {
        C::id("NULL")
    }

    fn call(g: &mut Gen<'_, Native>, call: &ExternCall, stmt: &ir::Stmt) {
        let p = g.p;
        let is_counter = |object: ExternInst| p.externs[object].ty == "CounterArray";
        match (call.object, call.name.as_str()) {
            (Some(object), _) if is_counter(object) => count(g, object, call),
            (None, name @ ("csum_replace2" | "csum_replace4" | "ebpf_ipv4_checksum")) => {
                g.pure_function(name, call);
            }
            (_, name) => g.refuse(refusal(&format!("extern `{name}`"), stmt.span)),
        }
    }

    /// Packets come one by one.
    fn atomic(g: &mut Gen<'_, Native>, block: &ir::Block) {
        g.run(block);
    }
}

/// Brings entries into the order in which the first that matches wins.
fn sort(entries: &mut [Entry], by_priority: bool) {
    let length = |entry: &Entry| -> u32 {
        let lengths = entry.keys.iter().map(|key| match key {
            KeyMatch::Lpm(_, length) => *length,
            _ => 0,
        });
        lengths.sum()
    };
    entries.sort_by_key(|entry| {
        let priority = if by_priority { entry.priority } else { 0 };
        (Reverse(priority), Reverse(length(entry)))
    });
}

fn declare_default(g: &mut Gen<'_, Native>, short: &str, value: &Value, call: &ActionCall) -> C {
    let name = g.file.names.fresh(&format!("{short}_default"));
    let (init, _) = value.layout.value(call, None);
    let ty = Type::Struct(value.name.clone());
    let item = variable(ty, name.clone(), Some(init));
    g.file.own.items.push(item);
    C::Ident(name).addr()
}

fn declare_entries(
    g: &mut Gen<'_, Native>,
    shape: &TableShape<'_>,
    value: &Value,
    entries: &[Entry],
) -> Entries {
    let mut fields = Vec::new();
    let mut at = 0;
    for key in &shape.data.keys {
        let ty = g.p.ty(key.expr);
        let width = ty.width();
        // The bytes of negative numbers are not in the order of the numbers.
        if key.kind == MatchKind::Range && matches!(ty, ir::Type::Bits { signed: true, .. }) {
            g.refuse(refusal("range match of signed numbers", shape.span));
        }
        let size = width.div_ceil(8).max(1);
        fields.push(Field { at, size, width });
        at += size;
    }
    let element = g.file.names.fresh(&format!("{}_entry", shape.short));
    let name = g.file.names.fresh(&format!("{}_entries", shape.short));
    let member = |ty: Type, name: &str| Member::Field {
        ty,
        name: name.into(),
        note: String::new(),
    };
    let own = Type::Struct(value.name.clone());
    let members = vec![
        member(own, "value"),
        member(Type::U8.array(3 * at), "match"),
    ];
    g.file.declare_struct(&element, members);
    let elements = entries.iter().map(|entry| {
        let (init, _) = value.layout.value(&entry.action, None);
        let bytes = match_bytes(&fields, entry).into_iter();
        let bytes = bytes.map(|byte| (None, C::int(byte.into()))).collect();
        (None, C::Init(vec![(None, init), (None, C::Init(bytes))]))
    });
    // An array of nothing is none.
    let ty = Type::Struct(element.clone()).array(entries.len().max(1) as u32);
    let item = variable(ty, name.clone(), Some(C::Init(elements.collect())));
    g.file.own.items.push(item);
    Entries {
        name,
        element,
        value: value.name.clone(),
        count: entries.len() as u32,
        fields,
    }
}

/// Mask, lowest and highest value of an entry's fields, as `key_matches` takes them.
fn match_bytes(fields: &[Field], entry: &Entry) -> Vec<u8> {
    let mut sides: [Vec<u8>; 3] = Default::default();
    for (field, key) in fields.iter().zip(&entry.keys) {
        let (all, none) = (Bits::ones(field.width), Bits::zero(field.width));
        let (mask, low, high) = match key {
            KeyMatch::Any => (none.clone(), none.clone(), none),
            KeyMatch::Exact(value) => (all, value.clone(), value.clone()),
            KeyMatch::Range(low, high) => (all, low.clone(), high.clone()),
            KeyMatch::Ternary(value, mask) => masked(value, mask.clone()),
            KeyMatch::Lpm(value, length) => {
                let ones = Bits::ones(*length);
                let mask = Bits::new(field.width, ones.value() << (field.width - length));
                masked(value, mask)
            }
        };
        for (side, value) in sides.iter_mut().zip([mask, low, high]) {
            let digits = value.to_bytes();
            let missing = (field.size as usize).saturating_sub(digits.len());
            side.resize(side.len() + missing, 0);
            side.extend(digits);
        }
    }
    sides.concat()
}

fn masked(value: &Bits, mask: Bits) -> (Bits, Bits, Bits) {
    let value = Bits::new(mask.width(), value.value() & mask.value());
    (mask, value.clone(), value)
}

fn build_key(g: &mut Gen<'_, Native>, fields: &[Field], keys: &[Expr]) -> C {
    let name = g.file.names.fresh("key");
    let size = fields.last().map_or(1, |f| f.at + f.size);
    let key = C::Ident(name.clone());
    g.push(Stmt::decl(Type::U8.array(size), name, C::Init(Vec::new())));
    for (field, &e) in fields.iter().zip(keys) {
        if field.width == 0 {
            continue;
        }
        let value = g.value(e);
        let bytes = Bytes {
            base: key.clone().plus(field.at.into()),
            len: field.size,
        };
        let first = 8 * field.size - field.width;
        store_value(&bytes, first, field.width, value, &mut g.out);
    }
    key
}

fn count(g: &mut Gen<'_, Native>, object: ExternInst, call: &ExternCall) {
    let known = g.file.own.counters.iter().find(|(c, ..)| *c == object);
    let (name, size) = match known {
        Some((_, name, size)) => (name.clone(), *size),
        None => {
            let data = &g.p.externs[object];
            let size = data
                .int_arg("max_index")
                .and_then(|n| u32::try_from(n).ok());
            let size = size.unwrap_or(0).min(1 << 16);
            let name = g.file.names.fresh_path(&data.name);
            g.file.own.counters.push((object, name.clone(), size));
            (name, size)
        }
    };
    let mut args = g.arguments(call).into_iter();
    let index = args.next().unwrap_or(C::int(0));
    let by = args.next().unwrap_or(C::int(1));
    let counter = C::id("counters").member(name).index(index.clone());
    g.push(Stmt::If(
        C::bin(BinOp::Lt, index, C::int(size.into())),
        vec![Stmt::Update(BinOp::Add, counter, by)],
        Block::new(),
    ));
}

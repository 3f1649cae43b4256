//! Printer of the text form.

use super::OPERATORS;
use super::names::{self, Names, quote, string};
use crate::*;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let printer = Printer {
            program: self,
            names: Names::new(self),
        };
        let mut out = String::new();
        printer.program(&mut out)?;
        f.write_str(&out)
    }
}

pub(super) struct Printer<'a> {
    program: &'a Program,
    pub(super) names: Names,
}

impl Printer<'_> {
    fn program(&self, out: &mut String) -> fmt::Result {
        let p = self.program;
        let reject = match p.on_reject {
            OnReject::Stop => "stop",
            OnReject::Continue => "continue",
        };
        let copies = if p.copies { " copies" } else { "" };
        writeln!(out, "program {} reject {reject}{copies}", quote(&p.arch))?;
        if !p.errors.is_empty() {
            let errors: Vec<_> = p.errors.iter().map(|e| quote(e)).collect();
            writeln!(out, "errors {}", errors.join(", "))?;
        }
        if p.next_label > 0 {
            writeln!(out, "labels {}", p.next_label)?;
        }
        for (id, data) in &p.enums {
            let members: Vec<_> = data.members.iter().map(|m| quote(m)).collect();
            let members = members.join(", ");
            writeln!(out, "enum {} {{ {members} }}", self.names.enums[id])?;
        }
        for (id, data) in &p.header_types {
            writeln!(out, "header_type {} {{", self.names.header_types[id])?;
            for field in &data.fields {
                writeln!(out, "    {}: {};", quote(&field.name), self.ty(field.ty))?;
            }
            writeln!(out, "}}")?;
        }
        for (id, data) in &p.vars {
            writeln!(out, "var {}: {}", self.names.vars[id], self.ty(data.ty))?;
        }
        for (id, data) in &p.headers {
            let ty = &self.names.header_types[data.ty];
            writeln!(out, "header {}: {ty}", self.names.headers[id])?;
        }
        for (id, data) in &p.stacks {
            let elems: Vec<_> = data.elems.iter().map(|&h| self.header_name(h)).collect();
            let next = &self.names.vars[data.next];
            let elems = elems.join(", ");
            let rolled = if data.rolled { " rolled" } else { "" };
            writeln!(
                out,
                "stack {}{rolled} next {next} {{ {elems} }}",
                self.names.stacks[id]
            )?;
        }
        for (id, data) in &p.value_sets {
            let name = &self.names.value_sets[id];
            write!(out, "value_set {name} size {}", data.size)?;
            self.annotations(out, &data.annotations)?;
            writeln!(out, " {{")?;
            for ((name, ty, kind), declared) in data.fields.iter().zip(&data.declared) {
                let kind = kind.name();
                write!(out, "    {}: {} {kind}", quote(name), self.ty(*ty))?;
                self.declared(out, declared)?;
                writeln!(out, ";")?;
            }
            writeln!(out, "}}")?;
        }
        for (id, data) in &p.externs {
            self.extern_object(out, id, data)?;
        }
        for (id, data) in &p.actions {
            write!(out, "action {}(", self.names.actions[id])?;
            for (i, (&param, declared)) in data.params.iter().zip(&data.declared).enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                write!(out, "{comma}{}", self.var(param))?;
                self.declared(out, declared)?;
            }
            write!(out, ")")?;
            self.annotations(out, &data.annotations)?;
            self.body(out, 0, &data.body)?;
        }
        for (id, data) in &p.tables {
            self.table(out, id, data)?;
        }
        for (id, data) in &p.routines {
            let params: Vec<_> = data.params.iter().map(|p| self.param(*p)).collect();
            let kind = match data.kind {
                RoutineKind::Block => "block",
                RoutineKind::Control => "control",
                RoutineKind::Function => "function",
                RoutineKind::Action => "action",
            };
            let params = params.join(", ");
            write!(out, "routine {} {kind}({params})", self.names.routines[id])?;
            self.body(out, 0, &data.body)?;
        }
        for (id, data) in &p.parsers {
            self.parser(out, id, data)?;
        }
        for block in &p.blocks {
            let body = match block.body {
                BlockBody::Parser(parser) => format!("parser {}", self.names.parsers[parser]),
                BlockBody::Control(routine) => format!("control {}", self.names.routines[routine]),
                BlockBody::Deparser(routine) => {
                    format!("deparser {}", self.names.routines[routine])
                }
            };
            writeln!(out, "pipeline {} {body}", quote(&block.name))?;
        }
        for slot in &p.slots {
            let kind = match slot.kind {
                SlotKind::Program => "",
                SlotKind::Intrinsic => "intrinsic ",
            };
            writeln!(out, "{kind}slot {} {{", quote(&slot.name))?;
            for (path, var) in &slot.vars {
                writeln!(out, "    var {} = {};", string(path), self.var(*var))?;
            }
            for (path, header) in &slot.headers {
                let header = self.header_name(*header);
                writeln!(out, "    header {} = {header};", string(path))?;
            }
            writeln!(out, "}}")?;
        }
        for digest in &p.digests {
            writeln!(out, "digest {} {{", quote(&digest.name))?;
            for ((name, ty), declared) in digest.fields.iter().zip(&digest.declared) {
                write!(out, "    field {}: {}", string(name), self.ty(*ty))?;
                self.declared(out, declared)?;
                writeln!(out, ";")?;
            }
            writeln!(out, "}}")?;
        }
        for list in &p.field_lists {
            let vars: Vec<_> = list.vars.iter().map(|&var| self.var(var)).collect();
            writeln!(out, "field_list {} {{ {} }}", list.number, vars.join(", "))?;
        }
        Ok(())
    }

    fn ty(&self, ty: Type) -> String {
        match ty {
            Type::Bool => "bool".to_owned(),
            Type::Bits {
                width,
                signed: false,
            } => format!("bit<{width}>"),
            Type::Bits {
                width,
                signed: true,
            } => format!("int<{width}>"),
            Type::Varbit(max) => format!("varbit<{max}>"),
            Type::Error => "error".to_owned(),
            Type::Enum(id) => self.names.enums[id].clone(),
        }
    }

    pub(super) fn var(&self, var: Var) -> String {
        self.names.vars[var].clone()
    }

    fn header_name(&self, header: Header) -> String {
        self.names.headers[header].clone()
    }

    fn extern_object(&self, out: &mut String, id: ExternInst, data: &ExternData) -> fmt::Result {
        write!(
            out,
            "extern {}: {}",
            self.names.externs[id],
            quote(&data.ty)
        )?;
        self.annotations(out, &data.annotations)?;
        writeln!(out, " {{")?;
        for (i, types) in data.type_args.iter().enumerate() {
            let names = data.type_arg_names.get(i).map_or(&[][..], Vec::as_slice);
            write!(out, "    type (")?;
            for (k, (&ty, declared)) in types.iter().zip(&data.type_arg_declared[i]).enumerate() {
                let comma = if k == 0 { "" } else { ", " };
                write!(out, "{comma}{}", self.ty(ty))?;
                if let Some(name) = names.get(k) {
                    write!(out, " {}", quote(name))?;
                }
                self.declared(out, declared)?;
            }
            writeln!(out, ");")?;
        }
        for (name, value) in &data.args {
            writeln!(out, "    arg {} = {};", quote(name), self.ctor_value(value))?;
        }
        for (name, routine) in &data.implementations {
            let routine = &self.names.routines[*routine];
            writeln!(out, "    implement {} = {routine};", quote(name))?;
        }
        writeln!(out, "}}")
    }

    fn ctor_value(&self, value: &CtorValue) -> String {
        match value {
            CtorValue::Int(value) => value.to_string(),
            CtorValue::Bool(value) => value.to_string(),
            CtorValue::String(text) => string(text),
            CtorValue::Member(id, index) => self.member(Type::Enum(*id), *index),
            CtorValue::Extern(id) => format!("extern {}", self.names.externs[*id]),
            CtorValue::Absent => "_".to_owned(),
        }
    }

    /// Prints ` type NAME` and annotations, if present.
    fn declared(&self, out: &mut String, declared: &Declared) -> fmt::Result {
        if let Some(name) = &declared.type_name {
            write!(out, " type {}", quote(name))?;
        }
        self.annotations(out, &declared.annotations)
    }

    fn annotations(&self, out: &mut String, annotations: &[Annotation]) -> fmt::Result {
        for annotation in annotations {
            let values: Vec<_> = annotation.values.iter().map(|v| string(v)).collect();
            write!(out, " @{}({})", quote(&annotation.name), values.join(", "))?;
        }
        Ok(())
    }

    fn table(&self, out: &mut String, id: Table, data: &TableData) -> fmt::Result {
        write!(out, "table {}", self.names.tables[id])?;
        self.annotations(out, &data.annotations)?;
        writeln!(out, " {{")?;
        for key in &data.keys {
            let (name, kind) = (string(&key.name), key.kind.name());
            write!(out, "    key {name} {kind} {}", self.expr(key.expr))?;
            self.declared(out, &key.declared)?;
            writeln!(out, ";")?;
        }
        for action in &data.actions {
            write!(out, "    action {}", self.names.actions[action.action])?;
            if action.default_only {
                write!(out, " default_only")?;
            }
            if action.table_only {
                write!(out, " table_only")?;
            }
            writeln!(out, ";")?;
        }
        let is_const = if data.const_default { "const " } else { "" };
        let call = self.action_call(data, &data.default_action);
        writeln!(out, "    default {is_const}{call};")?;
        for entry in &data.entries {
            let is_const = if entry.is_const { "const " } else { "" };
            let keys: Vec<_> = entry.keys.iter().map(key_match).collect();
            let call = self.action_call(data, &entry.action);
            let (priority, keys) = (entry.priority, keys.join(", "));
            writeln!(out, "    entry {is_const}{priority} ({keys}) -> {call};")?;
        }
        if data.const_entries {
            writeln!(out, "    const_entries;")?;
        }
        if let Some(size) = data.size {
            writeln!(out, "    size {size};")?;
        }
        for (name, value) in &data.properties {
            let value = self.ctor_value(value);
            writeln!(out, "    property {} = {value};", quote(name))?;
        }
        writeln!(out, "}}")
    }

    fn action_call(&self, table: &TableData, call: &ActionCall) -> String {
        let args: Vec<_> = call.args.iter().map(|b| bits(b, false)).collect();
        let action = table.actions.get(call.action as usize).map(|a| a.action);
        let first = table
            .actions
            .iter()
            .position(|a| Some(a.action) == action)
            .is_some_and(|i| i == call.action as usize);
        let name = match action {
            Some(action) if first => self.names.actions[action].clone(),
            _ => call.action.to_string(),
        };
        format!("{name}({})", args.join(", "))
    }

    fn param(&self, param: Param) -> String {
        match param {
            Param::In(v) => format!("in {}", self.var(v)),
            Param::Out(v) => format!("out {}", self.var(v)),
            Param::InOut(v) => format!("inout {}", self.var(v)),
            Param::HeaderIn(h) => format!("header_in {}", self.header_name(h)),
            Param::HeaderOut(h) => format!("header_out {}", self.header_name(h)),
            Param::HeaderInOut(h) => format!("header_inout {}", self.header_name(h)),
        }
    }

    fn parser(&self, out: &mut String, id: Parser, data: &ParserData) -> fmt::Result {
        let states = names::states(data);
        let target = |target: TransitionTarget| match target {
            TransitionTarget::State(state) => states[state].clone(),
            TransitionTarget::Accept => "accept".to_owned(),
            TransitionTarget::AcceptAt(entry) => format!("accept at {entry}"),
            TransitionTarget::Reject => "reject".to_owned(),
            TransitionTarget::Rare => "rare".to_owned(),
        };
        let start = &states[data.start];
        writeln!(out, "parser {} start {start} {{", self.names.parsers[id])?;
        for (id, state) in &data.states {
            let rare = if state.rare { "rare " } else { "" };
            writeln!(out, "    state {} {rare}{{", states[id])?;
            self.block(out, 2, &state.body)?;
            match &state.transition {
                Transition::To(to) => writeln!(out, "        goto {};", target(*to))?,
                Transition::Select { keys, cases } => {
                    let keys: Vec<_> = keys.iter().map(|&key| self.expr(key)).collect();
                    writeln!(out, "        select ({}) {{", keys.join(", "))?;
                    for case in cases {
                        let sets: Vec<_> = case.keysets.iter().map(|k| self.keyset(k)).collect();
                        let (sets, to) = (sets.join(", "), target(case.target));
                        writeln!(out, "            ({sets}) -> {to};")?;
                    }
                    writeln!(out, "        }}")?;
                }
            }
            writeln!(out, "    }}")?;
        }
        writeln!(out, "}}")
    }

    fn keyset(&self, keyset: &Keyset) -> String {
        match keyset {
            Keyset::Any => "_".to_owned(),
            Keyset::Value(value) => bits(value, false),
            Keyset::Mask(value, mask) => {
                format!("{} &&& {}", bits(value, false), bits(mask, false))
            }
            Keyset::Range(lo, hi) => format!("{} .. {}", bits(lo, false), bits(hi, false)),
            Keyset::ValueSet(set) => self.names.value_sets[*set].clone(),
        }
    }

    pub(super) fn body(&self, out: &mut String, depth: usize, block: &Block) -> fmt::Result {
        if block.is_empty() {
            return writeln!(out, " {{}}");
        }
        writeln!(out, " {{")?;
        self.block(out, depth + 1, block)?;
        writeln!(out, "{}}}", indent(depth))
    }

    fn block(&self, out: &mut String, depth: usize, block: &Block) -> fmt::Result {
        for stmt in block {
            out.push_str(&indent(depth));
            self.stmt(out, depth, &stmt.kind)?;
        }
        Ok(())
    }

    pub(super) fn stacks(&self, stacks: &[Stack]) -> String {
        let names: Vec<_> = stacks.iter().map(|&s| &*self.names.stacks[s]).collect();
        names.join(", ")
    }

    pub(super) fn places(&self, places: &[Place]) -> String {
        let places: Vec<_> = places.iter().map(|&place| self.place(place)).collect();
        places.join(", ")
    }

    pub(super) fn arg(&self, arg: Arg) -> String {
        match arg {
            Arg::In(expr) => format!("in {}", self.expr(expr)),
            Arg::Out(Some(place)) => format!("out {}", self.place(place)),
            Arg::Out(None) => "out _".to_owned(),
            Arg::InOut(place) => format!("inout {}", self.place(place)),
            Arg::Header(Some(header)) => format!("header {}", self.header(header)),
            Arg::Header(None) => "header _".to_owned(),
        }
    }

    pub(super) fn extern_arg(&self, arg: &ExternArg) -> String {
        match arg {
            ExternArg::In(values) => {
                let values: Vec<_> = values.iter().map(|&value| self.expr(value)).collect();
                format!("in({})", values.join(", "))
            }
            ExternArg::Out(places) => format!("out({})", self.places(places)),
            ExternArg::InOut(places) => format!("inout({})", self.places(places)),
            ExternArg::HeaderIn(header) => format!("header_in {}", self.header(*header)),
            ExternArg::HeaderOut(header) => format!("header_out {}", self.header(*header)),
            ExternArg::String(text) => string(text),
            ExternArg::Member(id, index) => {
                format!("member {}", self.member(Type::Enum(*id), *index))
            }
            ExternArg::Object(object) => format!("object {}", self.names.externs[*object]),
            ExternArg::Absent => "_".to_owned(),
        }
    }

    pub(super) fn place(&self, place: Place) -> String {
        match place {
            Place::Var(var) => self.var(var),
            Place::Field(header, field) => self.field(header, field),
        }
    }

    pub(super) fn header(&self, header: HeaderRef) -> String {
        match header {
            HeaderRef::Header(header) => self.header_name(header),
            HeaderRef::Element(stack, index) => {
                format!("{}[{}]", self.names.stacks[stack], self.expr(index))
            }
        }
    }

    fn field(&self, header: HeaderRef, field: u32) -> String {
        let layout = self.program.header_layout(header);
        match layout.and_then(|l| l.fields.get(field as usize)) {
            Some(data) => format!("{}.{}", self.header(header), quote(&data.name)),
            // Only in programs that the verifier rejects.
            None => format!("{}.?{field}", self.header(header)),
        }
    }

    fn member(&self, ty: Type, index: u32) -> String {
        let (name, members) = match ty {
            Type::Enum(id) => {
                let members = self.program.enums.get(id).map(|e| &e.members);
                (self.names.enums[id].as_str(), members)
            }
            _ => ("error", Some(&self.program.errors)),
        };
        let members = members.map_or(&[][..], |members| members);
        match members.get(index as usize) {
            Some(member) if members.iter().position(|m| m == member) == Some(index as usize) => {
                format!("{name}::{}", quote(member))
            }
            _ => format!("{name}::{index}"),
        }
    }

    /// Returns an expression without enclosing parentheses.
    pub(super) fn expr(&self, expr: Expr) -> String {
        let data = &self.program.exprs[expr];
        match self.ascription(data) {
            Some(ty) => format!("{}: {}", self.closed_kind(data), self.ty(ty)),
            None => self.open_kind(data),
        }
    }

    /// Returns an expression as an operand, in parentheses if necessary.
    fn operand(&self, expr: Expr) -> String {
        let data = &self.program.exprs[expr];
        match self.ascription(data) {
            Some(ty) => format!("({}: {})", self.closed_kind(data), self.ty(ty)),
            None => self.closed_kind(data),
        }
    }

    /// Returns the type to print with an expression, if it does not follow from the operation.
    fn ascription(&self, data: &ExprData) -> Option<Type> {
        let natural = match data.kind {
            ExprKind::Const(ref bits) if bits.width() == data.ty.width() => match data.ty {
                Type::Bits { .. } => return None,
                _ => Some(Type::bit(bits.width())),
            },
            ExprKind::Member(_) if matches!(data.ty, Type::Error | Type::Enum(_)) => return None,
            ExprKind::Cast(_) => return None,
            ref kind => self.program.natural_type(kind),
        };
        (natural != Some(data.ty)).then_some(data.ty)
    }

    fn closed_kind(&self, data: &ExprData) -> String {
        match data.kind {
            ExprKind::Binary(..) | ExprKind::Mux(..) => format!("({})", self.open_kind(data)),
            _ => self.open_kind(data),
        }
    }

    fn open_kind(&self, data: &ExprData) -> String {
        match data.kind {
            ExprKind::Const(ref value) => bits(value, types::is_signed(data.ty)),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Member(index) => self.member(data.ty, index),
            ExprKind::Var(var) => self.var(var),
            ExprKind::Field(header, field) => self.field(header, field),
            ExprKind::IsValid(header) => format!("valid({})", self.header(header)),
            ExprKind::Unary(op, operand) => {
                let op = match op {
                    UnaryOp::Neg => '-',
                    UnaryOp::BitNot => '~',
                    UnaryOp::Not => '!',
                };
                format!("{op}{}", self.operand(operand))
            }
            ExprKind::Binary(op, a, b) => {
                let text = OPERATORS
                    .iter()
                    .find(|(o, _)| *o == op)
                    .map_or("?", |(_, text)| text);
                format!("{} {text} {}", self.operand(a), self.operand(b))
            }
            ExprKind::Cast(operand) => {
                format!("cast({}, {})", self.operand(operand), self.ty(data.ty))
            }
            ExprKind::Slice { base, hi, lo } => {
                let text = self.operand(base);
                match self.program.exprs[base].kind {
                    ExprKind::Unary(..) => format!("({text})[{hi}:{lo}]"),
                    _ => format!("{text}[{hi}:{lo}]"),
                }
            }
            ExprKind::Mux(cond, then, otherwise) => format!(
                "{} ? {} : {}",
                self.operand(cond),
                self.operand(then),
                self.operand(otherwise)
            ),
        }
    }
}

pub(super) fn indent(depth: usize) -> String {
    "    ".repeat(depth)
}

/// Returns a constant with its width and `w` or, if signed, `s`.
pub(super) fn bits(bits: &Bits, signed: bool) -> String {
    let sign = if signed { 's' } else { 'w' };
    let (width, value) = (bits.width(), bits.value());
    match bits.to_u64() {
        Some(value) if value < 10 => format!("{width}{sign}{value}"),
        _ => format!("{width}{sign}{value:#x}"),
    }
}

fn key_match(key: &KeyMatch) -> String {
    match key {
        KeyMatch::Exact(value) => bits(value, false),
        KeyMatch::Lpm(value, len) => format!("{}/{len}", bits(value, false)),
        KeyMatch::Ternary(value, mask) => {
            format!("{} &&& {}", bits(value, false), bits(mask, false))
        }
        KeyMatch::Range(lo, hi) => format!("{} .. {}", bits(lo, false), bits(hi, false)),
        KeyMatch::Any => "_".to_owned(),
    }
}

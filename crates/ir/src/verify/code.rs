//! Checks of statements, expressions and transitions.

use super::Errors;
use super::entities::exists;
use crate::types::is_signed;
use crate::*;
use cranelift_entity::EntityRef;
use std::collections::HashSet;

/// Kind of body that contains a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Routine(RoutineKind),
    Action,
    State,
}

pub(super) fn check(program: &Program, errors: &mut Errors) {
    errors.location = "expressions".to_owned();
    for (id, data) in &program.exprs {
        errors.span = data.span;
        if !expr_holds(program, data) {
            errors.add(format!(
                "{id} does not fit its type {:?}: {:?}",
                data.ty, data.kind
            ));
        }
    }
    if !errors.list.is_empty() {
        return;
    }
    let mut checker = Checker {
        program,
        errors,
        ids: HashSet::new(),
        within: Within::State,
        scope: Vec::new(),
        labels: HashSet::new(),
    };
    for data in program.routines.values() {
        checker.errors.location = format!("routine {}", data.name);
        checker.body(&data.body, Within::Routine(data.kind));
    }
    for data in program.actions.values() {
        checker.errors.location = format!("action {}", data.name);
        checker.body(&data.body, Within::Action);
    }
    for parser in program.parsers.values() {
        checker.labels.clear();
        for state in parser.states.values() {
            checker.errors.location = format!("parser {}, state {}", parser.name, state.name);
            checker.within = Within::State;
            checker.block(&state.body);
            checker.errors.span = state.span;
            checker.transition(parser, &state.transition);
        }
    }
}

/// Returns true if an expression's operands fit its operator and its type. The operands themselves were checked before.
fn expr_holds(program: &Program, data: &ExprData) -> bool {
    let ty = |e: Expr| program.ty(e);
    let is_bits = |ty: Type| matches!(ty, Type::Bits { .. });
    let is_member = |ty: Type| matches!(ty, Type::Error | Type::Enum(_));
    let index = visit::operands(&data.kind).next();
    match data.kind {
        ExprKind::Const(ref bits) => is_bits(data.ty) && bits.width() == data.ty.width(),
        ExprKind::Bool(_) => data.ty == Type::Bool,
        ExprKind::Member(_) => is_member(data.ty),
        ExprKind::Var(var) => data.ty == program.vars[var].ty,
        ExprKind::Field(header, field) => {
            program.field_type(header, field) == Some(data.ty)
                && index.is_none_or(|index| ty(index) == Type::bit(32))
        }
        ExprKind::IsValid(_) => {
            data.ty == Type::Bool && index.is_none_or(|index| ty(index) == Type::bit(32))
        }
        ExprKind::Unary(op, a) => {
            ty(a) == data.ty
                && match op {
                    UnaryOp::Not => data.ty == Type::Bool,
                    UnaryOp::Neg | UnaryOp::BitNot => is_bits(data.ty),
                }
        }
        ExprKind::Binary(op, a, b) => binary_holds(op, ty(a), ty(b), data.ty),
        ExprKind::Cast(a) => {
            let from = ty(a);
            from == data.ty
                || match (from, data.ty) {
                    (Type::Bits { .. }, Type::Bits { .. }) => true,
                    (Type::Bool, to) => to == Type::bit(1),
                    (from, Type::Bool) => from == Type::bit(1),
                    (from, to) => {
                        (is_bits(from) || is_member(from)) && (is_bits(to) || is_member(to))
                    }
                }
        }
        ExprKind::Slice { base, hi, lo } => {
            is_bits(ty(base))
                && lo <= hi
                && hi < ty(base).width()
                && data.ty == Type::bit(hi - lo + 1)
        }
        ExprKind::Mux(cond, then, otherwise) => {
            ty(cond) == Type::Bool && ty(then) == data.ty && ty(otherwise) == data.ty
        }
    }
}

fn binary_holds(op: BinaryOp, a: Type, b: Type, result: Type) -> bool {
    use BinaryOp::*;
    let is_bits = |ty: Type| matches!(ty, Type::Bits { .. });
    match op {
        Mul | Div | Mod | Add | Sub | SatAdd | SatSub | Xor => is_bits(a) && a == b && result == a,
        And | Or => (is_bits(a) || a == Type::Bool) && a == b && result == a,
        Shl | Shr => is_bits(a) && result == a && is_bits(b) && !is_signed(b),
        Le | Ge | Lt | Gt => is_bits(a) && a == b && result == Type::Bool,
        Eq | Ne => a == b && result == Type::Bool,
        Concat => {
            let both = a.width().checked_add(b.width());
            is_bits(a) && is_bits(b) && is_bits(result) && both == Some(result.width())
        }
    }
}

struct Checker<'a> {
    program: &'a Program,
    errors: &'a mut Errors,
    within: Within,
    /// Ids of the statements visited.
    ids: HashSet<StmtId>,
    /// Enclosing labels; the bool is true for a loop.
    scope: Vec<(Label, bool)>,
    /// Labels found in this body or parser.
    labels: HashSet<Label>,
}

impl Checker<'_> {
    fn body(&mut self, block: &Block, within: Within) {
        self.within = within;
        self.labels.clear();
        self.block(block);
    }

    fn block(&mut self, block: &Block) {
        for stmt in block {
            self.errors.span = stmt.span;
            self.id(stmt.id);
            self.stmt(&stmt.kind);
        }
    }

    fn id(&mut self, id: StmtId) {
        if id.as_u32() >= self.program.stmts {
            self.errors.add(format!("{id} was not numbered"));
        } else if !self.ids.insert(id) {
            self.errors.add(format!("{id} is the id of two statements"));
        }
    }

    fn fail(&mut self, message: &str) {
        self.errors.add(message);
    }

    /// Checks that an expression exists and has this type.
    fn expr(&mut self, expr: Expr, ty: Type) {
        match self.program.exprs.get(expr) {
            None => self.errors.add(format!("{expr} does not exist")),
            Some(data) if data.ty != ty => {
                let message = format!("{:?} where {ty:?} is due", data.ty);
                self.errors.add(message);
            }
            Some(_) => {}
        }
    }

    fn any_expr(&mut self, expr: Expr) -> Option<Type> {
        exists(&self.program.exprs, expr, self.errors);
        self.program.exprs.get(expr).map(|data| data.ty)
    }

    fn header(&mut self, header: HeaderRef) -> Option<HeaderType> {
        match header {
            HeaderRef::Header(id) => {
                exists(&self.program.headers, id, self.errors);
                self.program.headers.get(id).map(|data| data.ty)
            }
            HeaderRef::Element(stack, index) => {
                self.expr(index, Type::bit(32));
                exists(&self.program.stacks, stack, self.errors);
                let first = *self.program.stacks.get(stack)?.elems.first()?;
                Some(self.program.headers[first].ty)
            }
        }
    }

    fn place(&mut self, place: Place) -> Option<Type> {
        match place {
            Place::Var(var) => {
                exists(&self.program.vars, var, self.errors);
                self.program.vars.get(var).map(|data| data.ty)
            }
            Place::Field(header, field) => {
                let layout = self.header(header)?;
                let fields = &self.program.header_types[layout].fields;
                let ty = fields.get(field as usize).map(|f| f.ty);
                if ty.is_none() {
                    self.errors.add(format!("no field has index {field}"));
                }
                ty
            }
        }
    }

    /// Checks that an l-value has this type.
    fn place_of(&mut self, place: Place, ty: Type) {
        if let Some(found) = self.place(place)
            && found != ty
        {
            self.errors.add(format!("{found:?} where {ty:?} is due"));
        }
    }

    fn labelled(&mut self, label: Label, is_loop: bool, block: &Block) {
        if label.as_u32() >= self.program.next_label {
            self.errors.add(format!("{label} was never made"));
        }
        if !self.labels.insert(label) {
            self.errors.add(format!("{label} stands twice"));
        }
        self.scope.push((label, is_loop));
        self.block(block);
        self.scope.pop();
    }

    fn parser_only(&mut self) {
        if self.within != Within::State {
            self.fail("stands outside a parser");
        }
    }

    fn not_in_parsers(&mut self) {
        if self.within == Within::State {
            self.fail("stands in a parser");
        }
    }

    fn pattern(&mut self, Pattern { value, mask, skip }: &Pattern) {
        if value.width() != mask.width() {
            self.fail("searches for a value with a mask of another width");
        } else if value.value() & mask.value() != *value.value() {
            self.fail("searches for bits that its mask leaves out");
        } else if mask.is_zero() {
            self.fail("searches for nothing");
        } else if skip.checked_add(value.width()).is_none() {
            self.fail("searches past any packet");
        }
    }

    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Assign { dst, value } => {
                if let Some(ty) = self.place(*dst) {
                    self.expr(*value, ty);
                }
            }
            StmtKind::CopyHeader { dst, src } => {
                if self.header(*dst) != self.header(*src) {
                    self.fail("copies between headers of different types");
                }
            }
            StmtKind::SetValid(header) | StmtKind::SetInvalid(header) => {
                self.header(*header);
            }
            StmtKind::PushFront(stacks, _) | StmtKind::PopFront(stacks, _) => self.stacks(stacks),
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(*cond, Type::Bool);
                self.block(then);
                self.block(otherwise);
            }
            StmtKind::Switch { on, cases, default } => self.switch(*on, cases, default),
            StmtKind::Atomic(block) => self.block(block),
            StmtKind::Labeled(label, block) => self.labelled(*label, false, block),
            StmtKind::Loop(label, block) => self.labelled(*label, true, block),
            StmtKind::Break(label) => {
                if !self.scope.iter().any(|(l, _)| l == label) {
                    self.fail("breaks from a label that is not around");
                }
            }
            StmtKind::Continue(label) => {
                if !self.scope.contains(&(*label, true)) {
                    self.fail("continues a loop that is not around");
                }
            }
            StmtKind::Return | StmtKind::Exit => self.not_in_parsers(),
            StmtKind::Apply { table, hit, action } => {
                exists(&self.program.tables, *table, self.errors);
                if let Some(hit) = *hit {
                    self.place_of(Place::Var(hit), Type::Bool);
                }
                if let Some(action) = *action {
                    self.place_of(Place::Var(action), Type::bit(32));
                }
                use RoutineKind::{Block, Control};
                if !matches!(self.within, Within::Routine(Block | Control)) {
                    self.fail("applies a table outside a control");
                }
            }
            StmtKind::IsCurrent { table, current, .. } => {
                exists(&self.program.tables, *table, self.errors);
                self.place_of(Place::Var(*current), Type::Bool);
            }
            StmtKind::Call(routine, args) => self.call(*routine, args),
            StmtKind::Extern(call) => self.extern_call(call),
            StmtKind::Extract { header, varbit } => {
                self.parser_only();
                let Some(layout) = self.header(*header) else {
                    return;
                };
                let layout = &self.program.header_types[layout];
                if layout.varbit().is_some() != varbit.is_some() {
                    self.fail("gives a size to a header without varbit, or none to one with");
                }
                self.whole_bytes(layout);
                if let Some(size) = *varbit {
                    self.expr(size, Type::bit(32));
                }
            }
            StmtKind::Lookahead { place, skip } => {
                self.parser_only();
                match self.place(*place) {
                    Some(Type::Varbit(_)) => self.fail("looks ahead at a varbit"),
                    Some(ty) if skip.checked_add(ty.width()).is_none() => {
                        self.fail("looks ahead past any packet");
                    }
                    _ => {}
                }
            }
            StmtKind::Advance(by) => {
                self.parser_only();
                self.expr(*by, Type::bit(32));
            }
            StmtKind::Search {
                pattern,
                limit,
                passed,
            } => {
                self.parser_only();
                self.pattern(pattern);
                if let Some(limit) = *limit {
                    self.expr(limit, Type::bit(32));
                }
                if let Some(passed) = *passed {
                    self.place_of(Place::Var(passed), Type::bit(32));
                }
            }
            StmtKind::Automaton {
                automaton,
                start,
                limit,
                end,
                passed,
            } => {
                self.parser_only();
                self.expr(*start, Type::bit(16));
                if let Some(limit) = *limit {
                    self.expr(limit, Type::bit(32));
                }
                self.place_of(Place::Var(*end), Type::bit(16));
                if let Some(passed) = *passed {
                    self.place_of(Place::Var(passed), Type::bit(32));
                }
                self.automaton(automaton);
            }
            StmtKind::Fits { bits, fits } => {
                self.parser_only();
                self.expr(*bits, Type::bit(32));
                self.place_of(Place::Var(*fits), Type::Bool);
            }
            StmtKind::SkipAhead { table, short } => {
                self.parser_only();
                self.place_of(Place::Var(*short), Type::Bool);
                self.skip_table(table);
            }
            StmtKind::PacketLength(place) => {
                self.parser_only();
                self.place_of(*place, Type::bit(32));
            }
            StmtKind::Verify { cond, error } => {
                self.parser_only();
                self.expr(*cond, Type::Bool);
                self.expr(*error, Type::Error);
            }
            // `entries` checks the positions of entry points.
            StmtKind::Entry(_) => {}
            StmtKind::Emit(header) => {
                self.not_in_parsers();
                if let Some(layout) = self.header(*header) {
                    self.whole_bytes(&self.program.header_types[layout]);
                }
            }
        }
    }

    fn automaton(&mut self, automaton: &Automaton) {
        let states = automaton.rows.len();
        if !(1..=Automaton::MOST_STATES).contains(&states) {
            self.fail("runs an automaton without a state, or with too many");
        }
        for row in &automaton.rows {
            let in_order = row.iter().all(|step| step.first <= step.last)
                && row.windows(2).all(|two| two[0].last < two[1].first);
            if !in_order || row.iter().any(|step| step.to as usize >= states) {
                self.fail("runs an automaton whose bytes do not ascend, or lead to no state");
            }
        }
    }

    fn skip_table(&mut self, table: &SkipTable) {
        let Some(end) = table.skip.checked_add(table.width) else {
            return self.fail("looks for a tag past any packet");
        };
        if table.sizes.is_empty() {
            self.fail("skips no attribute");
        }
        for (tag, bytes) in &table.sizes {
            if tag.width() != table.width {
                self.errors.add(format!("tag {tag:?} has another width"));
            }
            // Thus every step moves the cursor, and a tag is part of its attribute.
            if bytes.saturating_mul(8) < end.max(1) {
                self.errors
                    .add(format!("an attribute ends before its tag {tag:?}"));
            }
        }
        let values = table.sizes.iter().map(|(tag, _)| tag.value());
        if !values.is_sorted_by(|a, b| a < b) {
            self.fail("has tags that do not ascend");
        }
    }

    fn whole_bytes(&mut self, layout: &HeaderTypeData) {
        if !layout.fixed_width().is_multiple_of(8) {
            self.fail("extracts or emits a header that is not whole bytes");
        }
    }

    fn stacks(&mut self, stacks: &[Stack]) {
        for &stack in stacks {
            exists(&self.program.stacks, stack, self.errors);
        }
        let mut data = stacks.iter().filter_map(|&s| self.program.stacks.get(s));
        let Some(first) = data.next() else {
            return self.fail("moves no stack");
        };
        if !data.all(|s| s.elems.len() == first.elems.len() && s.next == first.next) {
            self.fail("moves stacks of different sizes or next indices");
        }
    }

    fn switch(&mut self, on: Expr, cases: &[(Vec<Bits>, Block)], default: &Block) {
        let ty = self.any_expr(on);
        if let Some(Type::Varbit(_)) = ty {
            self.fail("switches on a varbit");
        }
        let mut seen = HashSet::new();
        for (values, block) in cases {
            for value in values {
                if ty.is_some_and(|ty| ty.width() != value.width()) {
                    self.errors.add(format!("case {value:?} has another width"));
                }
                if !seen.insert(value) {
                    self.errors.add(format!("case {value:?} stands twice"));
                }
            }
            self.block(block);
        }
        self.block(default);
    }

    fn call(&mut self, routine: Routine, args: &[Arg]) {
        let Some(data) = self.program.routines.get(routine) else {
            return self.errors.add(format!("{routine} does not exist"));
        };
        if data.kind == RoutineKind::Block {
            self.fail("calls a block of the pipeline");
        }
        if data.kind == RoutineKind::Control
            && !matches!(
                self.within,
                Within::Routine(RoutineKind::Block | RoutineKind::Control)
            )
        {
            self.fail("applies a control outside a control");
        }
        if data.params.len() != args.len() {
            self.fail("has another number of arguments than its routine parameters");
        }
        for (param, arg) in data.params.iter().zip(args) {
            let vars = &self.program.vars;
            match (*param, *arg) {
                (Param::In(var), Arg::In(expr)) => self.expr(expr, vars[var].ty),
                (Param::Out(_), Arg::Out(None)) | (Param::HeaderOut(_), Arg::Header(None)) => {}
                (Param::Out(var), Arg::Out(Some(place)))
                | (Param::InOut(var), Arg::InOut(place)) => {
                    self.place_of(place, vars[var].ty);
                }
                (
                    Param::HeaderIn(param) | Param::HeaderOut(param) | Param::HeaderInOut(param),
                    Arg::Header(Some(header)),
                ) => {
                    let ty = self.program.headers[param].ty;
                    if self.header(header).is_some_and(|found| found != ty) {
                        self.fail("passes a header of another type");
                    }
                }
                _ => self.fail("passes an argument of another kind than its parameter"),
            }
        }
    }

    fn extern_call(&mut self, call: &ExternCall) {
        if let Some(object) = call.object {
            exists(&self.program.externs, object, self.errors);
        }
        for arg in &call.args {
            match arg {
                ExternArg::In(values) => values.iter().for_each(|&e| {
                    self.any_expr(e);
                }),
                ExternArg::Out(places) | ExternArg::InOut(places) => places.iter().for_each(|&p| {
                    self.place(p);
                }),
                ExternArg::HeaderIn(header) | ExternArg::HeaderOut(header) => {
                    self.header(*header);
                }
                ExternArg::Member(id, _) => exists(&self.program.enums, *id, self.errors),
                ExternArg::Object(object) => {
                    exists(&self.program.externs, *object, self.errors);
                }
                ExternArg::String(_) | ExternArg::Absent => {}
            }
        }
        for &place in &call.result {
            self.place(place);
        }
    }

    fn transition(&mut self, parser: &ParserData, transition: &Transition) {
        let (keys, cases) = match transition {
            Transition::To(target) => return self.target(parser, *target),
            Transition::Select { keys, cases } => (keys, cases),
        };
        let mut types = Vec::new();
        for &key in keys {
            let ty = self.any_expr(key);
            if let Some(Type::Varbit(_)) = ty {
                self.fail("selects on a varbit");
            }
            types.extend(ty);
        }
        for case in cases {
            self.errors.span = case.span;
            self.target(parser, case.target);
            let mut at = 0;
            for keyset in &case.keysets {
                at += self.keyset(keyset, &types[at.min(types.len())..]);
            }
            if at != types.len() {
                self.fail("a case covers another number of keys than there are");
            }
        }
    }

    fn target(&mut self, parser: &ParserData, target: TransitionTarget) {
        if let TransitionTarget::State(state) = target
            && state.index() >= parser.states.len()
        {
            self.errors.add(format!("{state} does not exist"));
        }
    }

    /// Checks a keyset; returns the number of keys that it covers.
    fn keyset(&mut self, keyset: &Keyset, types: &[Type]) -> usize {
        let Some(&ty) = types.first() else {
            self.fail("a keyset has no key");
            return 1;
        };
        let fits = |bits: &Bits| bits.width() == ty.width();
        let holds = match keyset {
            Keyset::Any => true,
            Keyset::Value(value) => fits(value),
            Keyset::Mask(value, mask) => fits(value) && fits(mask),
            Keyset::Range(lo, hi) => fits(lo) && fits(hi),
            Keyset::ValueSet(set) => {
                let Some(data) = self.program.value_sets.get(*set) else {
                    self.errors.add(format!("{set} does not exist"));
                    return 1;
                };
                let fields: Vec<_> = data.fields.iter().map(|f| f.1).collect();
                if !types.starts_with(&fields) {
                    self.fail("a value set has other fields than the keys it covers");
                }
                return fields.len();
            }
        };
        if !holds {
            self.errors
                .add(format!("{keyset:?} has another width than its key"));
        }
        1
    }
}

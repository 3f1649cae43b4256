//! Selection of the header stacks that stay rolled. The parser loops that fill a rolled stack are not unrolled, and its
//! elements are accessed by index.
//!
//! Code reads and writes an element of a rolled stack in the packet, where the parser found it. There is no copy of the
//! element in variables. A stack therefore stays rolled only under these conditions, among others:
//!
//! - only extraction makes its elements valid, and no statement copies a whole header to or from an element;
//! - no code reads what was written to an invalid element;
//! - the deparser emits all elements in order, or none.
//!
//! The stacks of a union's members have a common next index, and stay rolled only together. If a program copies
//! packets, no stack stays rolled.

use crate::analysis::dataflow::successors;
use crate::visit::{self, Access};
use crate::*;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Least number of headers of the rolled stacks that share a next index. Smaller stacks are unrolled, so that each
/// element has a known position.
const FEWEST_HEADERS: usize = 16;
/// Greatest number of elements of a rolled stack, and of stacks that share a next index.
const MOST: usize = 100;

/// Marks the stacks that stay rolled.
pub(super) fn mark(program: &mut Program) {
    // Each copy of the packet is deparsed from variables.
    if program.copies {
        return;
    }
    let mut nexts = BTreeSet::new();
    for parser in program.parsers.values() {
        nexts.extend(filled_in_loops(program, parser));
    }
    for next in nexts {
        if let Some(group) = Group::new(program, next)
            && group.fits(program)
        {
            for stack in group.stacks {
                program.stacks[stack].rolled = true;
            }
        }
    }
}

/// Returns the next indices of stacks into which a parser's loops extract.
fn filled_in_loops(program: &Program, parser: &ParserData) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    for (id, state) in &parser.states {
        visit::walk_block(&state.body, &mut |stmt| {
            if let StmtKind::Extract {
                header: HeaderRef::Element(stack, index),
                ..
            } = stmt.kind
            {
                let next = program.stacks[stack].next;
                if key(program, index) == Some(next_key(program, next))
                    && follows_itself(parser, id)
                {
                    found.insert(next);
                }
            }
        });
    }
    found
}

fn follows_itself(parser: &ParserData, state: State) -> bool {
    let mut seen = HashSet::new();
    let mut todo = successors(&parser.states[state].transition);
    while let Some(next) = todo.pop() {
        if next == state {
            return true;
        }
        if seen.insert(next) {
            todo.extend(successors(&parser.states[next].transition));
        }
    }
    false
}

/// Canonical form of an index, by which references to one element are recognised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Key {
    Const(u64),
    /// Low bits of a variable, and the number of these bits.
    Var(Var, u32),
}

fn key(program: &Program, index: Expr) -> Option<Key> {
    let ty = program.ty(index);
    match &program.exprs[index].kind {
        ExprKind::Const(bits) => bits.to_u64().map(Key::Const),
        ExprKind::Var(var) => Some(Key::Var(*var, ty.width())),
        ExprKind::Cast(inner) => match (program.ty(*inner), key(program, *inner)?) {
            (Type::Bits { signed: false, .. }, Key::Var(var, bits)) => {
                Some(Key::Var(var, bits.min(ty.width())))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns the index of the next element.
fn next_key(program: &Program, next: Var) -> Key {
    Key::Var(next, program.vars[next].ty.width())
}

/// Stacks that share a next index: those of a union's members, or one stack alone.
struct Group {
    next: Var,
    stacks: Vec<Stack>,
    /// For each header, its stack and index.
    elems: HashMap<Header, (Stack, u64)>,
}

/// Reference to an element; the index is `None` if it is unknown.
type Element = (Stack, Option<Key>);

impl Group {
    /// Returns the stacks with a next index. Returns `None` unless there are enough headers to keep them rolled, and no
    /// header is in two stacks.
    fn new(program: &Program, next: Var) -> Option<Group> {
        let of_next = program.stacks.iter().filter(|(_, data)| data.next == next);
        let stacks: Vec<Stack> = of_next.map(|(stack, _)| stack).collect();
        let size = program.stacks[*stacks.first()?].elems.len();
        let mut elems = HashMap::new();
        for &stack in &stacks {
            for (i, &elem) in program.stacks[stack].elems.iter().enumerate() {
                elems.insert(elem, (stack, i as u64));
            }
        }
        let count = elems.len();
        let distinct = count == size * stacks.len();
        let shared = program.stacks.iter().any(|(id, data)| {
            !stacks.contains(&id) && data.elems.iter().any(|h| elems.contains_key(h))
        });
        let fits = count >= FEWEST_HEADERS && size <= MOST && stacks.len() <= MOST;
        (fits && distinct && !shared).then_some(Group {
            next,
            stacks,
            elems,
        })
    }

    /// Returns the element that a reference names, if it is in this group.
    fn element(&self, program: &Program, header: HeaderRef) -> Option<Element> {
        match header {
            HeaderRef::Header(h) => {
                let &(stack, index) = self.elems.get(&h)?;
                Some((stack, Some(Key::Const(index))))
            }
            HeaderRef::Element(stack, index) => self
                .stacks
                .contains(&stack)
                .then(|| (stack, key(program, index))),
        }
    }

    fn fits(&self, program: &Program) -> bool {
        let of_kind = |kind: fn(&BlockBody) -> bool| {
            program
                .blocks
                .iter()
                .filter(move |block| kind(&block.body))
                .count()
        };
        let parsers = of_kind(|body| matches!(body, BlockBody::Parser(_)));
        let deparsers = of_kind(|body| matches!(body, BlockBody::Deparser(_)));
        if parsers != 1 || deparsers > 1 {
            return false;
        }
        let mut uses = Uses::new(program, self);
        for parser in program.parsers.values() {
            for state in parser.states.values() {
                uses.code(&state.body, Where::Parser);
                if let Transition::Select { keys, .. } = &state.transition {
                    keys.iter().for_each(|&key| uses.reads(key, &Vec::new()));
                }
            }
        }
        for action in program.actions.values() {
            uses.code(&action.body, Where::Control);
        }
        for table in program.tables.values() {
            for key in &table.keys {
                uses.reads(key.expr, &Vec::new());
            }
        }
        for (id, routine) in &program.routines {
            let deparses = program
                .blocks
                .iter()
                .any(|block| block.body == BlockBody::Deparser(id));
            if deparses {
                uses.code(&routine.body, Where::Deparser);
                uses.fits &= self.emitted_whole(program, &routine.body);
            } else {
                uses.code(&routine.body, Where::Control);
            }
        }
        uses.fits && !uses.loses_writes() && (uses.written.is_empty() || uses.writes_stay())
    }

    /// Returns true if a deparser emits all elements in order, consecutively and on every path, or none.
    fn emitted_whole(&self, program: &Program, body: &Block) -> bool {
        let (mut emits, mut leaves) = (0, false);
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Emit(header) = stmt.kind {
                emits += usize::from(self.element(program, header).is_some());
            }
            leaves |= matches!(
                stmt.kind,
                StmtKind::Return | StmtKind::Exit | StmtKind::Break(_)
            );
        });
        if emits == 0 {
            return true;
        }
        let emitted = |stmt: &Stmt| match stmt.kind {
            StmtKind::Emit(HeaderRef::Header(h)) => self.elems.get(&h).copied(),
            _ => None,
        };
        let before = body.iter().take_while(|s| emitted(s).is_none()).count();
        let run: Vec<(Stack, u64)> = body[before..].iter().map_while(emitted).collect();
        let distinct: HashSet<_> = run.iter().collect();
        let each_once = emits == run.len() && distinct.len() == run.len();
        !leaves
            && each_once
            && emits == self.elems.len()
            && run.is_sorted_by_key(|&(_, index)| index)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Parser,
    Control,
    Deparser,
}

/// Uses of a group by the program.
struct Uses<'a> {
    program: &'a Program,
    group: &'a Group,
    /// False once a use prevents the group from staying rolled.
    fits: bool,
    /// Fields that are read while the element may be invalid.
    read_anyhow: HashSet<(Stack, u32)>,
    /// Fields that are written while the element may be invalid.
    written_anyhow: HashSet<(Stack, u32)>,
    /// Fields that are written.
    written: HashSet<(Stack, u32)>,
}

/// Elements that are valid at a point.
type Valid = Vec<(Stack, Key)>;

impl Uses<'_> {
    fn new<'a>(program: &'a Program, group: &'a Group) -> Uses<'a> {
        Uses {
            program,
            group,
            fits: true,
            read_anyhow: HashSet::new(),
            written_anyhow: HashSet::new(),
            written: HashSet::new(),
        }
    }

    /// Returns true if a field is both written and read while its element may be invalid. A rolled stack would lose
    /// such a write.
    fn loses_writes(&self) -> bool {
        !self.read_anyhow.is_disjoint(&self.written_anyhow)
    }

    /// Returns true if elements may be written in the packet itself: there is a deparser, and no extern reads the
    /// packet as it arrived.
    fn writes_stay(&self) -> bool {
        let blocks = &self.program.blocks;
        let mut stays = blocks
            .iter()
            .any(|block| matches!(block.body, BlockBody::Deparser(_)));
        for body in visit::bodies(self.program) {
            visit::walk_block(body, &mut |stmt| {
                if let StmtKind::Extern(call) = &stmt.kind {
                    stays &= call.object.is_some() || call.effect != Effect::Any;
                }
            });
        }
        stays
    }

    fn code(&mut self, body: &Block, at: Where) {
        self.walk(body, &mut Valid::new(), at);
    }

    fn walk(&mut self, block: &Block, valid: &mut Valid, at: Where) {
        let group = self.group;
        let mut extracted: Option<Stack> = None;
        for stmt in block {
            self.stmt(stmt, valid, at, extracted);
            match &stmt.kind {
                StmtKind::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    for (block, truth) in [(then, true), (otherwise, false)] {
                        let mut inner = valid.clone();
                        self.assume(*cond, truth, &mut inner);
                        self.walk(block, &mut inner, at);
                    }
                }
                StmtKind::Extract { header, .. } => {
                    let element = group.element(self.program, *header);
                    extracted = element.map(|(stack, _)| stack);
                }
                kind => {
                    let inside = visit::in_place(kind);
                    self.fits &= inside.is_none_or(|body| !self.mentions(body));
                    let walked = if inside.is_some() {
                        Vec::new()
                    } else {
                        visit::blocks(kind)
                    };
                    for inner in walked {
                        let loops = matches!(kind, StmtKind::Loop(..));
                        let mut inside = if loops { Valid::new() } else { valid.clone() };
                        self.walk(inner, &mut inside, at);
                    }
                }
            }
            self.kill(stmt, valid);
        }
    }

    /// Records the uses by a statement, without those of nested blocks.
    fn stmt(&mut self, stmt: &Stmt, valid: &Valid, at: Where, extracted: Option<Stack>) {
        let (p, group) = (self.program, self.group);
        let next = Some(next_key(p, group.next));
        match stmt.kind {
            StmtKind::Extract { header, varbit } => {
                if let Some(size) = varbit {
                    self.reads(size, valid);
                }
                if let Some((_, key)) = group.element(p, header) {
                    self.fits &= key == next && at == Where::Parser;
                }
                return;
            }
            StmtKind::Emit(_) => return,
            StmtKind::PushFront(ref stacks, _) | StmtKind::PopFront(ref stacks, _) => {
                if stacks.iter().any(|s| group.stacks.contains(s)) {
                    let pops = matches!(stmt.kind, StmtKind::PopFront(..));
                    self.fits &= pops && at == Where::Control && stacks.len() == group.stacks.len();
                }
                return;
            }
            StmtKind::SetInvalid(header) => {
                if let Some((stack, key)) = group.element(p, header) {
                    // The parser may invalidate the union's other members after it extracts one.
                    let clears = key == next && extracted.is_some_and(|other| other != stack);
                    self.fits &= match at {
                        Where::Parser => clears,
                        Where::Control => true,
                        Where::Deparser => false,
                    };
                }
            }
            _ => {}
        }
        visit::accesses(p, &stmt.kind, |access| match access {
            Access::Eval(e) => self.reads(e, valid),
            Access::Read(Place::Field(header, field)) => self.read(header, field, valid),
            Access::Write(Place::Field(header, field)) => {
                self.fits &= at != Where::Deparser || group.element(p, header).is_none();
                self.write(header, field, valid);
            }
            Access::Write(Place::Var(var)) if var == group.next => {
                self.fits &= at == Where::Parser && self.counts(&stmt.kind);
            }
            Access::ReadHeader(header)
            | Access::WriteHeader(header)
            | Access::SetValidity(header, true) => {
                self.fits &= group.element(p, header).is_none();
            }
            Access::Read(Place::Var(_))
            | Access::Write(Place::Var(_))
            | Access::SetValidity(_, false) => {}
        });
    }

    /// Returns true if a statement assigns the next index plus 1.
    fn counts(&self, kind: &StmtKind) -> bool {
        let StmtKind::Assign { value, .. } = kind else {
            return false;
        };
        match self.program.exprs[*value].kind {
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                key(self.program, a) == Some(next_key(self.program, self.group.next))
                    && key(self.program, b) == Some(Key::Const(1))
            }
            _ => false,
        }
    }

    /// Returns true if a block uses the group.
    fn mentions(&self, block: &Block) -> bool {
        let mentions = crate::analysis::mentions::Mentions::of_block(self.program, block);
        let headers = self.group.elems.keys();
        let mut storages = headers.map(|&h| crate::analysis::mentions::Storage::Header(h));
        storages.any(|storage| mentions.contains(storage))
    }

    fn reads(&mut self, e: Expr, valid: &Valid) {
        let data = &self.program.exprs[e];
        match data.kind {
            ExprKind::Field(header, field) => {
                if let HeaderRef::Element(_, index) = header {
                    self.reads(index, valid);
                }
                self.read(header, field, valid);
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b)
                if data.ty == Type::Bool =>
            {
                self.reads(a, valid);
                let mut inner = valid.clone();
                self.assume(a, op == BinaryOp::And, &mut inner);
                self.reads(b, &inner);
            }
            ExprKind::Mux(cond, yes, no) => {
                self.reads(cond, valid);
                for (side, truth) in [(yes, true), (no, false)] {
                    let mut inner = valid.clone();
                    self.assume(cond, truth, &mut inner);
                    self.reads(side, &inner);
                }
            }
            ref kind => visit::operands(kind).for_each(|e| self.reads(e, valid)),
        }
    }

    fn read(&mut self, header: HeaderRef, field: u32, valid: &Valid) {
        if let Some(element) = self.group.element(self.program, header) {
            self.fits &= self.is_plain(element.0, field);
            if !is_valid(element, valid) {
                self.read_anyhow.insert((element.0, field));
            }
        }
    }

    fn write(&mut self, header: HeaderRef, field: u32, valid: &Valid) {
        if let Some(element) = self.group.element(self.program, header) {
            self.fits &= self.is_plain(element.0, field);
            self.written.insert((element.0, field));
            if !is_valid(element, valid) {
                self.written_anyhow.insert((element.0, field));
            }
        }
    }

    /// Returns true if a field has a fixed offset in its header: it lies before any varbit.
    fn is_plain(&self, stack: Stack, field: u32) -> bool {
        let p = self.program;
        let Some(&first) = p.stacks[stack].elems.first() else {
            return false;
        };
        let layout = &p.header_types[p.headers[first].ty];
        layout.varbit().is_none_or(|varbit| field < varbit)
    }

    /// Adds the elements that are valid once a condition has the value `truth`.
    fn assume(&self, cond: Expr, truth: bool, valid: &mut Valid) {
        match self.program.exprs[cond].kind {
            ExprKind::IsValid(header) if truth => {
                if let Some((stack, Some(key))) = self.group.element(self.program, header) {
                    valid.push((stack, key));
                }
            }
            ExprKind::Unary(UnaryOp::Not, inner) => self.assume(inner, !truth, valid),
            ExprKind::Binary(BinaryOp::And, a, b) if truth => {
                self.assume(a, true, valid);
                self.assume(b, true, valid);
            }
            ExprKind::Binary(BinaryOp::Or, a, b) if !truth => {
                self.assume(a, false, valid);
                self.assume(b, false, valid);
            }
            _ => {}
        }
    }

    /// Removes the elements that may be invalid after a statement, or that their keys may no longer name.
    fn kill(&self, stmt: &Stmt, valid: &mut Valid) {
        if valid.is_empty() {
            return;
        }
        let block = std::slice::from_ref(stmt).to_vec();
        let mentions = crate::analysis::mentions::Mentions::of_block(self.program, &block);
        let written = |var| {
            let storage = crate::analysis::mentions::Storage::Var(var);
            mentions.written.contains(&storage)
        };
        let mut changed = !mentions.tables.is_empty();
        visit::walk_block(&block, &mut |inner| {
            changed |= matches!(
                inner.kind,
                StmtKind::SetInvalid(_) | StmtKind::PopFront(..) | StmtKind::Extract { .. }
            );
        });
        valid.retain(|(_, key)| match key {
            Key::Const(_) => !changed,
            Key::Var(var, _) => !changed && !written(*var),
        });
    }
}

fn is_valid((stack, key): Element, valid: &Valid) -> bool {
    key.is_some_and(|key| valid.contains(&(stack, key)))
}

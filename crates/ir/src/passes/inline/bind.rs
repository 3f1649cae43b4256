//! Inlining of one call: some parameters are replaced by their arguments, the others are copied.

use super::body;
use crate::analysis::mentions::{Mentions, Storage, param_storage};
use crate::rewrite::{Leaves, Rewriter};
use crate::*;
use diag::Span;
use std::collections::{HashMap, HashSet};

/// Appends the inlined body of a call. The body contains no calls. `once` is true if the program has no other call of
/// the routine.
pub(super) fn call(
    program: &mut Program,
    routine: Routine,
    args: &[Arg],
    once: bool,
    span: Span,
    out: &mut Block,
) {
    let params = program.routines[routine].params.clone();
    let mut block = program.routines[routine].body.clone();
    let mut binding = bind(program, &block, &params, args, once);
    let mut glue = Glue {
        program,
        span,
        before: Vec::new(),
        after: Vec::new(),
    };
    glue.copies(&params, args, &binding);
    let Glue { before, after, .. } = glue;
    if !binding.is_empty() {
        let tables = Mentions::of_block(program, &block).tables;
        Rewriter::new(program, &mut binding).block(&mut block);
        if once {
            rewrite_tables(program, &tables, &mut binding);
        }
    }
    body::fresh_labels(program, &mut block);
    let block = body::returns(program, block, span);
    let block = body::before_exits(block, &after);
    out.extend(before);
    out.extend(block);
    out.extend(after);
}

/// Replaces parameters by arguments in the keys and actions of a routine's tables.
fn rewrite_tables(program: &mut Program, tables: &HashSet<Table>, binding: &mut Binding) {
    let mut actions = HashSet::new();
    for &table in tables {
        for i in 0..program.tables[table].keys.len() {
            let expr = program.tables[table].keys[i].expr;
            program.tables[table].keys[i].expr = Rewriter::new(program, &mut *binding).expr(expr);
        }
        actions.extend(program.tables[table].actions.iter().map(|a| a.action));
    }
    for action in actions {
        let mut block = std::mem::take(&mut program.actions[action].body);
        Rewriter::new(program, &mut *binding).block(&mut block);
        program.actions[action].body = block;
    }
}

/// Replacements of parameters.
#[derive(Default)]
struct Binding {
    exprs: HashMap<Var, Expr>,
    vars: HashMap<Var, Var>,
    headers: HashMap<Header, Header>,
    stacks: HashMap<Stack, Stack>,
}

impl Binding {
    fn is_empty(&self) -> bool {
        self.exprs.is_empty() && self.vars.is_empty() && self.headers.is_empty()
    }

    fn binds(&self, param: Param) -> bool {
        match param_storage(param) {
            Storage::Var(v) => self.vars.contains_key(&v) || self.exprs.contains_key(&v),
            Storage::Header(h) => self.headers.contains_key(&h),
        }
    }

    /// Finds or creates the stack that replaces a stack with parameters among its elements.
    fn stack(&mut self, program: &mut Program, id: Stack) -> Stack {
        if let Some(&new) = self.stacks.get(&id) {
            return new;
        }
        let StackData {
            name, elems, next, ..
        } = program.stacks[id].clone();
        let elems: Vec<_> = elems
            .iter()
            .map(|h| *self.headers.get(h).unwrap_or(h))
            .collect();
        let next = *self.vars.get(&next).unwrap_or(&next);
        let found = program
            .stacks
            .iter()
            .find(|(_, s)| s.elems == elems && s.next == next)
            .map(|(id, _)| id);
        let new = found.unwrap_or_else(|| {
            program.stacks.push(StackData {
                name,
                elems,
                next,
                rolled: false,
            })
        });
        self.stacks.insert(id, new);
        new
    }
}

impl Leaves for &mut Binding {
    fn var(&mut self, program: &mut Program, var: Var) -> Option<Expr> {
        if let Some(&to) = self.vars.get(&var) {
            let expr = build::var(program, to, Span::NONE);
            self.exprs.insert(var, expr);
        }
        self.exprs.get(&var).copied()
    }

    fn header(&mut self, program: &mut Program, header: HeaderRef) -> HeaderRef {
        match header {
            HeaderRef::Header(h) => HeaderRef::Header(*self.headers.get(&h).unwrap_or(&h)),
            HeaderRef::Element(s, i) => HeaderRef::Element(Binding::stack(self, program, s), i),
        }
    }

    fn written(&mut self, var: Var) -> Var {
        *self.vars.get(&var).unwrap_or(&var)
    }

    fn stack(&mut self, program: &mut Program, stack: Stack) -> Stack {
        Binding::stack(self, program, stack)
    }
}

/// Selects the parameters that are replaced by their arguments.
fn bind(program: &Program, block: &Block, params: &[Param], args: &[Arg], once: bool) -> Binding {
    let inside = Mentions::of_block(program, block);
    // Storage mentioned by code that this copy of the body does not include.
    let mut outside = Mentions::default();
    if !once {
        for &table in &inside.tables {
            outside.add_table(program, table);
        }
    }
    for object in program.externs.values() {
        for &(_, routine) in &object.implementations {
            outside.add_block(program, &program.routines[routine].body);
        }
    }
    let roots: Vec<Mentions> = args.iter().map(|arg| roots(program, *arg)).collect();
    let is_next: HashSet<Var> = program.stacks.values().map(|s| s.next).collect();
    let mut binding = Binding::default();
    for (i, (&param, &arg)) in params.iter().zip(args).enumerate() {
        let storage = param_storage(param);
        if outside.contains(storage) {
            continue;
        }
        let changes = inside.written.contains(&storage)
            || matches!(param, Param::Out(_) | Param::HeaderOut(_));
        let others_mention = |root: Storage| {
            roots
                .iter()
                .enumerate()
                .any(|(j, r)| j != i && r.contains(root))
        };
        // A call's results are written at its end, in order.
        let is_result = !matches!(param, Param::In(_) | Param::HeaderIn(_));
        let free = |root: Storage| {
            let inside = if changes {
                inside.contains(root)
            } else {
                inside.written.contains(&root)
            };
            !inside && !((changes || is_result) && others_mention(root))
        };
        match (param, arg) {
            (Param::Out(p), Arg::Out(Some(Place::Var(a))))
            | (Param::InOut(p), Arg::InOut(Place::Var(a)))
                if free(Storage::Var(a)) =>
            {
                binding.vars.insert(p, a);
            }
            (
                Param::HeaderIn(p) | Param::HeaderOut(p) | Param::HeaderInOut(p),
                Arg::Header(Some(HeaderRef::Header(a))),
            ) if free(Storage::Header(a)) && !(changes && matches!(param, Param::HeaderIn(_))) => {
                binding.headers.insert(p, a);
            }
            (Param::In(p), Arg::In(expr)) if !changes => match program.exprs[expr].kind {
                ExprKind::Var(a) if free(Storage::Var(a)) => {
                    binding.vars.insert(p, a);
                }
                ExprKind::Field(HeaderRef::Header(a), _)
                    if free(Storage::Header(a)) && !is_next.contains(&p) =>
                {
                    binding.exprs.insert(p, expr);
                }
                ExprKind::Const(_) | ExprKind::Bool(_) | ExprKind::Member(_)
                    if !is_next.contains(&p) =>
                {
                    binding.exprs.insert(p, expr);
                }
                _ => {}
            },
            _ => {}
        }
    }
    binding
}

/// Returns the storage that an argument mentions.
fn roots(program: &Program, arg: Arg) -> Mentions {
    // This is independent of the called routine.
    let mut mentions = Mentions::default();
    let mut header = |h: HeaderRef| {
        crate::analysis::mentions::each(program, h, |s| {
            mentions.read.insert(s);
        });
        if let Some(index) = visit::header_index(h) {
            mentions.add_expr(program, index);
        }
    };
    match arg {
        Arg::In(expr) => mentions.add_expr(program, expr),
        Arg::Out(Some(place)) | Arg::InOut(place) => match place {
            Place::Field(h, _) => header(h),
            Place::Var(var) => {
                mentions.read.insert(Storage::Var(var));
            }
        },
        Arg::Header(Some(h)) => header(h),
        Arg::Out(None) | Arg::Header(None) => {}
    }
    mentions
}

/// Statements before and after an inlined body.
struct Glue<'a> {
    program: &'a mut Program,
    span: Span,
    before: Block,
    after: Block,
}

impl Glue<'_> {
    fn copies(&mut self, params: &[Param], args: &[Arg], binding: &Binding) {
        // All arguments are evaluated before a parameter is written. One that reads a parameter is saved in a new
        // variable.
        let own: HashSet<Storage> = params.iter().map(|&p| param_storage(p)).collect();
        let mut late = Vec::new();
        for (&param, &arg) in params.iter().zip(args) {
            let roots = roots(self.program, arg);
            let tangled = roots.read.iter().any(|s| own.contains(s));
            if binding.binds(param) {
                match (param, arg) {
                    (Param::Out(_), Arg::Out(Some(place))) => late.push(Late::Zero(place)),
                    (Param::HeaderOut(_), Arg::Header(Some(h))) => late.push(Late::Clear(h)),
                    _ => {}
                }
                continue;
            }
            match (param, arg) {
                (Param::In(p), Arg::In(expr)) => {
                    let value = if tangled { self.saved(expr) } else { expr };
                    late.push(Late::Set(Place::Var(p), value));
                }
                (Param::Out(p), Arg::Out(place)) => {
                    late.push(Late::Zero(Place::Var(p)));
                    if let Some(place) = place {
                        let place = self.fixed(place);
                        self.copy_out(place, p);
                    }
                }
                (Param::InOut(p), Arg::InOut(place)) => {
                    let place = self.fixed(place);
                    let mut value = build::place(self.program, place, self.span);
                    if tangled {
                        value = self.saved(value);
                    }
                    late.push(Late::Set(Place::Var(p), value));
                    self.copy_out(place, p);
                }
                (Param::HeaderIn(p), Arg::Header(Some(h))) => {
                    let h = self.fixed_header(h);
                    late.push(Late::Copy(p, self.saved_header(h, tangled)));
                }
                (Param::HeaderOut(p), Arg::Header(h)) => {
                    late.push(Late::Clear(HeaderRef::Header(p)));
                    if let Some(h) = h {
                        let h = self.fixed_header(h);
                        self.copy_header_out(h, p);
                    }
                }
                (Param::HeaderInOut(p), Arg::Header(Some(h))) => {
                    let h = self.fixed_header(h);
                    late.push(Late::Copy(p, self.saved_header(h, tangled)));
                    self.copy_header_out(h, p);
                }
                (Param::HeaderIn(p) | Param::HeaderInOut(p), Arg::Header(None)) => {
                    late.push(Late::Clear(HeaderRef::Header(p)));
                }
                // A verified program has no other combinations.
                _ => {}
            }
        }
        for step in late {
            match step {
                Late::Set(dst, value) => self.push(StmtKind::Assign { dst, value }),
                Late::Copy(p, src) => {
                    let dst = HeaderRef::Header(p);
                    self.push(StmtKind::CopyHeader { dst, src });
                }
                Late::Zero(place) => build::zero(self.program, place, self.span, &mut self.before),
                Late::Clear(header) => {
                    build::clear(self.program, header, self.span, &mut self.before)
                }
            }
        }
    }

    fn push(&mut self, kind: StmtKind) {
        let span = self.span;
        self.before.push(Stmt::new(kind, span));
    }

    fn fresh_var(&mut self, name: &str, ty: Type) -> Var {
        self.program.vars.push(VarData {
            name: name.into(),
            ty,
            span: self.span,
        })
    }

    /// Saves a value before the call.
    fn saved(&mut self, expr: Expr) -> Expr {
        let var = self.fresh_var("arg", self.program.ty(expr));
        let dst = Place::Var(var);
        self.push(StmtKind::Assign { dst, value: expr });
        build::var(self.program, var, self.span)
    }

    fn saved_header(&mut self, header: HeaderRef, tangled: bool) -> HeaderRef {
        let Some(ty) = self.program.header_type(header).filter(|_| tangled) else {
            return header;
        };
        let dst = HeaderRef::Header(self.fresh_header(ty));
        self.push(StmtKind::CopyHeader { dst, src: header });
        dst
    }

    fn fresh_header(&mut self, ty: HeaderType) -> Header {
        self.program.headers.push(HeaderData {
            name: "arg".into(),
            ty,
            span: self.span,
        })
    }

    /// Returns an l-value whose index cannot change during the call.
    fn fixed(&mut self, place: Place) -> Place {
        match place {
            Place::Var(_) => place,
            Place::Field(header, field) => Place::Field(self.fixed_header(header), field),
        }
    }

    fn fixed_header(&mut self, header: HeaderRef) -> HeaderRef {
        match header {
            HeaderRef::Element(stack, index) if eval::constant(self.program, index).is_none() => {
                HeaderRef::Element(stack, self.saved(index))
            }
            header => header,
        }
    }

    fn copy_out(&mut self, dst: Place, param: Var) {
        let value = build::var(self.program, param, self.span);
        let kind = StmtKind::Assign { dst, value };
        let span = self.span;
        self.after.push(Stmt::new(kind, span));
    }

    fn copy_header_out(&mut self, dst: HeaderRef, param: Header) {
        let src = HeaderRef::Header(param);
        let kind = StmtKind::CopyHeader { dst, src };
        let span = self.span;
        self.after.push(Stmt::new(kind, span));
    }
}

/// Step that follows the evaluation of all arguments.
enum Late {
    Set(Place, Expr),
    Copy(Header, HeaderRef),
    Zero(Place),
    Clear(HeaderRef),
}

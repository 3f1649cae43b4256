//! Instantiation: HIR to monomorphic IR.
//!
//! [`elaborate`] starts at `main`, evaluates constructor arguments, substitutes type parameters and
//! builds every instance that is reached, with its control-plane name. What P4 leaves nested or
//! implicit becomes flat and explicit on the way:
//!
//! - structs, tuples, unions and stacks are split ([`storage`]);
//! - calls, table applications and packet reads inside expressions are hoisted into statements in the
//!   language's order of evaluation, left to right ([`exprs`]);
//! - sub-parsers become part of their user's state graph ([`parser`]); sub-controls, functions and
//!   directly called actions become routines ([`calls`]);
//! - what the language leaves undefined is zero.
//!
//! The input is free of errors. The errors reported here are those that only instantiation can find, and programs
//! that the IR cannot hold.

mod apart;
mod args;
mod array;
mod assign;
mod body;
mod calls;
mod chains;
mod constant;
mod declared;
mod effects;
mod entries;
pub mod errors;
mod expansion;
mod exprs;
mod externs;
mod field_lists;
mod ids;
mod instances;
mod loops;
mod names;
mod operators;
mod packet;
mod parser;
mod pipeline;
mod stmts;
mod storage;
mod subparser;
mod table;
mod types;
mod value;

use body::Body;
use cranelift_entity::PrimaryMap;
use diag::{Diagnostic, Diagnostics, Span};
use instances::{ControlData, ControlInst, Env, InstRef, ParserData, ParserInst};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use storage::Storage;
use types::TypeShape;

/// Maximum number of statements, expressions, states and instances that a program may grow to. Instantiation can
/// double a program at each level; this limit ends it before memory is exhausted.
const MAX_SIZE: usize = 1_000_000;

/// Maximum depth to which calls, instances, statements, expressions and types may nest together.
const MAX_DEPTH: u32 = 400;

/// Turns a checked program into IR, with warnings.
///
/// Errors are E05xx (instantiation) and E06xx (architecture). Never panics for a module that the
/// checker made.
pub fn elaborate(module: &hir::Module) -> Result<(ir::Program, Diagnostics), Diagnostics> {
    let mut elab = Elab::new(module);
    // Failures are in the diagnostics.
    let _ = elab.pipeline();
    if !elab.diagnostics.has_errors()
        && let Some(cause) = expansion::too_large(&elab.program)
    {
        elab.diagnostics
            .push(errors::too_big_expanded(cause, expansion::MAX_EXPANDED));
    }
    if !elab.diagnostics.has_errors() {
        elab.diagnostics.append(arch::payload::check(&elab.program));
    }
    if elab.diagnostics.has_errors() {
        return Err(elab.diagnostics);
    }
    elab.program.number_stmts();
    Ok((elab.program, elab.diagnostics))
}

/// Marks an error that was already reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

/// The result of anything that may report an error.
pub(crate) type Result<T, E = Failed> = std::result::Result<T, E>;

/// The state of one elaboration.
pub(crate) struct Elab<'a> {
    /// Module to elaborate.
    module: &'a hir::Module,
    /// Program under construction.
    program: ir::Program,
    /// Diagnostics so far.
    diagnostics: Diagnostics,
    /// Meanings of names in the current scope.
    env: Env,
    /// The statements being built.
    body: Body,
    /// Instances of the top level.
    globals: HashMap<hir::InstanceId, InstRef>,
    /// Arrays of externs at the top level.
    global_arrays: HashMap<hir::InstanceId, Rc<[InstRef]>>,
    /// Value sets of the top level.
    shared_sets: HashMap<hir::ValueSetId, ir::ValueSet>,
    controls: PrimaryMap<ControlInst, ControlData>,
    parsers: PrimaryMap<ParserInst, ParserData>,
    /// Routines of functions, by function, type arguments and extern objects given.
    functions: HashMap<calls::FunctionKey, calls::RoutineInst>,
    /// Implementations of abstract methods.
    methods: HashMap<(ir::ExternInst, smol_str::SmolStr), calls::RoutineInst>,
    /// Actions that belong to a control.
    local_actions: HashSet<hir::ActionId>,
    /// Actions of the top level that tables use.
    global_actions: HashMap<hir::ActionId, ir::Action>,
    shapes: HashMap<hir::Ty, Rc<TypeShape>>,
    header_types: HashMap<hir::Ty, ir::HeaderType>,
    enums: HashMap<hir::EnumId, ir::Enum>,
    /// Layouts of headers whose only field is a scalar.
    boxes: HashMap<ir::Type, ir::HeaderType>,
    /// True if the elements of arrays lie apart in the storage being allocated.
    apart: bool,
    /// Value of the target of the compound assignment being built.
    target: Option<value::Value>,
    /// Stack that each header is an element of.
    stack_of: HashMap<ir::Header, ir::Stack>,
    /// Number of applications of each instance in the source.
    apply_sites: HashMap<hir::InstanceId, u32>,
    /// `out` parameters of the parser being spliced that are its user's own storage.
    shared_outs: Vec<hir::LocalId>,
    /// Storage of the architecture's slots.
    slots: HashMap<&'static str, Storage>,
    /// The owners of control-plane names.
    names: HashMap<(names::NamedKind, smol_str::SmolStr), Vec<Span>>,
    /// The owners of P4Runtime ids.
    ids: ids::Ids,
    /// Size of everything built, for [`MAX_SIZE`].
    size: usize,
    /// Depth of the recursion, for [`MAX_DEPTH`].
    depth: u32,
    /// True if [`MAX_SIZE`] or [`MAX_DEPTH`] was reported.
    exhausted: bool,
}

impl<'a> Elab<'a> {
    fn new(module: &'a hir::Module) -> Elab<'a> {
        let program = ir::Program {
            errors: module.errors.clone(),
            ..ir::Program::default()
        };
        Elab {
            module,
            program,
            diagnostics: Diagnostics::new(),
            env: Env::default(),
            body: Body::default(),
            globals: HashMap::new(),
            global_arrays: HashMap::new(),
            shared_sets: HashMap::new(),
            controls: PrimaryMap::new(),
            parsers: PrimaryMap::new(),
            functions: HashMap::new(),
            methods: HashMap::new(),
            local_actions: effects::local_actions(module),
            global_actions: HashMap::new(),
            shapes: HashMap::new(),
            header_types: HashMap::new(),
            enums: HashMap::new(),
            boxes: HashMap::new(),
            apart: false,
            target: None,
            stack_of: HashMap::new(),
            apply_sites: effects::apply_sites(module),
            shared_outs: Vec::new(),
            slots: HashMap::new(),
            names: HashMap::new(),
            ids: ids::Ids::default(),
            size: 0,
            depth: 0,
            exhausted: false,
        }
    }

    /// Reports an error.
    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Result<T> {
        // Code that several blocks share is visited for each of them.
        if !self.diagnostics.iter().any(|known| *known == diagnostic) {
            self.diagnostics.push(diagnostic);
        }
        Err(Failed)
    }

    /// Adds to the size of what is built; fails if it becomes too large.
    fn grow(&mut self, by: usize, span: Span) -> Result<()> {
        self.size += by;
        if self.size <= MAX_SIZE {
            return Ok(());
        }
        if !self.exhausted {
            self.exhausted = true;
            self.diagnostics.push(errors::too_big(span, MAX_SIZE));
        }
        Err(Failed)
    }

    /// Goes one level deeper; fails if that is too deep.
    fn deeper<R>(&mut self, span: Span, build: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.depth >= MAX_DEPTH {
            if !self.exhausted {
                self.exhausted = true;
                self.diagnostics.push(errors::too_deep(span, MAX_DEPTH));
            }
            return Err(Failed);
        }
        self.depth += 1;
        let built = build(self);
        self.depth -= 1;
        built
    }

    /// Returns the index of a member of `error`, which is added if the program does not declare it.
    fn error_member(&mut self, name: &str) -> u32 {
        let errors = &mut self.program.errors;
        let index = errors.iter().position(|e| e == name).unwrap_or_else(|| {
            errors.push(name.into());
            errors.len() - 1
        });
        index as u32
    }
}

//! The emitter: the current function, and the file that it is for.

use crate::entries::Entries;
use crate::errors;
use crate::function;
use crate::hints::{Event, Role};
use crate::locals::Locals;
use crate::names::Names;
use crate::parser::CursorAt;
use crate::plan::{Plan, header_facts::HeaderFacts};
use crate::region::Regions;
use crate::table::{LoweredSet, LoweredTable};
use crate::target::Target;
use cgen::tree::{BinOp, Block, Expr as C, Item, Member, Stmt};
use diag::{Diagnostic, Diagnostics, SourceMap};
use ir::{Expr, Header, Label, Program, StmtId, StmtKind, visit};
use smol_str::SmolStr;
use std::collections::{BTreeSet, HashMap};

/// A loop or block that can be left.
pub(crate) struct Labeled {
    pub end: SmolStr,
    /// Where a loop starts again.
    pub start: Option<SmolStr>,
    /// The parser's cursor moves inside, so that it is in its variables at the end (and at the start).
    pub moves_cursor: bool,
}

/// Where the current statements can jump to: labels of the program, the end of the block or action, and the
/// end of the control.
#[derive(Default)]
pub(crate) struct Scope {
    pub labels: HashMap<Label, Labeled>,
    /// Where `return` leads: the end of the current block or action.
    pub returns: Vec<SmolStr>,
    /// Where `exit` leads: the end of the current control.
    pub exit: Option<SmolStr>,
}

/// Loops in each other are a nest; the parser's states are another, with number 0.
#[derive(Default)]
pub(crate) struct Nests {
    /// How many there are.
    pub count: u32,
    /// Loops around the current statement, those of the parser's states aside.
    pub depth: u32,
}

/// What holds for the current statement only.
#[derive(Default)]
pub(crate) struct Moment {
    /// What was known before each assumption that holds for the current operand.
    pub assumed: Vec<HeaderFacts>,
    /// Arrays with values that were computed for it.
    pub computed: HashMap<Expr, C>,
}

/// A header's field.
type Field = (Header, u32);

/// Reads and writes of fields of headers that may not be there.
#[derive(Default)]
pub(crate) struct ConditionalAccess {
    pub reads: BTreeSet<Field>,
    pub writes: BTreeSet<Field>,
}

/// What is in the code that a target may have several forms of, or be reported by it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Contents {
    /// Loops of the program.
    pub loops: bool,
    /// Bounds of numbers, checked in front of their uses.
    pub bounds: bool,
    /// Searches in the packet (`onpath/search.h`).
    pub searches: bool,
    /// Headers whose bytes are copied by `packet_load_bytes` and `packet_store_bytes`.
    pub copied_bytes: bool,
    /// Field lists with varbits in memory (`onpath/gathered.h`).
    pub gathered: bool,
}

/// The file being written: what its functions share.
pub struct File<T: Target> {
    /// The names of the file.
    pub names: Names,
    /// Its structs and constant arrays, in the order of declaration.
    pub structs: Vec<Item>,
    /// Functions in C of the user's that are called, with their prototypes.
    pub prototypes: Vec<(SmolStr, Item)>,
    /// Functions of the program that stay functions.
    pub functions: Vec<function::Function>,
    /// What is in its functions.
    pub contents: Contents,
    /// What only the target knows of.
    pub own: T::File,
    pub(crate) tables: HashMap<ir::Table, LoweredTable<T>>,
    pub(crate) value_sets: HashMap<ir::ValueSet, LoweredSet<T>>,
}

impl<T: Target> Default for File<T> {
    fn default() -> File<T> {
        File {
            names: T::names(),
            structs: Vec::new(),
            prototypes: Vec::new(),
            functions: Vec::new(),
            contents: Contents::default(),
            own: T::File::default(),
            tables: HashMap::new(),
            value_sets: HashMap::new(),
        }
    }
}

impl<T: Target> Clone for File<T> {
    fn clone(&self) -> File<T> {
        File {
            names: self.names.clone(),
            structs: self.structs.clone(),
            prototypes: self.prototypes.clone(),
            functions: self.functions.clone(),
            contents: self.contents,
            own: self.own.clone(),
            tables: self.tables.clone(),
            value_sets: self.value_sets.clone(),
        }
    }
}

impl<T: Target> File<T> {
    /// Declares a struct.
    pub fn declare_struct(&mut self, name: &SmolStr, members: Vec<Member>) {
        self.structs.push(Item::Struct {
            name: name.clone(),
            members,
        });
    }
}

/// What the deparser, as far as it is emitted, asks of the function around it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Rebuilding {
    /// Bytes of memory for relocated headers.
    pub relocated_bytes: u32,
    /// The packet's size may change.
    pub resizes: bool,
}

/// The emitter of one function.
pub struct Gen<'a, T: Target> {
    /// The program.
    pub p: &'a Program,
    pub(crate) map: &'a SourceMap,
    /// What was decided about it before.
    pub plan: &'a Plan,
    /// The target, and what it knows of the current function.
    pub target: T,
    /// The file that the function is for.
    pub file: File<T>,
    /// The current statements.
    pub out: Block,
    /// The function's variables.
    pub locals: Locals,
    /// What is known about headers at this point.
    pub header_facts: HeaderFacts,
    /// The function's parameters besides the packet.
    pub taken: Vec<SmolStr>,
    /// What the deparser needs.
    pub rebuilding: Rebuilding,
    /// The application of a table whose action is emitted.
    pub(crate) site: Option<StmtId>,
    pub(crate) scope: Scope,
    pub(crate) nests: Nests,
    pub(crate) moment: Moment,
    pub(crate) conditional: ConditionalAccess,
    pub(crate) cursor: CursorAt,
    pub(crate) regions: Regions,
    pub(crate) entries: Entries,
    diags: Diagnostics,
}

impl<'a, T: Target> Gen<'a, T> {
    pub(crate) fn new(
        p: &'a Program,
        map: &'a SourceMap,
        plan: &'a Plan,
        target: T,
        mut file: File<T>,
    ) -> Gen<'a, T> {
        for body in visit::bodies(p) {
            visit::walk_block(body, &mut |s| {
                if let StmtKind::Extern(call) = &s.kind
                    && call.object.is_none()
                {
                    file.names.reserve(&call.name);
                }
            });
        }
        let entries = Entries::new(file.names.fresh("end"));
        Gen {
            p,
            map,
            plan,
            target,
            file,
            out: Vec::new(),
            locals: Locals::default(),
            header_facts: HeaderFacts::start(p),
            taken: Vec::new(),
            rebuilding: Rebuilding::default(),
            site: None,
            scope: Scope::default(),
            nests: Nests::default(),
            moment: Moment::default(),
            conditional: ConditionalAccess::default(),
            cursor: CursorAt::default(),
            regions: Regions::default(),
            entries,
            diags: Diagnostics::new(),
        }
    }

    /// What is known at the point that is emitted next; nothing if it is not reached.
    pub(crate) fn now_at(&mut self, facts: Option<&HeaderFacts>) {
        self.header_facts = match facts {
            Some(facts) => facts.clone(),
            None => HeaderFacts::unreached(self.p),
        };
    }

    /// Nothing follows here.
    pub(crate) fn end_path(&mut self) {
        self.now_at(None);
    }

    /// Adds a statement.
    pub fn push(&mut self, stmt: Stmt) {
        match &stmt {
            Stmt::Label(_) => self.regions.paths_meet(),
            Stmt::Assign(C::Ident(name), _) | Stmt::Update(_, C::Ident(name), _) => {
                self.regions.elements().assigned(name);
            }
            _ => {}
        }
        self.out.push(stmt);
    }

    /// What was computed for a statement is of no use for another.
    pub fn kill_computed(&mut self) {
        self.moment.computed.clear();
        self.target.next_statement();
    }

    /// Adds an assignment.
    pub fn set(&mut self, dst: C, value: C) {
        self.push(Stmt::Assign(dst, value));
    }

    /// What `f` emits, as a block of its own, which may not run.
    pub fn block(&mut self, f: impl FnOnce(&mut Self)) -> Block {
        let outer = std::mem::take(&mut self.out);
        let region = self.regions.before_block();
        f(self);
        let ends = !self.header_facts.dead;
        self.regions.after_block(region, ends);
        std::mem::replace(&mut self.out, outer)
    }

    /// Puts what `f` emits into braces.
    pub fn braces<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::take(&mut self.out);
        let result = f(self);
        let block = std::mem::replace(&mut self.out, outer);
        self.push(Stmt::Block(block));
        result
    }

    /// Refuses the program.
    pub fn refuse(&mut self, diagnostic: Diagnostic) {
        if !self.diags.iter().any(|d| *d == diagnostic) {
            self.diags.push(diagnostic);
        }
    }

    /// Why the program is refused, so far.
    pub fn refusals(&mut self) -> Diagnostics {
        std::mem::take(&mut self.diags)
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.diags.has_errors()
    }

    /// Rejects the packet where a condition holds.
    pub fn goto_reject(&mut self, cond: C) {
        self.goto_end(cond, "reject");
    }

    /// Where the packet, as far as it can be seen, is too short for its parser.
    pub(crate) fn goto_short(&mut self, cond: C) {
        let label = T::too_short(self);
        self.goto_end(cond, label);
    }

    fn goto_end(&mut self, cond: C, label: &str) {
        match cond.as_int() {
            Some(0) => {}
            Some(_) => {
                self.push(Stmt::Goto(label.into()));
                self.end_path();
            }
            None => self.push(Stmt::goto_if(cond, label)),
        }
    }

    /// Has the target add what it wants where something happens.
    pub fn on(&mut self, event: Event<'_>) {
        let added = self.target.on(event);
        self.out.extend(added);
    }

    /// 1, for a flag that something was found.
    pub(crate) fn flag(&self) -> C {
        self.target.see(Role::Flag, C::int(1))
    }

    /// Rejects the packet where a variable is greater than `most`, by a test in front of where the variable is used.
    pub(crate) fn at_most(&mut self, var: &C, most: u64) {
        self.on(Event::Computed(var));
        self.goto_reject(C::bin(BinOp::Gt, var.clone(), C::int(most)));
        self.file.contents.bounds = true;
        self.on(Event::Bounded(var));
    }

    /// Refuses what no pass should have left.
    pub fn not_lowered(&mut self, what: &str, at: diag::Span) {
        self.refuse(errors::not_lowered(self.target.name(), what, at));
    }
}

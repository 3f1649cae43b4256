//! The emitter of the current function, and the file that the function is for.

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
    /// Label at the start of a loop; `None` for a block.
    pub start: Option<SmolStr>,
    /// True if the parser's cursor moves inside. It is then in its variables at the end, and at the start of a
    /// loop.
    pub moves_cursor: bool,
}

/// Jump targets of the current statements: labels of the program, the end of the block or action, and the end of
/// the control.
#[derive(Default)]
pub(crate) struct Scope {
    pub labels: HashMap<Label, Labeled>,
    /// Targets of `return`, the innermost last: the end of the current block or action.
    pub returns: Vec<SmolStr>,
    /// Target of `exit`: the end of the current control.
    pub exit: Option<SmolStr>,
}

/// Nests of loops. A loop and the loops inside it are a nest; the loops of the parser's states are nest 0.
#[derive(Default)]
pub(crate) struct Nests {
    /// Number of nests.
    pub count: u32,
    /// Number of loops around the current statement, without those of the parser's states.
    pub depth: u32,
}

/// State that holds for the current statement only.
#[derive(Default)]
pub(crate) struct Moment {
    /// Facts before each assumption that holds for the current operand.
    pub assumed: Vec<HeaderFacts>,
    /// Arrays with values that were computed for the statement.
    pub computed: HashMap<Expr, C>,
}

/// A header's field.
type FieldRef = (Header, u32);

/// Reads and writes of fields of headers that may be absent.
#[derive(Default)]
pub(crate) struct ConditionalAccess {
    pub reads: BTreeSet<FieldRef>,
    pub writes: BTreeSet<FieldRef>,
}

/// Features of the code for which a target may have several variants, or which it reports.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Contents {
    /// True if the code has loops of the program.
    pub loops: bool,
    /// True if numbers are compared with bounds before their use.
    pub bounds: bool,
    /// True if the code searches in the packet (`onpath/search.h`).
    pub searches: bool,
    /// True if headers are copied by `packet_load_bytes` and `packet_store_bytes`.
    pub copied_bytes: bool,
    /// True if field lists with varbits are gathered in memory (`onpath/gathered.h`).
    pub gathered: bool,
}

/// The file being written: state that its functions share.
pub struct File<T: Target> {
    /// The names of the file.
    pub names: Names,
    /// Its structs and constant arrays, in order of declaration.
    pub structs: Vec<Item>,
    /// The user's C functions that are called, with their prototypes.
    pub prototypes: Vec<(SmolStr, Item)>,
    /// Functions of the program that stay functions.
    pub functions: Vec<function::Function>,
    /// Features of its functions.
    pub contents: Contents,
    /// State that only the target uses.
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

/// Requirements of the deparser, as far as it is emitted, on the function around it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Rebuilding {
    /// Bytes of memory for relocated headers.
    pub relocated_bytes: u32,
    /// True if the packet's size may change.
    pub resizes: bool,
}

/// The emitter of one function.
pub struct Gen<'a, T: Target> {
    /// The program.
    pub p: &'a Program,
    pub(crate) map: &'a SourceMap,
    /// Decisions about the program that were made before emission.
    pub plan: &'a Plan,
    /// The target, with its state for the current function.
    pub target: T,
    /// The file that the function is for.
    pub file: File<T>,
    /// The current statements.
    pub out: Block,
    /// The function's variables.
    pub locals: Locals,
    /// Facts about headers at this point.
    pub header_facts: HeaderFacts,
    /// The function's parameters besides the packet.
    pub taken: Vec<SmolStr>,
    /// Requirements of the deparser.
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

    /// Sets the facts at the point that is emitted next; `None` if it is not reached.
    pub(crate) fn now_at(&mut self, facts: Option<&HeaderFacts>) {
        self.header_facts = match facts {
            Some(facts) => facts.clone(),
            None => HeaderFacts::unreached(self.p),
        };
    }

    /// Ends the current path: nothing is reached after this point.
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

    /// Discards values that were computed for one statement, since they are not valid for the next.
    pub fn kill_computed(&mut self) {
        self.moment.computed.clear();
        self.target.next_statement();
    }

    /// Adds an assignment.
    pub fn set(&mut self, dst: C, value: C) {
        self.push(Stmt::Assign(dst, value));
    }

    /// Returns the code that `f` emits, as a block that may not run.
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

    /// Takes the diagnostics by which the program is refused so far.
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

    /// Ends parsing if a condition holds: the visible part of the packet is too short for its parser.
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

    /// Adds the target's statements for an event.
    pub fn on(&mut self, event: Event<'_>) {
        let added = self.target.on(event);
        self.out.extend(added);
    }

    /// The value 1, for a flag that something was found.
    pub(crate) fn flag(&self) -> C {
        self.target.see(Role::Flag, C::int(1))
    }

    /// Rejects the packet if a variable is greater than `most`, by a test before the variable's use.
    pub(crate) fn at_most(&mut self, var: &C, most: u64) {
        self.on(Event::Computed(var));
        self.goto_reject(C::bin(BinOp::Gt, var.clone(), C::int(most)));
        self.file.contents.bounds = true;
        self.on(Event::Bounded(var));
    }

    /// Refuses a construct that a pass should have removed.
    pub fn not_lowered(&mut self, what: &str, at: diag::Span) {
        self.refuse(errors::not_lowered(self.target.name(), what, at));
    }
}

//! State and building blocks for emitting the C functions that read a message: names, loops, failures and helpers.

use crate::document::Memory;
use crate::file::MessageTarget;
use crate::nested::Nesting;
use crate::scan::Scan;
use cgen::tree::{BinOp, Block, Expr as C, Item, Stmt, Type as CType};
use emit::Function;
use emit::names::Names;
use payload::{Asked, FieldId, LayoutId, Only, Schema, Site};
use smol_str::SmolStr;

/// Name of the parameter that points to the message's memory.
pub const MEMORY: &str = "m";
/// Name of the variable with the current offset.
pub const AT: &str = "at";
/// Name of the variable with the offset at which reading ends.
pub(crate) const END: &str = "end";
/// Label to which `may_goto` jumps if a loop exceeds the kernel's limit of iterations. No message gets there.
pub(crate) const ENDLESS: &str = "endless";

/// Attribute that the program asks for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Resolved name.
    pub asked: Asked,
    /// Location of its value in the message's memory.
    pub member: AttributeMember,
    /// True if the program does not ask for it: it is read only to detect conflicting lengths.
    pub is_hidden: bool,
}

/// Location of an attribute's value in a message's memory.
#[derive(Clone, Debug)]
pub enum AttributeMember {
    /// Member of its own.
    Own(SmolStr),
    /// Element of an array member, numbered from 1. Members of JSON and XML documents are stored there.
    Numbered(SmolStr, u32),
}

impl AttributeMember {
    /// Returns the expression for the value, given the message's memory.
    pub fn of(&self, memory: C) -> C {
        match self {
            AttributeMember::Own(name) => memory.arrow(name.clone()),
            AttributeMember::Numbered(array, number) => {
                memory.arrow(array.clone()).index(C::int((*number).into()))
            }
        }
    }
}

impl Wanted {
    /// Returns the attribute's number among the wanted members of documents. `None` if it is no such member.
    pub(crate) fn number(&self) -> Option<u32> {
        match self.member {
            AttributeMember::Own(_) => None,
            AttributeMember::Numbered(_, number) => Some(number),
        }
    }
}

/// Reaction of a function to a malformed message.
#[derive(Clone)]
pub(crate) enum Failing {
    /// Return the status.
    Return,
    /// Within joined parts (see `Extent::Joined`): end the parts here if there are any, else return the status.
    Joined {
        /// Condition that a part was found.
        parts: C,
        /// Label after the loop over the parts.
        done: SmolStr,
    },
    /// Return the status with the bit `MESSAGE_FAULT`, since the function otherwise returns an offset.
    Fault,
}

/// State while the functions for a message are emitted.
pub(crate) struct Writer<'s> {
    pub target: MessageTarget,
    pub schema: &'s Schema,
    pub wanted: &'s [Wanted],
    /// Name of the struct of the message's memory. It is the prefix of the functions' names.
    pub structure: SmolStr,
    /// Names that are taken in the file.
    pub file: &'s mut Names,
    /// Names that are taken in the current function.
    pub names: Names,
    pub out: Block,
    /// Constant arrays.
    pub tables: Vec<Item>,
    pub functions: Vec<Function>,
    pub scans: Vec<(Scan, SmolStr)>,
    /// Functions that scan with a table of byte classes, each with the name of its table.
    pub scan_tables: Vec<(SmolStr, SmolStr)>,
    pub helpers: Vec<(Helper, SmolStr)>,
    pub failing: Failing,
    /// True if a loop needs [`ENDLESS`].
    pub loops: bool,
    /// Members of the message's memory for loop counters. In memory, the verifier does not follow each value of a
    /// counter.
    pub counts: Vec<SmolStr>,
    /// Members that are arrays of numbers, with their sizes.
    pub stacks: Vec<(SmolStr, u32)>,
    /// Recursive layout that is being emitted.
    pub nesting: Option<Nesting>,
    /// Functions of recursive layouts, each with its layout and depth.
    pub nested: Vec<(LayoutId, usize, SmolStr)>,
    /// Names of all members of the message's memory.
    pub members: Names,
    /// Members for documents.
    pub memory: Memory,
    /// Functions that read documents, each with its field.
    pub documents: Vec<(LayoutId, FieldId, SmolStr)>,
    /// Field of the root layout after which reading may stop if all attributes were found.
    pub stop: Option<FieldId>,
    /// Member with the start of an unfinished instance that counts only as a whole. Values from this offset on do not
    /// count.
    pub incomplete: Option<SmolStr>,
    /// True while such an instance is being emitted.
    pub in_whole: bool,
    /// Reason why no functions can be generated for the schema.
    pub refused: Option<String>,
}

/// Helper function. Each message has its own copy, which takes the message's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Helper {
    /// Skips a DNS name.
    SkipName,
    /// Writes the text of a DNS name.
    NameText,
    /// Parses a number in decimal digits.
    Decimal,
    /// Moves bytes to a lower offset.
    Move,
    /// Compares the bytes at two offsets.
    Same,
}

impl<'s> Writer<'s> {
    pub(crate) fn new(
        target: MessageTarget,
        schema: &'s Schema,
        wanted: &'s [Wanted],
        (structure, members, memory): (&SmolStr, Names, Memory),
        file: &'s mut Names,
    ) -> Writer<'s> {
        Writer {
            target,
            schema,
            wanted,
            structure: structure.clone(),
            file,
            names: target.names(),
            out: Block::new(),
            tables: Vec::new(),
            functions: Vec::new(),
            scans: Vec::new(),
            scan_tables: Vec::new(),
            helpers: Vec::new(),
            failing: Failing::Return,
            loops: false,
            counts: Vec::new(),
            stacks: Vec::new(),
            nesting: None,
            nested: Vec::new(),
            members,
            memory,
            documents: Vec::new(),
            stop: None,
            incomplete: None,
            in_whole: false,
            refused: None,
        }
    }

    pub(crate) fn push(&mut self, stmt: Stmt) {
        self.out.push(stmt);
    }

    /// Returns the statements that `f` emits, as a block.
    pub(crate) fn block(&mut self, f: impl FnOnce(&mut Self)) -> Block {
        let outer = std::mem::take(&mut self.out);
        f(self);
        std::mem::replace(&mut self.out, outer)
    }

    /// Declares a variable of the current function.
    pub(crate) fn declare(&mut self, ty: CType, wish: &str, value: C) -> C {
        let name = self.names.fresh(wish);
        self.push(Stmt::decl(ty, name.clone(), value));
        C::Ident(name)
    }

    /// Emits an assignment of the current offset.
    pub(crate) fn go_to(&mut self, offset: C) {
        match offset {
            C::Binary(BinOp::Add, base, by) if *base == C::id(AT) => {
                self.push(Stmt::Update(BinOp::Add, C::id(AT), *by));
            }
            same if same == C::id(AT) => {}
            other => self.push(Stmt::Assign(C::id(AT), other)),
        }
    }

    /// Returns the code that handles a malformed message with this status.
    pub(crate) fn fail(&self, status: C) -> Block {
        let status = match self.failing {
            Failing::Fault => C::bin(BinOp::Or, C::id("MESSAGE_FAULT"), status),
            Failing::Return | Failing::Joined { .. } => status,
        };
        let failed = Stmt::Return(Some(status));
        match &self.failing {
            Failing::Return | Failing::Fault => vec![failed],
            Failing::Joined { parts, done } => {
                vec![Stmt::goto_if(parts.clone(), done.clone()), failed]
            }
        }
    }

    /// Emits the code of [`Writer::fail`] under a condition.
    pub(crate) fn fail_if(&mut self, cond: C, status: C) {
        let failed = self.fail(status);
        self.push(Stmt::If(cond, failed, Block::new()));
    }

    /// Emits a failure if an offset has the bit `MESSAGE_FAULT`. The other bits are the status.
    pub(crate) fn fail_if_fault(&mut self, offset: &C) {
        let fault = C::id("MESSAGE_FAULT");
        let is_fault = C::bin(BinOp::And, offset.clone(), fault.clone());
        let status = C::bin(BinOp::Xor, offset.clone(), fault);
        self.fail_if(is_fault, status);
    }

    /// Refuses the schema. The first reason is kept.
    pub(crate) fn refuse(&mut self, why: impl Into<String>) {
        self.refused.get_or_insert_with(|| why.into());
    }

    /// Emits a loop with a long body. Its iterations advance an offset, and leave the loop by `break`.
    pub(crate) fn repeat(&mut self, offset: &C, iteration: impl FnOnce(&mut Self)) {
        self.repeat_until(offset, iteration, may_go_on_afresh());
    }

    /// Emits a loop with a short body, which skips a few bytes in each iteration.
    pub(crate) fn pass(&mut self, offset: &C, iteration: impl FnOnce(&mut Self)) {
        self.repeat_until(offset, iteration, may_go_on());
    }

    fn repeat_until(&mut self, offset: &C, iteration: impl FnOnce(&mut Self), back: Stmt) {
        self.loops = true;
        let mut body = vec![Stmt::Hint {
            name: "forget_bounds".into(),
            on: offset.clone(),
        }];
        body.append(&mut self.block(iteration));
        body.push(back);
        self.push(Stmt::Loop(body));
    }

    /// Returns the name of a helper. Emits the helper on first use.
    pub(crate) fn helper(&mut self, helper: Helper) -> SmolStr {
        if let Some((_, name)) = self.helpers.iter().find(|(known, _)| *known == helper) {
            return name.clone();
        }
        let wish = match helper {
            Helper::SkipName => "skip_name",
            Helper::NameText => "name_text",
            Helper::Decimal => "decimal",
            Helper::Move => "move",
            Helper::Same => "same",
        };
        let name = self.file.fresh(&format!("{}_{wish}", self.structure));
        let memory = C::id(MEMORY);
        let bytes = memory.clone().arrow("bytes");
        let offset = |name: &str| (CType::U32, SmolStr::from(name));
        let parameters = match helper {
            Helper::SkipName | Helper::Decimal => vec![offset(AT), offset(END)],
            Helper::NameText => vec![offset(AT), offset("size")],
            Helper::Move => vec![offset("to"), offset("from"), offset("length")],
            Helper::Same => vec![offset("one"), offset("other"), offset("length")],
        };
        let mut args = vec![bytes, mask()];
        args.extend(parameters.iter().map(|(_, name)| C::Ident(name.clone())));
        let (result, failed) = match helper {
            Helper::Decimal => (CType::S64, C::id("MESSAGE_NO_NUMBER")),
            Helper::SkipName => (
                CType::U32,
                C::bin(BinOp::Or, C::id("MESSAGE_FAULT"), C::id("MESSAGE_OTHER")),
            ),
            _ => (CType::U32, C::int(0)),
        };
        match helper {
            Helper::NameText => args.push(memory.clone().arrow("text")),
            Helper::SkipName => {
                args.push(memory.clone().arrow("name_bytes").addr());
                args.push(memory.clone().arrow("pointed_to").addr());
            }
            Helper::Decimal | Helper::Move | Helper::Same => {}
        }
        let call = C::call(format!("message_{wish}"), args);
        let mut body = vec![Stmt::If(
            C::not(memory),
            vec![Stmt::Return(Some(failed))],
            Block::new(),
        )];
        match helper {
            // A function that the verifier checks separately returns a number.
            Helper::Move => body.extend([Stmt::Expr(call), Stmt::Return(Some(C::int(0)))]),
            _ => body.push(Stmt::Return(Some(call))),
        }
        self.function(&name, result, parameters, body);
        self.helpers.push((helper, name.clone()));
        name
    }

    /// Adds a function whose first parameter is the message's memory.
    pub(crate) fn function(
        &mut self,
        name: &SmolStr,
        result: CType,
        parameters: Vec<(CType, SmolStr)>,
        body: Block,
    ) {
        let memory = (
            CType::Struct(self.structure.clone()).ptr(),
            SmolStr::from(MEMORY),
        );
        self.functions.push(Function {
            linkage: self.target.linkage.into(),
            name: name.clone(),
            result,
            params: std::iter::once(memory).chain(parameters).collect(),
            body,
        });
    }

    /// Returns the wanted attributes that are values of a field. Each has its restriction to some instances.
    pub(crate) fn wanted_of(
        &self,
        layout: LayoutId,
        field: FieldId,
    ) -> Vec<(&'s Wanted, &'s Only)> {
        let sites = |wanted: &'s Wanted| wanted.asked.sites.iter().map(move |site| (wanted, site));
        let here = |site: &Site| (site.layout, site.field) == (layout, field);
        let all = self.wanted.iter().flat_map(sites);
        all.filter(|(_, site)| here(site))
            .map(|(wanted, site)| (wanted, &site.only))
            .collect()
    }

    /// Returns true if an attribute is wanted from the instance with a certain index.
    pub(crate) fn counts_instances(&self) -> bool {
        let mut sites = self.wanted.iter().flat_map(|wanted| &wanted.asked.sites);
        sites.any(|site| matches!(site.only, Only::Index(_)))
    }
}

/// Returns the back edge of a loop.
pub(crate) fn may_go_on() -> Stmt {
    back_edge("may_goto")
}

/// Returns the back edge of a loop with a long body.
fn may_go_on_afresh() -> Stmt {
    back_edge("may_goto_afresh")
}

fn back_edge(name: &str) -> Stmt {
    Stmt::MayJump {
        name: name.into(),
        args: Vec::new(),
        label: ENDLESS.into(),
    }
}

/// Returns an expression that is 1 if one of these attributes was not found, else 0. Only the offset of an absent
/// attribute has its highest bit set.
pub fn any_is_missing<'m>(members: impl Iterator<Item = &'m AttributeMember>) -> C {
    let starts = members.map(|member| member.of(C::id(MEMORY)).member("start"));
    let any = starts.reduce(|a, b| C::bin(BinOp::Or, a, b));
    C::bin(BinOp::Shr, any.unwrap_or(C::int(0)), C::int(31))
}

/// Returns the mask by which offsets stay within the message's memory.
pub(crate) fn mask() -> C {
    C::call("message_mask", vec![C::id(MEMORY)])
}

/// Returns the address of the byte at an offset.
pub(crate) fn here(offset: C) -> C {
    C::pure("message_at", vec![C::id(MEMORY), offset])
}

/// Returns the byte at an offset.
pub(crate) fn byte(offset: C) -> C {
    C::pure("load_be8", vec![here(offset)])
}

/// Returns the number of bytes from an offset to an end.
pub(crate) fn left(end: &C, offset: C) -> C {
    C::bin(BinOp::Sub, end.clone(), offset)
}

/// Returns the status `MESSAGE_…` with this name.
pub fn status(name: &str) -> C {
    C::id(format!("MESSAGE_{name}"))
}

//! The C variables of the generated function.

use crate::emitter::Gen;
use crate::plan::HeaderStorage;
use crate::target::Target;
use cgen::lower::limb_count;
use cgen::tree::{Expr as C, Type};
use ir::{Header, Var};
use smol_str::SmolStr;
use std::collections::HashMap;

/// What a C variable holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocalKind {
    /// A variable of the program.
    Var(Var),
    /// A field of a header that lives in variables.
    Field(Header, u32),
    /// A header's validity.
    Valid(Header),
    /// Whether a header was extracted, if that is not its validity.
    Extracted(Header),
    /// A header's first byte in the packet.
    Pointer(Header),
    /// The first byte after a header's varbit field.
    Rest(Header),
    /// Where a header begins in the packet, in bytes, in the parse record.
    Offset(Header),
    /// Whether a header's pointer was made from the parse record, and leads to its bytes.
    Found(Header),
    /// Where the parser's cursor is when a state begins that several paths lead to, in the parse record.
    Cursor,
    /// The packet's first bytes as they came in, where it is put together several times: fields of variable length are taken from
    /// there.
    Front,
    /// Where a header's varbit field lies in the packet as it came in, in bytes.
    VarbitAt(Header),
    /// How many bytes a header's varbit field has.
    VarbitLen(Header),
    /// Where a varbit variable's value lies.
    VarAt(Var),
    /// How many bytes it has.
    VarLen(Var),
    /// Whether an emit is to be done.
    Emitted(usize),
    /// What each element of a stack that stays rolled is, by the stack's number: see [`crate::plan::rolled`].
    Kinds(usize),
    /// Where each of its elements begins in the packet, in bytes.
    Offsets(usize),
    /// How many bytes each of its elements has.
    Lengths(usize),
    /// How often the loops of a nest went round, where the target has to count.
    Turns(u32),
    /// How often the loops went round that fill a stack that stays rolled, by the stack's number.
    TurnsOf(usize),
    /// Something of the emitter's own, by number.
    Own(u32),
}

/// Where a C variable may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// In the function only: where the packet's bytes are, and whether, or when a loop ends.
    Function,
    /// Anywhere.
    Anywhere,
    /// In memory, if the target has any: paths that meet leave it with many values.
    Memory,
    /// In memory, with all that a copy of the packet begins with: see [`crate::plan::state`].
    State,
}

/// The time for which a variable keeps its value. What maps hold outlives both: it stays as long as the program is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// As long as there is the packet, or the copy of it. It crosses the points of frames.
    Packet,
    /// Until the processor takes its next packet: variables of the function, scratch memory with the parse record, the memory that
    /// messages are read in.
    Run,
}

impl Home {
    /// The lifetime of a variable there.
    pub fn lifetime(self) -> Lifetime {
        match self {
            Home::State => Lifetime::Packet,
            Home::Function | Home::Anywhere | Home::Memory => Lifetime::Run,
        }
    }
}

/// A C variable.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: SmolStr,
    /// Its type.
    pub ty: Type,
    /// The first value; none for what is always written before it is read.
    pub init: Option<C>,
    /// Where it may be.
    pub home: Home,
}

impl Local {
    /// Bytes.
    pub fn size(&self) -> u32 {
        match &self.ty {
            Type::Array(_, n) => n * self.align(),
            _ => self.align(),
        }
    }

    /// What its address is a multiple of, in bytes: the size of the variable, or of an array's element.
    pub fn align(&self) -> u32 {
        let of = match &self.ty {
            Type::Array(of, _) => of,
            other => other,
        };
        match of {
            Type::U8 => 1,
            Type::U16 => 2,
            Type::U64 | Type::Ptr(_) => 8,
            _ => 4,
        }
    }
}

/// All C variables, in the order in which they came up.
#[derive(Default, Debug)]
pub struct Locals {
    /// The variables.
    pub list: Vec<Local>,
    by_kind: HashMap<LocalKind, usize>,
    own: u32,
}

impl Locals {
    /// The first variable that does not live as long as the packet, of those that cross a frame's point.
    pub(crate) fn lost(&self, crosses: impl Fn(LocalKind) -> bool) -> Option<&Local> {
        let mut lost: Vec<usize> = self
            .by_kind
            .iter()
            .filter(|&(&kind, &i)| {
                crosses(kind) && self.list[i].home.lifetime() != Lifetime::Packet
            })
            .map(|(_, &i)| i)
            .collect();
        lost.sort_unstable();
        lost.first().map(|&i| &self.list[i])
    }
}

fn byte_pointer() -> Type {
    Type::U8.ptr()
}

impl<T: Target> Gen<'_, T> {
    /// The C variable of a kind, made on first use.
    pub fn local(&mut self, kind: LocalKind) -> C {
        if let Some(&i) = self.locals.by_kind.get(&kind) {
            return C::Ident(self.locals.list[i].name.clone());
        }
        let header = |h: Header| self.p.headers[h].name.clone();
        let zero = Some(C::int(0));
        let (wish, ty, init) = match kind {
            LocalKind::Var(v) => {
                let data = &self.p.vars[v];
                let width = data.ty.width();
                let (ty, init) = sized(width);
                (data.name.to_string(), ty, Some(init))
            }
            LocalKind::Field(h, f) => {
                let layout = &self.p.header_types[self.p.headers[h].ty];
                let field = &layout.fields[f as usize];
                let (ty, init) = sized(field.ty.width());
                let header = header(h);
                let last = header.rsplit('.').next().unwrap_or(&header);
                (
                    format!("{last}_{}", field.name.replace('.', "_")),
                    ty,
                    Some(init),
                )
            }
            LocalKind::Valid(h) => (format!("{}_valid", last(&header(h))), Type::U32, zero),
            LocalKind::Extracted(h) => (format!("{}_there", last(&header(h))), Type::U32, zero),
            LocalKind::Pointer(h) => {
                let at = self.plan.fixed_at[h.as_u32() as usize].unwrap_or(0);
                let init = C::id("data").plus(at.into());
                (header(h).to_string(), byte_pointer(), Some(init))
            }
            LocalKind::Rest(h) => (
                format!("{}_rest", last(&header(h))),
                byte_pointer(),
                Some(C::id("data")),
            ),
            LocalKind::Offset(h) => (format!("{}_offset", last(&header(h))), Type::U32, None),
            LocalKind::Found(h) => (format!("{}_found", last(&header(h))), Type::U32, zero),
            LocalKind::Cursor => ("cursor".to_string(), Type::U32, None),
            LocalKind::Front => {
                let words = self.target.limits().kept_front / 8;
                ("front_bytes".to_string(), Type::U64.array(words), None)
            }
            LocalKind::VarbitAt(h) => (format!("{}_at", last(&header(h))), Type::U32, zero),
            LocalKind::VarbitLen(h) => (format!("{}_len", last(&header(h))), Type::U32, zero),
            LocalKind::VarAt(v) => (format!("{}_at", self.p.vars[v].name), Type::U32, zero),
            LocalKind::VarLen(v) => (format!("{}_len", self.p.vars[v].name), Type::U32, zero),
            LocalKind::Emitted(n) => (format!("emit_{n}"), Type::U32, zero),
            LocalKind::Kinds(n) => {
                let (name, size) = self.rolled_names(n);
                let ty = Type::U8.array(size);
                (format!("{name}_kinds"), ty, Some(C::Init(Vec::new())))
            }
            LocalKind::Offsets(n) => {
                let (name, size) = self.rolled_names(n);
                let ty = match self.target.limits().offset {
                    0..0x1_0000 => Type::U16,
                    _ => Type::U32,
                };
                (format!("{name}_offsets"), ty.array(size), None)
            }
            LocalKind::Lengths(n) => {
                let (name, size) = self.rolled_names(n);
                (format!("{name}_lengths"), Type::U16.array(size), None)
            }
            LocalKind::Turns(_) => ("turns".to_string(), Type::U64, zero),
            LocalKind::TurnsOf(n) => {
                let (name, _) = self.rolled_names(n);
                (format!("{name}_turns"), Type::U64, zero)
            }
            LocalKind::Own(n) => (format!("t{n}"), Type::U64, zero),
        };
        let home = self.home_of(kind);
        self.add_local(kind, &wish, ty, init, home)
    }

    /// The last part of a rolled stack's name, and its size.
    fn rolled_names(&self, stack: usize) -> (&str, u32) {
        let rolled = &self.plan.rolled.stacks[stack];
        (last(&rolled.name), rolled.size)
    }

    fn home_of(&self, kind: LocalKind) -> Home {
        let state = self.plan.state.as_ref();
        if let Some(home) = state.and_then(|state| state.home_of(kind)) {
            return home;
        }
        if let Some(record) = &self.plan.record {
            let extracted = |h: Header| {
                !self.plan.facts.headers[h.as_u32() as usize]
                    .sites
                    .is_empty()
            };
            return match kind {
                LocalKind::Valid(_)
                | LocalKind::Extracted(_)
                | LocalKind::Offset(_)
                | LocalKind::VarbitAt(_)
                | LocalKind::VarbitLen(_)
                | LocalKind::Kinds(_)
                | LocalKind::Offsets(_)
                | LocalKind::Lengths(_)
                | LocalKind::Front
                | LocalKind::Cursor => Home::Memory,
                LocalKind::Field(h, _) if extracted(h) => Home::Memory,
                LocalKind::Var(v) | LocalKind::VarAt(v) | LocalKind::VarLen(v)
                    if record.holds(v) =>
                {
                    Home::Memory
                }
                // Every turn of a loop over the elements has it in memory, unless turns are counted.
                LocalKind::Var(v) if self.plan.rolled.is_index(v) => {
                    match self.plan.forms.turn_limit {
                        None => Home::Memory,
                        Some(_) => Home::Anywhere,
                    }
                }
                LocalKind::Var(v) if self.plan.rolled.is_carried(v) => Home::Memory,
                LocalKind::Found(_) | LocalKind::Turns(_) | LocalKind::TurnsOf(_) => Home::Function,
                _ => Home::Anywhere,
            };
        }
        // Whether a pointer leads to bytes of the packet, and that a loop goes on.
        let followed = match kind {
            LocalKind::Extracted(_) | LocalKind::Turns(_) => true,
            LocalKind::Valid(h) => self.plan.storage(h) == HeaderStorage::Packet,
            _ => false,
        };
        if followed {
            Home::Function
        } else {
            Home::Anywhere
        }
    }

    fn add_local(
        &mut self,
        kind: LocalKind,
        wish: &str,
        ty: Type,
        init: Option<C>,
        home: Home,
    ) -> C {
        let name = match kind {
            LocalKind::Var(_) | LocalKind::Pointer(_) => self.file.names.fresh_path(wish),
            _ => self.file.names.fresh(wish),
        };
        self.locals.by_kind.insert(kind, self.locals.list.len());
        self.locals.list.push(Local {
            name: name.clone(),
            ty,
            init,
            home,
        });
        C::Ident(name)
    }

    /// A variable of the emitter's own.
    pub fn own_local(&mut self, wish: &str, ty: Type, init: Option<C>) -> C {
        self.locals.own += 1;
        self.add_local(
            LocalKind::Own(self.locals.own),
            wish,
            ty,
            init,
            Home::Anywhere,
        )
    }

    /// A variable of the emitter's own for what the deparser adds up: another sum for each combination of headers.
    pub(crate) fn summed_local(&mut self, wish: &str, init: Option<C>) -> C {
        if !self.in_record() {
            return self.pinned_local(wish, init);
        }
        self.locals.own += 1;
        let kind = LocalKind::Own(self.locals.own);
        self.add_local(kind, wish, Type::U32, init, Home::Memory)
    }

    /// A variable of the emitter's own that an offset into the packet or a length depends on.
    pub fn pinned_local(&mut self, wish: &str, init: Option<C>) -> C {
        self.function_local(wish, Type::U32, init)
    }

    /// The same of any type.
    pub(crate) fn function_local(&mut self, wish: &str, ty: Type, init: Option<C>) -> C {
        self.locals.own += 1;
        let kind = LocalKind::Own(self.locals.own);
        self.add_local(kind, wish, ty, init, Home::Function)
    }
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn sized(width: u32) -> (Type, C) {
    if width > 64 {
        (Type::U64.array(limb_count(width)), C::Init(Vec::new()))
    } else {
        (Type::register(width), C::int(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    #[test]
    fn what_lives_for_a_run_does_not_cross_a_point() {
        let [kept, lost] = [0, 1].map(|n| LocalKind::Var(Var::new(n)));
        let mut locals = Locals::default();
        for (kind, name, home) in [(kept, "kept", Home::State), (lost, "lost", Home::Memory)] {
            locals.by_kind.insert(kind, locals.list.len());
            locals.list.push(Local {
                name: name.into(),
                ty: Type::U32,
                init: None,
                home,
            });
        }
        assert!(locals.lost(|kind| kind == kept).is_none());
        let found = locals.lost(|_| true).map(|local| local.name.as_str());
        assert_eq!(found, Some("lost"));
    }
}

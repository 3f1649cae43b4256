//! The C variables of the generated function.

use crate::emitter::Gen;
use crate::plan::HeaderStorage;
use crate::target::Target;
use cgen::lower::limb_count;
use cgen::tree::{Expr as C, Type};
use ir::{Header, Var};
use smol_str::SmolStr;
use std::collections::HashMap;

/// Contents of a C variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocalKind {
    /// A variable of the program.
    Var(Var),
    /// A field of a header that lives in variables.
    Field(Header, u32),
    /// A header's validity.
    Valid(Header),
    /// Flag that a header was extracted, if that differs from its validity.
    Extracted(Header),
    /// A header's first byte in the packet.
    Pointer(Header),
    /// The first byte after a header's varbit field.
    Rest(Header),
    /// Offset of a header in the packet, in bytes, in the parse record.
    Offset(Header),
    /// Flag that a header's pointer was made from the parse record and leads to its bytes.
    Found(Header),
    /// Offset of the parser's cursor at the start of a state with several predecessors, in the parse record.
    Cursor,
    /// The packet's first bytes as they came in, if the packet is put together several times. Fields of variable
    /// length are copied from there.
    Front,
    /// Offset of a header's varbit field in the packet as it came in, in bytes.
    VarbitAt(Header),
    /// Length of a header's varbit field, in bytes.
    VarbitLen(Header),
    /// Offset of a varbit variable's value, in bytes.
    VarAt(Var),
    /// Length of a varbit variable's value, in bytes.
    VarLen(Var),
    /// Flag that an emit is to be done.
    Emitted(usize),
    /// Kind of each element of a rolled stack, by the stack's number: see [`crate::plan::rolled`].
    Kinds(usize),
    /// Offset of each element of a rolled stack in the packet, in bytes.
    Offsets(usize),
    /// Length of each element of a rolled stack, in bytes.
    Lengths(usize),
    /// Number of iterations in a nest of loops, if the target counts them.
    Iterations(u32),
    /// Number of iterations of the loops that fill a rolled stack, by the stack's number.
    IterationsOf(usize),
    /// A variable of the emitter's own, by number.
    Own(u32),
}

/// Storage of a C variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// A local of the function only: it decides where the packet's bytes are, whether they are there, or when a
    /// loop ends.
    Function,
    /// Any storage.
    Anywhere,
    /// Memory, if the target has any: paths that meet leave many different values in it.
    Memory,
    /// Memory, within the state that a copy of the packet begins with: see [`crate::plan::state`].
    State,
}

/// Period for which a variable keeps its value. The contents of maps outlive both: they stay as long as the program
/// is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// As long as the packet, or the copy of it, exists. Such a variable crosses the points of frames.
    Packet,
    /// Until the processor takes its next packet. This holds for variables of the function, scratch memory with the
    /// parse record, and the memory in which messages are read.
    Run,
}

impl Home {
    /// Returns the lifetime of a variable with this storage.
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
    /// Initial value; `None` if the variable is always written before it is read.
    pub init: Option<C>,
    /// Storage.
    pub home: Home,
}

impl Local {
    /// Returns the size in bytes.
    pub fn size(&self) -> u32 {
        match &self.ty {
            Type::Array(_, n) => n * self.align(),
            _ => self.align(),
        }
    }

    /// Returns the alignment in bytes: the size of the variable, or of an array's element.
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

/// All C variables, in order of first use.
#[derive(Default, Debug)]
pub struct Locals {
    /// The variables.
    pub list: Vec<Local>,
    by_kind: HashMap<LocalKind, usize>,
    own: u32,
}

impl Locals {
    /// Returns the first variable that crosses a frame's point but does not live as long as the packet.
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
    /// Returns the C variable of a kind, made on first use.
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
            LocalKind::Iterations(_) => ("turns".to_string(), Type::U64, zero),
            LocalKind::IterationsOf(n) => {
                let (name, _) = self.rolled_names(n);
                (format!("{name}_turns"), Type::U64, zero)
            }
            LocalKind::Own(n) => (format!("t{n}"), Type::U64, zero),
        };
        let home = self.home_of(kind);
        self.add_local(kind, &wish, ty, init, home)
    }

    /// Returns the last part of a rolled stack's name, and the stack's size.
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
                // Loops over the elements keep the index in memory, unless iterations are counted.
                LocalKind::Var(v) if self.plan.rolled.is_index(v) => {
                    match self.plan.forms.iteration_limit {
                        None => Home::Memory,
                        Some(_) => Home::Anywhere,
                    }
                }
                LocalKind::Var(v) if self.plan.rolled.is_carried(v) => Home::Memory,
                LocalKind::Found(_) | LocalKind::Iterations(_) | LocalKind::IterationsOf(_) => {
                    Home::Function
                }
                _ => Home::Anywhere,
            };
        }
        // Flags that a pointer leads to bytes of the packet, and counters that let a loop continue.
        let followed = match kind {
            LocalKind::Extracted(_) | LocalKind::Iterations(_) => true,
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

    /// Declares a variable of the emitter's own.
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

    /// Declares a variable of the emitter's own for a sum of the deparser, which differs for each combination of
    /// headers.
    pub(crate) fn summed_local(&mut self, wish: &str, init: Option<C>) -> C {
        if !self.in_record() {
            return self.pinned_local(wish, init);
        }
        self.locals.own += 1;
        let kind = LocalKind::Own(self.locals.own);
        self.add_local(kind, wish, Type::U32, init, Home::Memory)
    }

    /// Declares a variable of the emitter's own that an offset into the packet or a length depends on.
    pub fn pinned_local(&mut self, wish: &str, init: Option<C>) -> C {
        self.function_local(wish, Type::U32, init)
    }

    /// As [`Gen::pinned_local`], with any type.
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

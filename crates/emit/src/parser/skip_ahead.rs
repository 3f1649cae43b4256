//! Attributes that are skipped: one loop, in which each iteration finds the size in an array.

use super::CursorAt;
use crate::access::Bytes;
use crate::emitter::Gen;
use crate::hints::Event;
use crate::plan::facts;
use crate::sizes::{Hashed, LOW, Sizes};
use crate::target::Target;
use crate::values::Value;
use cgen::tree::{BinOp, Expr as C, Item, Stmt, Type};
use ir::{Place, SkipTable, Var};
use smol_str::SmolStr;

/// Arrays of a table, by their names.
enum Arrays {
    Dense {
        first: u64,
        sizes: SmolStr,
        /// Index of the last entry; `None` if no tag has a greater value.
        last: Option<u64>,
    },
    Hashed {
        hashed: Hashed,
        displacements: SmolStr,
        tags: SmolStr,
        sizes: SmolStr,
    },
}

impl<T: Target> Gen<'_, T> {
    pub(crate) fn skip_ahead(&mut self, table: &SkipTable, short: Var) {
        let arrays = self.size_arrays(table);
        self.store(Place::Var(short), Value::Scalar(C::int(0)));
        let [again, done] = ["next_attribute", "skipped"].map(|name| self.file.names.fresh(name));
        self.start_loop();
        self.push(Stmt::Label(again.clone()));
        self.follow_offset(true);
        self.enter_loop();
        let leave = |cond| Stmt::goto_if(cond, done.clone());
        let bytes = table.tag_end().div_ceil(8);
        let behind = |bytes: C| {
            let end = C::bin(BinOp::Add, C::id("cur"), bytes);
            C::bin(BinOp::Gt, end, C::id("data_end"))
        };
        self.push(leave(behind(C::int(bytes.into()))));
        let run = Bytes {
            base: C::id("cur"),
            len: bytes,
        };
        let tag = run.load(table.skip, table.width);
        self.braces(|g| {
            let size = g.file.names.fresh("size");
            g.size_of(&arrays, tag, &size, &done);
            let size = C::Ident(size);
            g.push(leave(C::not(size.clone())));
            let cut_short = g.block(|g| {
                g.store(Place::Var(short), Value::Scalar(C::int(1)));
                g.push(Stmt::Goto(done.clone()));
            });
            g.push(Stmt::If(behind(size.clone()), cut_short, Vec::new()));
            let next = C::bin(BinOp::Add, C::id("off"), size);
            g.set_offset(next);
        });
        self.file.contents.loops = true;
        self.back_edge("reject", &again);
        self.exit_loop();
        self.push(Stmt::Label(done));
        self.cursor = CursorAt::variable();
        self.passed(facts::CursorStep::Skip);
    }

    /// Declares the arrays of a table.
    fn size_arrays(&mut self, table: &SkipTable) -> Arrays {
        match Sizes::new(table) {
            Sizes::Dense { first, sizes } => {
                let last = sizes.len() as u64 - 1;
                let greatest = u64::MAX >> (64 - table.width);
                Arrays::Dense {
                    first,
                    last: (last < greatest).then_some(last),
                    sizes: self.numbers("sizes", sizes.into_iter().map(u64::from).collect()),
                }
            }
            Sizes::Hashed(hashed) => {
                let wide = |numbers: &[u32]| numbers.iter().map(|&n| n.into()).collect();
                Arrays::Hashed {
                    displacements: self.numbers("displacements", wide(&hashed.displacements)),
                    tags: self.numbers("tags", hashed.tags.clone()),
                    sizes: self.numbers("sizes", wide(&hashed.sizes)),
                    hashed,
                }
            }
        }
    }

    /// Declares a constant array of numbers.
    pub(super) fn numbers(&mut self, wish: &str, numbers: Vec<u64>) -> SmolStr {
        let of = match numbers.iter().copied().max().unwrap_or(0) {
            0..0x100 => Type::U8,
            0x100..0x1_0000 => Type::U16,
            0x1_0000..0x1_0000_0000 => Type::U32,
            _ => Type::U64,
        };
        let name = self.file.names.fresh(wish);
        let all = numbers.iter().map(|&number| (None, C::int(number)));
        self.file.structs.push(Item::Variable {
            ty: of.array(numbers.len() as u32),
            name: name.clone(),
            init: Some(C::Init(all.collect())),
            attribute: None,
            constant: true,
        });
        name
    }

    /// Declares `size`, with the bytes of an attribute with this tag; 0 if the tag is not in the table. Goes to
    /// `done` at once if the tag is beyond the last entry.
    fn size_of(&mut self, arrays: &Arrays, tag: C, size: &SmolStr, done: &SmolStr) {
        let at = |array: &SmolStr, place: C| C::Ident(array.clone()).index(place);
        match arrays {
            Arrays::Dense { first, sizes, last } => {
                let place = self.file.names.fresh("place");
                let tag = match first {
                    0 => tag,
                    _ => C::bin(BinOp::Sub, tag.cast(Type::U64), C::int(*first)),
                };
                self.push(Stmt::decl(Type::U64, place.clone(), tag));
                let place = C::Ident(place);
                if let Some(last) = last {
                    self.on(Event::Computed(&place));
                    let past = C::bin(BinOp::Gt, place.clone(), C::int(*last));
                    self.push(Stmt::goto_if(past, done.clone()));
                    self.file.contents.bounds = true;
                    self.on(Event::Bounded(&place));
                }
                self.push(Stmt::decl(Type::U32, size.clone(), at(sizes, place)));
            }
            Arrays::Hashed {
                hashed,
                displacements,
                tags,
                sizes,
            } => {
                let [own, hash, place] =
                    ["tag", "hash", "place"].map(|wish| self.file.names.fresh(wish));
                let [own_tag, hashed_tag, its_place] =
                    [&own, &hash, &place].map(|name| C::Ident(name.clone()));
                self.push(Stmt::decl(Type::U64, own, tag));
                let folded = match hashed.folds {
                    false => own_tag.clone(),
                    true => {
                        let high = C::bin(BinOp::Shr, own_tag.clone(), C::int(LOW.into()));
                        C::bin(BinOp::Xor, own_tag.clone(), high)
                    }
                };
                let product = C::bin(BinOp::Mul, folded, C::int(hashed.multiplier));
                self.push(Stmt::decl(Type::U64, hash, product));
                let shifted = |by: u32| C::bin(BinOp::Shr, hashed_tag.clone(), C::int(by.into()));
                let displacement = at(displacements, shifted(hashed.shift));
                let mixed = C::bin(BinOp::Xor, shifted(LOW), displacement);
                let masked = C::bin(BinOp::And, mixed, C::int(hashed.mask()));
                self.push(Stmt::decl(Type::U64, place, masked));
                let other = C::bin(BinOp::Ne, at(tags, its_place.clone()), own_tag);
                self.push(Stmt::goto_if(other, done.clone()));
                self.push(Stmt::decl(Type::U32, size.clone(), at(sizes, its_place)));
            }
        }
    }
}

//! Data-flow facts about variables at one program point.

use hir::*;
use std::rc::Rc;

/// Most parts of a type that are tracked.
const MAX_PARTS: usize = 2048;

/// Facts about one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Init {
    /// Written on every path to this point, or not tracked.
    Yes,
    /// Not written on some path to this point.
    No,
    /// A struct, part by part; missing parts are not tracked.
    Parts(Vec<Init>),
    /// A header, valid or not.
    Header(Validity),
}

/// Facts about a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Validity {
    Valid,
    Invalid,
    Unknown,
}

impl Init {
    /// Returns the facts about a variable of this type before anything is written to it.
    pub(super) fn fresh(module: &Module, ty: &Ty) -> Init {
        build(
            module,
            ty,
            &Init::No,
            Validity::Invalid,
            &mut MAX_PARTS.clone(),
        )
    }

    /// Returns the facts about a value of this type that was written, without any other knowledge.
    pub(super) fn unknown(module: &Module, ty: &Ty) -> Init {
        build(
            module,
            ty,
            &Init::Yes,
            Validity::Unknown,
            &mut MAX_PARTS.clone(),
        )
    }

    /// Joins the facts of two paths.
    pub(super) fn join(&self, other: &Init) -> Init {
        match (self, other) {
            (Init::Yes, Init::Yes) => Init::Yes,
            (Init::Parts(a), Init::Parts(b)) if a.len() == b.len() => {
                Init::Parts(a.iter().zip(b).map(|(a, b)| a.join(b)).collect())
            }
            (Init::Header(a), Init::Header(b)) if a == b => Init::Header(*a),
            (Init::Header(_), _) | (_, Init::Header(_)) => Init::Header(Validity::Unknown),
            _ => Init::No,
        }
    }

    /// Returns true if nothing in it was written, and something could have been.
    pub(super) fn is_unwritten(&self) -> bool {
        fn scan(init: &Init, unwritten: &mut bool, written: &mut bool) {
            match init {
                Init::Yes => *written = true,
                Init::No => *unwritten = true,
                Init::Parts(parts) => parts.iter().for_each(|p| scan(p, unwritten, written)),
                Init::Header(Validity::Invalid) => {}
                Init::Header(_) => *written = true,
            }
        }
        let (mut unwritten, mut written) = (false, false);
        scan(self, &mut unwritten, &mut written);
        unwritten && !written
    }

    /// Kills the facts about headers.
    pub(super) fn kill_headers(&mut self) {
        match self {
            Init::Parts(parts) => parts.iter_mut().for_each(Init::kill_headers),
            Init::Header(validity) => *validity = Validity::Unknown,
            Init::Yes | Init::No => {}
        }
    }

    /// Marks it as written.
    pub(super) fn written(&mut self) {
        match self {
            Init::Parts(parts) => parts.iter_mut().for_each(Init::written),
            Init::Header(validity) => *validity = Validity::Unknown,
            Init::Yes | Init::No => *self = Init::Yes,
        }
    }
}

fn build(module: &Module, ty: &Ty, scalar: &Init, header: Validity, budget: &mut usize) -> Init {
    if *budget == 0 {
        return Init::Yes;
    }
    *budget -= 1;
    match ty {
        Ty::Composite(id, args) => {
            let decl = &module.composites[*id];
            match decl.kind {
                CompositeKind::Header => Init::Header(header),
                CompositeKind::Union => Init::Yes,
                CompositeKind::Struct => {
                    let mut parts = Vec::new();
                    for field in &decl.fields {
                        // The last field stands for all that follow, so that copying a large struct takes no longer.
                        let is_last = *budget == 0;
                        let ty = crate::infer::subst(&field.ty, &decl.type_params, args);
                        parts.push(build(module, &ty, scalar, header, budget));
                        if is_last {
                            break;
                        }
                    }
                    Init::Parts(parts)
                }
            }
        }
        Ty::Stack(..) | Ty::Tuple(_) | Ty::Param(_) | Ty::Extern(..) => Init::Yes,
        _ => scalar.clone(),
    }
}

/// Number of variables in a block.
const BLOCK: usize = 32;

/// Facts about every variable; a variable without facts is not tracked. States share blocks of variables with equal
/// facts. At a join only the changed blocks are visited.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct InitFacts {
    blocks: Rc<Vec<Rc<Block>>>,
}

/// Facts about some variables with consecutive numbers.
type Block = [Option<Init>; BLOCK];

/// Returns the block that has a variable, and its index there.
fn place(id: LocalId) -> (usize, usize) {
    let number = id.as_u32() as usize;
    (number / BLOCK, number % BLOCK)
}

impl InitFacts {
    pub(super) fn get(&self, id: LocalId) -> Option<&Init> {
        let (block, at) = place(id);
        self.blocks.get(block)?[at].as_ref()
    }

    pub(super) fn get_mut(&mut self, id: LocalId) -> Option<&mut Init> {
        self.get(id)?;
        let (block, at) = place(id);
        Rc::make_mut(&mut Rc::make_mut(&mut self.blocks)[block])[at].as_mut()
    }

    pub(super) fn set(&mut self, id: LocalId, init: Init) {
        let (block, at) = place(id);
        let blocks = Rc::make_mut(&mut self.blocks);
        if blocks.len() <= block {
            let none = Rc::new([const { None }; BLOCK]);
            blocks.resize(block + 1, none);
        }
        Rc::make_mut(&mut blocks[block])[at] = Some(init);
    }

    /// Joins the facts of two paths; a variable of one path only is out of scope.
    pub(super) fn join(&self, other: &InitFacts) -> InitFacts {
        if Rc::ptr_eq(&self.blocks, &other.blocks) {
            return self.clone();
        }
        let both = self.blocks.iter().zip(other.blocks.iter());
        let joined = both.map(|(a, b)| match Rc::ptr_eq(a, b) {
            true => Rc::clone(a),
            false => Rc::new(std::array::from_fn(|i| {
                Some(a[i].as_ref()?.join(b[i].as_ref()?))
            })),
        });
        InitFacts {
            blocks: Rc::new(joined.collect()),
        }
    }

    /// Kills the facts about variables that were declared in the scope. Otherwise each state of a long parser loop
    /// would carry the facts about its own variables round the loop.
    pub(super) fn leave_scope(&mut self, before: &InitFacts) {
        if Rc::ptr_eq(&self.blocks, &before.blocks) {
            return;
        }
        let blocks = Rc::make_mut(&mut self.blocks);
        blocks.truncate(before.blocks.len());
        for (block, before) in blocks.iter_mut().zip(before.blocks.iter()) {
            if Rc::ptr_eq(block, before) {
                continue;
            }
            let own = |at: &usize| block[*at].is_some() && before[*at].is_none();
            let own: Vec<usize> = (0..BLOCK).filter(own).collect();
            if !own.is_empty() {
                let block = Rc::make_mut(block);
                own.into_iter().for_each(|at| block[at] = None);
            }
            if block == before {
                *block = Rc::clone(before);
            }
        }
    }

    /// Returns the facts about an l-value: a variable, or a field of one.
    pub(super) fn lookup(&self, expr: &Expr) -> Option<&Init> {
        match &expr.kind {
            ExprKind::Local(id) => self.get(*id),
            ExprKind::Field(base, i) => match self.lookup(base)? {
                Init::Parts(parts) => parts.get(*i as usize),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the facts about an l-value, for changes.
    pub(super) fn lookup_mut(&mut self, expr: &Expr) -> Option<&mut Init> {
        match &expr.kind {
            ExprKind::Local(id) => self.get_mut(*id),
            ExprKind::Field(base, i) => match self.lookup_mut(base)? {
                Init::Parts(parts) => parts.get_mut(*i as usize),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Joins two states; either may be missing.
pub(super) fn join(a: Option<InitFacts>, b: Option<InitFacts>) -> Option<InitFacts> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.join(&b)),
        (one, None) | (None, one) => one,
    }
}

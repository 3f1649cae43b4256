//! What is known about headers at a point of the program: valid or not, extracted or not.

use ir::analysis::dataflow::Domain;
pub use ir::analysis::known::Known;
use ir::analysis::known::{Knowledge, Members};
use ir::{BinaryOp, Expr, ExprKind, Header, HeaderRef, Program, Stmt, StmtKind, UnaryOp, visit};

/// What is known at a point. `valid` is P4's validity; `extracted` means that the header was extracted, so
/// that its pointer leads to its bytes even if it was made invalid since. Points share what they know alike: a copy
/// takes memory only for what changes in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderFacts {
    /// The point cannot be reached.
    pub dead: bool,
    valid: Knowledge,
    extracted: Knowledge,
}

impl HeaderFacts {
    /// At the start nothing is valid.
    pub fn start(program: &Program) -> HeaderFacts {
        let none = Knowledge::new(program.headers.len(), Known::No);
        HeaderFacts {
            dead: false,
            valid: none.clone(),
            extracted: none,
        }
    }

    /// A point of which nothing is known.
    pub fn unknown(program: &Program) -> HeaderFacts {
        let any = Knowledge::new(program.headers.len(), Known::Maybe);
        HeaderFacts {
            dead: false,
            valid: any.clone(),
            extracted: any,
        }
    }

    /// A point that nothing has reached yet.
    pub fn unreached(program: &Program) -> HeaderFacts {
        HeaderFacts {
            dead: true,
            ..HeaderFacts::start(program)
        }
    }

    /// Whether a header is valid.
    pub fn valid(&self, h: Header) -> Known {
        self.valid.get(index(h))
    }

    /// Whether a header has been extracted.
    pub fn extracted(&self, h: Header) -> Known {
        self.extracted.get(index(h))
    }

    /// Sets a header's validity.
    pub fn set_valid(&mut self, h: Header, known: Known) {
        self.valid.set(index(h), known);
    }

    /// A header was extracted.
    pub fn extract(&mut self, h: Header) {
        self.set_valid(h, Known::Yes);
        self.extracted.set(index(h), Known::Yes);
    }

    /// How a condition turns out, if its tests of validity decide that.
    pub fn decide(&self, program: &Program, cond: Expr) -> Option<bool> {
        match program.exprs[cond].kind {
            ExprKind::Bool(value) => Some(value),
            ExprKind::IsValid(HeaderRef::Header(h)) => match self.valid(h) {
                Known::No => Some(false),
                Known::Yes => Some(true),
                Known::Maybe => None,
            },
            ExprKind::Unary(UnaryOp::Not, inner) => self.decide(program, inner).map(|is| !is),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let settles = op == BinaryOp::Or;
                match (self.decide(program, a), self.decide(program, b)) {
                    (Some(a), _) | (_, Some(a)) if a == settles => Some(settles),
                    (Some(a), Some(b)) => Some(if settles { a || b } else { a && b }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What is known once `cond` has turned out as `truth`.
    pub fn refine(&mut self, program: &Program, cond: Expr, truth: bool) {
        match program.exprs[cond].kind {
            ExprKind::IsValid(HeaderRef::Header(h)) => {
                self.set_valid(h, if truth { Known::Yes } else { Known::No });
            }
            ExprKind::Unary(UnaryOp::Not, inner) => self.refine(program, inner, !truth),
            ExprKind::Binary(BinaryOp::And, a, b) if truth => {
                self.refine(program, a, true);
                self.refine(program, b, true);
            }
            ExprKind::Binary(BinaryOp::Or, a, b) if !truth => {
                self.refine(program, a, false);
                self.refine(program, b, false);
            }
            _ => {}
        }
    }

    /// After `refine`, a header that is only ever made valid by extraction is in the packet if it is valid.
    pub fn valid_means_extracted(&mut self, only_extracted: &Members) {
        self.extracted.hold_where(&self.valid, only_extracted);
    }

    /// Follows a statement that has no blocks.
    pub fn step(&mut self, program: &Program, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Extract {
                header: HeaderRef::Header(h),
                ..
            } => self.extract(*h),
            StmtKind::SetValid(HeaderRef::Header(h)) => self.set_valid(*h, Known::Yes),
            StmtKind::SetInvalid(HeaderRef::Header(h)) => self.set_valid(*h, Known::No),
            StmtKind::CopyHeader {
                dst: HeaderRef::Header(d),
                src: HeaderRef::Header(s),
            } => {
                let known = self.valid(*s);
                self.set_valid(*d, known);
            }
            _ => self.kill(program, std::slice::from_ref(stmt)),
        }
    }

    /// Kills what the statements, run any number of times in any order, may change.
    pub fn kill(&mut self, program: &Program, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::Apply { table, .. } = &stmt.kind {
                for action in &program.tables[*table].actions {
                    self.kill(program, &program.actions[action.action].body);
                }
            }
            visit::accesses(program, &stmt.kind, |access| {
                let (header, extracts) = match access {
                    // Elements that are still in a stack that stays rolled are not copied: others have their indices.
                    visit::Access::WriteHeader(h) => (
                        h,
                        matches!(stmt.kind, StmtKind::Extract { .. } | StmtKind::PopFront(..)),
                    ),
                    visit::Access::SetValidity(h, _) => (h, false),
                    _ => return,
                };
                for h in instances(program, header) {
                    self.set_valid(h, Known::Maybe);
                    if extracts {
                        self.extracted.set(index(h), Known::Maybe);
                    }
                }
            });
            for block in visit::blocks(&stmt.kind) {
                self.kill(program, block);
            }
        }
    }
}

impl Domain for HeaderFacts {
    fn join(&mut self, other: &HeaderFacts) -> bool {
        if other.dead {
            return false;
        }
        if self.dead {
            *self = other.clone();
            return true;
        }
        // Both change.
        self.valid.join(&other.valid) | self.extracted.join(&other.extracted)
    }
}

/// The headers that a reference may mean.
pub fn instances(program: &Program, header: HeaderRef) -> Vec<Header> {
    match header {
        HeaderRef::Header(h) => vec![h],
        HeaderRef::Element(stack, _) => program.stacks[stack].elems.clone(),
    }
}

fn index(h: Header) -> usize {
    h.as_u32() as usize
}

//! Facts about headers at a point of the program: validity and extraction.

use ir::analysis::dataflow::Domain;
pub use ir::analysis::known::Known;
use ir::analysis::known::{Knowledge, Members};
use ir::{BinaryOp, Expr, ExprKind, Header, HeaderRef, Program, Stmt, StmtKind, UnaryOp, visit};

/// Facts at a point. `valid` is P4's validity; `extracted` means that the header was extracted, so that its pointer
/// leads to its bytes even if it was made invalid since. Points share equal facts: a copy takes memory only for
/// those that change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderFacts {
    /// True if the point cannot be reached.
    pub dead: bool,
    valid: Knowledge,
    extracted: Knowledge,
}

impl HeaderFacts {
    /// Returns the facts at the start: no header is valid.
    pub fn start(program: &Program) -> HeaderFacts {
        let none = Knowledge::new(program.headers.len(), Known::No);
        HeaderFacts {
            dead: false,
            valid: none.clone(),
            extracted: none,
        }
    }

    /// Returns the facts at a point of which nothing is known.
    pub fn unknown(program: &Program) -> HeaderFacts {
        let any = Knowledge::new(program.headers.len(), Known::Maybe);
        HeaderFacts {
            dead: false,
            valid: any.clone(),
            extracted: any,
        }
    }

    /// Returns the facts at a point that nothing has reached yet.
    pub fn unreached(program: &Program) -> HeaderFacts {
        HeaderFacts {
            dead: true,
            ..HeaderFacts::start(program)
        }
    }

    /// Returns what is known about a header's validity.
    pub fn valid(&self, h: Header) -> Known {
        self.valid.get(index(h))
    }

    /// Returns what is known about a header's extraction.
    pub fn extracted(&self, h: Header) -> Known {
        self.extracted.get(index(h))
    }

    /// Sets what is known about a header's validity.
    pub fn set_valid(&mut self, h: Header, known: Known) {
        self.valid.set(index(h), known);
    }

    /// Records that a header was extracted.
    pub fn extract(&mut self, h: Header) {
        self.set_valid(h, Known::Yes);
        self.extracted.set(index(h), Known::Yes);
    }

    /// Returns the value of a condition, if its tests of validity decide it.
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

    /// Refines the facts by the outcome `truth` of `cond`.
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

    /// Marks valid headers as extracted, if only extraction makes them valid. Called after `refine`.
    pub fn valid_means_extracted(&mut self, only_extracted: &Members) {
        self.extracted.hold_where(&self.valid, only_extracted);
    }

    /// Applies the transfer function of a statement without blocks.
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

    /// Kills the facts that the statements, run any number of times in any order, may change.
    pub fn kill(&mut self, program: &Program, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::Apply { table, .. } = &stmt.kind {
                for action in &program.tables[*table].actions {
                    self.kill(program, &program.actions[action.action].body);
                }
            }
            visit::accesses(program, &stmt.kind, |access| {
                let (header, extracts) = match access {
                    // In a rolled stack, a pop does not copy the elements that remain: their indices change.
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
        // No short-circuit: both must be joined.
        self.valid.join(&other.valid) | self.extracted.join(&other.extracted)
    }
}

/// Returns the headers that a reference may mean.
pub fn instances(program: &Program, header: HeaderRef) -> Vec<Header> {
    match header {
        HeaderRef::Header(h) => vec![h],
        HeaderRef::Element(stack, _) => program.stacks[stack].elems.clone(),
    }
}

fn index(h: Header) -> usize {
    h.as_u32() as usize
}

//! Position of the parser's cursor at each statement.

use cranelift_entity::SecondaryMap;
use ir::analysis::dataflow::{self, After, Domain, Forward};
use ir::{Block, ExprKind, Label, Parser, Program, State, Stmt, StmtId, StmtKind, visit};

/// Position of the parser's cursor, in bytes from the packet's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cursor {
    /// A constant position.
    Const(u32),
    /// A position that depends on the packet; the program keeps it in a variable.
    Variable,
}

impl Cursor {
    /// Returns the cursor after some bytes.
    pub fn plus(self, bytes: u32) -> Cursor {
        match self {
            Cursor::Const(at) => Cursor::Const(at + bytes),
            Cursor::Variable => Cursor::Variable,
        }
    }

    /// Joins two cursors.
    pub fn or(self, other: Cursor) -> Cursor {
        if self == other {
            self
        } else {
            Cursor::Variable
        }
    }
}

impl Domain for Cursor {
    fn join(&mut self, other: &Cursor) -> bool {
        let joined = self.or(*other);
        let changed = joined != *self;
        *self = joined;
        changed
    }
}

/// Cursor at each point of a parser that is reached.
#[derive(Clone, Debug, Default)]
pub struct Cursors {
    states: SecondaryMap<State, Option<Cursor>>,
    stmts: SecondaryMap<StmtId, Option<Cursor>>,
}

impl Cursors {
    /// Computes the cursor at each point, beginning at the packet's start.
    pub fn new(program: &Program, parser: Parser) -> Cursors {
        let mut following = Following {
            program,
            found: Cursors::default(),
        };
        dataflow::forward_parser(program, &mut following, parser, Cursor::Const(0));
        following.found
    }

    /// Returns the cursor at the start of a state; `None` if it is not reached.
    pub fn at_state(&self, state: State) -> Option<Cursor> {
        self.states[state]
    }

    /// Returns the cursor before a statement; `None` if it is not reached.
    pub fn before(&self, stmt: &Stmt) -> Option<Cursor> {
        self.stmts[stmt.id]
    }
}

struct Following<'a> {
    program: &'a Program,
    found: Cursors,
}

impl Forward for Following<'_> {
    type Fact = Cursor;

    fn state_begins(&mut self, _: Parser, state: State, at: &Cursor) {
        self.found.states[state] = Some(*at);
    }

    fn before(&mut self, stmt: &Stmt, at: &Cursor) {
        dataflow::join(&mut self.found.stmts[stmt.id], Some(*at));
    }

    fn loop_head(&mut self, _: Label, body: &Block, at: Cursor) -> Cursor {
        if moves(self.program, body) {
            Cursor::Variable
        } else {
            at
        }
    }

    fn paths_met(&mut self, stmt: &Stmt, at: &mut Cursor) {
        // The emitted code keeps the cursor in a variable after such statements, whatever its value.
        let anywhere = !matches!(stmt.kind, StmtKind::If { .. })
            && visit::blocks(&stmt.kind)
                .into_iter()
                .any(|block| moves(self.program, block));
        if anywhere {
            *at = Cursor::Variable;
        }
    }

    fn transfer(&mut self, stmt: &Stmt, at: Cursor) -> After<Cursor> {
        After::next(match &stmt.kind {
            StmtKind::Extract {
                varbit: Some(_), ..
            } => Cursor::Variable,
            StmtKind::Extract { header, .. } => at.plus(header_bytes(self.program, *header)),
            StmtKind::Advance(by) => match const_bits(self.program, *by) {
                Some(bits) if bits % 8 == 0 => at.plus(bits / 8),
                _ => Cursor::Variable,
            },
            StmtKind::SkipAhead { .. } | StmtKind::Search { .. } | StmtKind::Automaton { .. } => {
                Cursor::Variable
            }
            _ => at,
        })
    }
}

/// Returns true if a block moves the cursor.
pub fn moves(program: &Program, block: &[Stmt]) -> bool {
    let mut any = false;
    visit::walk_block(block, &mut |stmt| {
        any |= match &stmt.kind {
            StmtKind::Extract { .. }
            | StmtKind::SkipAhead { .. }
            | StmtKind::Search { .. }
            | StmtKind::Automaton { .. } => true,
            StmtKind::Advance(by) => const_bits(program, *by) != Some(0),
            _ => false,
        };
    });
    any
}

/// Returns the bytes of a header's fixed part.
pub fn header_bytes(program: &Program, header: ir::HeaderRef) -> u32 {
    program
        .header_layout(header)
        .map_or(0, |l| l.fixed_width() / 8)
}

/// Returns the value of a constant that is small enough for a packet.
pub fn const_bits(program: &Program, e: ir::Expr) -> Option<u32> {
    match &program.exprs[e].kind {
        ExprKind::Const(bits) => bits
            .to_u64()
            .and_then(|v| u32::try_from(v).ok())
            .filter(|v| *v < 1 << 19),
        _ => None,
    }
}

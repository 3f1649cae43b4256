//! Where the parser's cursor is at each statement of the parser.

use cranelift_entity::SecondaryMap;
use ir::analysis::dataflow::{self, After, Domain, Forward};
use ir::{Block, ExprKind, Label, Parser, Program, State, Stmt, StmtId, StmtKind, visit};

/// Where the parser's cursor is, in bytes from the packet's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cursor {
    /// Always there.
    Const(u32),
    /// It depends on the packet; the program keeps it in a variable.
    Variable,
}

impl Cursor {
    /// The cursor after some bytes.
    pub fn plus(self, bytes: u32) -> Cursor {
        match self {
            Cursor::Const(at) => Cursor::Const(at + bytes),
            Cursor::Variable => Cursor::Variable,
        }
    }

    /// The cursor when either may be.
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

/// Where the cursor is at each point of a parser that is reached.
#[derive(Clone, Debug, Default)]
pub struct Cursors {
    states: SecondaryMap<State, Option<Cursor>>,
    stmts: SecondaryMap<StmtId, Option<Cursor>>,
}

impl Cursors {
    /// Follows the cursor from the packet's start.
    pub fn new(program: &Program, parser: Parser) -> Cursors {
        let mut following = Following {
            program,
            found: Cursors::default(),
        };
        dataflow::forward_parser(program, &mut following, parser, Cursor::Const(0));
        following.found
    }

    /// Where a state begins; nothing if it is not reached.
    pub fn at_state(&self, state: State) -> Option<Cursor> {
        self.states[state]
    }

    /// Before a statement; nothing if it is not reached.
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
        // The emitted code keeps the cursor in a variable after them, whatever its value.
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

/// Whether a block moves the cursor.
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

/// Bytes of a header's fixed part.
pub fn header_bytes(program: &Program, header: ir::HeaderRef) -> u32 {
    program
        .header_layout(header)
        .map_or(0, |l| l.fixed_width() / 8)
}

/// The value of a constant small enough for a packet.
pub fn const_bits(program: &Program, e: ir::Expr) -> Option<u32> {
    match &program.exprs[e].kind {
        ExprKind::Const(bits) => bits
            .to_u64()
            .and_then(|v| u32::try_from(v).ok())
            .filter(|v| *v < 1 << 19),
        _ => None,
    }
}

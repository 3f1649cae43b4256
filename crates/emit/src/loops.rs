//! Blocks that can be left, loops, and the jumps back in them. A packet that takes too many turns is rejected.

use crate::access::mask_to;
use crate::emitter::{Gen, Labeled};
use crate::hints::{Event, Role};
use crate::locals::LocalKind;
use crate::parser::CursorAt;
use crate::plan::HeaderStorage;
use crate::plan::cursor::moves;
use crate::plan::header_facts::Known;
use crate::target::Target;
use cgen::tree::{BinOp, Expr as C, Stmt};
use diag::Span;
use ir::{Label, Type, Var};

/// How many turns a loop takes.
enum Turns {
    /// As many as the packet has it take.
    Any,
    /// At most so many.
    Within(u32),
    /// At most so many, by a counter of its own.
    Counted(C, u32),
    /// At most as many as a stack, by its number, has elements: every turn adds one to it.
    Filling(usize),
}

impl<T: Target> Gen<'_, T> {
    pub(crate) fn labeled(&mut self, label: Label, body: &[ir::Stmt]) {
        let name = self.file.names.fresh("done");
        let moves_cursor = moves(self.p, body);
        self.scope.labels.insert(
            label,
            Labeled {
                end: name.clone(),
                start: None,
                moves_cursor,
            },
        );
        self.run(body);
        if moves_cursor && !self.header_facts.dead {
            self.cursor_to_variable();
        }
        self.end(label, name);
    }

    fn end(&mut self, label: Label, name: smol_str::SmolStr) {
        if let Some(target) = self.scope.labels.remove(&label)
            && target.moves_cursor
        {
            self.cursor = CursorAt::variable();
        }
        self.push(Stmt::Label(name));
    }

    pub(crate) fn repeat(&mut self, label: Label, body: &[ir::Stmt], span: Span) {
        let (start, end) = (
            self.file.names.fresh("again"),
            self.file.names.fresh("done"),
        );
        let moves_cursor = moves(self.p, body);
        self.scope.labels.insert(
            label,
            Labeled {
                end: end.clone(),
                start: Some(start.clone()),
                moves_cursor,
            },
        );
        if moves_cursor {
            self.start_loop();
        }
        self.hide(self.plan.carried.by_loop(label));
        self.push(Stmt::Label(start));
        if !self.plan.rolled.is_empty() {
            self.on(Event::TurnsMeet);
        }
        if moves_cursor {
            self.follow_offset(true);
        }
        self.enter_loop();
        self.run(body);
        if !self.header_facts.dead {
            self.line(span);
            self.start_again(label);
        }
        self.exit_loop();
        self.end(label, end);
    }

    /// Before a loop: what it carries from turn to turn may be any number.
    pub(crate) fn hide(&mut self, carried: &[Var]) {
        for &var in carried {
            if self.plan.rolled.is_index(var) || self.plan.rolled.is_carried(var) {
                // It is in memory.
                continue;
            }
            let value = self.local(LocalKind::Var(var));
            let hidden = self.target.see(Role::Varying, value.clone());
            if hidden == value {
                continue;
            }
            let hidden = match self.p.vars[var].ty {
                Type::Bits {
                    width,
                    signed: false,
                } => mask_to(hidden, width),
                _ => hidden,
            };
            self.set(value.clone(), hidden);
            if self.plan.forms.turn_limit.is_some() {
                // Else clang may put off hiding it until behind the loop.
                self.on(Event::Computed(&value));
            }
        }
    }

    /// The jump from a loop's end to its start.
    pub(crate) fn start_again(&mut self, label: Label) {
        if self
            .scope
            .labels
            .get(&label)
            .is_some_and(|t| t.moves_cursor)
        {
            self.cursor_to_variable();
        }
        if let Some(target) = self.scope.labels.get(&label)
            && let Some(start) = target.start.clone()
        {
            self.file.contents.loops = true;
            self.back_edge("reject", &start);
        }
    }

    /// A loop begins.
    pub fn enter_loop(&mut self) {
        if self.nests.depth == 0 {
            self.nests.count += 1;
        }
        self.nests.depth += 1;
    }

    /// It ends.
    pub fn exit_loop(&mut self) {
        self.nests.depth -= 1;
    }

    /// Whether what is written now is in a loop.
    pub fn is_in_loop(&self) -> bool {
        self.nests.depth > 0
    }

    /// The counter of turns for the current nest. Each nest has its own: what follows a loop would be checked once for each
    /// number of turns that it may have taken.
    fn turns(&mut self) -> C {
        let nest = match self.nests.depth {
            0 => 0,
            _ => self.nests.count,
        };
        self.local(LocalKind::Turns(nest))
    }

    /// A loop of the target's own begins, which other loops may lead to again: its turns are counted anew. What follows it would be checked
    /// once for each number of turns, else, where a path leads back to it.
    pub(crate) fn enter_loop_anew(&mut self) {
        self.enter_loop();
        if self.plan.forms.turn_limit.is_some() {
            let turns = self.turns();
            self.set(turns, C::int(0));
        }
    }

    /// Goes back to `start`, or to `end` if the loop has taken too long for the target. A loop of the program has the label
    /// `reject` there: the interpreter does not handle such a packet either. Functions have no loops.
    pub fn back_edge(&mut self, end: &str, start: &str) {
        self.keep_flags();
        self.count_turn(end, Turns::Any);
        self.push(Stmt::Goto(start.into()));
    }

    /// Goes back to `start` in a loop that never takes more turns than so many.
    pub(crate) fn back_edge_within(&mut self, most: u32, start: &str) {
        self.keep_flags();
        self.count_turn("reject", Turns::Within(most));
        self.push(Stmt::Goto(start.into()));
    }

    /// At a loop's end: which headers are valid holds on in the next turn.
    fn keep_flags(&mut self) {
        let flags: Vec<_> = self
            .p
            .headers
            .keys()
            .filter(|&h| {
                // Those in the parse record are not followed.
                !self.in_record()
                    && self.plan.storage(h) == HeaderStorage::Packet
                    && self.header_facts.extracted(h) == Known::Maybe
            })
            .collect();
        for h in flags {
            // A valid header is one that is there, so that either flag may lead to its bytes.
            let mut kinds = vec![LocalKind::Valid(h), self.presence_kind(h)];
            kinds.dedup();
            for kind in kinds {
                let flag = self.local(kind);
                self.on(Event::Carried(&flag));
            }
        }
    }

    /// Goes back to `start` in a loop whose turns have a counter of their own, set to 0 before it, and are never more than so many,
    /// however many turns other loops have taken.
    pub(crate) fn back_edge_counted(&mut self, turns: &C, most: u32, start: &str) {
        self.keep_flags();
        self.count_turn("reject", Turns::Counted(turns.clone(), most));
        self.push(Stmt::Goto(start.into()));
    }

    /// Goes back to the state `start` in a loop of which every turn adds an element to a stack that stays rolled.
    pub(crate) fn back_edge_filling(&mut self, stack: usize, start: &str) {
        self.count_turn("reject", Turns::Filling(stack));
        self.push(Stmt::Goto(start.into()));
    }

    /// In a loop of the target's own, where all its turns come by: goes to `end` if it has taken too long.
    pub fn turn(&mut self, end: &str) {
        self.file.contents.loops = true;
        self.count_turn(end, Turns::Any);
    }

    /// Leaves a loop that has taken too long for the target: more turns than it can follow, or than it ever takes.
    fn count_turn(&mut self, end: &str, counted: Turns) {
        match self.plan.forms.turn_limit {
            None => {
                let left = self.target.leave_loop(end);
                self.out.extend(left);
            }
            Some(limit) => {
                let (turns, limit) = match counted {
                    Turns::Filling(stack) => {
                        let most = self.plan.rolled.stacks[stack].turns;
                        (self.local(LocalKind::TurnsOf(stack)), most)
                    }
                    Turns::Counted(turns, most) => (turns, most.min(limit)),
                    Turns::Within(most) => (self.turns(), most.min(limit)),
                    Turns::Any => (self.turns(), limit),
                };
                self.push(Stmt::Expr(C::call("count_turn", vec![turns.clone()])));
                let over = C::bin(BinOp::Gt, turns, C::int(limit.into()));
                self.push(Stmt::goto_if(over, "reject"));
            }
        }
    }
}

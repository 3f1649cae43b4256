//! Blocks that can be left, loops, and their back edges. A packet that takes too many iterations is rejected.

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

/// Bound on the iterations of a loop.
enum Iterations {
    /// As many as the packet requires.
    Any,
    /// At most this number.
    Within(u32),
    /// At most this number, with a counter of its own.
    Counted(C, u32),
    /// At most the number of elements of a stack, given by its number: every iteration adds one.
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
            self.on(Event::IterationsMeet);
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

    /// Before a loop: hides the values of the variables that it carries from iteration to iteration, so that they
    /// may be any number.
    pub(crate) fn hide(&mut self, carried: &[Var]) {
        for &var in carried {
            if self.plan.rolled.is_index(var) || self.plan.rolled.is_carried(var) {
                // The variable is in memory.
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
            if self.plan.forms.iteration_limit.is_some() {
                // Otherwise clang may postpone this until after the loop.
                self.on(Event::Computed(&value));
            }
        }
    }

    /// Emits the jump from a loop's end to its start.
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

    /// Begins a loop.
    pub fn enter_loop(&mut self) {
        if self.nests.depth == 0 {
            self.nests.count += 1;
        }
        self.nests.depth += 1;
    }

    /// Ends a loop.
    pub fn exit_loop(&mut self) {
        self.nests.depth -= 1;
    }

    /// Returns true if the code being emitted is in a loop.
    pub fn is_in_loop(&self) -> bool {
        self.nests.depth > 0
    }

    /// Returns the counter of iterations for the current nest. Each nest has its own: with a common counter, the
    /// code after a loop would be checked once for each number of iterations that the loop may have taken.
    fn iterations(&mut self) -> C {
        let nest = match self.nests.depth {
            0 => 0,
            _ => self.nests.count,
        };
        self.local(LocalKind::Iterations(nest))
    }

    /// Begins a loop of the target's own that an outer loop may reach again; its iterations are counted from 0.
    /// Otherwise the code after it would be checked once for each number of iterations, if a path leads back to it.
    pub(crate) fn enter_loop_anew(&mut self) {
        self.enter_loop();
        if self.plan.forms.iteration_limit.is_some() {
            let iterations = self.iterations();
            self.set(iterations, C::int(0));
        }
    }

    /// Jumps back to `start`, or to `end` if the loop has run too long for the target. For a loop of the program,
    /// `end` is `reject`: the interpreter does not process such a packet either. Functions have no loops.
    pub fn back_edge(&mut self, end: &str, start: &str) {
        self.keep_flags();
        self.count_iteration(end, Iterations::Any);
        self.push(Stmt::Goto(start.into()));
    }

    /// Jumps back to `start` in a loop that never takes more than `most` iterations.
    pub(crate) fn back_edge_within(&mut self, most: u32, start: &str) {
        self.keep_flags();
        self.count_iteration("reject", Iterations::Within(most));
        self.push(Stmt::Goto(start.into()));
    }

    /// Reports, at a loop's end, the flags of headers that keep their meaning in the next iteration.
    fn keep_flags(&mut self) {
        let flags: Vec<_> = self
            .p
            .headers
            .keys()
            .filter(|&h| {
                // Flags in the parse record need no such report.
                !self.in_record()
                    && self.plan.storage(h) == HeaderStorage::Packet
                    && self.header_facts.extracted(h) == Known::Maybe
            })
            .collect();
        for h in flags {
            // A valid header is present, so code may reach its bytes by either flag.
            let mut kinds = vec![LocalKind::Valid(h), self.presence_kind(h)];
            kinds.dedup();
            for kind in kinds {
                let flag = self.local(kind);
                self.on(Event::Carried(&flag));
            }
        }
    }

    /// Jumps back to `start` in a loop with a counter of its own. The counter is set to 0 before the loop and never
    /// exceeds `most`, however many iterations other loops take.
    pub(crate) fn back_edge_counted(&mut self, iterations: &C, most: u32, start: &str) {
        self.keep_flags();
        self.count_iteration("reject", Iterations::Counted(iterations.clone(), most));
        self.push(Stmt::Goto(start.into()));
    }

    /// Jumps back to the state `start` in a loop in which every iteration adds an element to a rolled stack.
    pub(crate) fn back_edge_filling(&mut self, stack: usize, start: &str) {
        self.count_iteration("reject", Iterations::Filling(stack));
        self.push(Stmt::Goto(start.into()));
    }

    /// Counts an iteration of a loop of the target's own, at a point that all its iterations pass. Goes to `end` if
    /// the loop has run too long.
    pub fn iteration(&mut self, end: &str) {
        self.file.contents.loops = true;
        self.count_iteration(end, Iterations::Any);
    }

    /// Leaves a loop that has run too long for the target: more iterations than the target can follow, or than the
    /// loop ever takes.
    fn count_iteration(&mut self, end: &str, counted: Iterations) {
        match self.plan.forms.iteration_limit {
            None => {
                let left = self.target.leave_loop(end);
                self.out.extend(left);
            }
            Some(limit) => {
                let (iterations, limit) = match counted {
                    Iterations::Filling(stack) => {
                        let most = self.plan.rolled.stacks[stack].iterations;
                        (self.local(LocalKind::IterationsOf(stack)), most)
                    }
                    Iterations::Counted(iterations, most) => (iterations, most.min(limit)),
                    Iterations::Within(most) => (self.iterations(), most.min(limit)),
                    Iterations::Any => (self.iterations(), limit),
                };
                self.push(Stmt::Expr(C::call("count_turn", vec![iterations.clone()])));
                let over = C::bin(BinOp::Gt, iterations, C::int(limit.into()));
                self.push(Stmt::goto_if(over, "reject"));
            }
        }
    }
}

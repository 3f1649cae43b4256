//! A stage's function: parser, controls, and the target's code for the result.

use crate::emitter::{File, Gen};
use crate::joined::Joined;
use crate::locals::{Home, Local, LocalKind};
use crate::plan::state::CopyState;
use crate::plan::{HeaderStorage, Plan};
use crate::snapshot;
use crate::target::Target;
use cgen::tree::{Block, Expr as C, Stmt, Type};
use diag::{Diagnostics, SourceMap};
use ir::{Header, Program, Routine};
use smol_str::SmolStr;
use std::collections::{BTreeSet, HashSet};

/// A function's statements, and the variables that they use and that must be declared.
pub struct Code {
    /// The variables, in the order in which they are to be declared.
    pub locals: Vec<Local>,
    /// Body of the function.
    pub body: Block,
}

/// Makes the function of a stage. The stage is planned again as long as header fields turn out to need variables.
///
/// # Errors
///
/// Diagnostics if the program uses what the target does not have.
pub fn stage<T: Target>(
    program: &Program,
    map: &SourceMap,
    joined: &Joined,
    target: &T,
    file: File<T>,
) -> Result<(T::Function, File<T>), Diagnostics> {
    let stage = &joined.stage;
    let copied = stage
        .deparser
        .and_then(|deparser| snapshot::of_emits(program, deparser));
    let program = copied.as_ref().unwrap_or(program);
    let mut forced: BTreeSet<Header> = BTreeSet::new();
    loop {
        let mut own = target.afresh();
        let plan = Plan::new(program, stage, &mut own, &forced)?;
        let mut g = Gen::new(program, map, &plan, own, file.clone());
        g.statements(joined);
        if g.is_refused() {
            return Err(g.refusals());
        }
        // A field that is written and read while its header may be absent must keep what was written.
        let before = forced.len();
        forced.extend(
            g.conditional
                .reads
                .intersection(&g.conditional.writes)
                .map(|(h, _)| *h),
        );
        if forced.len() == before {
            return g.finish();
        }
    }
}

impl<T: Target> Gen<'_, T> {
    /// Emits the statements of the stage.
    fn statements(&mut self, joined: &Joined) {
        T::enter(self);
        self.take(joined);
        self.parser();
        self.keep_front();
        self.unread_value_sets();
        let plan = self.plan;
        for (i, &control) in plan.controls.iter().enumerate() {
            let name = match i {
                0 => self.entries.control_end.clone(),
                _ => self.file.names.fresh("control_end"),
            };
            T::before_control(self, control);
            self.control(control, name);
            T::after_control(self, control);
        }
        self.now_at(self.plan.points.control_end.as_ref());
        self.end_of_stage(joined);
        self.push(Stmt::Label("reject".into()));
        T::reject(self);
    }

    /// Saves the packet's front, from which fields of variable length are copied, if the packet is put together
    /// several times.
    fn keep_front(&mut self) {
        if !self.plan.state.as_ref().is_some_and(CopyState::has_varbits) {
            return;
        }
        let length = self.pinned_local("front_len", None);
        self.set(length.clone(), C::id("keep"));
        let most = self.target.limits().kept_front;
        self.at_most(&length, most.into());
        self.file.contents.copied_bytes = true;
        let to = self.local(LocalKind::Front);
        let load = |len: C| {
            let args = vec![C::id("ctx"), C::int(0), to, len];
            vec![Stmt::goto_if(C::call("packet_load_bytes", args), "reject")]
        };
        let loaded = self.unless_empty(&length, most, load);
        self.out.extend(loaded);
    }

    /// Emits a control's statements.
    fn control(&mut self, routine: Routine, name: SmolStr) {
        self.scope.returns.push(name.clone());
        self.scope.exit = Some(name.clone());
        self.run(&self.p.routines[routine].body);
        self.scope.returns.pop();
        self.scope.exit = None;
        self.push(Stmt::Label(name));
    }

    /// Emits the deparser, and the rebuilding of the packet.
    pub fn deparse(&mut self) {
        if let Some(deparser) = self.plan.deparser {
            let name = self.file.names.fresh("deparsed");
            self.nothing_emitted();
            self.control(deparser, name);
            self.now_at(self.plan.points.deparser_end.as_ref());
        }
        self.rebuild();
    }

    /// Returns the variable of a slot's field; 0 if the program has none.
    pub fn slot(&mut self, slot: &str, name: &str) -> C {
        match self.p.slot_var(slot, name) {
            Some(v) => self.local(LocalKind::Var(v)),
            None => C::int(0),
        }
    }

    fn finish(mut self) -> Result<(T::Function, File<T>), Diagnostics> {
        if let Some(state) = &self.plan.state {
            let crosses = |kind| state.crosses(kind, &self.plan.rolled);
            let lost = self.locals.lost(crosses);
            debug_assert!(lost.is_none(), "a copy begins without {lost:?}");
        }
        let mut body = std::mem::take(&mut self.out);
        let mut names: HashSet<SmolStr> = self.locals.list.iter().map(|l| l.name.clone()).collect();
        let fixed = self.fixed_locals();
        names.extend(fixed.iter().map(|l| l.name.clone()));
        let used = cgen::tidy::tidy(&mut body, &names);
        let mut locals: Vec<Local> = fixed
            .into_iter()
            .chain(self.locals.list.iter().cloned())
            .filter(|l| used.contains(&l.name) || l.home == Home::State)
            .collect();
        let needs_data = locals
            .iter()
            .any(|l| matches!(&l.init, Some(e) if mentions_data(e)))
            || used.contains("data");
        if needs_data && !used.contains("data") {
            let [data, _] = self.packet_locals();
            locals.insert(0, data);
        }
        let function = T::function(&mut self, Code { locals, body })?;
        Ok((function, self.file))
    }

    /// Returns the variables for the packet's bounds.
    fn packet_locals(&self) -> [Local; 2] {
        let (start, end) = self.target.bounds();
        [("data", start), ("data_end", end)].map(|(name, init)| Local {
            name: name.into(),
            ty: Type::U8.ptr(),
            init: Some(init),
            home: Home::Function,
        })
    }

    /// Returns the variables that every function may have.
    fn fixed_locals(&self) -> Vec<Local> {
        let plain = |name: &str, ty: Type, init: C, home: Home| Local {
            name: name.into(),
            ty,
            init: Some(init),
            home,
        };
        let kept = match self.in_record() {
            true => Home::Memory,
            false => Home::Function,
        };
        let mut all = Vec::from(self.packet_locals());
        all.extend([
            plain("off", Type::U64, C::int(0), Home::Function),
            plain("cur", Type::U8.ptr(), C::id("data"), Home::Function),
            plain("keep", Type::U32, C::int(0), kept),
            plain("touched", Type::U32, C::int(0), kept),
        ]);
        all
    }

    /// Returns the rolled stacks of headers and of unions: name and number of elements.
    pub fn rolled_stacks(&self) -> Vec<(String, u32)> {
        let stacks = self.plan.rolled.stacks.iter();
        stacks
            .map(|stack| (stack.name.clone(), stack.size))
            .collect()
    }

    /// Returns the names of the headers that live in variables although they are read from the packet.
    pub fn copied_headers(&self) -> Vec<String> {
        self.p
            .headers
            .keys()
            .filter(|&h| self.plan.storage(h) == HeaderStorage::Fields)
            .map(|h| self.p.headers[h].name.to_string())
            .collect()
    }
}

/// Returns true if an expression depends on the packet's start.
fn mentions_data(e: &C) -> bool {
    match e {
        C::Ident(name) => name == "data",
        C::Binary(_, a, b) => mentions_data(a) || mentions_data(b),
        _ => false,
    }
}

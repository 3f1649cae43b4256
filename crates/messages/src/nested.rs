//! Recursive layouts, as a function of one loop. The message's memory has a stack: the number of elements left at each
//! level. The verifier checks the loop once. Inlined layouts would take one function for each combination of nested
//! layouts.

use crate::layout::{Frame, Slot, Window};
use crate::writer::{AT, END, ENDLESS, Failing, MEMORY, Writer, status};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use payload::{Contents, Extent, FieldId, LayoutId, Only, Order, Repeat};
use smol_str::SmolStr;

/// Recursive layout whose loop is being emitted.
pub(crate) struct Nesting {
    layout: LayoutId,
    /// Depth of the current instance, relative to the loop's first one.
    pub level: C,
    /// Condition that an instance begins in the next iteration.
    begins: C,
}

impl Writer<'_> {
    /// Returns the last field of a layout if it is what makes the layout recursive, and if nothing in it depends on the
    /// index of an instance.
    fn repeated_in_itself(&self, layout: LayoutId) -> Option<FieldId> {
        let schema = self.schema;
        let known = &schema.layouts[layout];
        let id = known.fields.len().checked_sub(1)?;
        let field = &known.fields[id];
        let Contents::Starts(cases) = &field.contents else {
            return None;
        };
        let is_plain = matches!(field.repeat, Repeat::Count(_))
            && field.extent == Extent::Contents
            && field.when.is_none()
            && self.wanted_of(layout, id).is_empty()
            && known.order != Order::Any
            && self.makes_progress(layout, id);
        let holds_itself = |inner: LayoutId| self.within(inner).contains(&layout);
        let is_case = cases.cases.iter().any(|(_, inner)| *inner == layout);
        let cases = cases
            .cases
            .iter()
            .map(|(_, inner)| *inner)
            .chain(cases.default);
        let is_else = cases.filter(|inner| *inner != layout).any(holds_itself);
        let before = known.fields[..id].iter().flat_map(crate::needs::inside);
        let is_before = before.into_iter().any(holds_itself);
        let within = self.within(layout);
        let sites = self.wanted.iter().flat_map(|wanted| &wanted.asked.sites);
        let mut counted = sites.filter(|site| matches!(site.only, Only::Index(_)));
        let is_counted = counted.any(|site| within.contains(&site.layout));
        let mut all = within
            .iter()
            .flat_map(|&inner| &schema.layouts[inner].fields);
        let is_joined = all.any(|field| matches!(field.extent, Extent::Joined { .. }));
        (is_plain && is_case && !(is_else || is_before || is_counted || is_joined)).then_some(id)
    }

    /// Reads an instance of a recursive layout; `false` if the layout is not recursive.
    pub(crate) fn nested(&mut self, layout: LayoutId, window: &Window) -> bool {
        if let Some(nesting) = &self.nesting {
            if nesting.layout != layout {
                return false;
            }
            let (level, begins) = (nesting.level.clone(), nesting.begins.clone());
            self.push(Stmt::Update(BinOp::Add, level, C::int(1)));
            self.push(Stmt::Assign(begins, C::int(1)));
            return true;
        }
        let Some(id) = self.repeated_in_itself(layout) else {
            return false;
        };
        let function = self.nested_function(layout, id, window.depth);
        let args = vec![C::id(MEMORY), C::id(AT), window.end.clone()];
        let next = self.declare(CType::U32, "next", C::call(function, args));
        self.fail_if_fault(&next);
        self.go_to(next);
        true
    }

    /// Returns the function that reads such an instance at a depth and returns the offset of its end; emits it on first
    /// use.
    fn nested_function(&mut self, layout: LayoutId, id: FieldId, depth: usize) -> SmolStr {
        let mut known = self.nested.iter();
        if let Some((.., name)) = known.find(|(l, d, _)| (*l, *d) == (layout, depth)) {
            return name.clone();
        }
        let wish = format!("{}_{}", self.structure, self.schema.layouts[layout].name);
        let name = self.file.fresh(&wish);
        let mut member = |wish: &str| {
            let name = self.members.fresh(wish);
            (name.clone(), C::id(MEMORY).arrow(name))
        };
        let ((level_name, level), (begins_name, begins)) = (member("level"), member("begins"));
        let (elements_name, elements) = member("elements");
        let levels = (self.schema.limits.depth + 1).next_power_of_two() as u32;
        self.counts.extend([level_name, begins_name]);
        self.stacks.push((elements_name, levels));

        let own_names = self.target.names();
        let outer_names = std::mem::replace(&mut self.names, own_names);
        for taken in [MEMORY, AT, END, ENDLESS] {
            self.names.reserve(taken);
        }
        let outer_failing = std::mem::replace(&mut self.failing, Failing::Fault);
        let outer_loops = std::mem::replace(&mut self.loops, false);
        self.nesting = Some(Nesting {
            layout,
            level: level.clone(),
            begins: begins.clone(),
        });
        let body = self.block(|w| {
            let failed = w.fail(status("OTHER"));
            w.push(Stmt::If(C::not(C::id(MEMORY)), failed, Block::new()));
            w.push(Stmt::Assign(level.clone(), C::int(0)));
            w.push(Stmt::Assign(begins.clone(), C::int(1)));
            let window = Window {
                end: C::id(END),
                depth,
            };
            let masked = C::bin(BinOp::And, level.clone(), C::int((levels - 1).into()));
            let elements = elements.index(masked);
            w.repeat(&C::id(AT), |w| {
                w.nested_iteration((layout, id), &window, &elements)
            });
            w.push(Stmt::Return(Some(C::id(AT))));
            w.push(Stmt::Label(ENDLESS.into()));
            let failed = w.fail(status("TOO_LONG"));
            w.out.extend(failed);
        });
        self.nesting = None;
        self.loops = outer_loops;
        self.failing = outer_failing;
        self.names = outer_names;
        let parameters = vec![(CType::U32, AT.into()), (CType::U32, END.into())];
        self.function(&name, CType::U32, parameters, body);
        self.nested.push((layout, depth, name.clone()));
        name
    }

    /// Emits an iteration of the loop: the beginning of an instance if there is one, then an element, or the end of an
    /// instance.
    fn nested_iteration(
        &mut self,
        (layout, id): (LayoutId, FieldId),
        window: &Window,
        elements: &C,
    ) {
        let Some(Nesting { level, begins, .. }) = &self.nesting else {
            return;
        };
        let (level, begins) = (level.clone(), begins.clone());
        let fields = &self.schema.layouts[layout].fields;
        let mut frame = Frame {
            layout,
            index: C::int(0),
            slots: vec![Slot::default(); fields.len()],
            bit: 0,
        };
        let beginning = self.block(|w| {
            w.push(Stmt::Assign(begins.clone(), C::int(0)));
            w.check_depth(window);
            for field in 0..id {
                w.declare_slot(&mut frame, field, None);
            }
            for field in 0..id {
                w.field(&mut frame, field, window);
            }
            if let Repeat::Count(sum) = &fields[id].repeat {
                let times = w.sum(&frame, sum);
                w.push(Stmt::Assign(elements.clone(), times));
            }
        });
        self.push(Stmt::If(begins, beginning, Block::new()));
        let none = C::bin(BinOp::Le, elements.clone(), C::int(0));
        let is_first = C::bin(BinOp::Eq, level.clone(), C::int(0));
        let ended = vec![
            Stmt::If(is_first, vec![Stmt::Break], Block::new()),
            Stmt::Update(BinOp::Sub, level, C::int(1)),
        ];
        let element = self.block(|w| {
            w.push(Stmt::Update(BinOp::Sub, elements.clone(), C::int(1)));
            w.instance(&mut frame, id, window, &C::int(0));
        });
        self.push(Stmt::If(none, ended, element));
    }

    /// Emits a failure for an instance that is nested too deep.
    pub(crate) fn check_depth(&mut self, window: &Window) {
        if let Some(nesting) = &self.nesting {
            let most = self.schema.limits.depth.saturating_sub(window.depth) as u64;
            let over = C::bin(BinOp::Gt, nesting.level.clone(), C::int(most));
            self.fail_if(over, status("TOO_DEEP"));
        }
    }
}

//! What of a field other fields and attributes need, and what can be left out.

use crate::writer::Writer;
use cgen::tree::Type as CType;
use payload::{CaseKey, Contents, Extent, Field, FieldId, LayoutId, Linear, Only, Order, Repeat};

/// What is kept of a field while its layout is read.
#[derive(Clone, Copy, Default)]
pub(crate) struct Needs {
    /// Its number.
    pub number: bool,
    /// The number has a sign, since sums are made of it.
    pub summed: bool,
    /// Where it starts and ends.
    pub span: bool,
    /// Whether it is there.
    pub presence: bool,
}

impl Needs {
    pub(crate) fn of(writer: &Writer, layout: LayoutId, id: FieldId) -> Needs {
        let schema = writer.schema;
        let known = &schema.layouts[layout];
        let mut needs = Needs::default();
        let uses = |sum: &Linear| sum.terms.iter().any(|(_, field)| *field == id);
        for field in &known.fields {
            let when = field.when.as_ref().is_some_and(|when| uses(&when.left));
            let length = matches!(&field.extent, Extent::Length(sum) if uses(sum));
            let count = matches!(&field.repeat, Repeat::Count(sum) if uses(sum));
            let chain = matches!(field.repeat, Repeat::Chain(first) if first == id);
            needs.summed |= when || length || count || chain;
            if let Contents::Select(by, cases) = &field.contents
                && *by == id
            {
                cases.cases.iter().for_each(|(key, _)| needs.compared(key));
            }
        }
        // The chains that the layout is an instance of.
        let name = &known.fields[id].name;
        needs.summed |= schema.layouts.iter().any(|around| {
            around.fields.iter().any(|field| match field.repeat {
                Repeat::Chain(first) => {
                    field.contents == Contents::Layout(layout) && around.fields[first].name == *name
                }
                _ => false,
            })
        });
        if known.key.is_some_and(|key| key.field == id) {
            for wanted in writer.wanted {
                for site in wanted.asked.sites.iter().filter(|s| s.layout == layout) {
                    if let Only::Key(key) = &site.only {
                        needs.compared(key);
                    }
                }
            }
        }
        needs.span |= schema.layouts.iter().any(|around| {
            let joins = |field: &Field| matches!(field.extent, Extent::Joined { layout: l, part } if (l, part) == (layout, id));
            around.fields.iter().any(joins)
        });
        needs.number |= needs.summed;
        needs
    }

    fn compared(&mut self, key: &CaseKey) {
        self.presence = true;
        match key {
            CaseKey::Number(_) => self.number = true,
            CaseKey::Bytes(_) => self.span = true,
        }
    }

    /// The type of the variable of its number.
    pub(crate) fn number_type(&self) -> CType {
        match self.summed {
            true => CType::S64,
            false => CType::U64,
        }
    }
}

impl Writer<'_> {
    /// Whether reading a layout can be left out: it never fails, and nothing in it is asked for. Of one whose depth is not known, it may be
    /// that it is too deep.
    pub(crate) fn is_idle(&self, layout: LayoutId, depth: usize) -> bool {
        self.nesting.is_none()
            && !self.is_wanted_within(layout)
            && !self.can_fail(layout, depth, &mut Vec::new())
    }

    /// True if an attribute is read of a layout, or of one inside it, also one that is hidden.
    pub(crate) fn is_wanted_within(&self, layout: LayoutId) -> bool {
        let mut sites = self.wanted.iter().flat_map(|wanted| &wanted.asked.sites);
        let within = self.within(layout);
        sites.any(|site| within.contains(&site.layout))
    }

    /// The last field of the root layout that has an attribute that is asked for, or has one inside it; `None` if nothing follows. Hidden ones do not
    /// count: whoever asks for no length does not care whether lengths agree that stand further back.
    pub(crate) fn last_wanted(&self) -> Option<FieldId> {
        let root = self.schema.root;
        let fields = &self.schema.layouts[root].fields;
        let asked = self.wanted.iter().filter(|wanted| !wanted.is_hidden);
        let sites: Vec<_> = asked.flat_map(|wanted| &wanted.asked.sites).collect();
        let has_one = |id: &FieldId| {
            let own = sites
                .iter()
                .any(|site| (site.layout, site.field) == (root, *id));
            let inside = inside(&fields[*id]).into_iter();
            let within: Vec<_> = inside.flat_map(|layout| self.within(layout)).collect();
            own || sites.iter().any(|site| within.contains(&site.layout))
        };
        let last = (0..fields.len()).rev().find(has_one)?;
        (last + 1 < fields.len()).then_some(last)
    }

    /// Whether a layout, or one inside it, has DNS names.
    pub(crate) fn reads_names(&self, layout: LayoutId) -> bool {
        let fields = |layout: LayoutId| self.schema.layouts[layout].fields.iter();
        let mut all = self.within(layout).into_iter().flat_map(fields);
        all.any(|field| field.extent == Extent::DnsName)
    }

    /// A layout and those inside it.
    pub(crate) fn within(&self, layout: LayoutId) -> Vec<LayoutId> {
        let mut found = vec![layout];
        let mut next = 0;
        while let Some(&layout) = found.get(next) {
            for field in &self.schema.layouts[layout].fields {
                for inner in inside(field) {
                    if !found.contains(&inner) {
                        found.push(inner);
                    }
                }
            }
            next += 1;
        }
        found
    }

    fn can_fail(&self, layout: LayoutId, depth: usize, around: &mut Vec<LayoutId>) -> bool {
        let known = &self.schema.layouts[layout];
        if depth > self.schema.limits.depth || around.contains(&layout) || known.order == Order::Any
        {
            return true;
        }
        around.push(layout);
        let fails = (0..known.fields.len()).any(|id| {
            let field = &known.fields[id];
            let end = match &field.extent {
                Extent::Until { or_end, .. } => !or_end,
                Extent::Rest | Extent::Contents => false,
                _ => true,
            };
            let repeat = match field.repeat {
                Repeat::Once | Repeat::Optional => false,
                Repeat::ToEnd => !self.makes_progress(layout, id),
                _ => true,
            };
            let contents = match &field.contents {
                Contents::Bytes => false,
                Contents::Layout(_) => false,
                Contents::Select(_, cases) => {
                    field.extent == Extent::Contents && cases.default.is_none()
                }
                Contents::Starts(cases) => {
                    field.extent == Extent::Contents && cases.default.is_none()
                }
                _ => true,
            };
            let own = !field.tag.is_empty()
                || !field.skip.is_empty()
                || field.chars.is_some()
                || field.min > 0
                || field.followed_by.is_some()
                || field.max.is_some();
            own || end
                || repeat
                || contents
                || inside(field)
                    .into_iter()
                    .any(|inner| self.can_fail(inner, depth + 1, around))
        });
        around.pop();
        fails
    }

    /// Whether an instance of a repetition certainly takes a byte, where there is one.
    pub(crate) fn makes_progress(&self, layout: LayoutId, id: FieldId) -> bool {
        let field = &self.schema.layouts[layout].fields[id];
        !field.tag.is_empty()
            || match &field.extent {
                Extent::Size(size) => *size > 0,
                Extent::Varint | Extent::DnsName => true,
                Extent::Until {
                    or_end, keep_end, ..
                } => !keep_end && (!or_end || field.repeat == Repeat::ToEnd),
                Extent::Rest => field.repeat == Repeat::ToEnd,
                Extent::Contents => match field.contents {
                    Contents::Layout(_) | Contents::Starts(_) => {
                        let mut all = inside(field).into_iter();
                        all.all(|inner| self.takes_a_byte(inner))
                    }
                    _ => false,
                },
                _ => false,
            }
    }

    /// Whether the first field of a layout certainly takes a byte.
    fn takes_a_byte(&self, layout: LayoutId) -> bool {
        let fields = &self.schema.layouts[layout].fields;
        fields.first().is_some_and(|first| {
            let stands = first.when.is_none() && first.repeat == Repeat::Once;
            let some = match &first.extent {
                Extent::Size(size) => *size > 0,
                Extent::Until {
                    or_end, keep_end, ..
                } => !or_end && !keep_end,
                Extent::Bits(bits) => *bits >= 8,
                Extent::Varint | Extent::DnsName => true,
                _ => false,
            };
            stands && (some || !first.tag.is_empty())
        })
    }
}

/// The layouts that a field may hold, or is joined of.
pub(crate) fn inside(field: &Field) -> Vec<LayoutId> {
    let mut found = match &field.contents {
        Contents::Layout(layout) => vec![*layout],
        Contents::Select(_, cases) => {
            let cased = cases.cases.iter().map(|(_, layout)| *layout);
            cased.chain(cases.default).collect()
        }
        Contents::Starts(cases) => {
            let cased = cases.cases.iter().map(|(_, layout)| *layout);
            cased.chain(cases.default).collect()
        }
        _ => Vec::new(),
    };
    if let Extent::Joined { layout, .. } = field.extent {
        found.push(layout);
    }
    found
}

//! Properties of a field that other fields and attributes need, and layouts that need not be read.

use crate::writer::Writer;
use cgen::tree::Type as CType;
use payload::{
    CaseKey, Contents, Extent, FieldId, LayoutId, Linear, MessageField, Only, Order, Repeat,
};

/// Properties of a field that are preserved while its layout is read.
#[derive(Clone, Copy, Default)]
pub(crate) struct Needs {
    /// True if its number is needed.
    pub number: bool,
    /// True if the number is signed, since sums use it.
    pub summed: bool,
    /// True if its start and end are needed.
    pub span: bool,
    /// True if its presence is needed.
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
        // Chains that the layout is an instance of.
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
            let joins = |field: &MessageField| matches!(field.extent, Extent::Joined { layout: l, part } if (l, part) == (layout, id));
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

    /// Returns the type of the variable for its number.
    pub(crate) fn number_type(&self) -> CType {
        match self.summed {
            true => CType::S64,
            false => CType::U64,
        }
    }
}

impl Writer<'_> {
    /// Returns true if a layout need not be read: reading it never fails, and nothing in it is wanted. At an unknown
    /// depth, reading may fail because it is too deep.
    pub(crate) fn is_idle(&self, layout: LayoutId, depth: usize) -> bool {
        self.nesting.is_none()
            && !self.is_wanted_within(layout)
            && !self.can_fail(layout, depth, &mut Vec::new())
    }

    /// Returns true if a wanted attribute, even a hidden one, is in a layout or nested in it.
    pub(crate) fn is_wanted_within(&self, layout: LayoutId) -> bool {
        let mut sites = self.wanted.iter().flat_map(|wanted| &wanted.asked.sites);
        let within = self.within(layout);
        sites.any(|site| within.contains(&site.layout))
    }

    /// Returns the last field of the root layout that holds a wanted attribute; `None` if no field follows. Hidden
    /// attributes do not count: conflicting lengths after that field do not matter to a program that asks for no
    /// length.
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

    /// Returns true if a layout, or one nested in it, has DNS names.
    pub(crate) fn reads_names(&self, layout: LayoutId) -> bool {
        let fields = |layout: LayoutId| self.schema.layouts[layout].fields.iter();
        let mut all = self.within(layout).into_iter().flat_map(fields);
        all.any(|field| field.extent == Extent::DnsName)
    }

    /// Returns a layout and all that are nested in it.
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

    /// Returns true if every instance of a repetition takes at least one byte.
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

    /// Returns true if the first field of a layout takes at least one byte.
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

/// Returns the layouts that a field may hold, or that it is joined of.
pub(crate) fn inside(field: &MessageField) -> Vec<LayoutId> {
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

//! Reading for some attributes only: without copies, and no further than the last of them.

use super::input::Window;
use super::json::LocatedScalar;
use super::layout::Slot;
use super::lengths::Seen;
use super::malformed::Halt;
use super::notes::{Notes, Read};
use super::{Reader, Reason, Value};
use crate::{Asked, AttributeKind, Contents, Extent, FieldId, LayoutId, Only, Schema};

/// Value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// As in [`Found`](crate::Found).
    pub offset: usize,
    /// As in [`Found`](crate::Found).
    pub length: usize,
    /// Value; `None` if it is the message's bytes at that offset.
    pub value: Option<Value>,
}

impl Taken {
    /// Returns the bytes of the value in a message; `None` if it is a number.
    pub fn bytes<'b>(&'b self, message: &'b [u8]) -> Option<&'b [u8]> {
        match &self.value {
            None => message.get(self.offset..self.offset + self.length),
            Some(Value::Bytes(bytes)) => Some(bytes),
            Some(Value::Number(_)) => None,
        }
    }
}

/// Result of reading a message for some names.
#[derive(PartialEq, Eq, Debug)]
pub struct Answer<'w> {
    /// For each name, the value with the least offset.
    pub values: &'w mut [Option<Taken>],
    /// Further values of the names of which all values are wanted, each with the index of its name.
    pub more: &'w mut Vec<(usize, Taken)>,
    /// Fault of the message. Reading may end before a fault that follows all wanted values.
    pub malformed: Option<Reason>,
}

/// Names of attributes, resolved once, to read in many messages.
///
/// [`read`](crate::read) defines the values: of each name, the one with the least offset, even in a message that is
/// malformed after it. Reading ends once each name has its value, if no later value can have a smaller offset.
#[derive(Clone, Debug)]
pub struct Wanted<'s> {
    schema: &'s Schema,
    question: Question,
    values: Vec<Option<Taken>>,
    more: Vec<(usize, Taken)>,
    /// Buffer for the slots of a reading.
    slots: Vec<Option<Slot>>,
}

/// Values to be noted.
#[derive(Clone, Debug)]
struct Question {
    /// By layout and field: the index of each name that it may answer, and the restriction of that name.
    sites: Vec<Vec<Vec<(usize, Only)>>>,
    /// Number of names.
    names: usize,
    /// Indices of the names of which all values are wanted.
    all: Vec<usize>,
    /// True if a value that is read later cannot have a smaller offset.
    in_order: bool,
}

impl<'s> Wanted<'s> {
    /// Resolves names as [`Schema::asked`] does; an unknown one never has a value.
    pub fn new(schema: &'s Schema, names: &[&str]) -> Wanted<'s> {
        let layouts = schema.layouts.iter();
        let mut sites: Vec<Vec<Vec<_>>> = layouts
            .map(|layout| vec![Vec::new(); layout.fields.len()])
            .collect();
        for (number, name) in names.iter().enumerate() {
            for attribute in &schema.attributes {
                let only = schema.only(attribute, name);
                let site = &mut sites[attribute.layout][attribute.field];
                site.extend(only.map(|only| (number, only)));
            }
        }
        let apart = joined_layouts(schema);
        let is_in_order = |name: &&str| {
            let asked = schema.asked(name);
            asked.is_ok_and(|asked| is_in_order(schema, &asked, &apart))
        };
        Wanted {
            schema,
            question: Question {
                sites,
                names: names.len(),
                all: Vec::new(),
                in_order: names.iter().all(is_in_order),
            },
            values: Vec::new(),
            more: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// Also collects all values of the names with these indices. Reading then ends with the message.
    pub fn with_all_of(mut self, names: Vec<usize>) -> Wanted<'s> {
        self.question.all = names;
        self
    }

    /// The schema.
    pub fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// Reads a message.
    pub fn read(&mut self, message: &[u8]) -> Answer<'_> {
        self.values.clear();
        self.values.resize(self.question.names, None);
        self.more.clear();
        let mut reader = Reader {
            schema: self.schema,
            notes: First {
                missing: self.question.names,
                question: &self.question,
                values: &mut self.values,
                more: &mut self.more,
            },
            slots: std::mem::take(&mut self.slots),
            incomplete: None,
            pointed_to: 0,
            lengths: Seen::default(),
        };
        let done = reader.message(message);
        self.slots = reader.slots;
        Answer {
            values: &mut self.values,
            more: &mut self.more,
            malformed: match done {
                Err(Halt::Fault(fault)) => Some(fault.reason),
                Err(Halt::Done) | Ok(()) => None,
            },
        }
    }
}

/// Marks the layouts whose instances are joined, and the layouts nested in them. They are read before the field they
/// are joined to, which has a smaller offset.
fn joined_layouts(schema: &Schema) -> Vec<bool> {
    let mut inside = vec![false; schema.layouts.len()];
    let fields = schema.layouts.iter().flat_map(|layout| &layout.fields);
    let mut open: Vec<LayoutId> = fields
        .filter_map(|field| match field.extent {
            Extent::Joined { layout, .. } => Some(layout),
            _ => None,
        })
        .collect();
    while let Some(layout) = open.pop() {
        if !std::mem::replace(&mut inside[layout], true) {
            let fields = schema.layouts[layout].fields.iter();
            open.extend(fields.flat_map(|field| field.contents.layouts()));
        }
    }
    inside
}

/// Returns true if the first value read of a name has the least offset and is always meaningful. A field with a layout
/// is visited after its contents.
fn is_in_order(schema: &Schema, asked: &Asked, apart: &[bool]) -> bool {
    let is_plain = match asked.kind {
        AttributeKind::Number { bits, signed } => bits <= 64 && !signed,
        AttributeKind::Bytes | AttributeKind::DnsName => true,
    };
    is_plain
        && asked.sites.iter().all(|site| {
            let field = &schema.layouts[site.layout].fields[site.field];
            let has_no_layout = matches!(
                field.contents,
                Contents::Bytes | Contents::Number { .. } | Contents::Decimal
            );
            has_no_layout && !apart[site.layout]
        })
}

/// Visitor that notes the value of each name with the least offset, and for some names all others.
struct First<'w> {
    question: &'w Question,
    values: &'w mut [Option<Taken>],
    more: &'w mut Vec<(usize, Taken)>,
    /// Number of names without a value.
    missing: usize,
}

impl First<'_> {
    fn take(&mut self, name: usize, offset: usize, taken: impl FnOnce() -> Taken) {
        match &mut self.values[name] {
            Some(known) if self.question.all.contains(&name) => {
                if known.offset != offset {
                    let mut other = taken();
                    if offset < known.offset {
                        std::mem::swap(known, &mut other);
                    }
                    self.more.push((name, other));
                }
                return;
            }
            Some(known) if known.offset <= offset => return,
            Some(_) => {}
            None => self.missing -= 1,
        }
        self.values[name] = Some(taken());
    }
}

impl Notes for First<'_> {
    fn asks_for(&self, (layout, field): (LayoutId, FieldId)) -> bool {
        !self.question.sites[layout][field].is_empty()
    }

    fn field(&mut self, read: &Read, text: Option<Vec<u8>>) {
        let (layout, field) = read.place();
        let question = self.question;
        for (name, only) in &question.sites[layout][field] {
            let is_it = match only {
                Only::All => true,
                Only::Key(key) => read.has_key(key),
                Only::Index(index) => *index == read.frame.index,
                Only::Member(_) => false,
            };
            if is_it {
                let Slot { start, end, number } = read.slot;
                let offset = read.window.input.offset(start);
                let copied = || {
                    let is_elsewhere = !read.window.input.is_one_piece();
                    is_elsewhere.then(|| read.window.bytes[start..end].to_vec())
                };
                self.take(*name, offset, || Taken {
                    offset,
                    length: end - start,
                    value: match number {
                        Some(number) => Some(Value::Number(number)),
                        None => text.clone().or_else(copied).map(Value::Bytes),
                    },
                });
            }
        }
    }

    fn member(
        &mut self,
        (layout, field): (LayoutId, FieldId),
        window: Window,
        member: &LocatedScalar,
    ) {
        let question = self.question;
        for (name, only) in &question.sites[layout][field] {
            if matches!(only, Only::Member(path) if path == member.path) {
                let (start, end) = (member.start, member.end);
                let offset = window.input.offset(start);
                let is_elsewhere = !window.input.is_one_piece();
                let copied = || Value::Bytes(window.bytes[start..end].to_vec());
                self.take(*name, offset, || Taken {
                    offset,
                    length: end - start,
                    value: is_elsewhere.then(copied),
                });
            }
        }
    }

    fn forget(&mut self, from: usize) {
        for value in self.values.iter_mut() {
            if value.take_if(|taken| taken.offset >= from).is_some() {
                self.missing += 1;
            }
        }
        self.more.retain(|(_, taken)| taken.offset < from);
    }

    fn is_done(&self) -> bool {
        self.missing == 0 && self.question.in_order && self.question.all.is_empty()
    }
}

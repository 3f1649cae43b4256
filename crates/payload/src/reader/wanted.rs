//! Reading for some attributes only: without copies, and no further than the last of them.

use super::input::Window;
use super::json::Member;
use super::layout::Slot;
use super::lengths::Seen;
use super::malformed::Halt;
use super::notes::{Notes, Read};
use super::{Reader, Reason, Value};
use crate::{Asked, Contents, Extent, FieldId, Kind, LayoutId, Only, Schema};

/// A value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// As in [`Found`](crate::Found).
    pub offset: usize,
    /// As in [`Found`](crate::Found).
    pub length: usize,
    /// What it is; `None` if it is the bytes that stand there.
    pub value: Option<Value>,
}

impl Taken {
    /// The bytes that it is in a message; `None` if it is a number.
    pub fn bytes<'b>(&'b self, message: &'b [u8]) -> Option<&'b [u8]> {
        match &self.value {
            None => message.get(self.offset..self.offset + self.length),
            Some(Value::Bytes(bytes)) => Some(bytes),
            Some(Value::Number(_)) => None,
        }
    }
}

/// What a message has of what is wanted.
#[derive(PartialEq, Eq, Debug)]
pub struct Answer<'w> {
    /// For each name in turn the value with the least offset.
    pub values: &'w mut [Option<Taken>],
    /// The other values of names of which all are wanted, with the numbers of the names.
    pub more: &'w mut Vec<(usize, Taken)>,
    /// What is wrong with the message, if it is in front of a name without a value or was seen all the same.
    pub malformed: Option<Reason>,
}

/// Names of attributes, resolved once, to be read of many messages.
///
/// [`read`](crate::read) defines the values: those of the attribute of that name with the least offset, also of a message that is malformed
/// behind them. Reading ends where each name has its value, if what follows cannot have another one of less offset.
#[derive(Clone, Debug)]
pub struct Wanted<'s> {
    schema: &'s Schema,
    question: Question,
    values: Vec<Option<Taken>>,
    more: Vec<(usize, Taken)>,
    /// Room for a reading.
    slots: Vec<Option<Slot>>,
}

/// What is to be noted.
#[derive(Clone, Debug)]
struct Question {
    /// By layout and field: the number of a name, and which values it has.
    sites: Vec<Vec<Vec<(usize, Only)>>>,
    /// How many names there are.
    names: usize,
    /// Those of which all values are wanted.
    all: Vec<usize>,
    /// Whether a value that is read later cannot have a smaller offset.
    in_order: bool,
}

impl<'s> Wanted<'s> {
    /// The names are those of [`Schema::asked`]; any other stays without a value.
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

    /// The same, with all values of the names of these numbers: reading ends with the message.
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

/// The layouts of parts that are joined, with all inside them: they are read before what they are joined to, which begins further to the front.
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

/// Whether of all values of a name the one that is read first has the least offset, and is one that has a meaning in any case. A field with a
/// layout is noted behind what is in it.
fn is_in_order(schema: &Schema, asked: &Asked, apart: &[bool]) -> bool {
    let is_plain = match asked.kind {
        Kind::Number { bits, signed } => bits <= 64 && !signed,
        Kind::Bytes | Kind::DnsName => true,
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

/// Notes the value of each name that has the least offset, and of some the others.
struct First<'w> {
    question: &'w Question,
    values: &'w mut [Option<Taken>],
    more: &'w mut Vec<(usize, Taken)>,
    /// Names without a value.
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

    fn member(&mut self, (layout, field): (LayoutId, FieldId), window: Window, member: &Member) {
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

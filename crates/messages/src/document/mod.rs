//! JSON and XML in a message. A function reads the document by the automaton of its language (`document.h`). The
//! automaton and the wanted paths are tables in read-only data, so neither the code nor the verifier's work depends on
//! the paths.

mod automaton;
mod json;
mod paths;
mod xml;

use crate::file::array;
use crate::writer::{AT, END, MEMORY, Wanted, Writer, mask, status};
use cgen::tree::{Block, Expr as C, Stmt, Type as CType};
use emit::record::Record;
use payload::{Contents, FieldId, LayoutId, MOST_ATTRIBUTES, Only};
use smol_str::SmolStr;

/// Members of a message's memory for its documents.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// Positions of the wanted members, by number.
    pub values: SmolStr,
    /// State of the reading, and its open elements.
    document: SmolStr,
    levels: SmolStr,
    attributes: SmolStr,
}

/// Sizes in bytes of `struct message_value`, `document`, `document_level` and `document_attribute`.
const VALUE: u32 = 16;
const DOCUMENT: u32 = 32;
const LEVEL: u32 = 8;
const ATTRIBUTE: u32 = 16;

impl Memory {
    pub(crate) fn new(members: &mut emit::names::Names) -> Memory {
        let mut fresh = |wish: &str| members.fresh(wish);
        Memory {
            values: fresh("values"),
            document: fresh("document"),
            levels: fresh("levels"),
            attributes: fresh("attributes"),
        }
    }

    /// Adds the members to a message's memory. The one for attributes is added only if there is XML.
    pub(crate) fn add(&self, record: &mut Record, wanted: &[Wanted], depth: usize, has_xml: bool) {
        let mut add = |ty: &str, count: u32, size: u32, align: u32, name: &SmolStr, note: &str| {
            let ty = CType::Struct(ty.into());
            let ty = if count == 0 { ty } else { ty.array(count) };
            record.add(ty, name.clone(), size * count.max(1), align, note);
        };
        let values = values(wanted);
        add(
            "message_value",
            values,
            VALUE,
            8,
            &self.values,
            "of members",
        );
        add("document", 0, DOCUMENT, 8, &self.document, "");
        add("document_level", levels(depth), LEVEL, 2, &self.levels, "");
        if has_xml {
            let note = "of the attributes of an element";
            let most = MOST_ATTRIBUTES as u32;
            add(
                "document_attribute",
                most,
                ATTRIBUTE,
                8,
                &self.attributes,
                note,
            );
        }
    }
}

/// Returns the number of values, a power of two. Value 0 is a dummy.
fn values(wanted: &[Wanted]) -> u32 {
    let last = wanted.iter().filter_map(Wanted::number).max();
    (last.unwrap_or(0) + 1).next_power_of_two()
}

/// Returns the number of levels, a power of two. Level 0 is outside of the document.
fn levels(depth: usize) -> u32 {
    (depth as u32 + 1).next_power_of_two()
}

impl Writer<'_> {
    /// Returns the function for the document that a field holds; emits it on first use. It takes an offset and an end,
    /// and returns a status.
    pub(crate) fn document(&mut self, layout: LayoutId, id: FieldId) -> SmolStr {
        let mut known = self.documents.iter();
        if let Some((.., name)) = known.find(|(l, f, _)| (*l, *f) == (layout, id)) {
            return name.clone();
        }
        let field = &self.schema.layouts[layout].fields[id];
        let wish = format!("{}_{}", self.structure, field.name);
        let name = self.file.fresh(&wish);
        let is_xml = field.contents == Contents::Xml;
        let body = self.document_body(&name, (layout, id), is_xml);
        let params = vec![(CType::U32, AT.into()), (CType::U32, END.into())];
        self.function(&name, CType::U32, params, body);
        self.documents.push((layout, id, name.clone()));
        name
    }

    fn document_body(
        &mut self,
        function: &SmolStr,
        (layout, id): (LayoutId, FieldId),
        is_xml: bool,
    ) -> Block {
        let wanted = self.wanted_of(layout, id).into_iter();
        let wanted: Vec<(&str, u16)> = wanted
            .filter_map(|(wanted, only)| match only {
                Only::Member(path) => Some((path.as_str(), wanted.number()? as u16)),
                _ => None,
            })
            .collect();
        let same = |(at, (path, _)): (usize, &(&str, u16))| {
            wanted[..at].iter().any(|(other, _)| other == path)
        };
        if wanted.iter().enumerate().any(same) {
            self.refuse("two attributes are one member");
        }
        let Some(paths) = paths::paths(wanted.into_iter()) else {
            self.refuse("the paths that are asked for are too long");
            return Block::new();
        };
        let automaton = match is_xml {
            true => xml::automaton(),
            false => json::automaton(),
        };
        let mut table =
            |wish: &str, ty: CType, values: &mut dyn Iterator<Item = u64>, size: usize| {
                let name = self.file.fresh(&format!("{function}_{wish}"));
                self.tables.push(array(&name, ty, size, values));
                C::Ident(name)
            };
        let steps = &mut automaton.steps.iter().map(|&step| step.into());
        let classes = &mut automaton.classes.iter().map(|&class| class.into());
        let letters = &mut paths.classes.iter().map(|&class| class.into());
        let places = &mut paths.places.iter().map(|&place| place.into());
        let classes = table("classes", CType::U8, classes, 256);
        // Indices of steps are masked to this size.
        let steps = table("steps", CType::U32, steps, STEPS);
        let letters = table("letters", CType::U8, letters, 256);
        let places = table("places", CType::U16, places, paths.places.len());
        let number = |number: usize| C::int(number as u64);
        let paths = C::Compound(
            CType::Struct("document_paths".into()),
            vec![
                (Some("classes".into()), letters),
                (Some("places".into()), places),
                (Some("size".into()), number(paths.places.len() - 1)),
                (Some("first".into()), number(paths.columns)),
            ],
        );
        let memory = &self.memory;
        let member = |name: &SmolStr| C::id(MEMORY).arrow(name.clone());
        let depth = self.schema.limits.depth;
        let mut args = vec![
            C::id(MEMORY).arrow("bytes"),
            mask(),
            C::id(AT),
            C::id(END),
            classes,
            steps,
            number(automaton.columns),
            paths,
            member(&memory.values),
            C::int((values(self.wanted) - 1).into()),
            member(&memory.document).addr(),
            member(&memory.levels),
            C::int((levels(depth) - 1).into()),
            number(depth),
        ];
        let read = match is_xml {
            true => {
                args.push(member(&memory.attributes));
                "message_xml"
            }
            false => "message_json",
        };
        let none = vec![Stmt::Return(Some(status("OTHER")))];
        vec![
            Stmt::If(C::not(C::id(MEMORY)), none, Block::new()),
            Stmt::Return(Some(C::call(read, args))),
        ]
    }

    /// Returns two flags: true if the message has documents, and true if one of them is XML.
    pub(crate) fn has_documents(&self) -> (bool, bool) {
        let fields = |layout: LayoutId| self.schema.layouts[layout].fields.iter();
        let mut all = self.within(self.schema.root).into_iter().flat_map(fields);
        let all = all.by_ref().map(|field| &field.contents);
        all.fold((false, false), |(any, xml), contents| {
            let is_xml = *contents == Contents::Xml;
            (any || is_xml || *contents == Contents::Json, xml || is_xml)
        })
    }
}

/// `DOCUMENT_STEPS`
const STEPS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::{json, xml};

    /// The numbers of actions match their names in the header.
    #[test]
    fn actions_are_those_of_the_header() {
        let header = include_str!("../../include/onpath/document.h");
        let numbered = |language: &str, name: &str| {
            let lines = header
                .lines()
                .filter_map(|line| line.trim().strip_suffix(','));
            let mut all = lines.filter(|line| line.starts_with(language));
            all.position(|line| line == format!("{language}_{name}"))
        };
        use json::action as j;
        for (name, number) in [
            ("FAIL", j::FAIL),
            ("CUT", j::CUT),
            ("END", j::END),
            ("SCALAR", j::SCALAR),
            ("STRING", j::STRING),
            ("STRING_END", j::STRING_END),
            ("WORD_END", j::WORD_END),
            ("OBJECT", j::OBJECT),
            ("ARRAY", j::ARRAY),
            ("OBJECT_END", j::OBJECT_END),
            ("ARRAY_END", j::ARRAY_END),
            ("COMMA", j::COMMA),
            ("NAME", j::NAME),
            ("LETTER", j::LETTER),
        ] {
            assert_eq!(numbered("JSON", name), Some(number.into()), "{name}");
        }
        use xml::action as x;
        for (name, number) in [
            ("FAIL", x::FAIL),
            ("CUT", x::CUT),
            ("END", x::END),
            ("OPEN", x::OPEN),
            ("LETTER", x::LETTER),
            ("OPENED", x::OPENED),
            ("ATTRIBUTE", x::ATTRIBUTE),
            ("VALUE", x::VALUE),
            ("VALUE_END", x::VALUE_END),
            ("EMPTY", x::EMPTY),
            ("CLOSING", x::CLOSING),
            ("CLOSE", x::CLOSE),
            ("SECTION", x::SECTION),
            ("BACK", x::BACK),
        ] {
            assert_eq!(numbered("XML", name), Some(number.into()), "{name}");
        }
    }
}

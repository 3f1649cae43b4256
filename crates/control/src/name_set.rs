//! Name sets and pattern sets by name: the lines that change them, and the lines that restore them.

use crate::entry::find;
use crate::errors::{self, Refusal};
use crate::numbers::number;
use crate::piece::Piece;
use crate::{Change, StoreError};
use diag::Span;
use patterns::Pattern;
use schema::{NameRule, Object, ObjectKind, RuleValue, Schema, Scope, ScopedName};

const ADD: &str = "name_add SET NAME [NUMBER [LISTS]]";
const REMOVE: &str = "name_remove SET NAME";
const CLEAR: &str = "name_clear SET";

/// Lists of a rule that names none: the first one.
const FIRST_LIST: u32 = 1;

/// Makes the error for a rule some of whose names another rule of the same name covers.
pub fn is_there(name: &ScopedName) -> StoreError {
    let what = format!(
        "a rule for `{}` covers names of `{name}` already",
        name.name
    );
    StoreError::Name { what }
}

/// Makes the error for a rule whose pattern another rule has.
pub fn is_known(name: &ScopedName) -> StoreError {
    let what = format!("there is a rule `{name}` already");
    StoreError::Name { what }
}

/// Makes the error for the removal of a rule that does not exist.
pub fn is_missing(name: &ScopedName) -> StoreError {
    let what = format!("there is no rule `{name}`");
    StoreError::Name { what }
}

/// Returns the name sets and pattern sets of a program, with their names.
pub fn name_sets(schema: &Schema) -> impl Iterator<Item = (Object, &str)> {
    let all = schema.objects.iter();
    all.filter(|(_, object)| object.kind.has_name_rules())
        .map(|(id, object)| (id, object.name.as_str()))
}

/// Rules of a name set or a pattern set by its name, for sets that are filled without a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedRules {
    /// Control-plane name of the set.
    pub set: String,
    /// The rules.
    pub rules: Vec<NameRule>,
}

impl NamedRules {
    /// Returns the changes that add the rules.
    ///
    /// # Errors
    ///
    /// The program has no such set.
    pub fn changes<'a>(
        &'a self,
        schema: &Schema,
    ) -> Result<impl Iterator<Item = Change> + use<'a>, Refusal> {
        let nowhere = |mut refusal: Refusal| {
            refusal.primary.span = Span::NONE;
            refusal
        };
        let set = find_name_set(schema, Piece::new(&self.set, 0)).map_err(nowhere)?;
        let rules = self.rules.iter().cloned();
        Ok(rules.map(move |rule| Change::InsertName(set, rule)))
    }

    /// Returns the lines that add the rules.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.rules.iter().map(|rule| show_add(&self.set, rule))
    }
}

/// Returns the line that adds a rule to a set.
pub fn show_add(set: &str, rule: &NameRule) -> String {
    let RuleValue { number, lists } = rule.value;
    format!("name_add {set} {} {number} {lists}", rule.name)
}

/// Finds a name set by name.
pub fn find_name_set(schema: &Schema, name: Piece) -> Result<Object, Refusal> {
    find(name_sets(schema), name, "name set")
}

/// Parses a line of an entries file that changes a name set; `None` for any other line.
pub fn parse(schema: &Schema, line: Piece) -> Option<Result<Change, Refusal>> {
    let (keyword, rest) = line.first_word();
    Some(match keyword.text {
        "name_add" => parse_add(schema, rest).map(|(set, rule)| Change::InsertName(set, rule)),
        "name_remove" => {
            parse_remove(schema, rest).map(|(set, name)| Change::RemoveName(set, name))
        }
        "name_clear" => parse_clear(schema, rest).map(Change::ClearNames),
        _ => return None,
    })
}

/// Parses `SET NAME [NUMBER [LISTS]]`.
pub fn parse_add(schema: &Schema, text: Piece) -> Result<(Object, NameRule), Refusal> {
    let mut words = Words::of(text, ADD);
    let set = words.set(schema)?;
    let name = words.name(schema, set)?;
    let value = RuleValue {
        number: words.number(0)?,
        lists: words.number(FIRST_LIST)?,
    };
    words.end((set, NameRule { name, value }))
}

/// Parses `SET NAME`.
pub fn parse_remove(schema: &Schema, text: Piece) -> Result<(Object, ScopedName), Refusal> {
    let mut words = Words::of(text, REMOVE);
    let set = words.set(schema)?;
    let name = words.name(schema, set)?;
    words.end((set, name))
}

fn parse_clear(schema: &Schema, text: Piece) -> Result<Object, Refusal> {
    let mut words = Words::of(text, CLEAR);
    let set = words.set(schema)?;
    words.end(set)
}

/// Words of a line that are not read yet.
struct Words<'a> {
    rest: Piece<'a>,
    text: Piece<'a>,
    /// Syntax of the line.
    form: &'static str,
}

impl<'a> Words<'a> {
    fn of(text: Piece<'a>, form: &'static str) -> Words<'a> {
        Words {
            rest: text,
            text,
            form,
        }
    }

    /// Returns the next word, if there is one.
    fn next(&mut self) -> Option<Piece<'a>> {
        let (word, rest) = self.rest.first_word();
        self.rest = rest;
        (!word.text.is_empty()).then_some(word)
    }

    fn needed(&mut self) -> Result<Piece<'a>, Refusal> {
        let (span, form) = (self.text.span(), self.form);
        let incomplete = || errors::malformed(span, "the line is not complete", form);
        self.next().ok_or_else(incomplete)
    }

    fn set(&mut self, schema: &Schema) -> Result<Object, Refusal> {
        find_name_set(schema, self.needed()?)
    }

    /// Returns the name, or the pattern of a pattern set, that comes next.
    fn name(&mut self, schema: &Schema, set: Object) -> Result<ScopedName, Refusal> {
        let word = self.needed()?;
        if let ObjectKind::PatternSet { .. } = schema.objects[set].kind {
            let pattern = Pattern::parse(word.text);
            let pattern =
                pattern.map_err(|fault| errors::malformed(word.span(), &fault.what, self.form))?;
            return Ok(ScopedName {
                name: pattern.to_string().into(),
                scope: Scope::Domain,
            });
        }
        ScopedName::parse(word.text).map_err(|why| errors::malformed(word.span(), why, self.form))
    }

    /// Returns the number of 32 bits that comes next, or another one if the line ends.
    fn number(&mut self, instead: u32) -> Result<u32, Refusal> {
        let Some(word) = self.next() else {
            return Ok(instead);
        };
        let value = number(word.text).and_then(|value| u32::try_from(value).ok());
        let wrong = || {
            let what = "this is not a number of 32 bits";
            errors::malformed(word.span(), what, self.form)
        };
        value.ok_or_else(wrong)
    }

    /// Returns a result if no word is left.
    fn end<T>(mut self, result: T) -> Result<T, Refusal> {
        match self.next() {
            Some(word) => Err(errors::malformed(
                word.span(),
                "nothing may follow",
                self.form,
            )),
            None => Ok(result),
        }
    }
}

/// Returns lines that restore a name set's rules, whatever it has before.
pub fn show<'a>(
    schema: &'a Schema,
    set: Object,
    rules: &'a [NameRule],
) -> impl Iterator<Item = String> + 'a {
    let name = schema.objects[set].name.as_str();
    let rules = rules.iter().map(move |rule| show_add(name, rule));
    std::iter::once(format!("name_clear {name}")).chain(rules)
}

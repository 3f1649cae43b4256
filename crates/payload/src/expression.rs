//! Linear sums of fields, and comparisons of them. Lengths, counts and conditions are written in these.

use crate::FieldId;
use std::ops::Range;

/// Linear sum: multiples of fields, plus a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// Fields with their factors.
    pub terms: Vec<(i64, FieldId)>,
    /// Constant that is added.
    pub constant: i64,
}

/// Comparison operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// Operators by their text. Longer ones come first, so that `<=` is not read as `<`.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Comparison of a sum with a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The left side.
    pub left: Linear,
    /// Operator between the sides.
    pub comparison: Comparison,
    /// The right side.
    pub right: i64,
}

impl Linear {
    /// Returns the sum's value; `value_of` returns the fields' values. Absent fields count as 0.
    pub fn value(&self, value_of: impl Fn(FieldId) -> i128) -> i128 {
        let terms = self.terms.iter();
        let sum: i128 = terms
            .map(|&(factor, field)| i128::from(factor).saturating_mul(value_of(field)))
            .fold(0, i128::saturating_add);
        sum.saturating_add(i128::from(self.constant))
    }
}

impl Condition {
    /// Returns true if the condition holds for these values of fields.
    pub fn holds(&self, value_of: impl Fn(FieldId) -> i128) -> bool {
        let (left, right) = (self.left.value(value_of), i128::from(self.right));
        match self.comparison {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
        }
    }
}

/// Error in an expression, with its range in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// Expectation that the text does not meet, and the range where.
    Expected(&'static str, Range<usize>),
    /// No field of this name is read earlier.
    Unknown(String, Range<usize>),
}

/// Parses a sum such as `4 * words - 2`; `find` resolves the names of earlier fields.
pub(crate) fn linear(text: &str, find: &dyn Fn(&str) -> Option<FieldId>) -> Result<Linear, Wrong> {
    Parser { text, at: 0, find }.whole()
}

/// Parses a condition such as `sequence + extension != 0`.
pub(crate) fn condition(
    text: &str,
    find: &dyn Fn(&str) -> Option<FieldId>,
) -> Result<Condition, Wrong> {
    let found = COMPARISONS
        .iter()
        .filter_map(|&(sign, comparison)| Some((text.find(sign)?, sign, comparison)))
        .min_by_key(|&(at, sign, _)| (at, usize::MAX - sign.len()));
    let Some((at, sign, comparison)) = found else {
        return Err(Wrong::Expected(
            "a comparison: ==, !=, <, <=, > or >=",
            0..text.len(),
        ));
    };
    let left = Parser {
        text: &text[..at],
        at: 0,
        find,
    }
    .whole()?;
    let start = at + sign.len();
    let right = text[start..].trim();
    let (right, sign) = right.strip_prefix('-').map_or((right, 1), |r| (r, -1));
    let right = number(right)
        .ok_or(Wrong::Expected("a whole number", start..text.len()))?
        .saturating_mul(sign);
    Ok(Condition {
        left,
        comparison,
        right,
    })
}

/// Parses a whole number in decimal digits, or in hexadecimal ones after `0x`.
fn number(word: &str) -> Option<i64> {
    let (digits, radix) = word.strip_prefix("0x").map_or((word, 10), |d| (d, 16));
    // A sign is no digit.
    let all_digits = digits.chars().all(|c| c.is_digit(radix));
    let read = i64::from_str_radix(digits, radix).ok();
    read.filter(|_| all_digits)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    find: &'a dyn Fn(&str) -> Option<FieldId>,
}

impl<'a> Parser<'a> {
    fn whole(mut self) -> Result<Linear, Wrong> {
        let mut sum = Linear {
            terms: Vec::new(),
            constant: 0,
        };
        let mut sign = if self.passes('-') { -1 } else { 1 };
        loop {
            self.term(sign, &mut sum)?;
            sign = if self.passes('+') {
                1
            } else if self.passes('-') {
                -1
            } else if self.at == self.text.len() {
                return Ok(sum);
            } else {
                return Err(Wrong::Expected("`+`, `-` or the end", self.here()));
            };
        }
    }

    /// Parses a number, a field, or the product of both.
    fn term(&mut self, sign: i64, sum: &mut Linear) -> Result<(), Wrong> {
        let (word, range) = self.word();
        let Some(number) = number(word) else {
            sum.terms.push((sign, self.field(word, range)?));
            return Ok(());
        };
        if !self.passes('*') {
            sum.constant = sum.constant.saturating_add(sign.saturating_mul(number));
            return Ok(());
        }
        let (word, range) = self.word();
        let field = self.field(word, range)?;
        sum.terms.push((sign.saturating_mul(number), field));
        Ok(())
    }

    fn field(&self, word: &str, range: Range<usize>) -> Result<FieldId, Wrong> {
        if word.is_empty() {
            return Err(Wrong::Expected("a number or a field's name", range));
        }
        (self.find)(word).ok_or_else(|| Wrong::Unknown(word.to_string(), range))
    }

    /// Consumes a word of letters, digits and `_`. Returns it with its range.
    fn word(&mut self) -> (&'a str, Range<usize>) {
        self.blanks();
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let range = self.at..self.at + end;
        self.at += end;
        self.blanks();
        (&rest[..end], range)
    }

    fn passes(&mut self, sign: char) -> bool {
        self.blanks();
        let stands = self.text[self.at..].starts_with(sign);
        self.at += usize::from(stands);
        self.blanks();
        stands
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn here(&self) -> Range<usize> {
        self.at..self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str) -> Option<FieldId> {
        ["length", "words"].iter().position(|&known| known == name)
    }

    #[test]
    fn a_sum_has_factors_and_a_constant() {
        let sum = linear("4*words - length + 2", &find).unwrap();
        assert_eq!(sum.terms, [(4, 1), (-1, 0)]);
        assert_eq!(sum.constant, 2);
        assert_eq!(sum.value(|field| [10, 3][field]), 4);
        assert_eq!(linear("-1", &find).unwrap().constant, -1);
    }

    #[test]
    fn a_condition_compares_a_sum() {
        let all = |text| {
            condition(text, &find)
                .unwrap()
                .holds(|field| [10, 3][field])
        };
        assert!(all("length + words == 13") && all("words<=3") && all("length != 0"));
        assert!(all("length == 0xA") && all("0x10 * words == 48") && all("words > -0x1"));
        assert!(!all("words < 3") && !all("length >= 11") && !all("words > 3"));
    }

    #[test]
    fn errors_have_their_location() {
        assert_eq!(
            linear("4 * wrds", &find),
            Err(Wrong::Unknown("wrds".to_string(), 4..8))
        );
        assert_eq!(
            linear("length 2", &find),
            Err(Wrong::Expected("`+`, `-` or the end", 7..8))
        );
        assert_eq!(
            linear("length +", &find),
            Err(Wrong::Expected("a number or a field's name", 8..8))
        );
        assert_eq!(
            condition("length = 2", &find),
            Err(Wrong::Expected(
                "a comparison: ==, !=, <, <=, > or >=",
                0..10
            ))
        );
        assert_eq!(
            condition("length == --1", &find),
            Err(Wrong::Expected("a whole number", 9..13))
        );
        assert_eq!(
            condition("length == x", &find),
            Err(Wrong::Expected("a whole number", 9..11))
        );
    }
}

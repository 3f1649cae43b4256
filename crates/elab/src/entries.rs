//! Entries of a program: their keys, and their priorities.

use crate::table::PriorityRule;
use crate::{Elab, Result, errors};
use diag::Span;
use hir::Keyset;
use ir::{Bits, Entry, Key, KeyMatch, MatchKind, TableAction, Type};
use num_traits::ToPrimitive;

impl Elab<'_> {
    /// Builds a table's entries. Their priorities are distinct; the greatest wins.
    pub(crate) fn entries(
        &mut self,
        declared: &hir::Table,
        keys: &[Key],
        actions: &[TableAction],
        rule: &PriorityRule,
    ) -> Result<Vec<Entry>> {
        let mut built = Vec::new();
        for entry in &declared.entries {
            let mut matches = Vec::new();
            for (keyset, key) in entry.keyset.iter().zip(keys) {
                matches.push(self.key_match(keyset, key, entry.span)?);
            }
            built.push(Entry {
                keys: matches,
                priority: 0,
                action: self.action_call(&entry.action, actions)?,
                is_const: entry.is_const || declared.const_entries,
            });
        }
        let ranks = if declared.entries.iter().any(|e| e.priority.is_some())
            || keys
                .iter()
                .any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm))
        {
            self.declared_priorities(declared, rule)?
        } else {
            // The longest prefix wins, whatever the order.
            built.iter().map(|e| prefix_bits(e, keys)).collect()
        };
        for (entry, priority) in built.iter_mut().zip(distinct(&ranks)) {
            entry.priority = priority;
        }
        Ok(built)
    }

    /// Returns numbers of which the greatest wins. An entry without a priority gets that of the entry before,
    /// changed by the table's step, as the specification counts (section 14.2.1.4).
    fn declared_priorities(
        &mut self,
        declared: &hir::Table,
        rule: &PriorityRule,
    ) -> Result<Vec<i64>> {
        let count = declared.entries.len() as i64;
        let delta = i64::try_from(rule.delta).unwrap_or(i64::from(u32::MAX));
        let delta = delta.min(i64::from(u32::MAX));
        let step = if rule.largest_wins { -delta } else { delta };
        let mut next = if rule.largest_wins {
            (count - 1).saturating_mul(delta).saturating_add(1)
        } else {
            1
        };
        let mut ranks = Vec::new();
        for entry in &declared.entries {
            let (priority, span) = match &entry.priority {
                Some(expr) => {
                    let value = self.must_be_int(expr)?;
                    let fits = value.to_u32();
                    match fits {
                        Some(value) => (i64::from(value), expr.span),
                        None => return self.fail(errors::priority(expr.span, &value.to_string())),
                    }
                }
                None => (next, entry.span),
            };
            if priority < 0 || priority > i64::from(u32::MAX) {
                return self.fail(errors::priority(span, &priority.to_string()));
            }
            next = priority + step;
            ranks.push(if rule.largest_wins {
                priority
            } else {
                i64::from(u32::MAX) - priority
            });
        }
        Ok(ranks)
    }

    fn key_match(&mut self, keyset: &Keyset, key: &Key, span: Span) -> Result<KeyMatch> {
        let ty = self.type_of(key.expr);
        let width = ty.width();
        let kind = key.kind;
        if kind == MatchKind::Selector && !matches!(keyset, Keyset::Any) {
            return self.fail(errors::selector_keyset(span, &key.name));
        }
        Ok(match keyset {
            Keyset::Any => match kind {
                MatchKind::Exact if width > 0 => {
                    return self.fail(errors::unexpected(span, "_"));
                }
                _ => KeyMatch::Any,
            },
            Keyset::Value(value) => {
                let value = self.key_bits(value, width)?;
                match kind {
                    MatchKind::Exact | MatchKind::Optional => KeyMatch::Exact(value),
                    MatchKind::Selector => KeyMatch::Any,
                    MatchKind::Lpm => KeyMatch::Lpm(value, width),
                    MatchKind::Ternary => KeyMatch::Ternary(value, Bits::ones(width)),
                    MatchKind::Range => KeyMatch::Range(value.clone(), value),
                }
            }
            Keyset::Mask(value, mask) => {
                let value = self.key_bits(value, width)?;
                let mask = self.key_bits(mask, width)?;
                self.mask_match(value, mask, key, span)?
            }
            Keyset::Range(lo, hi) => {
                let lo = self.key_bits(lo, width)?;
                let hi = self.key_bits(hi, width)?;
                let signed = matches!(ty, Type::Bits { signed: true, .. });
                if lo.to_int(signed) > hi.to_int(signed) {
                    return self.fail(errors::empty_range(span));
                }
                match kind {
                    MatchKind::Range => KeyMatch::Range(lo, hi),
                    _ if lo == hi => {
                        return self.mask_match(lo, Bits::ones(width), key, span);
                    }
                    _ => return self.fail(errors::unexpected(span, "a range")),
                }
            }
            Keyset::ValueSet(..) => {
                return self.fail(errors::unexpected(span, "a value set"));
            }
        })
    }

    fn mask_match(&mut self, value: Bits, mask: Bits, key: &Key, span: Span) -> Result<KeyMatch> {
        let width = mask.width();
        let masked = Bits::new(width, value.value() & mask.value());
        if mask.is_zero() && width > 0 && key.kind != MatchKind::Exact {
            return Ok(KeyMatch::Any);
        }
        let whole = mask == Bits::ones(width);
        Ok(match key.kind {
            MatchKind::Ternary => KeyMatch::Ternary(masked, mask),
            MatchKind::Lpm => match mask.prefix_length() {
                Some(length) => KeyMatch::Lpm(masked, length),
                None => return self.fail(errors::not_a_prefix(span, &key.name)),
            },
            MatchKind::Exact | MatchKind::Optional if whole => KeyMatch::Exact(masked),
            MatchKind::Range => match mask.prefix_length() {
                Some(_) => {
                    let free = Bits::ones(width).value() ^ mask.value();
                    let last = Bits::new(width, masked.value() | free);
                    KeyMatch::Range(masked, last)
                }
                None => return self.fail(errors::not_a_prefix(span, &key.name)),
            },
            _ => return self.fail(errors::unexpected(span, "a mask")),
        })
    }
}

fn prefix_bits(entry: &Entry, keys: &[Key]) -> i64 {
    entry
        .keys
        .iter()
        .zip(keys)
        .filter(|(_, key)| key.kind == MatchKind::Lpm)
        .map(|(m, _)| match m {
            KeyMatch::Lpm(_, length) => i64::from(*length),
            _ => 0,
        })
        .sum()
}

/// Returns distinct priorities in the order of the ranks; among equal ranks, the earlier entry wins. Ranks that are
/// distinct and fit stay as they are, because control planes add entries between them.
fn distinct(ranks: &[i64]) -> Vec<u32> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let clash = sorted.windows(2).any(|w| w[0] == w[1]);
    let small = sorted.last().is_none_or(|&last| last < i64::from(i32::MAX));
    if !clash && small {
        return ranks.iter().map(|&r| r as u32).collect();
    }
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    // Ascending, the earlier of equals last.
    order.sort_by_key(|&i| (ranks[i], std::cmp::Reverse(i)));
    let mut priorities = vec![0; ranks.len()];
    for (priority, index) in order.into_iter().enumerate() {
        priorities[index] = priority as u32 + 1;
    }
    priorities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn among_equal_priorities_the_earlier_entry_wins() {
        assert_eq!(distinct(&[3, 2, 1]), [3, 2, 1]);
        assert_eq!(distinct(&[5, 5, 7]), [2, 1, 3]);
        assert_eq!(distinct(&[]), [0u32; 0]);
    }
}

//! C for the extents of fields: the start and the end of each instance. Also C for sums of fields, which give lengths.

use crate::instance::InstanceExtent;
use crate::layout::{Frame, Window};
use crate::scan::{Scan, stands};
use crate::writer::{AT, Helper, MEMORY, Writer, byte, here, left, status};
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use payload::{Comparison, Condition, Contents, Extent, FieldId, LayoutId, Linear, MessageField};

/// Bound below which sums of fields are exact.
const LARGEST_SUM: i128 = 1 << 62;

impl Writer<'_> {
    /// Emits the computation of an instance's extent. The instance begins at `start`, which is [`AT`] or a copy of it.
    /// If `is_kept`, the results are in variables.
    pub(crate) fn place(
        &mut self,
        frame: &mut Frame,
        field: &MessageField,
        window: &Window,
        start: C,
        is_kept: bool,
    ) -> InstanceExtent {
        let name = format!("{}_end", field.name);
        let of = |start: C, end: C| InstanceExtent {
            next: end.clone(),
            start,
            end,
            number: None,
            is_checked: false,
        };
        match &field.extent {
            Extent::Bits(width) => self.bits(frame, *width, window, start),
            Extent::Size(size) => {
                let size = C::int(*size as u64);
                let short = C::bin(BinOp::Lt, window.left(), size.clone());
                self.fail_if(short, status("TRUNCATED"));
                let end = start.clone().plus(size.as_int().unwrap_or(0));
                let end = match is_kept {
                    true => self.declare(CType::U32, &name, end),
                    false => end,
                };
                of(start, end)
            }
            Extent::Length(sum) => {
                let length = self.sum(frame, sum).cast(CType::U64);
                let wish = format!("{}_length", field.name);
                let length = self.declare(CType::U64, &wish, length);
                let long = C::bin(BinOp::Gt, length.clone(), window.left());
                self.fail_if(long, status("LENGTH_PAST_END"));
                let end = C::bin(BinOp::Add, start.clone(), length.cast(CType::U32));
                let end = match is_kept {
                    true => self.declare(CType::U32, &name, end),
                    false => end,
                };
                of(start, end)
            }
            Extent::Until {
                ends,
                or_end,
                keep_end,
            } => {
                let place = self.until(field, window, start, ends, *or_end);
                match keep_end {
                    true => InstanceExtent {
                        next: place.end.clone(),
                        ..place
                    },
                    false => place,
                }
            }
            Extent::Rest => of(start, window.end.clone()),
            Extent::Varint => {
                let args = vec![here(start.clone()), window.left()];
                let wish = format!("{}_size", field.name);
                let size = C::pure("message_varint_size", args);
                let size = self.declare(CType::U32, &wish, size);
                self.fail_if_fault(&size);
                let number = C::pure("message_varint", vec![here(start.clone()), size.clone()]);
                let end = C::bin(BinOp::Add, start.clone(), size);
                InstanceExtent {
                    number: Some(number),
                    ..of(start, end)
                }
            }
            Extent::DnsName => {
                let function = self.helper(Helper::SkipName);
                let args = vec![C::id(MEMORY), C::id(AT), window.end.clone()];
                let end = self.declare(CType::U32, &name, C::call(function, args));
                self.fail_if_fault(&end);
                of(start, end)
            }
            Extent::Contents | Extent::Joined { .. } => of(start, C::id(AT)),
        }
    }

    fn bits(&mut self, frame: &mut Frame, width: u32, window: &Window, start: C) -> InstanceExtent {
        let bytes = (frame.bit + width).div_ceil(8);
        if bytes > 8 {
            self.refuse("bits of a field are in more than eight bytes");
        }
        let short = C::bin(BinOp::Lt, window.left(), C::int(bytes.into()));
        // The first bits of a byte have already tested that the byte is there.
        if frame.bit == 0 || bytes > 1 {
            self.fail_if(short, status("TRUNCATED"));
        }
        let load = format!("load_be{}", 8 * bytes.clamp(1, 8));
        let all = C::pure(load, vec![here(start.clone())]);
        let behind = (8 * bytes).saturating_sub(frame.bit + width);
        let number = match behind {
            0 => all,
            _ => C::bin(BinOp::Shr, all, C::int(behind.into())),
        };
        let number = C::bin(BinOp::And, number, C::int(cgen::lower::mask(width)));
        let end = frame.bit + width;
        frame.bit = end % 8;
        InstanceExtent {
            next: C::id(AT).plus((end / 8).into()),
            end: start.clone().plus(bytes.into()),
            start,
            number: Some(number),
            is_checked: false,
        }
    }

    fn until(
        &mut self,
        field: &MessageField,
        window: &Window,
        start: C,
        ends: &[Vec<u8>],
        or_end: bool,
    ) -> InstanceExtent {
        // Trimmed bytes need not be among those that the field may have.
        let chars = field.chars_to_end();
        let scan = Scan {
            ends: ends.to_vec(),
            chars,
            // A fault is certain without looking for the end, or there is always an end.
            stops_at_bad: field.shows_early() || or_end,
            may_be_cut: !or_end,
        };
        let stops_at_bad = scan.stops_at_bad;
        let end = self.end(scan, field, &window.end);
        let is = |op, name: &str| C::bin(op, end.clone(), C::id(name));
        let length = self.length_of_end(&end, window, ends);
        let behind = C::bin(BinOp::Add, end.clone(), length);
        let wish = format!("behind_{}", field.name);
        let bad = || chars.map(|_| is(BinOp::And, "MESSAGE_BAD"));
        if let Some(bad) = bad().filter(|_| stops_at_bad) {
            self.fail_if(bad, status("UNEXPECTED"));
        }
        let next = match or_end {
            false => {
                // No end, with or without bytes that the field cannot have.
                let none = match bad().filter(|_| !stops_at_bad) {
                    Some(_) => {
                        let no_end = C::bin(BinOp::Or, end.clone(), C::id("MESSAGE_BAD"));
                        let all = C::bin(BinOp::Or, C::id("MESSAGE_NO_END"), C::id("MESSAGE_BAD"));
                        C::bin(BinOp::Eq, no_end, all)
                    }
                    None => is(BinOp::Eq, "MESSAGE_NO_END"),
                };
                self.fail_if(none, status("TRUNCATED"));
                if let Some(bad) = bad().filter(|_| !stops_at_bad) {
                    self.fail_if(bad, status("UNEXPECTED"));
                }
                self.declare(CType::U32, &wish, behind)
            }
            true => {
                let next = self.declare(CType::U32, &wish, window.end.clone());
                let none = vec![Stmt::Assign(end.clone(), window.end.clone())];
                let some = vec![Stmt::Assign(next.clone(), behind)];
                self.push(Stmt::If(is(BinOp::Eq, "MESSAGE_NO_END"), none, some));
                next
            }
        };
        InstanceExtent {
            start,
            end,
            next,
            number: None,
            is_checked: chars.is_some(),
        }
    }

    /// Returns an expression for the length of the end that is at an offset: the longest one if several are.
    fn length_of_end(&self, at: &C, window: &Window, ends: &[Vec<u8>]) -> C {
        let mut ends: Vec<&Vec<u8>> = ends.iter().collect();
        ends.sort_by_key(|end| std::cmp::Reverse(end.len()));
        let length = |end: &Vec<u8>| C::int(end.len() as u64);
        let Some((last, longer)) = ends.split_last() else {
            return C::int(0);
        };
        let differ = |end: &Vec<u8>| ends.iter().filter(|e| e.first() == end.first()).count() == 1;
        longer.iter().rev().fold(length(last), |rest, end| {
            let here = match end.first() {
                Some(&first) if differ(end) => {
                    C::bin(BinOp::Eq, byte(at.clone()), C::int(first.into()))
                }
                _ => stands(at, left(&window.end, at.clone()), end),
            };
            C::choose(here, length(end), rest)
        })
    }

    /// Returns an expression for a sum of fields. Absent fields count as 0.
    pub(crate) fn sum(&mut self, frame: &Frame, sum: &Linear) -> C {
        let mut most = i128::from(sum.constant).abs();
        let mut terms = Vec::with_capacity(sum.terms.len() + 1);
        for &(factor, field) in &sum.terms {
            most += i128::from(factor).abs() * self.largest(frame.layout, field);
            let Some(number) = frame.slots[field].number.clone() else {
                continue;
            };
            let term = match factor {
                1 => number,
                _ => C::bin(BinOp::Mul, signed(factor), number),
            };
            terms.push(term);
        }
        if most >= LARGEST_SUM {
            self.refuse("a sum of lengths may have more than 62 bits");
        }
        if sum.constant != 0 || terms.is_empty() {
            terms.push(signed(sum.constant));
        }
        let add = |a, b| C::bin(BinOp::Add, a, b);
        terms.into_iter().reduce(add).unwrap_or(C::int(0))
    }

    /// Returns the greatest absolute value that a field may have.
    fn largest(&self, layout: LayoutId, field: FieldId) -> i128 {
        let field = &self.schema.layouts[layout].fields[field];
        match (&field.contents, &field.extent) {
            (_, Extent::Bits(bits)) => 1 << (*bits).min(64),
            (_, Extent::Varint) => 1 << 28,
            (Contents::Decimal, _) => 10i128.pow(18),
            (_, Extent::Size(size)) => 1 << (8 * (*size).min(8)),
            _ => LARGEST_SUM,
        }
    }

    /// Returns an expression for a condition.
    pub(crate) fn condition(&mut self, frame: &Frame, condition: &Condition) -> C {
        let op = match condition.comparison {
            Comparison::Equal => BinOp::Eq,
            Comparison::NotEqual => BinOp::Ne,
            Comparison::Less => BinOp::Lt,
            Comparison::AtMost => BinOp::Le,
            Comparison::Greater => BinOp::Gt,
            Comparison::AtLeast => BinOp::Ge,
        };
        let sum = self.sum(frame, &condition.left);
        C::bin(op, sum, signed(condition.right))
    }
}

fn signed(number: i64) -> C {
    match u64::try_from(number) {
        Ok(number) => C::int(number),
        Err(_) => C::Signed(number),
    }
}

//! Advice for diagnostics, which depends on the types and the text of the faulty code.

use crate::checker::Checker;
use crate::errors::quoted;
use crate::scope::Entity;
use diag::Span;
use hir::*;
use num_bigint::BigInt;
use num_traits::One;
use smol_str::SmolStr;
use syntax::ast;

/// Longest piece of the program that advice repeats, in characters.
const LONGEST: usize = 40;
/// Most fields or members that advice lists.
const MOST_LISTED: usize = 8;

impl Checker<'_> {
    /// Returns a piece of the program as it is written, if it is short.
    pub(crate) fn written(&self, span: Span) -> Option<&str> {
        let text = self.map.text(span);
        let fits = !text.is_empty() && !text.contains('\n') && text.chars().count() <= LONGEST;
        fits.then_some(text)
    }

    /// Formats an expression as an operand of a cast or a prefix operator.
    fn operand(&self, value: &Expr) -> String {
        match self.written(value.span) {
            None => "(...)".to_owned(),
            Some(text) => match value.kind {
                ExprKind::Chain(..) | ExprKind::Mux(..) if !is_wrapped(text) => {
                    format!("({text})")
                }
                _ => text.to_owned(),
            },
        }
    }

    /// Formats the casts that convert a value to a type. `None` if casts cannot.
    fn casts(&self, value: &Expr, to: &Ty) -> Option<String> {
        let operand = self.operand(value);
        let cast = |ty: &Ty, operand: &str| format!("({}) {operand}", self.show(ty));
        let direct = Some(cast(to, &operand));
        match (&value.ty, to) {
            (Ty::Bool, Ty::Bits { width, signed }) => {
                let one = cast(&Ty::bit(1), &operand);
                Some(match (width, signed) {
                    (1, false) => one,
                    (_, false) => cast(to, &one),
                    (1, true) => cast(to, &one),
                    (width, true) => cast(to, &cast(&Ty::bit(*width), &one)),
                })
            }
            (
                Ty::Bits { width: a, signed },
                Ty::Bits {
                    width: b,
                    signed: wanted,
                },
            ) => {
                if a == b || signed == wanted {
                    return direct;
                }
                let widened = Ty::Bits {
                    width: *b,
                    signed: *signed,
                };
                Some(cast(to, &cast(&widened, &operand)))
            }
            (Ty::Int, Ty::NewType(_)) => {
                matches!(self.representation(to), Ty::Bits { .. }).then_some(())?;
                direct
            }
            (Ty::Int, Ty::Enum(_)) => self.underlying(to).and(direct),
            (from, Ty::NewType(_) | Ty::Enum(_)) => {
                let inner = match to {
                    Ty::NewType(id) => self.module.new_types[*id].ty.clone(),
                    _ => self.underlying(to)?,
                };
                if *from == inner {
                    return direct;
                }
                (matches!(from, Ty::Bits { .. }) && matches!(inner, Ty::Bits { .. }))
                    .then(|| cast(to, &cast(&inner, &operand)))
            }
            (Ty::NewType(id), to) => {
                let inner = self.module.new_types[*id].ty.clone();
                if inner == *to {
                    return direct;
                }
                (matches!(inner, Ty::Bits { .. }) && matches!(to, Ty::Bits { .. }))
                    .then(|| cast(to, &cast(&inner, &operand)))
            }
            (Ty::Enum(_), Ty::Bits { .. }) => self.underlying(&value.ty).and(direct),
            _ => None,
        }
    }

    /// Returns advice to call a related extern function if a call has too many arguments: its name extends this one by
    /// `_…`, and it takes that many.
    pub(crate) fn longer_relative(&self, name: &str, args: usize) -> Option<String> {
        let goes_on = |other: &str| {
            other
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('_'))
        };
        let mut others = self.module.extern_functions.values();
        let other = others.find(|other| {
            goes_on(&other.name)
                && other.params.len() == args
                && !self.deprecated.contains_key(&other.span)
        })?;
        let params: Vec<&str> = other
            .params
            .iter()
            .map(|param| self.module.locals[*param].name.as_str())
            .collect();
        Some(format!(
            "remove it, or call `{}({})`",
            other.name,
            params.join(", ")
        ))
    }

    /// Returns advice on converting a value to another type. `None` if there is no specific advice.
    pub(crate) fn conversion(&self, value: &Expr, to: &Ty) -> Option<String> {
        if *to == Ty::Bool {
            return self.as_condition(value);
        }
        if let (ExprKind::Const(ConstValue::Bool(b)), Ty::Int | Ty::Bits { .. }) = (&value.kind, to)
        {
            return Some(format!("write the number `{}`", u8::from(*b)));
        }
        if let Some(casts) = self.casts(value, to) {
            return Some(format!("convert it: `{casts}`"));
        }
        match (&value.ty, to) {
            (Ty::Bits { .. }, Ty::Int) => {
                let operand = self.operand(value);
                Some(format!(
                    "an `int` is known when the program is compiled, and has no width that a packet's number could have: \
                     convert to the type that is wanted here, as in `(bit<32>) {operand}`"
                ))
            }
            (Ty::Bool, Ty::Int) => {
                let operand = self.operand(value);
                Some(format!("choose a number by it: `{operand} ? 8w1 : 0`"))
            }
            (Ty::Int | Ty::Bits { .. }, Ty::Enum(_)) => self.member_of(to),
            (Ty::Enum(id), Ty::Int | Ty::Bits { .. } | Ty::Bool) => Some(format!(
                "an enum without a type has no numbers: declare it as in `enum bit<8> {} {{ ... }}`, or compare",
                self.module.enums[*id].name
            )),
            (Ty::ApplyResult(_), _) => {
                Some("use one of its members: `hit`, `miss` or `action_run`".to_owned())
            }
            (Ty::Stack(elem, _), to) if **elem == *to => Some(format!(
                "take one of its elements: `{}[0]`",
                self.operand(value)
            )),
            _ => None,
        }
    }

    /// Returns advice on using a value as a condition.
    fn as_condition(&self, value: &Expr) -> Option<String> {
        let operand = self.operand(value);
        match &value.ty {
            Ty::Int | Ty::Bits { .. } => Some(match &value.kind {
                ExprKind::Const(ConstValue::Int(n)) => format!("write `{}`", *n != BigInt::ZERO),
                _ => format!("compare it: `{operand} != 0`"),
            }),
            Ty::Composite(id, _) if self.module.composites[*id].kind != CompositeKind::Struct => {
                Some(format!("ask whether it is valid: `{operand}.isValid()`"))
            }
            Ty::ApplyResult(_) => Some(format!("ask whether an entry matched: `{operand}.hit`")),
            Ty::Error => Some(format!("compare it: `{operand} != error.NoError`")),
            Ty::Enum(id) => {
                let decl = &self.module.enums[*id];
                let (member, _) = decl.members.first()?;
                Some(format!("compare it: `{operand} == {}.{member}`", decl.name))
            }
            Ty::NewType(_) => Some(format!("compare it: `{operand} != ...`")),
            _ => None,
        }
    }

    /// Returns advice to name a member of an enum.
    fn member_of(&self, ty: &Ty) -> Option<String> {
        let Ty::Enum(id) = ty else { return None };
        let decl = &self.module.enums[*id];
        let (member, _) = decl.members.first()?;
        Some(format!("name a member, such as `{}.{member}`", decl.name))
    }

    /// Returns advice on operands that an infix operator does not take. `None` if there is no specific advice.
    pub(crate) fn operands_instead(
        &self,
        op: BinaryOp,
        symbol: &str,
        left: &Expr,
        right: &Expr,
    ) -> Option<String> {
        use BinaryOp::*;
        let is_number = |e: &Expr| matches!(e.ty, Ty::Int | Ty::Bits { .. });
        let sides = [(left, right), (right, left)];
        if matches!(op, And | Or) {
            let (wrong, _) = sides.into_iter().find(|(e, _)| e.ty != Ty::Bool)?;
            return self.as_condition(wrong);
        }
        for (one, other) in sides {
            match (&one.ty, &other.ty) {
                (Ty::Bool, Ty::Int | Ty::Bits { .. }) if matches!(op, Eq | Ne) => {
                    return self.bool_compared(op, one, other);
                }
                (Ty::Bool, Ty::Bits { .. }) if op == Concat => {
                    return self.conversion(one, &Ty::bit(1));
                }
                (Ty::Bool, Ty::Bits { .. }) if !matches!(op, Shl | Shr) => {
                    return self.conversion(one, &other.ty);
                }
                (Ty::Enum(_), _) if is_number(other) => {
                    return if matches!(op, Eq | Ne) {
                        self.member_of(&one.ty)
                    } else {
                        self.conversion(one, &other.ty)
                    };
                }
                (Ty::NewType(id), _) if is_number(other) && matches!(op, Eq | Ne) => {
                    let shown = &self.module.new_types[*id].name;
                    let casts = self.casts(other, &one.ty);
                    return casts.map(|c| format!("compare with a value of type `{shown}`: `{c}`"));
                }
                (Ty::NewType(id), _) if !matches!(op, Eq | Ne) => {
                    let decl = &self.module.new_types[*id];
                    return Some(self.in_its_type(decl, op, symbol));
                }
                (Ty::Extern(..) | Ty::Parser(..) | Ty::Control(..) | Ty::Package(..), _) => {
                    return Some(
                        "objects have methods, and neither values nor operators".to_owned(),
                    );
                }
                _ => {}
            }
        }
        let (Ty::Bits { width: a, .. }, Ty::Bits { width: b, .. }) = (&left.ty, &right.ty) else {
            return None;
        };
        if left.ty == right.ty || matches!(op, Shl | Shr | Concat) {
            return None;
        }
        // A constant takes the type of the other; of two others, the narrower becomes as wide.
        let is_const = |e: &Expr| matches!(e.kind, ExprKind::Const(_));
        let left_gives_way = match (is_const(left), is_const(right)) {
            (true, false) => true,
            (false, true) => false,
            _ => a < b,
        };
        let (value, to) = if left_gives_way {
            (left, &right.ty)
        } else {
            (right, &left.ty)
        };
        let casts = self.casts(value, to)?;
        Some(format!("give both the same type: `{casts}`"))
    }

    /// Returns advice on applying operators to values of a `type`.
    fn in_its_type(&self, decl: &NewType, op: BinaryOp, symbol: &str) -> String {
        let inner = self.show(&decl.ty);
        let name = &decl.name;
        let compares = matches!(
            op,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
        );
        let example = if compares {
            format!("`({inner}) x {symbol} 1`")
        } else {
            format!("`({name}) (({inner}) x {symbol} 1)`")
        };
        format!(
            "a `{name}` can only be compared for equality: convert it to `{inner}`, as in {example}"
        )
    }

    /// Returns advice on `b == 1` and similar comparisons of a bool with a number.
    fn bool_compared(&self, op: BinaryOp, bool: &Expr, number: &Expr) -> Option<String> {
        let operand = self.operand(bool);
        let ExprKind::Const(ConstValue::Int(n)) = &number.kind else {
            return Some(format!(
                "compare with a bool: `{operand}` is a condition itself"
            ));
        };
        let is_one = n.is_one();
        if !is_one && *n != BigInt::ZERO {
            return Some(format!(
                "`{operand}` is a condition itself: it is true or false"
            ));
        }
        let plain = is_one == (op == BinaryOp::Eq);
        let not = if plain { "" } else { "!" };
        Some(format!(
            "a bool is a condition itself: write `{not}{operand}`"
        ))
    }

    /// Returns the call to write in place of calling something that is applied, or that has methods.
    pub(crate) fn called_instead(&self, entity: &Entity, name: &str) -> Option<String> {
        let ty = match entity {
            Entity::Table(_) => return Some(format!("{name}.apply()")),
            Entity::Instance(id) => self.module.instances[*id].ty.clone(),
            Entity::Local(id) => self.module.locals[*id].ty.clone(),
            _ => return None,
        };
        match ty {
            Ty::Parser(..) | Ty::Control(..) => Some(format!("{name}.apply(...)")),
            Ty::Extern(id, _) => {
                let method = self.module.externs[id].methods.first()?;
                Some(format!("{name}.{}(...)", method.proto.name))
            }
            _ => None,
        }
    }

    /// Returns advice on an unknown name. `near` is a similar known name.
    pub(crate) fn unknown_instead(&self, name: &ast::Ident, near: Option<&str>) -> String {
        let owners = self.module.enums.values();
        let has_it = |e: &&Enum| e.members.iter().any(|(member, _)| *member == name.name);
        let mut members: Vec<String> = owners
            .filter(has_it)
            .map(|e| format!("{}.{}", e.name, name.name))
            .collect();
        if self.module.errors.contains(&name.name) {
            members.push(format!("error.{}", name.name));
        }
        if !members.is_empty() && members.len() <= MOST_LISTED {
            return format!("write the member with its type: {}", either(&members));
        }
        if let "packet_in" | "packet_out" | "NoAction" | "verify" | "static_assert" = &*name.name {
            return "add `#include <core.p4>`, which declares it".to_owned();
        }
        match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "declare it before this use, or include the file that declares it".to_owned(),
        }
    }

    /// Returns advice on a member that a value does not have. `None` if there is no specific advice.
    pub(crate) fn member_instead(&self, base: &Expr, name: &SmolStr) -> Option<String> {
        let text = self.operand(base);
        match &base.ty {
            Ty::Composite(id, args) => {
                let deeper = self.in_fields(*id, args, &text, name);
                if !deeper.is_empty() && deeper.len() <= MOST_LISTED {
                    return Some(format!("did you mean {}?", either(&deeper)));
                }
                let lower = name.to_lowercase().replace('_', "");
                let is_header = self.module.composites[*id].kind != CompositeKind::Struct;
                (is_header && matches!(&*lower, "valid" | "isvalid"))
                    .then(|| format!("ask whether it is valid: `{text}.isValid()`"))
            }
            Ty::Stack(elem, _) => {
                if self.has_field(elem, name) {
                    return Some(format!("take one of its elements: `{text}[0].{name}`"));
                }
                Some(if self.is_stacked(elem) {
                    "it has `size`, `next`, `last` and `lastIndex`".to_owned()
                } else {
                    "it has `size`".to_owned()
                })
            }
            Ty::Tuple(_) => Some(format!("the elements of a tuple have numbers: `{text}[0]`")),
            Ty::Bits { .. } => Some(format!("take bits of a number with a slice: `{text}[3:0]`")),
            _ => None,
        }
    }

    /// Returns the fields of this name one level deeper, as they are written.
    fn in_fields(&self, id: CompositeId, args: &[Ty], text: &str, name: &SmolStr) -> Vec<String> {
        let fields = self.field_types(id, args).into_iter();
        fields
            .filter_map(|(field, ty)| match &ty {
                Ty::Stack(elem, _) if self.has_field(elem, name) => {
                    Some(format!("{text}.{field}[0].{name}"))
                }
                ty if self.has_field(ty, name) => Some(format!("{text}.{field}.{name}")),
                _ => None,
            })
            .collect()
    }

    fn has_field(&self, ty: &Ty, name: &SmolStr) -> bool {
        match ty {
            Ty::Composite(id, _) => {
                let fields = &self.module.composites[*id].fields;
                fields.iter().any(|f| f.name == *name)
            }
            _ => false,
        }
    }

    /// Returns the names of a type's fields, if there are few.
    pub(crate) fn few_fields(&self, ty: &Ty) -> Vec<SmolStr> {
        let Ty::Composite(id, _) = ty else {
            return Vec::new();
        };
        let fields = &self.module.composites[*id].fields;
        if fields.len() > MOST_LISTED {
            return Vec::new();
        }
        fields.iter().map(|f| f.name.clone()).collect()
    }
}

/// Formats "it has `a`, `b` and `c`", if there are few names.
pub(crate) fn listed(names: &[SmolStr]) -> Option<String> {
    let few = !names.is_empty() && names.len() <= MOST_LISTED;
    few.then(|| format!("it has {}", quoted(names)))
}

/// Formats "`a`, `b` or `c`".
fn either(all: &[String]) -> String {
    let ticked: Vec<String> = all.iter().map(|one| format!("`{one}`")).collect();
    match &ticked[..] {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => ticked.concat(),
    }
}

/// Returns true if a text is in parentheses as a whole.
fn is_wrapped(text: &str) -> bool {
    let mut depth = 0_u32;
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return i > 0 && i + 1 == text.len();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_around_a_part_are_not_around_the_whole() {
        assert!(is_wrapped("(a + b)"));
        assert!(!is_wrapped("(a) + (b)"));
        assert!(!is_wrapped("a"));
        assert!(!is_wrapped("(a"));
    }

    #[test]
    fn alternatives_are_joined() {
        let all =
            |names: &[&str]| either(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(all(&["a"]), "`a`");
        assert_eq!(all(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}

//! Rules on the types that are allowed in each context (specification section "Type nesting rules").

use crate::checker::Checker;
use hir::*;

/// Container of an element whose type is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Container {
    /// A header's field.
    Header,
    /// A header union's member.
    Union,
    /// A struct's field.
    Struct,
    /// A tuple's element.
    Tuple,
    /// A list's element.
    List,
    /// An array's element.
    Stack,
}

impl Container {
    /// Describes the container in a user's words.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Container::Header => "a field of a header",
            Container::Union => "a member of a header union",
            Container::Struct => "a field of a struct",
            Container::Tuple => "an element of a tuple",
            Container::List => "an element of a list",
            Container::Stack => "the element of an array",
        }
    }

    /// Returns advice on the allowed types.
    pub(crate) fn allowed(self) -> &'static str {
        match self {
            Container::Header => {
                "a header holds bit<N>, int<N>, varbit<N>, bool, serializable enums, and structs and arrays of these"
            }
            Container::Union => "a header union holds headers",
            Container::Struct | Container::Tuple => {
                "use bit<N>, int<N>, varbit<N>, bool, error, enums, headers, unions, stacks, arrays, structs or tuples"
            }
            Container::Stack => {
                "an array holds bit<N>, int<N>, varbit<N>, bool, error, enums, headers, unions, structs, tuples, arrays, or instances of externs"
            }
            Container::List => {
                "a list holds values of any type that a variable or constant can have"
            }
        }
    }
}

impl Checker<'_> {
    /// Returns true if `ty` may be an element of `container`.
    pub(crate) fn may_hold(&self, container: Container, ty: &Ty) -> bool {
        use Container::*;
        match ty {
            Ty::Poison | Ty::Infer(_) => true,
            Ty::Param(_) => true,
            Ty::Void | Ty::Set(_) | Ty::ApplyResult(_) | Ty::ActionRun(_) => false,
            Ty::Extern(..) | Ty::Parser(..) | Ty::Control(..) | Ty::Package(..) => false,
            Ty::Bool | Ty::Bits { .. } | Ty::Varbit(_) => container != Union,
            Ty::Int => matches!(container, List | Tuple | Stack),
            Ty::MatchKind => container == List || container == Tuple,
            Ty::String => matches!(container, Struct | Tuple | List),
            Ty::Error => matches!(container, Struct | Tuple | List | Stack),
            Ty::Enum(id) => match container {
                Header => self.module.enums[*id].underlying.is_some(),
                Struct | Tuple | List | Stack => true,
                Union => false,
            },
            Ty::NewType(id) => self.may_hold(container, &self.module.new_types[*id].ty),
            Ty::Stack(elem, _) if container == Header => {
                !matches!(**elem, Ty::Varbit(_)) && self.may_hold(Header, elem)
            }
            Ty::Stack(..) | Ty::Tuple(_) => matches!(container, Struct | Tuple | List | Stack),
            Ty::List(_) => matches!(container, List | Tuple),
            Ty::Composite(id, args) => match self.module.composites[*id].kind {
                CompositeKind::Header => container != Header,
                CompositeKind::Union => !matches!(container, Header | Union),
                CompositeKind::Struct => match container {
                    Struct | Tuple | List | Stack => true,
                    Header => self.field_types(*id, args).iter().all(|(_, field)| {
                        !matches!(field, Ty::Varbit(_)) && self.may_hold(Header, field)
                    }),
                    Union => false,
                },
            },
        }
    }

    /// Returns true if values of `ty` can be compared with `==`.
    pub(crate) fn has_equality(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Poison
            | Ty::Bool
            | Ty::Int
            | Ty::Bits { .. }
            | Ty::Varbit(_)
            | Ty::Error
            | Ty::Enum(_) => true,
            Ty::NewType(_) | Ty::Composite(..) => true,
            Ty::Stack(elem, _) | Ty::List(elem) => self.has_equality(elem),
            Ty::Tuple(elems) => elems.iter().all(|e| self.has_equality(e)),
            _ => false,
        }
    }

    /// Returns true if a variable, or a parameter with a direction, may have this type.
    pub(crate) fn is_storable(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Poison
            | Ty::Infer(_)
            | Ty::Param(_)
            | Ty::Bool
            | Ty::Bits { .. }
            | Ty::Varbit(_) => true,
            Ty::Error | Ty::Enum(_) | Ty::NewType(_) | Ty::Composite(..) => true,
            Ty::Stack(elem, _) => self.is_storable(elem),
            Ty::Tuple(elems) => elems.iter().all(|e| self.is_storable(e)),
            _ => false,
        }
    }

    /// Returns true if a value of `ty` can be an operand, an argument or an element at all.
    pub(crate) fn is_value(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Int | Ty::String | Ty::MatchKind => true,
            Ty::List(elem) => self.is_value(elem),
            Ty::Tuple(elems) => elems.iter().all(|e| self.is_value(e)),
            _ => self.is_storable(ty),
        }
    }

    /// Returns true if an array of these is a header stack.
    pub(crate) fn is_stacked(&self, elem: &Ty) -> bool {
        matches!(
            self.composite_kind(elem),
            Some(CompositeKind::Header | CompositeKind::Union)
        ) || matches!(elem, Ty::Poison | Ty::Param(_))
    }

    /// Returns the kind of a composite: struct, header or header union. `None` for other types.
    pub(crate) fn composite_kind(&self, ty: &Ty) -> Option<CompositeKind> {
        match ty {
            Ty::Composite(id, _) => Some(self.module.composites[*id].kind),
            _ => None,
        }
    }

    /// Returns the type that represents a serializable enum.
    pub(crate) fn underlying(&self, ty: &Ty) -> Option<Ty> {
        match ty {
            Ty::Enum(id) => self.module.enums[*id].underlying.clone(),
            _ => None,
        }
    }

    /// Returns true if a table or select can match on values of `ty` directly.
    pub(crate) fn is_matchable(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Poison | Ty::Bool | Ty::Bits { .. } | Ty::Error | Ty::Enum(_) | Ty::Varbit(_) => {
                true
            }
            Ty::NewType(id) => self.is_matchable(&self.module.new_types[*id].ty),
            _ => false,
        }
    }
}

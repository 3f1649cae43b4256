//! Size of types: bits, scalars, nesting.

use crate::checker::Checker;
use diag::grouped;
use hir::*;

/// Size of a type. Counts saturate instead of overflowing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Measure {
    /// Number of bits with empty varbits.
    pub(crate) min_bits: u64,
    /// Number of bits with full varbits.
    pub(crate) max_bits: u64,
    /// Number of scalars and composites in it.
    pub(crate) leaves: u64,
    /// Nesting depth of composites.
    pub(crate) depth: u32,
    /// Number of varbit fields in it.
    pub(crate) varbits: u64,
    /// True if every part has a size in bits.
    pub(crate) sized: bool,
}

/// Most parts that a type may consist of, and its deepest nesting.
const MAX_LEAVES: u64 = 1 << 16;
const MAX_NESTING: u32 = 32;

impl Measure {
    /// Returns true if the type exceeds the limits on its parts.
    pub(crate) fn is_too_large(&self) -> bool {
        self.leaves > MAX_LEAVES || self.depth > MAX_NESTING
    }

    /// Describes the limits in a user's words.
    pub(crate) fn most() -> String {
        format!(
            "{} parts, nested {MAX_NESTING} levels deep",
            grouped(MAX_LEAVES)
        )
    }

    fn scalar(bits: u64) -> Measure {
        Measure {
            min_bits: bits,
            max_bits: bits,
            leaves: 1,
            depth: 0,
            varbits: 0,
            sized: true,
        }
    }

    fn unsized_scalar() -> Measure {
        Measure {
            leaves: 1,
            ..Measure::default()
        }
    }

    fn and(self, other: Measure) -> Measure {
        Measure {
            min_bits: self.min_bits.saturating_add(other.min_bits),
            max_bits: self.max_bits.saturating_add(other.max_bits),
            leaves: self.leaves.saturating_add(other.leaves),
            depth: self.depth.max(other.depth),
            varbits: self.varbits.saturating_add(other.varbits),
            sized: self.sized && other.sized,
        }
    }

    fn times(self, n: u64) -> Measure {
        Measure {
            min_bits: self.min_bits.saturating_mul(n),
            max_bits: self.max_bits.saturating_mul(n),
            leaves: self.leaves.saturating_mul(n.max(1)),
            varbits: self.varbits.saturating_mul(n),
            ..self
        }
    }
}

impl Checker<'_> {
    /// Measures a type. Each composite is measured once; those nested in it were measured when declared.
    pub(crate) fn measure(&mut self, ty: &Ty) -> Measure {
        match ty {
            Ty::Bool => Measure::scalar(1),
            Ty::Bits { width, .. } => Measure::scalar(u64::from(*width)),
            Ty::Varbit(max) => Measure {
                min_bits: 0,
                max_bits: u64::from(*max),
                leaves: 1,
                depth: 0,
                varbits: 1,
                sized: true,
            },
            Ty::NewType(id) => {
                let inner = self.module.new_types[*id].ty.clone();
                self.measure(&inner)
            }
            Ty::Enum(id) => match self.module.enums[*id].underlying.clone() {
                Some(inner) => self.measure(&inner),
                None => Measure::unsized_scalar(),
            },
            Ty::Tuple(elems) => elems.iter().fold(
                Measure {
                    sized: true,
                    ..Measure::default()
                },
                |sum, elem| sum.and(self.measure(elem)),
            ),
            Ty::Stack(elem, n) => self.measure(elem).times(u64::from(*n)),
            Ty::Composite(id, args) => {
                if let Some(known) = self.sizes.get(ty) {
                    return *known;
                }
                let measure = self.measure_composite(*id, args);
                self.sizes.insert(ty.clone(), measure);
                measure
            }
            _ => Measure::unsized_scalar(),
        }
    }

    fn measure_composite(&mut self, id: CompositeId, args: &[Ty]) -> Measure {
        let fields = self.field_types(id, args);
        let measures: Vec<Measure> = fields.iter().map(|(_, ty)| self.measure(ty)).collect();
        let mut sum = Measure {
            sized: true,
            ..Measure::default()
        };
        if self.module.composites[id].kind == CompositeKind::Union {
            // A union occupies at least nothing and at most its largest member.
            for m in measures {
                let max = sum.max_bits.max(m.max_bits);
                sum = sum.and(m);
                sum.max_bits = max;
                sum.min_bits = 0;
            }
        } else {
            sum = measures.into_iter().fold(sum, Measure::and);
        }
        sum.depth = sum.depth.saturating_add(1);
        // Count an empty struct too: nesting such structs doubles the size as fast as nesting others.
        sum.leaves = sum.leaves.saturating_add(1);
        sum
    }

    /// Returns names and types of a composite's fields, with its type arguments substituted.
    pub(crate) fn field_types(&self, id: CompositeId, args: &[Ty]) -> Vec<(smol_str::SmolStr, Ty)> {
        let composite = &self.module.composites[id];
        composite
            .fields
            .iter()
            .map(|f| {
                (
                    f.name.clone(),
                    crate::infer::subst(&f.ty, &composite.type_params, args),
                )
            })
            .collect()
    }

    /// Returns the index and type of a field.
    pub(crate) fn field_type(
        &mut self,
        id: CompositeId,
        args: &[Ty],
        name: &smol_str::SmolStr,
    ) -> Option<(usize, Ty)> {
        let composite = &self.module.composites[id];
        let places = self.fields.entry(id).or_insert_with(|| {
            let names = composite.fields.iter().map(|f| f.name.clone());
            names.zip(0..).collect()
        });
        let at = *places.get(name)?;
        let ty = &composite.fields[at].ty;
        let ty = crate::infer::subst(ty, &composite.type_params, args);
        Some((at, ty))
    }
}

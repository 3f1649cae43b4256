//! The struct of a table's values: an action and its parameters.

use crate::emitter::Gen;
use crate::names::Names;
use crate::record::{MemberLayout, Record};
use crate::target::Target;
use cgen::tree::{Expr as C, Member, Type};
use ir::{ActionCall, Bits, ExprKind, Place, Program, StmtKind, TableData, Var, visit};
use layout::ByteOrder;
use smol_str::SmolStr;

/// References that an entry of a table with an action profile may have in place of an action.
const REFERENCES: [&str; 2] = ["member", "group"];
/// Name of the struct's member with the id of a reference.
pub const REFERENCE_ID: &str = "id";

/// Name of the struct's member with an entry's number.
pub(crate) const NUMBER: &str = "number";

/// Parameter of an action in a table's value.
#[derive(Clone, Debug)]
pub struct Param {
    /// The member's name.
    pub member: SmolStr,
    /// Layout of its value.
    pub form: MemberLayout,
    /// Offset from the value's start, in bytes.
    pub offset: u32,
}

/// Layout of an action in a table's value.
#[derive(Clone, Debug)]
pub struct ActionLayout {
    /// The action's own name.
    pub name: SmolStr,
    /// Its member of the union.
    pub member: SmolStr,
    /// Its parameters, in order.
    pub params: Vec<Param>,
}

/// Layout of a table's values.
#[derive(Clone, Debug)]
pub struct ValueLayout {
    /// Total size in bytes.
    pub size: u32,
    /// Offset of the priority, a `u32`, if several entries may match.
    pub priority_offset: Option<u32>,
    /// Offset of the action's number, a `u32`: its index in the table's list plus one; 0 means no entry.
    pub action_offset: u32,
    /// Offset of the entry's number, a `u32`, if objects are kept for each entry. Numbers begin at 1 and are
    /// unique; 0 is the default action.
    pub number_offset: Option<u32>,
    /// Alignment in bytes.
    pub align: u32,
    /// Layout of each action of the table's list. If the table has an action profile, the references that entries
    /// may have instead come last: a member, and a group.
    pub actions: Vec<ActionLayout>,
}

impl ValueLayout {
    /// Returns the value of the entry with this number, or of the default action, which has none, as a C
    /// initialiser and as bytes.
    pub fn value(&self, call: &ActionCall, entry: Option<u32>) -> (C, Vec<u8>) {
        let mut bytes = vec![0u8; self.size as usize];
        let number = call.action + 1;
        let mut put = |at: u32, word: u32| {
            bytes[at as usize..][..4].copy_from_slice(&word.to_ne_bytes());
        };
        put(self.action_offset, number);
        let mut members = vec![(Some("action".into()), C::int(number.into()))];
        if let (Some(at), Some(entry)) = (self.number_offset, entry) {
            put(at, entry);
            members.push((Some(NUMBER.into()), C::int(entry.into())));
        }
        let action = &self.actions[call.action as usize];
        let mut inner = Vec::new();
        for (param, value) in action.params.iter().zip(&call.args) {
            let raw = encode(value, param.form);
            bytes[param.offset as usize..][..raw.len()].copy_from_slice(&raw);
            inner.push((Some(param.member.clone()), initializer(&raw, param.form)));
        }
        if !inner.is_empty() {
            members.push((Some(action.member.clone()), C::Init(inner)));
        }
        (C::Init(members), bytes)
    }
}

impl<T: Target> Gen<'_, T> {
    /// Makes the struct of a table's values. It has a priority if several entries may match, and a number if
    /// objects are kept for each entry.
    pub(crate) fn value_layout(
        &mut self,
        data: &TableData,
        ternary: bool,
    ) -> (ValueLayout, Vec<Member>) {
        let mut head = Record::default();
        let priority_offset = ternary.then(|| head.add(Type::U32, "priority", 4, 4, ""));
        let action_offset = head.add(Type::U32, "action", 4, 4, "0: no entry");
        let numbered = super::has_direct_objects(self.p, data);
        let number_offset = numbered.then(|| head.add(Type::U32, NUMBER, 4, 4, "0: no entry"));
        let mut variants = Vec::new();
        let mut actions: Vec<ActionLayout> = Vec::new();
        let mut align = 4;
        let mut largest = 0;
        for action in &data.actions {
            let action = &self.p.actions[action.action];
            let mut record = Record::default();
            let mut params = Vec::new();
            let mut members: Names = T::names();
            for &var in &action.params {
                let width = self.p.vars[var].ty.width();
                let order = param_order(self.p, &action.body, var, width);
                let form = MemberLayout::new(width, order);
                let member = members.fresh(&self.p.vars[var].name);
                let note = match order {
                    ByteOrder::Network if form.size > 1 => "network order",
                    _ => "",
                };
                let offset = record.add_value(form, member.clone(), note);
                params.push(Param {
                    member,
                    form,
                    offset,
                });
            }
            let short = action.name.rsplit('.').next().unwrap_or(&action.name);
            let mut taken: Names = T::names();
            let mut variant = taken.fresh(short);
            if actions.iter().any(|a| a.member == variant)
                || matches!(variant.as_str(), "action" | "priority" | NUMBER)
            {
                variant = format!("{variant}_{}", actions.len()).into();
            }
            align = align.max(record.align);
            largest = largest.max(record.size.next_multiple_of(record.align.max(1)));
            if !record.members.is_empty() {
                variants.push((variant.clone(), record.members));
            }
            actions.push(ActionLayout {
                name: action.name.clone(),
                member: variant,
                params,
            });
        }
        let references = match super::property(self.p, data, super::ACTION_SELECTOR) {
            Some(_) => &REFERENCES[..],
            None => &REFERENCES[..usize::from(super::profile_of(self.p, data).is_some())],
        };
        for &name in references {
            let (form, mut record) = (MemberLayout::new(32, ByteOrder::Host), Record::default());
            let offset = record.add_value(form, REFERENCE_ID, "");
            let mut member: SmolStr = format!("to_{name}").into();
            while actions.iter().any(|a| a.member == member) {
                member = format!("{member}_").into();
            }
            (align, largest) = (align.max(record.align), largest.max(record.size));
            variants.push((member.clone(), record.members));
            let params = vec![Param {
                member: REFERENCE_ID.into(),
                form,
                offset,
            }];
            actions.push(ActionLayout {
                name: name.into(),
                member,
                params,
            });
        }
        head.pad_to(align);
        let base = head.size;
        let params = actions.iter_mut().flat_map(|action| &mut action.params);
        params.for_each(|param| param.offset += base);
        let size = (base + largest).next_multiple_of(align);
        let mut members = head.members;
        if !variants.is_empty() {
            members.push(Member::Union(variants));
        }
        let layout = ValueLayout {
            size,
            priority_offset,
            action_offset,
            number_offset,
            align,
            actions,
        };
        (layout, members)
    }
}

/// Returns a value in this layout, as a C initialiser and as bytes.
pub fn constant(value: &Bits, form: MemberLayout) -> (C, Vec<u8>) {
    let bytes = encode(value, form);
    (initializer(&bytes, form), bytes)
}

fn encode(value: &Bits, form: MemberLayout) -> Vec<u8> {
    let mut bytes = vec![0u8; form.size as usize];
    let digits = value.to_bytes();
    let from = bytes.len() - digits.len();
    bytes[from..].copy_from_slice(&digits);
    if form.order == ByteOrder::Host && cfg!(target_endian = "little") {
        bytes.reverse();
    }
    bytes
}

fn initializer(raw: &[u8], form: MemberLayout) -> C {
    let word = |bytes: &[u8]| {
        let mut all = [0u8; 8];
        if cfg!(target_endian = "little") {
            all[..bytes.len()].copy_from_slice(bytes);
            C::int(u64::from_le_bytes(all))
        } else {
            all[8 - bytes.len()..].copy_from_slice(bytes);
            C::int(u64::from_be_bytes(all))
        }
    };
    match form.ty() {
        Type::Array(element, _) => {
            let step = if *element == Type::U8 { 1 } else { 8 };
            C::Init(raw.chunks(step).map(|c| (None, word(c))).collect())
        }
        _ => word(raw),
    }
}

/// Returns the byte order of a parameter: that of the packet if the parameter is copied there unchanged.
fn param_order(p: &Program, body: &ir::Block, var: Var, width: u32) -> ByteOrder {
    if width > 64 {
        return ByteOrder::Network;
    }
    if !width.is_multiple_of(8) {
        return ByteOrder::Host;
    }
    let mut copied = false;
    visit::walk_block(body, &mut |s| {
        if let StmtKind::Assign {
            dst: Place::Field(..),
            value,
        } = &s.kind
        {
            copied |= p.exprs[*value].kind == ExprKind::Var(var);
        }
    });
    // 24, 40 and 56 bits have no form in network order that is copied in one go.
    if copied && matches!(width, 8 | 16 | 32 | 48 | 64) {
        ByteOrder::Network
    } else {
        ByteOrder::Host
    }
}

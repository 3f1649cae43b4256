//! Keys that programs build on the stack and hash (`onpath/keys.h`), of flow states and of metrics by group.

use crate::errors;
use crate::layouts::KeyLayout;
use crate::target::StateTarget;
use cgen::tree::{Expr as C, Stmt};
use emit::Gen;
use emit::values::Value;
use ir::{Expr, ExternData, ExternInst, Type};
use layout::{ByteOrder, FieldAbi, KeyAbi};

/// Longest key, in bytes.
const LIMIT: u32 = 128;

/// Returns the scalars of an extern's type argument.
pub(crate) fn scalars(data: &ExternData, arg: usize) -> &[Type] {
    data.type_args.get(arg).map_or(&[][..], Vec::as_slice)
}

/// Returns the name of a scalar of a type argument. Empty if the type is no struct.
pub(crate) fn name_of_scalar(data: &ExternData, arg: usize, scalar: usize) -> String {
    let names = data.type_arg_names.get(arg);
    let name = names.and_then(|names| names.get(scalar));
    name.map(ToString::to_string).unwrap_or_default()
}

/// Returns the layout of a key whose type is an extern's type argument, with its description. `None` if the program is
/// refused.
pub(crate) fn layout<T: StateTarget>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    arg: usize,
) -> Option<(KeyLayout, KeyAbi)> {
    let data = &g.p.externs[object];
    let mut end = 0;
    let mut fields = Vec::new();
    let mut described = Vec::new();
    for (k, ty) in scalars(data, arg).iter().enumerate() {
        if matches!(ty, Type::Varbit(_)) {
            g.refuse(errors::varbit_in_key(&data.ty, &data.name, data.span));
            return None;
        }
        let size = ty.width().div_ceil(8);
        fields.push((end, size));
        described.push(FieldAbi {
            name: name_of_scalar(data, arg, k),
            offset: end,
            size,
            width: ty.width(),
            order: ByteOrder::Network,
        });
        end += size;
    }
    let words = end.div_ceil(8).max(1);
    if words * 8 > LIMIT {
        g.refuse(errors::key_too_long(
            g.target.name(),
            &data.name,
            end,
            LIMIT,
            data.span,
        ));
        return None;
    }
    let abi = KeyAbi {
        size: words * 8,
        fields: described,
    };
    Some((KeyLayout { words, fields }, abi))
}

/// Emits the filling of a key, an array of words that are zero before.
pub(crate) fn fill<T: StateTarget>(g: &mut Gen<'_, T>, layout: &KeyLayout, var: &C, key: &[Expr]) {
    let put = |at: u32, value: C, bytes: u32| {
        let args = vec![var.clone(), C::int(at.into()), value, C::int(bytes.into())];
        Stmt::Expr(C::call("key_put", args))
    };
    for (&e, &(at, bytes)) in key.iter().zip(&layout.fields) {
        if bytes == 0 {
            continue;
        }
        match g.value(e) {
            Value::Scalar(value) => g.push(put(at, value, bytes)),
            Value::Limbs(limbs) => {
                let mut end = at + bytes;
                for limb in limbs {
                    let size = (end - at).min(8);
                    end -= size;
                    g.push(put(end, limb, size));
                }
            }
            Value::Slice(..) => {}
        }
    }
}

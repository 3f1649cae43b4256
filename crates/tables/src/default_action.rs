//! Default actions that the control plane changes. Their values are global data.

use crate::entries::Values;
use crate::target::Tables;
use cgen::tree::{BinOp, Expr as C, Type};
use emit::Gen;
use emit::table::{Value, has_params};
use ir::TableData;
use layout::DefaultAbi;
use smol_str::SmolStr;

/// Members of the globals for a default action.
#[derive(Clone, Debug)]
pub(crate) struct DefaultAction {
    /// Member with the value, or an array of two values.
    values: SmolStr,
    /// Member that selects the value in use, if there are two.
    selector: Option<SmolStr>,
}

impl DefaultAction {
    /// Returns the address of the value in use.
    pub(crate) fn address<T: Tables>(&self) -> C {
        let all = C::id(T::GLOBALS).member(self.values.clone());
        match &self.selector {
            None => all.addr(),
            Some(selector) => {
                let which = C::id(T::GLOBALS).member(selector.clone());
                all.index(C::bin(BinOp::And, which, C::int(1))).addr()
            }
        }
    }
}

/// Adds a table's default action to the globals.
pub(crate) fn declare<T: Tables>(
    g: &mut Gen<'_, T>,
    data: &TableData,
    short: &str,
    value: &Value,
    values: Values,
) -> (DefaultAction, DefaultAbi) {
    let name = g.file.names.fresh(&format!("{short}_default"));
    let (init, bytes) = value.layout.value(&data.default_action, None);
    let align = value.layout.align.max(4);
    let size = bytes.len() as u32;
    // A value that one store can change needs no second value to switch to.
    if !has_params(g.p, data) {
        let kept = T::kept(&mut g.file.own);
        let offset = kept.add_global(values.ty, &name, align, Some(init), bytes);
        let abi = DefaultAbi::Global {
            slots: vec![offset],
            selector: None,
            value: values.abi,
        };
        let default = DefaultAction {
            values: name,
            selector: None,
        };
        return (default, abi);
    }
    let selector = g.file.names.fresh(&format!("{short}_default_slot"));
    let both = C::Init(vec![(None, init.clone()), (None, init)]);
    let twice = [bytes.clone(), bytes].concat();
    let kept = T::kept(&mut g.file.own);
    let offset = kept.add_global(values.ty.array(2), &name, align, Some(both), twice);
    let at = kept.add_global(Type::U32, &selector, 4, None, vec![0; 4]);
    let abi = DefaultAbi::Global {
        slots: vec![offset, offset + size],
        selector: Some(at),
        value: values.abi,
    };
    let default = DefaultAction {
        values: name,
        selector: Some(selector),
    };
    (default, abi)
}

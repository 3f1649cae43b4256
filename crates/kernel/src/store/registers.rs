//! Registers: cells that packets write, and user space too.

use super::{KernelStore, layout, refused, unsupported};
use crate::sys::{Map, Update};
use bpf::abi::RegisterAbi;
use control::StoreError;
use schema::{Bits, Object, ObjectKind};

/// Why a register has no map.
const UNUSED: &str = "no packet's way through the program depends on this register";

impl KernelStore {
    /// The register's description and map; `None` if the program never touches it. Fails for an index that it does not have.
    fn register_map(
        &self,
        register: Object,
        index: u64,
    ) -> Result<Option<(&RegisterAbi, &Map)>, StoreError> {
        let ObjectKind::Register { size, .. } = self.schema.objects[register].kind else {
            return Err(unsupported("this extern object is no register"));
        };
        if index >= size {
            return Err(StoreError::OutOfRange { size });
        }
        let mut registers = self.abi.registers.iter();
        let abi = registers.find(|r| r.index == register.as_u32());
        abi.map(|abi| Ok((abi, self.map(&abi.map)?))).transpose()
    }

    /// A cell's scalars.
    pub(super) fn read_register(
        &self,
        register: Object,
        index: u64,
    ) -> Result<Vec<Bits>, StoreError> {
        let Some((abi, map)) = self.register_map(register, index)? else {
            return Err(unsupported(UNUSED));
        };
        let cell = map
            .get(&(index as u32).to_ne_bytes())
            .map_err(refused("read the register"))?
            .unwrap_or_default();
        Ok(abi
            .fields
            .iter()
            .map(|field| layout::get(field, &cell))
            .collect())
    }

    /// Changes a cell. What packets write meanwhile may be lost.
    pub(super) fn write_register(
        &self,
        register: Object,
        index: u64,
        value: &[Bits],
    ) -> Result<(), StoreError> {
        let Some((abi, map)) = self.register_map(register, index)? else {
            return Err(unsupported(UNUSED));
        };
        let mut cell = vec![0; map.info().value_size];
        for (field, value) in abi.fields.iter().zip(value) {
            layout::put(field, value, &mut cell);
        }
        map.set(&(index as u32).to_ne_bytes(), &cell, Update::Any)
            .map_err(refused("write the register"))
    }
}

//! Registers: cells that packets and the control plane write.

use crate::encoding;
use crate::errors::{refused, unsupported};
use crate::memory::Map;
use crate::state::ProgramState;
use control::StoreError;
use layout::RegisterAbi;
use schema::{Bits, Object, ObjectKind};
use std::io;

/// Error for a register without a map.
const UNUSED: &str = "no packet's way through the program depends on this register";

impl ProgramState<'_> {
    /// Returns the register's description and map. `None` if the program never uses the register. Fails for an index
    /// that the register does not have.
    fn register_map(
        &self,
        register: Object,
        index: Option<u64>,
    ) -> Result<Option<(&RegisterAbi, &dyn Map)>, StoreError> {
        let ObjectKind::Register { size, .. } = self.schema.objects[register].kind else {
            return Err(unsupported("this extern object is no register"));
        };
        if index.is_some_and(|index| index >= size) {
            return Err(StoreError::OutOfRange { size });
        }
        let mut registers = self.memory.contents().registers.iter();
        let abi = registers.find(|r| r.index == register.as_u32());
        abi.map(|abi| Ok((abi, self.map(&abi.map)?))).transpose()
    }

    /// Reads the cells that are not zero, in order of their indices.
    pub(super) fn read_registers(
        &self,
        register: Object,
    ) -> Result<Vec<(u64, Vec<Bits>)>, StoreError> {
        let Some((abi, map)) = self.register_map(register, None)? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut note = |index: u64, cell: &[u8]| {
            let scalars = abi.fields.iter().map(|field| encoding::get(field, cell));
            let scalars: Vec<Bits> = scalars.collect();
            if scalars.iter().any(|bits| !bits.is_zero()) {
                found.push((index, scalars));
            }
        };
        let read = match abi.locked {
            true => {
                let mut at = 0;
                map.each_locked(&mut |cell| {
                    note(at, cell);
                    at += 1;
                })
            }
            false => map.each(&mut |key, cell| note(encoding::get_u32(key, 0).into(), cell)),
        };
        read.map_err(refused("read the register"))?;
        found.sort_by_key(|(index, _)| *index);
        Ok(found)
    }

    /// Zeroes one cell, or all cells that are not zero. Concurrent writes of packets may be lost.
    pub(super) fn zero_register(
        &self,
        register: Object,
        index: Option<u64>,
    ) -> Result<(), StoreError> {
        let Some((abi, map)) = self.register_map(register, index)? else {
            return Ok(());
        };
        let cells: Vec<u64> = match index {
            Some(index) => vec![index],
            None => {
                let used = self.read_registers(register)?;
                used.into_iter().map(|(index, _)| index).collect()
            }
        };
        let zero = vec![0; map.info().value_size];
        cells.into_iter().try_for_each(|index| {
            write(abi, map, index, &zero).map_err(refused("write the register"))
        })
    }

    /// Reads the scalars of a cell.
    pub(super) fn read_register(
        &self,
        register: Object,
        index: u64,
    ) -> Result<Vec<Bits>, StoreError> {
        let Some((abi, map)) = self.register_map(register, Some(index))? else {
            return Err(unsupported(UNUSED));
        };
        let key = (index as u32).to_ne_bytes();
        let cell = match abi.locked {
            true => map.get_locked(&key),
            false => map.get(&key),
        };
        let cell = cell
            .map_err(refused("read the register"))?
            .unwrap_or_default();
        Ok(abi
            .fields
            .iter()
            .map(|field| encoding::get(field, &cell))
            .collect())
    }

    /// Writes a cell. Concurrent writes of packets may be lost.
    pub(super) fn write_register(
        &self,
        register: Object,
        index: u64,
        value: &[Bits],
    ) -> Result<(), StoreError> {
        let Some((abi, map)) = self.register_map(register, Some(index))? else {
            return Err(unsupported(UNUSED));
        };
        let mut cell = vec![0; map.info().value_size];
        for (field, value) in abi.fields.iter().zip(value) {
            encoding::put(field, value, &mut cell);
        }
        write(abi, map, index, &cell).map_err(refused("write the register"))
    }
}

/// Writes the bytes of a cell, under its lock if it has one.
fn write(abi: &RegisterAbi, map: &dyn Map, index: u64, cell: &[u8]) -> io::Result<()> {
    let key = (index as u32).to_ne_bytes();
    match abi.locked {
        true => map.set_locked(&key, cell),
        false => map.set(&key, cell),
    }
}

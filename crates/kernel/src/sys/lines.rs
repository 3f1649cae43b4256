//! Source lines of a program's instructions.

use super::check;
use super::object::{Adjust, Open};
use clang::NOWHERE;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io;

/// The source line of each instruction of a program, by the number that the verifier gives the instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InstructionLines(BTreeMap<u32, (String, u32)>);

impl InstructionLines {
    /// Returns the file and the line, from 1, that an instruction comes from.
    pub fn of(&self, instruction: u32) -> Option<(&str, u32)> {
        let (_, (file, line)) = self.0.range(..=instruction).next_back()?;
        Some((file, *line))
    }
}

/// Builds the lines from the first instruction of each line, with its file and line.
impl FromIterator<(u32, (String, u32))> for InstructionLines {
    fn from_iter<I: IntoIterator<Item = (u32, (String, u32))>>(lines: I) -> InstructionLines {
        InstructionLines(lines.into_iter().collect())
    }
}

/// Reads the source lines of an object's program from its debug information, after the functions that it calls have
/// become part of it. Returns none if the object has several programs, since the verifier counts the instructions of
/// each.
pub fn instruction_lines(object: &[u8]) -> io::Result<InstructionLines> {
    let open = Open::new(object, Adjust::trial())?;
    let obj = open.raw();
    // SAFETY: the object is open.
    check(unsafe { libbpf_sys::bpf_object__prepare(obj) })?;
    // SAFETY: the object stays open; its programs, their lines and the strings of its type information live as long.
    unsafe {
        let prog = libbpf_sys::bpf_object__next_program(obj, std::ptr::null_mut());
        if prog.is_null() || !libbpf_sys::bpf_object__next_program(obj, prog).is_null() {
            return Ok(InstructionLines::default());
        }
        let lines = libbpf_sys::bpf_program__line_info(prog);
        let types = libbpf_sys::bpf_object__btf(obj);
        if lines.is_null() || types.is_null() {
            return Ok(InstructionLines::default());
        }
        let count = libbpf_sys::bpf_program__line_info_cnt(prog) as usize;
        let lines = std::slice::from_raw_parts(lines, count).iter();
        let named = lines.filter_map(|info| {
            let name = libbpf_sys::btf__name_by_offset(types, info.file_name_off);
            let file = (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy());
            let file = file?;
            let moved = file.strip_prefix(NOWHERE);
            let file = moved.map_or(&*file, |file| file.trim_start_matches('/'));
            // The column takes ten bits.
            Some((info.insn_off, (file.to_owned(), info.line_col >> 10)))
        });
        Ok(named.collect())
    }
}

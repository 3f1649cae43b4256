//! Cost of an object in the kernel: instructions and stack of each function, read before the object is loaded.

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// Function of an object, with its costs.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct FunctionBudget {
    /// Function's name in C.
    pub name: String,
    /// The section it is in; `.text` holds the functions that others call.
    pub section: String,
    /// Instructions in units of 8 bytes.
    pub instructions: u32,
    /// Bytes of stack, rounded up to 8.
    pub stack: u32,
}

/// Every function of an object.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Budget {
    /// Functions in the object's order.
    pub functions: Vec<FunctionBudget>,
}

impl Budget {
    /// Instructions of all functions together.
    pub fn instructions(&self) -> u32 {
        self.functions.iter().map(|f| f.instructions).sum()
    }

    /// The deepest stack of one function.
    pub fn stack(&self) -> u32 {
        self.functions.iter().map(|f| f.stack).max().unwrap_or(0)
    }
}

/// Reads an object as clang writes it. `None` if it is not one.
pub fn read(object: &[u8]) -> Option<Budget> {
    let file = object::File::parse(object).ok()?;
    let mut functions = Vec::new();
    for section in file.sections().filter(|s| s.kind() == SectionKind::Text) {
        let name = section.name().ok()?;
        let code = section.data().ok()?;
        for symbol in file.symbols() {
            if symbol.kind() != SymbolKind::Text || symbol.section_index() != Some(section.index())
            {
                continue;
            }
            let from = symbol.address() as usize;
            let body = code.get(from..from.checked_add(symbol.size() as usize)?)?;
            functions.push(FunctionBudget {
                name: symbol.name().ok()?.to_owned(),
                section: name.to_owned(),
                instructions: (body.len() / 8) as u32,
                stack: stack_bytes(body),
            });
        }
    }
    Some(Budget { functions })
}

/// Returns the deepest offset from the frame pointer (register 10) that a function addresses, in bytes, rounded up to
/// 8. The address is in a load or store, or a constant added to a copy of the frame pointer.
fn stack_bytes(code: &[u8]) -> u32 {
    const FRAME: u8 = 10;
    const MOV_REGISTER: u8 = 0xbf;
    const ADD_CONSTANT: u8 = 0x07;
    let mut deepest = 0i32;
    let mut copies = [false; 16];
    for insn in code.chunks_exact(8) {
        let (opcode, dst, src) = (insn[0], insn[1] & 0xf, insn[1] >> 4);
        let offset = i32::from(i16::from_le_bytes([insn[2], insn[3]]));
        let constant = i32::from_le_bytes([insn[4], insn[5], insn[6], insn[7]]);
        match opcode & 7 {
            // Loads through a register; stores of constants and of registers.
            1 if src == FRAME => deepest = deepest.min(offset),
            2 | 3 if dst == FRAME => deepest = deepest.min(offset),
            _ => {}
        }
        match opcode {
            MOV_REGISTER => copies[usize::from(dst)] = src == FRAME,
            ADD_CONSTANT if copies[usize::from(dst)] => deepest = deepest.min(constant),
            _ => {}
        }
    }
    deepest.unsigned_abs().next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clang::Source;

    fn compile(text: &str) -> Vec<u8> {
        let clang = clang::find().expect("these tests need clang");
        clang::compile(
            &clang,
            Source {
                text,
                headers: &[],
                include_dirs: &[],
                defines: &[],
                effort: Default::default(),
                jumps: Default::default(),
            },
        )
        .expect("compiles")
    }

    #[test]
    fn two_instructions_and_no_stack() {
        let object =
            compile("__attribute__((section(\"xdp\"), used)) int drop(void *c) { return 1; }\n");
        let budget = read(&object).expect("an object");
        assert_eq!(budget.functions.len(), 1);
        assert_eq!(budget.functions[0].name, "drop");
        assert_eq!((budget.instructions(), budget.stack()), (2, 0));
    }

    #[test]
    fn a_local_array_is_counted() {
        let object = compile(
            "static void (*use)(char *) = (void *)6;\n\
             __attribute__((section(\"xdp\"), used)) int f(void *c) { char a[100]; a[0] = 0; use(a); return a[0]; }\n",
        );
        let budget = read(&object).expect("an object");
        assert!((100..=112).contains(&budget.stack()), "{}", budget.stack());
    }

    #[test]
    fn other_bytes_are_not_an_object() {
        assert_eq!(read(b"#!/bin/sh"), None);
    }
}

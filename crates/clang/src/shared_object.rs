//! Code for this machine that is loaded into this process: users' C of extern functions, for the interpreter.

use crate::errors;
use diag::Diagnostic;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::rc::Rc;

/// Shared object in this process, with variables of its own. Its file stays open as long, because the loader takes two
/// files of the same path for one.
#[derive(Clone, Debug)]
pub struct SharedObject(Rc<(Library, File)>);

/// Function of a shared object that takes an array of numbers, and leaves its results in it.
pub struct NativeFunction {
    /// Object that the symbol belongs to.
    _object: SharedObject,
    symbol: Symbol<unsafe extern "C" fn(*mut u64)>,
    values: usize,
}

impl SharedObject {
    /// Loads a shared object from its bytes in memory. Each loading has variables of its own.
    pub fn load(bytes: &[u8]) -> Result<SharedObject, Box<Diagnostic>> {
        let failed = |why: &dyn Display| errors::not_loaded(&why.to_string());
        let file = memfd_create(c"onpath-extern", MFdFlags::MFD_CLOEXEC);
        let mut file = File::from(file.map_err(|e| failed(&e))?);
        file.write_all(bytes).map_err(|e| failed(&e))?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: the object has no initialisers but those of the user's C, which the user asked to run.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| {
            // The loader's message begins with the path.
            let text = std::error::Error::source(&error)
                .unwrap_or(&error)
                .to_string();
            failed(&text.trim_start_matches(&path).trim_start_matches(": "))
        })?;
        Ok(SharedObject(Rc::new((library, file))))
    }

    /// Returns the function of a name that takes this many numbers.
    ///
    /// # Safety
    ///
    /// It is a C function of the type `void (u64 *)`, which reads and writes no more than `values` numbers.
    pub unsafe fn function(
        &self,
        name: &str,
        values: usize,
    ) -> Result<NativeFunction, Box<Diagnostic>> {
        // SAFETY: the caller knows its type.
        let symbol = unsafe { self.0.0.get(name.as_bytes()) };
        Ok(NativeFunction {
            _object: self.clone(),
            symbol: symbol.map_err(|e| errors::not_loaded(&e.to_string()))?,
            values,
        })
    }
}

impl NativeFunction {
    /// Calls the function with these values; it writes its results over them.
    ///
    /// # Panics
    ///
    /// There are fewer values than the function takes.
    pub fn call(&self, values: &mut [u64]) {
        assert!(values.len() >= self.values, "a number for each");
        // SAFETY: it accesses no more numbers than there are, by the promise that was made for it.
        unsafe { (self.symbol)(values.as_mut_ptr()) }
    }
}

//! Access to the packet's context, the `ctx` of the hook's function. `include/onpath/bpf.h` keeps the accesses in a
//! form that the verifier accepts.

use cgen::tree::{Expr as C, Stmt};

/// Returns the value of a member.
pub(crate) fn get(member: &str) -> C {
    access("context_get", member)
}

/// Returns the address that a member holds.
pub(crate) fn pointer(member: &str) -> C {
    access("context_pointer", member)
}

/// Sets a member.
pub(crate) fn set(member: &str, value: C) -> Stmt {
    let args = vec![C::id("ctx"), C::Word(member.into()), value];
    Stmt::Expr(C::call("context_set", args))
}

fn access(how: &str, member: &str) -> C {
    C::pure(how, vec![C::id("ctx"), C::Word(member.into())])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Checks for members that are accessed in any other way. Such a program loads until clang 15 merges two accesses.
    #[test]
    fn members_are_accessed_in_no_other_way() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let generated = std::fs::read_dir(golden).expect("a folder").map(|entry| {
            let path = entry.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("text");
            (path.display().to_string(), text)
        });
        let headers = crate::headers().iter();
        let headers = headers.map(|(name, text)| (name.to_string(), text.to_string()));
        let all: Vec<(String, String)> = generated.chain(headers).collect();
        let used = |(_, text): &&(String, String)| text.contains("context_pointer(ctx, data)");
        assert!(all.iter().filter(used).count() > 40);
        for (name, text) in all {
            assert!(!text.contains("ctx->"), "{name}");
        }
    }
}

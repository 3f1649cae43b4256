//! Completion in shells. `onpath completions` prints a script. With it, the shell runs `onpath` on the words typed so
//! far whenever it completes one.
//!
//! `clap_complete` completes the words by the definitions in [`args`](crate::args). These name the functions in
//! [`names`] that list the present values.

mod bash;
pub mod names;

use crate::args::Cli;
use bash::Bash;
use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use std::io;

/// Environment variable by which the script asks for completions. Its value is the name of the shell.
const VARIABLE: &str = "ONPATH_COMPLETE";

/// Shells that have a script.
const SHELLS: Shells<'static> = Shells(&[&Bash, &Elvish, &Fish, &Powershell, &Zsh]);

/// Completes words if a script asks for that. Returns true if it did, and then there is nothing else to do.
pub fn is_done() -> Result<bool, clap::Error> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(Cli::command)
        .var(VARIABLE)
        .shells(SHELLS)
        .try_complete(std::env::args_os(), folder.as_deref())
}

/// Returns the script for a shell.
pub fn script(shell: clap_complete::Shell) -> io::Result<String> {
    let named = shell.to_string();
    let shell: &dyn EnvCompleter = SHELLS
        .completer(&named)
        .ok_or_else(|| io::Error::other(format!("there is no script for {named}")))?;
    let mut text = Vec::new();
    shell.write_registration(VARIABLE, "onpath", "onpath", "onpath", &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_shell_that_can_be_named_has_a_script() {
        for shell in clap_complete::Shell::value_variants() {
            let text = script(*shell).expect("there is one");
            assert!(text.contains(VARIABLE), "{shell}: {text}");
        }
    }
}

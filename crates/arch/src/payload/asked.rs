//! Requests of a program to message readers: the attributes that each object is to read, and whether a loop reads
//! messages.

use super::{
    FIND_URL, KEEP, MESSAGE, OF_URL, READ_BEHIND, READ_HELD, READ_INITIALS, names_in, read_for,
    reads_message,
};
use ir::{ExternArg, ExternCall, ExternInst, Program, Stmt, StmtKind, visit};
use std::collections::HashMap;

/// Requests of a program, by the object that reads messages.
pub type AllAsked = HashMap<ExternInst, Asked>;

/// Requests of a program to one object that reads messages.
#[derive(Clone, Default, Debug)]
pub struct Asked {
    /// The names of attributes, in the order in which the program asks for them.
    pub names: Vec<String>,
    /// Lists of attributes that messages are read for, each once; `None` for the whole message.
    reads: Vec<Option<String>>,
    /// True if the program keeps the first bytes of messages.
    pub keeps: bool,
    /// Objects that have the bytes of its messages, each once.
    pub held_by: Vec<ExternInst>,
}

impl Asked {
    /// True if reading a message may stop after the last attribute that is requested.
    pub fn may_stop(&self) -> bool {
        match &self.reads[..] {
            [Some(list)] => {
                let mut names = self.names.iter();
                names.all(|name| names_in(list).any(|known| known == name))
            }
            _ => false,
        }
    }

    fn add(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }
}

/// Collects the requests of a program.
pub fn asked(program: &Program) -> AllAsked {
    let mut all = AllAsked::new();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            let StmtKind::Extern(call) = &stmt.kind else {
                return;
            };
            let Some(object) = object_of(program, call) else {
                return;
            };
            let asked = all.entry(object).or_default();
            asked.keeps |= [KEEP, READ_BEHIND].contains(&call.name.as_str());
            if let (READ_HELD | READ_INITIALS, Some(&ExternArg::Object(holder))) =
                (call.name.as_str(), call.args.first())
                && !asked.held_by.contains(&holder)
            {
                asked.held_by.push(holder);
            }
            let list = read_for(call);
            if reads_message(call) && !asked.reads.iter().any(|known| known.as_ref() == list) {
                asked.reads.push(list.cloned());
            }
            if let Some(list) = list {
                names_in(list).for_each(|name| asked.add(name));
            }
            if let Some(ExternArg::String(name)) = call.args.first() {
                asked.add(name);
            }
            if call.name == FIND_URL {
                OF_URL.iter().for_each(|name| asked.add(name));
            }
        });
    }
    all
}

/// Returns the object that a call is a method of, if it reads messages.
pub fn object_of(program: &Program, call: &ExternCall) -> Option<ExternInst> {
    let object = call.object?;
    (program.externs[object].ty == MESSAGE).then_some(object)
}

/// True if a loop of the program reads messages. Each combination of a message's contents and conditions is a path of
/// its own. A verifier would follow every path again in every further iteration.
pub fn are_read_in_loop(program: &Program) -> bool {
    is_any(program, |stmt| {
        let StmtKind::Loop(_, inner) = &stmt.kind else {
            return false;
        };
        let mut found = false;
        visit::walk_block(inner, &mut |stmt| found |= reads(program, stmt));
        found
    })
}

/// True if the program reads messages.
pub fn are_read(program: &Program) -> bool {
    is_any(program, |stmt| reads(program, stmt))
}

fn is_any(program: &Program, of: impl Fn(&Stmt) -> bool) -> bool {
    let mut found = false;
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| found |= of(stmt));
    }
    found
}

/// True for a statement that reads a message.
fn reads(program: &Program, stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Extern(call) => reads_message(call) && object_of(program, call).is_some(),
        _ => false,
    }
}

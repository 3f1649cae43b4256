//! Implementation of the traits of targets, for the emitter, tables, state and messages.

use crate::{externs, fate};
use arch::Model;
use cgen::tree::{Block, Expr as C, Item, Stmt, Type};
use diag::{Diagnostic, Diagnostics, Span};
use emit::locals::Local;
use emit::memory::{Kept, Memory};
use emit::plan::graph::Graph;
use emit::record::MemberLayout;
use emit::{Code, Forms, Hints, Limits, Reserved, Target};
use ir::{ExternCall, Program, Stage, Var};
use layout::Map;
use messages::Payload;
use messages::calls::PayloadSum;
use state::{Held, InMemory, StateTarget};
use tables::Tables;

/// Emitter for this target.
pub(crate) type Gen<'a> = emit::Gen<'a, Native>;

/// Linkage of functions.
pub(crate) const LINKAGE: &str = "static";

/// Names that the headers and the code around the program use, and short words among those of the C library.
pub(crate) const RESERVED: &[Reserved] = &[
    Reserved {
        names: "
            memory directory packet current HEADROOM LONGEST stage_0 main turns MOST_TURNS packet_copy ring_submit now_ns random_u32 this_processor
            may_goto may_goto_afresh unforeseen payload_sum packet_shorten globals globals_of_program GLOBALS relocated
            access acct alarm brk clock close creat crypt daylight dup environ fork index ioctl isatty link lseek mmap nice open optarg pause pipe profil putc puts
            read readlink remove rename revoke rewind rindex select sleep stat stderr stdin stdout swab sync syscall time timezone truncate umask unlink usleep write
        ",
        prefixes: &["shm_", "SHM_"],
    },
    messages::RESERVED,
    state::RESERVED,
    tables::RESERVED,
];

/// Target, with facts about the current function.
#[derive(Clone)]
pub(crate) struct Native {
    /// Model of the program's architecture.
    pub model: Model,
    /// True if headers are in a parse record in memory.
    pub record: bool,
    /// True if the user supplies C of extern functions.
    pub has_externs: bool,
    held: Held,
}

impl Native {
    /// Creates the target at the start of a program.
    pub(crate) fn new(model: Model, record: bool, has_externs: bool) -> Native {
        let held = Held::default();
        Native {
            model,
            record,
            has_externs,
            held,
        }
    }
}

/// State that the functions of a file share.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    /// State between packets.
    pub kept: Kept,
    /// Maps, each of which the C knows by its index.
    pub maps: Vec<Map>,
    /// Constants, among them the indices of maps.
    pub items: Vec<Item>,
    pub payload: messages::calls::Shared,
    state: state::Shared,
    pub tables: tables::Shared,
}

/// Returns a constant.
pub(crate) fn number(name: &str, value: usize) -> Item {
    Item::Variable {
        ty: Type::U32,
        name: name.into(),
        init: Some(C::int(value as u64)),
        attribute: None,
        constant: true,
    }
}

/// Reports something that the target does not support.
pub(crate) fn refusal(what: &str, at: Span) -> Diagnostic {
    let message = format!("the native target has no {what}");
    Diagnostic::error("E0721", at, message)
}

impl Hints for Native {
    fn forms(&mut self, _: &Program, _: &Stage, _: &Graph) -> Forms {
        Forms {
            record: self.record,
            ..Forms::default()
        }
    }
}

impl Target for Native {
    type File = Shared;
    type Lookups = InMemory;
    type Function = Block;

    fn name(&self) -> &'static str {
        "native"
    }

    fn limits(&self) -> Limits {
        Limits {
            offset: 1 << 20,
            front_stays: false,
            kept_front: 2048,
        }
    }

    fn reserved() -> &'static [Reserved] {
        RESERVED
    }

    fn afresh(&self) -> Native {
        Native::new(self.model, self.record, self.has_externs)
    }

    fn linkage(&self) -> &'static str {
        LINKAGE
    }

    fn leave_loop(&self, label: &str) -> Option<Stmt> {
        Some(Stmt::MayJump {
            name: "may_goto".into(),
            args: Vec::new(),
            label: label.into(),
        })
    }

    fn bounds(&self) -> (C, C) {
        let ctx = C::id("ctx");
        (ctx.clone().arrow("data"), ctx.arrow("data_end"))
    }

    fn relocated(&self) -> C {
        C::id("relocated")
    }

    fn dropped(_g: &Gen<'_>) -> C {
        C::int(0)
    }

    fn go_on(g: &mut Gen<'_>, next: C) {
        g.deparse();
        g.push(Stmt::Return(Some(next)));
    }

    fn verdict(g: &mut Gen<'_>) {
        fate::verdict(g);
    }

    fn reject(g: &mut Gen<'_>) {
        g.push(Stmt::Return(Some(C::int(0))));
    }

    fn function(g: &mut Gen<'_>, code: Code) -> Result<Block, Diagnostics> {
        let Code { locals, mut body } = code;
        let declare = |local: &Local| Stmt::Decl {
            ty: local.ty.clone(),
            name: local.name.clone(),
            init: local.init.clone(),
            align: None,
        };
        let mut all: Block = locals.iter().map(declare).collect();
        let relocated = g.rebuilding.relocated_bytes;
        if relocated > 0 {
            all.push(Stmt::Decl {
                ty: Type::U8.array(relocated),
                name: "relocated".into(),
                init: None,
                align: None,
            });
        }
        // A later stage receives them from the stage before.
        if g.taken.is_empty() {
            all.extend(fate::inputs(g, &locals));
        }
        all.append(&mut body);
        Ok(all)
    }

    fn call(g: &mut Gen<'_>, call: &ExternCall, stmt: &ir::Stmt) {
        externs::call(g, call, stmt);
    }

    fn atomic(g: &mut Gen<'_>, block: &ir::Block) {
        state::atomic(g, block);
    }

    fn home(g: &mut Gen<'_>, var: Var) -> Option<(C, MemberLayout)> {
        state::home(g, var)
    }
}

impl Memory for Native {
    const MAP_NAME: usize = 60;

    const GLOBALS: &'static str = "globals";

    fn kept(file: &mut Shared) -> &mut Kept {
        &mut file.kept
    }

    fn declare_map(file: &mut Shared, map: Map, _types: Option<(Type, Type)>) {
        file.items.push(number(&map.name, file.maps.len()));
        file.maps.push(map);
    }

    fn declare_constants(file: &mut Shared, item: Item) {
        file.items.push(item);
    }
}

impl Tables for Native {
    fn tables(file: &mut Shared) -> &mut tables::Shared {
        &mut file.tables
    }
}

impl StateTarget for Native {
    const LOCK: &'static str = "shm_lock";

    fn shared(file: &mut Shared) -> &mut state::Shared {
        &mut file.state
    }

    fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

impl Payload for Native {
    fn shared(file: &mut Shared) -> &mut messages::calls::Shared {
        &mut file.payload
    }

    fn packet(&self) -> &'static str {
        "packet"
    }

    fn sum(_g: &mut Gen<'_>) -> PayloadSum<Native> {
        |_, parsed, length, odd| {
            let args = vec![C::id("ctx"), parsed, length, odd];
            C::call("payload_sum", args)
        }
    }

    fn refuse_extern(g: &mut Gen<'_>, name: &str, span: Span) {
        g.refuse(refusal(&format!("extern `{name}`"), span));
    }
}

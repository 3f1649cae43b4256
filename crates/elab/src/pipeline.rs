//! From `main` to the pipeline: blocks bound to the architecture's storage.

use crate::calls::Bound;
use crate::instances::{Binding, InstRef};
use crate::storage::{Storage, join};
use crate::types::TypeShape;
use crate::{Elab, Result};
use arch::{Architecture, BlockKind, Slot};
use diag::Span;
use hir::{Arg, LocalId, Ty};
use ir::{BlockBody, HeaderRef, PipelineBlock, Place, SlotKind};
use smol_str::SmolStr;

impl Elab<'_> {
    /// Builds everything that `main` reaches.
    pub(crate) fn pipeline(&mut self) -> Result<()> {
        let module = self.module;
        let Some(main) = module.main else {
            return self.fail(arch::errors::no_main(Span::NONE));
        };
        let main = &module.instances[main];
        let Ty::Package(package, _) = self.resolve(&main.ty) else {
            return self.fail(arch::errors::no_main(main.span));
        };
        let package = &module.packages[package];
        let Some(arch) = arch::by_package(&package.name) else {
            return self.fail(arch::errors::unknown_package(
                &package.name,
                main.span,
                package.span,
            ));
        };
        let blocks = arch.blocks().count();
        if package.params.len() != blocks {
            return self.fail(arch::errors::package_mismatch(
                arch,
                &format!(
                    "it has {} instead of {blocks}",
                    diag::counted(package.params.len(), "block"),
                ),
                main.span,
                package.span,
            ));
        }
        self.program.arch = arch.package.into();
        self.program.on_reject = arch.on_reject;
        for &id in &module.top_level {
            if Some(id) != module.main && matches!(module.instances[id].ty, Ty::Extern(..)) {
                self.declare_instance(id)?;
            }
        }
        self.pending_methods()?;
        for &id in &module.shared_sets {
            let made = self.declare_value_set(id)?;
            self.shared_sets.insert(id, made);
        }
        let mut instances = Vec::new();
        for (&param, arg) in package.params.iter().zip(&main.args) {
            let object = match arg {
                Arg::In(expr) => self.object(expr)?,
                _ => None,
            };
            let Some(object) = object else {
                let param = &module.locals[param].name;
                return self.fail(arch::errors::package_mismatch(
                    arch,
                    &format!("`{param}` is given no parser or control"),
                    main.span,
                    package.span,
                ));
            };
            instances.push(object);
        }
        let mut failed = false;
        for (block, instance) in arch.blocks().zip(instances) {
            match self.pipeline_block(arch, block, instance, main.span) {
                Ok(body) => self.program.blocks.push(PipelineBlock {
                    name: block.name.into(),
                    body,
                }),
                // The other blocks have diagnostics of their own.
                Err(_) => failed = true,
            }
            if self.exhausted {
                break;
            }
        }
        if failed {
            return Err(crate::Failed);
        }
        self.list_slots(arch);
        self.crossing(arch, main.span)
    }

    fn pipeline_block(
        &mut self,
        arch: &Architecture,
        block: &arch::Block,
        instance: InstRef,
        span: Span,
    ) -> Result<BlockBody> {
        let module = self.module;
        let (params, env) = match instance {
            InstRef::Parser(parser) => {
                let data = &self.parsers[parser];
                (&module.parsers[data.parser].params, data.env.clone())
            }
            InstRef::Control(control) => {
                let data = &self.controls[control];
                (&module.controls[data.control].params, data.env.clone())
            }
            _ => return self.fail(other_kind(arch, block, instance, span)),
        };
        if params.len() != block.params.len() {
            return self.fail(arch::errors::package_mismatch(
                arch,
                &format!(
                    "`{}` takes {} parameters instead of {}",
                    block.package_param,
                    params.len(),
                    block.params.len()
                ),
                span,
                Span::NONE,
            ));
        }
        let mut bound = Vec::new();
        for (&param, &slot) in params.iter().zip(block.params) {
            let binding = match slot {
                Slot::PacketIn => Binding::Instance(InstRef::PacketIn),
                Slot::PacketOut => Binding::Instance(InstRef::PacketOut),
                Slot::Program(name) => {
                    Binding::Storage(self.slot(name, SlotKind::Program, param, &env.types)?)
                }
                Slot::Intrinsic(name) => {
                    Binding::Storage(self.slot(name, SlotKind::Intrinsic, param, &env.types)?)
                }
            };
            bound.push(Bound { param, binding });
        }
        match (block.kind, instance) {
            (BlockKind::Parser, InstRef::Parser(parser)) => {
                Ok(BlockBody::Parser(self.build_parser(parser, bound)?))
            }
            (BlockKind::Control, InstRef::Control(control)) => {
                Ok(BlockBody::Control(self.build_block(control, bound)?))
            }
            (BlockKind::Deparser, InstRef::Control(control)) => {
                Ok(BlockBody::Deparser(self.build_block(control, bound)?))
            }
            _ => self.fail(other_kind(arch, block, instance, span)),
        }
    }

    /// Returns the storage of a slot, which is allocated for the first block that has it as a parameter.
    fn slot(
        &mut self,
        name: &'static str,
        kind: SlotKind,
        param: LocalId,
        types: &crate::types::TypeMap,
    ) -> Result<Storage> {
        if let Some(storage) = self.slots.get(name) {
            return Ok(storage.clone());
        }
        let local = &self.module.locals[param];
        let ty = crate::types::substitute(&local.ty, types);
        let storage = self.allocate(&local.name, &ty, local.span)?;
        let (mut vars, mut headers) = (Vec::new(), Vec::new());
        self.paths(
            "",
            &ty,
            &storage,
            local.span,
            &mut |path, leaf| match leaf {
                SlotLeaf::Var(var) => vars.push((path, var)),
                SlotLeaf::Header(header) => headers.push((path, header)),
            },
        )?;
        self.program.slots.push(ir::Slot {
            name: name.into(),
            kind,
            vars,
            headers,
        });
        self.note_field_lists(name, &ty, &storage, local.span)?;
        self.slots.insert(name, storage.clone());
        Ok(storage)
    }

    /// Sorts the slots in the architecture's order.
    fn list_slots(&mut self, arch: &Architecture) {
        let order = arch.shared_slots();
        self.program
            .slots
            .sort_by_key(|slot| order.iter().position(|name| *name == slot.name));
    }

    /// Refuses headers, and values without a fixed width, that would pass from stage to stage.
    fn crossing(&mut self, arch: &Architecture, span: Span) -> Result<()> {
        let program = &self.program;
        let varies = |var: ir::Var| matches!(program.vars[var].ty, ir::Type::Varbit(_));
        let crossing = |slot: &&ir::Slot| {
            let any = !slot.headers.is_empty() || slot.vars.iter().any(|(_, var)| varies(*var));
            any && arch.crosses(&slot.name)
        };
        let Some(slot) = program.slots.iter().find(crossing) else {
            return Ok(());
        };
        let what = format!(
            "`{}` goes from stage to stage, and has a header or a `varbit`",
            slot.name
        );
        self.fail(arch::errors::package_mismatch(
            arch,
            &what,
            span,
            Span::NONE,
        ))
    }

    /// Visits the scalars and headers of storage with their dotted paths.
    fn paths(
        &mut self,
        path: &str,
        ty: &Ty,
        storage: &Storage,
        span: Span,
        visit: &mut dyn FnMut(SmolStr, SlotLeaf),
    ) -> Result<()> {
        let mut header = |path: SmolStr, at: HeaderRef| {
            if let HeaderRef::Header(header) = at {
                visit(path, SlotLeaf::Header(header));
            }
        };
        match storage {
            Storage::Scalar(Place::Var(var)) => visit(path.into(), SlotLeaf::Var(*var)),
            Storage::Scalar(_) => {}
            Storage::Header(loc) => header(path.into(), loc.at),
            Storage::Struct(parts) => {
                if let TypeShape::Array(elem, _) = &*self.shape(ty, span)? {
                    for (i, part) in parts.iter().enumerate() {
                        self.paths(&format!("{path}[{i}]"), elem, part, span, visit)?;
                    }
                }
                if let TypeShape::Struct(fields) = &*self.shape(ty, span)? {
                    for ((name, ty), part) in fields.iter().zip(parts.iter()) {
                        self.paths(&join(path, name), ty, part, span, visit)?;
                    }
                }
            }
            Storage::Union(members) => {
                if let TypeShape::Union(names) = &*self.shape(ty, span)? {
                    for ((name, _), member) in names.iter().zip(members.iter()) {
                        header(join(path, name), member.at);
                    }
                }
            }
            Storage::Stack(stack) => {
                if let TypeShape::Stack(elem, _) = &*self.shape(ty, span)? {
                    for (i, storage) in self.elements(stack).iter().enumerate() {
                        self.paths(&format!("{path}[{i}]"), elem, storage, span, visit)?;
                    }
                }
            }
            Storage::Array(array) => {
                let mut headers = Vec::new();
                self.array_headers(array, &mut headers);
                for at in headers {
                    if let HeaderRef::Header(h) = at {
                        let name = &self.program.headers[h].name;
                        visit(name.clone(), SlotLeaf::Header(h));
                    }
                }
            }
        }
        Ok(())
    }
}

/// A package whose block is of another kind than the architecture's.
fn other_kind(
    arch: &Architecture,
    block: &arch::Block,
    instance: InstRef,
    at: Span,
) -> diag::Diagnostic {
    let wanted = match block.kind {
        BlockKind::Parser => "a parser",
        BlockKind::Control | BlockKind::Deparser => "a control",
    };
    let given = match instance {
        InstRef::Parser(_) => "a parser",
        InstRef::Control(_) => "a control",
        _ => "an extern",
    };
    let what = format!("`{}` is {given} instead of {wanted}", block.package_param);
    arch::errors::package_mismatch(arch, &what, at, Span::NONE)
}

enum SlotLeaf {
    Var(ir::Var),
    Header(ir::Header),
}

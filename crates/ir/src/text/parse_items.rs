//! Parser of the text form: items.

use super::lex::Token;
use super::names::unquote;
use super::parse::{ParseError, Reader, Result};
use crate::*;
use cranelift_entity::{EntityRef, PrimaryMap};
use diag::Span;
use num_bigint::BigInt;
use std::collections::HashMap;

impl Reader {
    /// First pass: assigns an id to every declared name.
    pub(super) fn declare(&mut self) -> Result<()> {
        let names = &mut self.names;
        for pair in self.tokens.windows(2) {
            let (Token::Word(item), Token::Word(name)) = (&pair[0].token, &pair[1].token) else {
                continue;
            };
            if pair[0].column != 1 {
                continue;
            }
            let fresh = match item.as_str() {
                "enum" => add(&mut names.enums, name),
                "header_type" => add(&mut names.header_types, name),
                "var" => add(&mut names.vars, name),
                "header" => add(&mut names.headers, name),
                "stack" => add(&mut names.stacks, name),
                "value_set" => add(&mut names.value_sets, name),
                "extern" => add(&mut names.externs, name),
                "action" => add(&mut names.actions, name),
                "table" => add(&mut names.tables, name),
                "routine" => add(&mut names.routines, name),
                "parser" => add(&mut names.parsers, name),
                _ => true,
            };
            if !fresh {
                return Err(ParseError {
                    line: pair[1].line,
                    column: pair[1].column,
                    message: format!("`{name}` is declared already"),
                });
            }
        }
        Ok(())
    }

    pub(super) fn item(&mut self) -> Result<()> {
        if self.tokens[self.at].column != 1 {
            return self.error("expected an item at the beginning of a line");
        }
        let item = self.word()?;
        match item.as_str() {
            "program" => self.program_line()?,
            "errors" => loop {
                let name = self.name()?;
                self.program.errors.push(name);
                if !self.eat(",") {
                    break;
                }
            },
            "labels" => self.program.next_label = self.number()?,
            "enum" => {
                let name = self.name()?;
                self.expect("{")?;
                let members = self.list("}", Reader::name)?;
                self.program.enums.push(EnumData { name, members });
            }
            "header_type" => self.header_type()?,
            "var" => {
                let name = self.name()?;
                self.expect(":")?;
                let ty = self.ty()?;
                let span = Span::NONE;
                self.program.vars.push(VarData { name, ty, span });
            }
            "header" => self.header_instance()?,
            "stack" => {
                let name = self.name()?;
                let rolled = self.eat_word("rolled");
                self.expect_word("next")?;
                let next = self.lookup("variable", |n| &n.vars)?;
                self.expect("{")?;
                let elems = self.list("}", |p| p.lookup("header", |n| &n.headers))?;
                self.program.stacks.push(StackData {
                    name,
                    elems,
                    next,
                    rolled,
                });
            }
            "value_set" => self.value_set()?,
            "extern" => self.extern_object()?,
            "action" => {
                let name = self.name()?;
                self.expect("(")?;
                let params = self.list(")", |p| {
                    Ok((p.lookup("variable", |n| &n.vars)?, p.declared()?))
                })?;
                let (params, declared) = params.into_iter().unzip();
                let annotations = self.annotations()?;
                let body = self.block()?;
                self.program.actions.push(ActionData {
                    name,
                    params,
                    declared,
                    body,
                    annotations,
                    span: Span::NONE,
                });
            }
            "table" => self.table()?,
            "routine" => self.routine()?,
            "parser" => self.parser()?,
            "pipeline" => self.pipeline()?,
            "slot" => self.slot(SlotKind::Program)?,
            "intrinsic" => {
                self.expect_word("slot")?;
                self.slot(SlotKind::Intrinsic)?;
            }
            "digest" => self.digest()?,
            "field_list" => {
                let number = self.number()?;
                self.expect("{")?;
                let vars = self.list("}", |p| p.lookup("variable", |n| &n.vars))?;
                self.program.field_lists.push(FieldList { number, vars });
            }
            _ => {
                self.at -= 1;
                return self.error(format!("`{item}` is no item"));
            }
        }
        Ok(())
    }

    fn header_type(&mut self) -> Result<()> {
        let name = self.name()?;
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.eat("}") {
            let name = self.name()?;
            self.expect(":")?;
            let ty = self.ty()?;
            self.expect(";")?;
            fields.push(FieldData { name, ty });
        }
        let data = HeaderTypeData { name, fields };
        self.program.header_types.push(data);
        Ok(())
    }

    fn header_instance(&mut self) -> Result<()> {
        let word = self.word()?;
        self.expect(":")?;
        let ty = self.lookup("header type", |n| &n.header_types)?;
        let Some(layout) = self.program.header_types.get(ty) else {
            return self.error("the header's type is declared after it");
        };
        let id = Header::new(self.program.headers.len());
        for (i, field) in layout.fields.iter().enumerate() {
            let field = format!("{word}.{}", super::names::quote(&field.name));
            self.names.fields.insert(field, (id, i as u32));
        }
        let (name, span) = (unquote(&word).into(), Span::NONE);
        self.program.headers.push(HeaderData { name, ty, span });
        Ok(())
    }

    fn value_set(&mut self) -> Result<()> {
        let name = self.name()?;
        self.expect_word("size")?;
        let size = self.number()?;
        let annotations = self.annotations()?;
        self.expect("{")?;
        let (mut fields, mut declared) = (Vec::new(), Vec::new());
        while !self.eat("}") {
            let name = self.name()?;
            self.expect(":")?;
            let ty = self.ty()?;
            let kind = self.match_kind()?;
            declared.push(self.declared()?);
            self.expect(";")?;
            fields.push((name, ty, kind));
        }
        self.program.value_sets.push(ValueSetData {
            name,
            fields,
            declared,
            size,
            annotations,
            span: Span::NONE,
        });
        Ok(())
    }

    fn match_kind(&mut self) -> Result<MatchKind> {
        let word = self.word()?;
        let Some(kind) = MatchKind::from_name(word.as_str()) else {
            self.at -= 1;
            return self.error(format!("`{word}` is no match kind"));
        };
        Ok(kind)
    }

    fn digest(&mut self) -> Result<()> {
        let name = self.name()?;
        self.expect("{")?;
        let (mut fields, mut declared) = (Vec::new(), Vec::new());
        while !self.eat("}") {
            self.expect_word("field")?;
            let path = self.string()?;
            self.expect(":")?;
            fields.push((path, self.ty()?));
            declared.push(self.declared()?);
            self.expect(";")?;
        }
        self.program.digests.push(DigestData {
            name,
            fields,
            declared,
        });
        Ok(())
    }

    /// Parses `type NAME` and annotations, if present.
    fn declared(&mut self) -> Result<Declared> {
        let type_name = match self.eat_word("type") {
            true => Some(self.name()?),
            false => None,
        };
        Ok(Declared {
            type_name,
            annotations: self.annotations()?,
        })
    }

    fn annotations(&mut self) -> Result<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.eat("@") {
            let name = self.name()?;
            self.expect("(")?;
            let values = self.list(")", Reader::string)?;
            annotations.push(Annotation { name, values });
        }
        Ok(annotations)
    }

    fn extern_object(&mut self) -> Result<()> {
        let name = self.name()?;
        self.expect(":")?;
        let ty = self.name()?;
        let annotations = self.annotations()?;
        let mut data = ExternData {
            name,
            ty,
            type_args: Vec::new(),
            type_arg_names: Vec::new(),
            type_arg_declared: Vec::new(),
            args: Vec::new(),
            implementations: Vec::new(),
            annotations,
            span: Span::NONE,
        };
        self.expect("{")?;
        while !self.eat("}") {
            if self.eat_word("type") {
                self.expect("(")?;
                let mut names = Vec::new();
                let scalars = self.list(")", |reader| {
                    let ty = reader.ty()?;
                    if let Token::Word(word) = reader.peek()
                        && word != "type"
                    {
                        names.push(reader.name()?);
                    }
                    Ok((ty, reader.declared()?))
                })?;
                let (scalars, declared) = scalars.into_iter().unzip();
                data.type_args.push(scalars);
                data.type_arg_names.push(names);
                data.type_arg_declared.push(declared);
            } else if self.eat_word("arg") {
                let name = self.name()?;
                self.expect("=")?;
                data.args.push((name, self.ctor_value()?));
            } else {
                self.expect_word("implement")?;
                let name = self.name()?;
                self.expect("=")?;
                let routine = self.lookup("routine", |n| &n.routines)?;
                data.implementations.push((name, routine));
            }
            self.expect(";")?;
        }
        self.program.externs.push(data);
        Ok(())
    }

    fn ctor_value(&mut self) -> Result<CtorValue> {
        if let Token::String(_) = self.peek() {
            return Ok(CtorValue::String(self.string()?.into()));
        }
        if self.eat("-") {
            let value: BigInt = self.number()?;
            return Ok(CtorValue::Int(-value));
        }
        if let Token::Number(_) = self.peek() {
            return Ok(CtorValue::Int(self.number()?));
        }
        if let Token::Punct("::") = self.peek_at(1) {
            return match self.member()? {
                (Type::Enum(id), index) => Ok(CtorValue::Member(id, index)),
                _ => self.error("errors are no constructor arguments"),
            };
        }
        match self.word()?.as_str() {
            "true" => Ok(CtorValue::Bool(true)),
            "false" => Ok(CtorValue::Bool(false)),
            "_" => Ok(CtorValue::Absent),
            "extern" => Ok(CtorValue::Extern(
                self.lookup("extern object", |n| &n.externs)?,
            )),
            _ => {
                self.at -= 1;
                self.error("expected a constructor argument")
            }
        }
    }

    /// Parses `E::name` or `error::name`, or the number in place of the name.
    pub(crate) fn member(&mut self) -> Result<(Type, u32)> {
        let ty = self.ty()?;
        self.expect("::")?;
        if let Token::Number(_) = self.peek() {
            return Ok((ty, self.number()?));
        }
        let name = self.name()?;
        let members = match ty {
            Type::Error => &self.program.errors,
            Type::Enum(id) if self.program.enums.get(id).is_some() => {
                &self.program.enums[id].members
            }
            _ => return self.error("this type has no members"),
        };
        match members.iter().position(|m| *m == name) {
            Some(index) => Ok((ty, index as u32)),
            None => {
                self.at -= 1;
                self.error(format!("no member is called `{name}`"))
            }
        }
    }

    fn table(&mut self) -> Result<()> {
        let name = self.name()?;
        let annotations = self.annotations()?;
        let mut data = TableData {
            name,
            keys: Vec::new(),
            actions: Vec::new(),
            default_action: ActionCall {
                action: 0,
                args: Vec::new(),
            },
            const_default: false,
            entries: Vec::new(),
            const_entries: false,
            size: None,
            properties: Vec::new(),
            annotations,
            span: Span::NONE,
        };
        self.expect("{")?;
        while !self.eat("}") {
            match self.word()?.as_str() {
                "key" => {
                    let name = self.string()?;
                    let kind = self.match_kind()?;
                    let expr = self.expr()?;
                    let declared = self.declared()?;
                    data.keys.push(Key {
                        name,
                        expr,
                        kind,
                        declared,
                    });
                }
                "action" => data.actions.push(TableAction {
                    action: self.lookup("action", |n| &n.actions)?,
                    default_only: self.eat_word("default_only"),
                    table_only: self.eat_word("table_only"),
                }),
                "default" => {
                    data.const_default = self.eat_word("const");
                    data.default_action = self.action_call(&data)?;
                }
                "entry" => {
                    let is_const = self.eat_word("const");
                    let priority = self.number()?;
                    self.expect("(")?;
                    let keys = self.list(")", Reader::key_match)?;
                    self.expect("->")?;
                    let action = self.action_call(&data)?;
                    data.entries.push(Entry {
                        keys,
                        priority,
                        action,
                        is_const,
                    });
                }
                "const_entries" => data.const_entries = true,
                "size" => data.size = Some(self.number()?),
                "property" => {
                    let name = self.name()?;
                    self.expect("=")?;
                    data.properties.push((name, self.ctor_value()?));
                }
                other => {
                    self.at -= 1;
                    return self.error(format!("`{other}` is no part of a table"));
                }
            }
            self.expect(";")?;
        }
        self.program.tables.push(data);
        Ok(())
    }

    fn action_call(&mut self, table: &TableData) -> Result<ActionCall> {
        let action = if let Token::Number(_) = self.peek() {
            self.number()?
        } else {
            let action = self.lookup("action", |n| &n.actions)?;
            match table.actions.iter().position(|a| a.action == action) {
                Some(index) => index as u32,
                None => {
                    self.at -= 1;
                    return self.error("the table does not have this action");
                }
            }
        };
        self.expect("(")?;
        let args = self.list(")", Reader::bits)?;
        Ok(ActionCall { action, args })
    }

    fn key_match(&mut self) -> Result<KeyMatch> {
        if self.eat_word("_") {
            return Ok(KeyMatch::Any);
        }
        let value = self.bits()?;
        Ok(if self.eat("/") {
            KeyMatch::Lpm(value, self.number()?)
        } else if self.eat("&&&") {
            KeyMatch::Ternary(value, self.bits()?)
        } else if self.eat("..") {
            KeyMatch::Range(value, self.bits()?)
        } else {
            KeyMatch::Exact(value)
        })
    }

    fn routine(&mut self) -> Result<()> {
        let name = self.name()?;
        let kind = match self.word()?.as_str() {
            "block" => RoutineKind::Block,
            "control" => RoutineKind::Control,
            "function" => RoutineKind::Function,
            "action" => RoutineKind::Action,
            _ => {
                self.at -= 1;
                return self.error("expected `block`, `control`, `function` or `action`");
            }
        };
        self.expect("(")?;
        let params = self.list(")", |p| {
            let direction = p.word()?;
            let var = |p: &mut Reader| p.lookup("variable", |n| &n.vars);
            let header = |p: &mut Reader| p.lookup("header", |n| &n.headers);
            Ok(match direction.as_str() {
                "in" => Param::In(var(p)?),
                "out" => Param::Out(var(p)?),
                "inout" => Param::InOut(var(p)?),
                "header_in" => Param::HeaderIn(header(p)?),
                "header_out" => Param::HeaderOut(header(p)?),
                "header_inout" => Param::HeaderInOut(header(p)?),
                _ => return p.error("expected a parameter's direction before this"),
            })
        })?;
        let body = self.block()?;
        self.program.routines.push(RoutineData {
            name,
            kind,
            params,
            body,
            span: Span::NONE,
        });
        Ok(())
    }

    fn parser(&mut self) -> Result<()> {
        let name = self.name()?;
        self.expect_word("start")?;
        let start = self.word()?;
        self.expect("{")?;
        self.declare_states()?;
        let Some(&start) = self.states.get(&start) else {
            return self.error(format!("no state is called `{start}`"));
        };
        let mut states = PrimaryMap::new();
        while !self.eat("}") {
            self.expect_word("state")?;
            let name = self.name()?;
            let rare = !self.eat("{");
            if rare {
                self.expect_word("rare")?;
                self.expect("{")?;
            }
            let mut body = Vec::new();
            while !self.is_transition() {
                body.push(self.stmt()?);
            }
            let transition = self.transition()?;
            self.expect("}")?;
            let span = Span::NONE;
            states.push(StateData {
                name,
                body,
                transition,
                rare,
                span,
            });
        }
        self.program.parsers.push(ParserData {
            name,
            states,
            start,
            span: Span::NONE,
        });
        Ok(())
    }

    /// Assigns ids to the states of the parser whose brace was just read.
    fn declare_states(&mut self) -> Result<()> {
        self.states.clear();
        let mut depth = 1;
        for pair in self.tokens[self.at..].windows(2) {
            match (&pair[0].token, &pair[1].token) {
                (Token::Punct("{"), _) => depth += 1,
                (Token::Punct("}"), _) if depth == 1 => break,
                (Token::Punct("}"), _) => depth -= 1,
                (Token::Word(word), Token::Word(name))
                    if depth == 1 && word == "state" && !add(&mut self.states, name) =>
                {
                    return Err(ParseError {
                        line: pair[1].line,
                        column: pair[1].column,
                        message: format!("state `{name}` is declared already"),
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is_transition(&self) -> bool {
        match self.peek_at(1) {
            Token::Punct("=" | "[") => false,
            _ => self.is_word("goto") || self.is_word("select"),
        }
    }

    fn transition(&mut self) -> Result<Transition> {
        if self.eat_word("goto") {
            let target = self.target()?;
            self.expect(";")?;
            return Ok(Transition::To(target));
        }
        self.expect_word("select")?;
        self.expect("(")?;
        let keys = self.list(")", Reader::expr)?;
        self.expect("{")?;
        let mut cases = Vec::new();
        while !self.eat("}") {
            self.expect("(")?;
            let keysets = self.list(")", Reader::keyset)?;
            self.expect("->")?;
            let target = self.target()?;
            self.expect(";")?;
            cases.push(SelectCase {
                keysets,
                target,
                span: Span::NONE,
            });
        }
        Ok(Transition::Select { keys, cases })
    }

    fn target(&mut self) -> Result<TransitionTarget> {
        let word = self.word()?;
        match word.as_str() {
            "accept" if self.eat_word("at") => Ok(TransitionTarget::AcceptAt(self.entry()?)),
            "accept" => Ok(TransitionTarget::Accept),
            "reject" => Ok(TransitionTarget::Reject),
            "rare" => Ok(TransitionTarget::Rare),
            name => match self.states.get(name) {
                Some(&state) => Ok(TransitionTarget::State(state)),
                None => {
                    self.at -= 1;
                    self.error(format!("no state is called `{name}`"))
                }
            },
        }
    }

    fn keyset(&mut self) -> Result<Keyset> {
        if self.eat_word("_") {
            return Ok(Keyset::Any);
        }
        if let Token::Word(_) = self.peek() {
            let set = self.lookup("value set", |n| &n.value_sets)?;
            return Ok(Keyset::ValueSet(set));
        }
        let value = self.bits()?;
        Ok(if self.eat("&&&") {
            Keyset::Mask(value, self.bits()?)
        } else if self.eat("..") {
            Keyset::Range(value, self.bits()?)
        } else {
            Keyset::Value(value)
        })
    }

    fn program_line(&mut self) -> Result<()> {
        self.program.arch = self.name()?;
        self.expect_word("reject")?;
        self.program.on_reject = match self.word()?.as_str() {
            "stop" => OnReject::Stop,
            "continue" => OnReject::Continue,
            other => {
                self.at -= 1;
                return self.error(format!("expected `stop` or `continue`, not `{other}`"));
            }
        };
        self.program.copies = self.eat_word("copies");
        Ok(())
    }

    fn pipeline(&mut self) -> Result<()> {
        let name = self.name()?;
        let body = match self.word()?.as_str() {
            "parser" => BlockBody::Parser(self.lookup("parser", |n| &n.parsers)?),
            "control" => BlockBody::Control(self.lookup("routine", |n| &n.routines)?),
            "deparser" => BlockBody::Deparser(self.lookup("routine", |n| &n.routines)?),
            other => {
                self.at -= 1;
                return self.error(format!(
                    "`{other}` is no kind of block; expected `parser`, `control` or `deparser`"
                ));
            }
        };
        self.program.blocks.push(PipelineBlock { name, body });
        Ok(())
    }

    fn slot(&mut self, kind: SlotKind) -> Result<()> {
        let name = self.name()?;
        let (mut vars, mut headers) = (Vec::new(), Vec::new());
        self.expect("{")?;
        while !self.eat("}") {
            let is_var = self.eat_word("var");
            if !is_var {
                self.expect_word("header")?;
            }
            let path = self.string()?;
            self.expect("=")?;
            if is_var {
                vars.push((path, self.lookup("variable", |n| &n.vars)?));
            } else {
                headers.push((path, self.lookup("header", |n| &n.headers)?));
            }
            self.expect(";")?;
        }
        self.program.slots.push(Slot {
            name,
            kind,
            vars,
            headers,
        });
        Ok(())
    }
}

fn add<T: EntityRef>(names: &mut HashMap<String, T>, name: &str) -> bool {
    let id = T::new(names.len());
    names.insert(name.to_owned(), id).is_none()
}

//! Header stacks that stay rolled: the elements that headers and references belong to, and the loops that the
//! stacks bound.
//!
//! For each element, the generated code keeps its kind (a member of a union, valid or not), its offset in the
//! packet and its length, in arrays of the parse record. The passes decide which stacks stay rolled
//! ([`ir::passes::unroll`]).

use super::cursor::header_bytes;
use super::graph::Graph;
use super::reach::Reach;
use super::rolled_loops;
use ir::analysis::dataflow::successors;
use ir::{ExprKind, Header, HeaderRef, Parser, Program, Stack, State, StmtKind, Var, visit};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A rolled stack, or the rolled stacks of a union's members. Its number is its index in [`Rolled::stacks`].
#[derive(Clone, Debug)]
pub struct RolledStack {
    /// Its name, for reports and generated names.
    pub name: String,
    /// The stack of each member.
    pub members: Vec<Stack>,
    /// Variable with the index of the next element.
    pub next: Var,
    /// Number of elements.
    pub size: u32,
    /// Header that stands for all elements in the layout: the first element of the first member.
    pub first: Header,
    /// Greatest length of an element, in bytes.
    pub longest: u32,
    /// Greatest number of back edges that one packet can take in the loops that fill the stack. If each iteration
    /// has one back edge, it is taken once for each element, and once more to find that there is no room.
    pub iterations: u32,
}

/// Member of a rolled stack that a header or reference belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RolledMember {
    /// Number of the stack.
    pub stack: usize,
    /// The member of the union, from 0.
    pub member: u32,
}

/// Rolled stacks of a program.
#[derive(Clone, Default, Debug)]
pub struct Rolled {
    /// The stacks, by number.
    pub stacks: Vec<RolledStack>,
    members: HashMap<Stack, RolledMember>,
    elements: HashMap<Header, (RolledMember, u32)>,
    /// States of loops that iterate at most as often as a stack has elements, with the stack's number.
    bounds: HashMap<State, usize>,
    /// Variables that occur in indices of elements.
    indices: HashSet<Var>,
    /// Variables that loops over elements carry.
    carried: HashSet<Var>,
}

impl Rolled {
    /// Finds the rolled stacks of a program.
    pub fn new(program: &Program, graph: &Graph, parser: Parser) -> Rolled {
        let mut groups: BTreeMap<Var, Vec<Stack>> = BTreeMap::new();
        for (id, data) in program.stacks.iter().filter(|(_, data)| data.rolled) {
            groups.entry(data.next).or_default().push(id);
        }
        let mut rolled = Rolled::default();
        for (next, members) in groups {
            let Some(&first) = program.stacks[members[0]].elems.first() else {
                continue;
            };
            let number = rolled.stacks.len();
            for (member, &stack) in members.iter().enumerate() {
                let member = RolledMember {
                    stack: number,
                    member: member as u32,
                };
                rolled.members.insert(stack, member);
                for (index, &h) in program.stacks[stack].elems.iter().enumerate() {
                    rolled.elements.insert(h, (member, index as u32));
                }
            }
            let longest = members.iter().map(|&s| longest(program, s)).max();
            rolled.stacks.push(RolledStack {
                name: name(program, next),
                size: program.stacks[members[0]].elems.len() as u32,
                first,
                longest: longest.unwrap_or(0),
                iterations: 0,
                members,
                next,
            });
        }
        rolled.indices = rolled.index_variables(program);
        rolled.carried = rolled_loops::carried(program, &rolled);
        for stack in 0..rolled.stacks.len() {
            let bounded = rolled.bounded_states(program, graph, parser, stack);
            rolled
                .bounds
                .extend(bounded.into_iter().map(|s| (s, stack)));
        }
        for stack in 0..rolled.stacks.len() {
            rolled.stacks[stack].iterations = rolled.iterations(program, graph, parser, stack);
        }
        rolled
    }

    /// Returns true if there are no rolled stacks.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Returns the member of a rolled stack that a header belongs to, and the header's index.
    pub fn element(&self, h: Header) -> Option<(RolledMember, u32)> {
        self.elements.get(&h).copied()
    }

    /// Returns the member of a rolled stack that a stack's elements belong to.
    pub fn member(&self, stack: Stack) -> Option<RolledMember> {
        self.members.get(&stack).copied()
    }

    /// Returns the member of a rolled stack that a reference belongs to.
    pub fn of(&self, header: HeaderRef) -> Option<RolledMember> {
        match header {
            HeaderRef::Header(h) => self.element(h).map(|(member, _)| member),
            HeaderRef::Element(stack, _) => self.member(stack),
        }
    }

    /// Returns the header that stands for a header in the layout: itself, or the first element of its rolled stack.
    pub fn representative(&self, h: Header) -> Header {
        match self.element(h) {
            Some((member, _)) => self.stacks[member.stack].first,
            None => h,
        }
    }

    /// Returns true if a variable occurs in an element's index.
    pub fn is_index(&self, var: Var) -> bool {
        self.indices.contains(&var)
    }

    /// Returns true if a loop over elements carries a variable.
    pub fn is_carried(&self, var: Var) -> bool {
        self.carried.contains(&var)
    }

    fn index_variables(&self, program: &Program) -> HashSet<Var> {
        let mut found = HashSet::new();
        for data in program.exprs.values() {
            if let ExprKind::Field(HeaderRef::Element(stack, index), _)
            | ExprKind::IsValid(HeaderRef::Element(stack, index)) = data.kind
                && self.member(stack).is_some()
            {
                visit::walk_expr(program, index, &mut |data| {
                    if let ExprKind::Var(var) = data.kind {
                        found.insert(var);
                    }
                });
            }
        }
        found
    }

    /// Returns the number of the stack whose size bounds the iterations of a state's loop.
    pub fn bound(&self, state: State) -> Option<usize> {
        self.bounds.get(&state).copied()
    }

    /// Returns the states of loops in which every iteration extracts an element of a stack.
    fn bounded_states(
        &self,
        program: &Program,
        graph: &Graph,
        parser: Parser,
        stack: usize,
    ) -> Vec<State> {
        let data = &program.parsers[parser];
        let extracts = self.extracting_states(program, graph, parser, stack);
        let next: Vec<Vec<usize>> = graph
            .states
            .iter()
            .map(|info| match extracts.contains(&info.state) {
                true => Vec::new(),
                false => successors(&data.states[info.state].transition)
                    .into_iter()
                    .filter_map(|s| graph.index.get(&s).copied())
                    .collect(),
            })
            .collect();
        let without = Reach::new(&next);
        let states = graph.states.iter().enumerate();
        states
            .filter(|&(i, info)| {
                let body = &data.states[info.state].body;
                info.cyclic && !without.contains(i, i) && !loops(body)
            })
            .map(|(_, info)| info.state)
            .collect()
    }

    /// Returns the states that extract an element of a stack, on every path through them.
    fn extracting_states(
        &self,
        program: &Program,
        graph: &Graph,
        parser: Parser,
        stack: usize,
    ) -> HashSet<State> {
        let data = &program.parsers[parser];
        let extracts = |state: &State| {
            data.states[*state].body.iter().any(|stmt| {
                matches!(stmt.kind, StmtKind::Extract { header, .. }
                    if self.of(header).is_some_and(|m| m.stack == stack))
            })
        };
        let states = graph.states.iter().map(|info| info.state);
        states.filter(extracts).collect()
    }

    /// Computes [`RolledStack::iterations`].
    fn iterations(&self, program: &Program, graph: &Graph, parser: Parser, stack: usize) -> u32 {
        let data = &program.parsers[parser];
        let extracts = self.extracting_states(program, graph, parser, stack);
        let goes_back_to = |to: usize| {
            graph.states[to..].iter().any(|from| {
                let next = successors(&data.states[from.state].transition);
                next.contains(&graph.states[to].state)
            })
        };
        let heads =
            graph.states.iter().enumerate().filter(|&(i, info)| {
                self.bounds.get(&info.state) == Some(&stack) && goes_back_to(i)
            });
        // From one element to the next, no state is entered twice.
        let (filling, others): (Vec<_>, Vec<_>) =
            heads.partition(|(_, info)| extracts.contains(&info.state));
        let edges = usize::from(!filling.is_empty()) + others.len();
        (self.stacks[stack].size + 1) * edges as u32
    }
}

fn loops(body: &ir::Block) -> bool {
    let mut any = false;
    visit::walk_block(body, &mut |s| any |= matches!(s.kind, StmtKind::Loop(..)));
    any
}

/// Returns the greatest length of an element of a stack, in bytes.
fn longest(program: &Program, stack: Stack) -> u32 {
    let data = &program.stacks[stack];
    let Some(&first) = data.elems.first() else {
        return 0;
    };
    let layout = &program.header_types[program.headers[first].ty];
    let varbit = layout
        .varbit()
        .map_or(0, |v| layout.fields[v as usize].ty.width() / 8);
    header_bytes(program, HeaderRef::Header(first)) + varbit
}

/// Returns the name of a stack in the source.
fn name(program: &Program, next: Var) -> String {
    let name = &program.vars[next].name;
    name.strip_suffix(".nextIndex").unwrap_or(name).to_string()
}

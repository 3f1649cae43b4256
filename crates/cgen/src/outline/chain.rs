//! A function split into several, its *legs*, which targets chain by tail calls. Each leg calls some of the outlined
//! functions, in order. Where the next outlined function belongs to another leg, it hands over to that leg.
//!
//! A leg does not have the variables of the leg before it, so a hand-over happens only where none of them is live.
//! A call at any other point is in all legs. Legs hand over only to later ones: calls that are connected by a
//! backward path are in the same leg.

use super::live::{Around, Liveness, Set};
use super::mentions::Mentions;
use crate::tidy::{blocks_mut, drop_empty};
use crate::tree::{Block, Expr, Stmt, block_diverges};
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// Parameters of the split.
pub struct Chain<'a> {
    /// Outlined functions that may be assigned to another leg, with their sizes.
    pub sizes: &'a HashMap<SmolStr, u64>,
    /// Variables of the function that the next leg does not have.
    pub lost: &'a HashSet<SmolStr>,
    /// Labels that code before the body jumps to.
    pub entered: &'a HashSet<SmolStr>,
    /// Maximum number of legs.
    pub legs: usize,
    /// Returns code that hands over to a leg, which continues at the call with this number. Statements after it are
    /// not reached.
    pub hand_over: &'a dyn Fn(u64, usize) -> Block,
    /// Number of the call at which a leg continues, as an expression in that leg.
    pub site: Expr,
    /// Code for a leg that is asked to continue at a call that it does not have.
    pub lost_way: Block,
}

/// Call of an outlined function.
struct Site {
    /// Index of the statement, in a preorder walk of the body.
    at: usize,
    size: u64,
    /// True if a leg may start at this call: no variable that would be lost is live here.
    is_open: bool,
    /// Leg that makes the call; `None` if all do, because the call is not open.
    leg: Option<usize>,
}

/// Splits a function's body into legs, the entry leg first. Returns `None` if there is only one.
pub fn chain(
    body: &Block,
    form: &Chain<'_>,
    fresh: &mut dyn FnMut(&str) -> SmolStr,
) -> Option<Vec<Block>> {
    let mut found = Found {
        form,
        live: Liveness::new(body, form.lost.iter().cloned()),
        sites: Vec::new(),
        labels: HashMap::new(),
        jumps: Vec::new(),
        loops: Vec::new(),
        next: 0,
    };
    let mut walked = body.clone();
    found.block(&mut walked, Set::default(), &Around::default());
    found.way_round(body);
    let count = found.assign();
    if count < 2 {
        return None;
    }
    let sites: HashMap<usize, (u64, usize)> = (found.sites.iter().zip(1..))
        .filter_map(|(site, number)| Some((site.at, (number, site.leg?))))
        .collect();
    let legs = (0..count).map(|leg| {
        let mut made = Leg {
            form,
            sites: &sites,
            leg,
            entries: Vec::new(),
            next: 0,
        };
        let mut own = body.clone();
        made.block(&mut own, fresh);
        let mut jumps = Mentions::of(&own).jumps;
        let entries = made.entries.iter().map(|(_, label)| label);
        for label in entries.chain(form.entered) {
            *jumps.entry(label.clone()).or_default() += 1;
        }
        drop_unreached(&mut own, &mut jumps, leg == 0);
        drop_empty(&mut own);
        if leg == 0 {
            return own;
        }
        let go_on = made.entries.into_iter().map(|(number, label)| {
            let jump = vec![Stmt::Goto(label)];
            (vec![Expr::int(number)], jump)
        });
        let mut out = vec![Stmt::Switch {
            on: form.site.clone(),
            cases: go_on.collect(),
            default: Block::new(),
        }];
        out.extend(form.lost_way.iter().cloned());
        out.append(&mut own);
        out
    });
    Some(legs.collect())
}

/// Returns the name of the outlined function that a statement calls, if it is such a call.
fn called<'s>(stmt: &'s Stmt, sizes: &HashMap<SmolStr, u64>) -> Option<&'s SmolStr> {
    match stmt {
        Stmt::Expr(Expr::Call(callee, _))
        | Stmt::Assign(_, Expr::Call(callee, _))
        | Stmt::Switch {
            on: Expr::Call(callee, _),
            ..
        } => sizes.contains_key(&callee.name).then_some(&callee.name),
        _ => None,
    }
}

/// Removes unreached statements, and labels that nothing jumps to. `jumps` has the number of jumps to each label.
/// Except in loops, jumps lead forward, so one pass finds all such statements.
fn drop_unreached(block: &mut Block, jumps: &mut HashMap<SmolStr, usize>, begins: bool) {
    let mut is_reached = begins;
    let mut declared = Block::new();
    block.retain_mut(|stmt| {
        if let Stmt::Label(label) = stmt {
            let is_used = jumps.get(label).is_some_and(|count| *count > 0);
            is_reached |= is_used;
            return is_used;
        }
        if !is_reached {
            let within = Mentions::of(std::slice::from_ref(stmt));
            let is_entered = |label| jumps.get(label).is_some_and(|count| *count > 0);
            if !within.labels.iter().any(is_entered) {
                for (label, count) in within.jumps {
                    if let Some(all) = jumps.get_mut(&label) {
                        *all -= count;
                    }
                }
                if let Stmt::Decl {
                    ty, name, align, ..
                } = stmt
                {
                    declared.push(Stmt::Decl {
                        ty: ty.clone(),
                        name: name.clone(),
                        init: None,
                        align: *align,
                    });
                }
                return matches!(stmt, Stmt::Line { .. });
            }
        }
        for nested in blocks_mut(stmt) {
            drop_unreached(nested, jumps, true);
        }
        is_reached = match stmt {
            Stmt::Line { .. } | Stmt::Comment(_) => is_reached,
            _ => !stmt.diverges(),
        };
        true
    });
    if !declared.is_empty() {
        // An unreached loop may remain, since its own jumps keep its labels. It needs its declarations.
        let names = Mentions::of(block).names;
        declared.retain(|stmt| matches!(stmt, Stmt::Decl { name, .. } if names.contains(name)));
        block.splice(0..0, declared);
    }
}

/// Calls, labels, jumps and loops of a body. Statements are numbered in preorder, those of nested blocks included.
struct Found<'a> {
    form: &'a Chain<'a>,
    live: Liveness,
    sites: Vec<Site>,
    labels: HashMap<SmolStr, usize>,
    jumps: Vec<(usize, SmolStr)>,
    /// First and last statement of each loop.
    loops: Vec<(usize, usize)>,
    next: usize,
}

impl Found<'_> {
    fn block(&mut self, block: &mut Block, after: Set, around: &Around) {
        let points = self.live.points(block, after, around);
        for (i, stmt) in block.iter_mut().enumerate() {
            let at = self.next;
            self.next += 1;
            match stmt {
                Stmt::Label(label) => {
                    self.labels.insert(label.clone(), at);
                }
                Stmt::Goto(label) | Stmt::MayJump { label, .. } => {
                    self.jumps.push((at, label.clone()));
                }
                _ => {}
            }
            if let Some(part) = called(stmt, self.form.sizes) {
                self.sites.push(Site {
                    at,
                    size: self.form.sizes[part],
                    is_open: points[i].is_empty(),
                    leg: None,
                });
            }
            let is_loop = matches!(stmt, Stmt::Loop(_));
            let (after, around) = self.live.inside(stmt, points[i + 1].clone(), around);
            for nested in blocks_mut(stmt) {
                self.block(nested, after.clone(), &around);
            }
            if is_loop {
                self.loops.push((at, self.next - 1));
            }
        }
    }

    /// Retargets jumps to a label that is followed by nothing but another jump: they lead where that jump leads.
    /// Outlined functions are entered by such labels at the function's end.
    fn way_round(&mut self, body: &Block) {
        let mut ways: HashMap<&SmolStr, &SmolStr> = HashMap::new();
        for i in 1..body.len() {
            let Stmt::Label(label) = &body[i] else {
                continue;
            };
            let rest = body[i + 1..].iter();
            let mut rest = rest.skip_while(|stmt| matches!(stmt, Stmt::Assign(Expr::Ident(_), _)));
            if let (true, Some(Stmt::Goto(to))) = (block_diverges(&body[..i]), rest.next()) {
                ways.insert(label, to);
            }
        }
        let around: HashSet<usize> = ways
            .keys()
            .filter_map(|l| self.labels.get(*l))
            .copied()
            .collect();
        // Tests for the jump at the end of such a detour: the next one after its label.
        let last = |at: usize| {
            around
                .iter()
                .any(|label| (label + 1..label + 4).contains(&at))
        };
        self.jumps
            .retain(|(at, label)| !(last(*at) && ways.values().any(|to| *to == label)));
        for (_, label) in &mut self.jumps {
            if let Some(to) = ways.get(label) {
                *label = (*to).clone();
            }
        }
    }

    /// Assigns each open call to a leg; returns the number of legs.
    fn assign(&mut self) -> usize {
        // Backward jumps, as target and source: calls between the two belong to the same leg.
        let back = self.jumps.iter().filter_map(|(from, label)| {
            let to = *self.labels.get(label)?;
            (to < *from).then_some((to, *from))
        });
        let together: Vec<(usize, usize)> = back.chain(self.loops.iter().copied()).collect();
        let is_between = |a: usize, b: usize| {
            let mut all = together.iter();
            all.any(|(first, last)| *first <= a && b <= *last)
        };
        let mut runs: Vec<(Vec<usize>, u64)> = Vec::new();
        let mut before = None;
        for (number, site) in self.sites.iter().enumerate() {
            if !site.is_open {
                continue;
            }
            match (runs.last_mut(), before) {
                (Some((run, size)), Some(before)) if is_between(before, site.at) => {
                    run.push(number);
                    *size += site.size;
                }
                _ => runs.push((vec![number], site.size)),
            }
            before = Some(site.at);
        }
        let all: u64 = runs.iter().map(|(_, size)| size).sum();
        let (mut done, mut count, mut last) = (0, 0, None);
        for (run, size) in runs {
            let middle = (2 * done + size) * self.form.legs as u64 / (2 * all).max(1);
            if last != Some(middle) {
                last = Some(middle);
                count += 1;
            }
            for number in run {
                self.sites[number].leg = Some(count - 1);
            }
            done += size;
        }
        count
    }
}

/// State of building one leg.
struct Leg<'a> {
    form: &'a Chain<'a>,
    /// For the statements that are open calls: the call's number and its leg.
    sites: &'a HashMap<usize, (u64, usize)>,
    leg: usize,
    /// Labels at which the leg may be entered, by the number of the call.
    entries: Vec<(u64, SmolStr)>,
    next: usize,
}

impl Leg<'_> {
    fn block(&mut self, block: &mut Block, fresh: &mut dyn FnMut(&str) -> SmolStr) {
        for mut stmt in std::mem::take(block) {
            let at = self.next;
            self.next += 1;
            for nested in blocks_mut(&mut stmt) {
                self.block(nested, fresh);
            }
            match self.sites.get(&at) {
                None => block.push(stmt),
                Some(&(number, leg)) if leg == self.leg => {
                    if leg > 0 {
                        let label = fresh("go_on");
                        self.entries.push((number, label.clone()));
                        block.push(Stmt::Label(label));
                    }
                    block.push(stmt);
                }
                Some(&(number, leg)) if leg > self.leg => {
                    block.extend((self.form.hand_over)(number, leg));
                }
                // No path leads back here.
                Some(_) => block.extend(self.form.lost_way.iter().cloned()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print;
    use crate::tree::{Item, Type, Unit};

    fn id(name: &str) -> Expr {
        Expr::id(name)
    }

    /// `name();`
    fn call(name: &str) -> Stmt {
        Stmt::Expr(Expr::call(name, Vec::new()))
    }

    fn label(name: &str) -> Stmt {
        Stmt::Label(name.into())
    }

    fn jump_if(name: &str, to: &str) -> Stmt {
        Stmt::goto_if(id(name), to)
    }

    fn done() -> Stmt {
        Stmt::Return(Some(Expr::int(0)))
    }

    /// Returns the legs of a body with outlined functions `a` to `f` of these sizes. Its variable `x` is not available
    /// in the next leg.
    fn legs(body: Block, sizes: [u64; 6], legs: usize) -> Vec<String> {
        let names = ["a", "b", "c", "d", "e", "f"].map(SmolStr::from);
        let form = Chain {
            sizes: &names.into_iter().zip(sizes).collect(),
            lost: &["x".into()].into(),
            entered: &["reject".into()].into(),
            legs,
            hand_over: &|number, leg| {
                let args = vec![Expr::int(number), Expr::int(leg as u64)];
                vec![Stmt::Expr(Expr::call("hand_over", args)), done()]
            },
            site: id("site"),
            lost_way: vec![Stmt::Return(Some(Expr::int(9)))],
        };
        let mut number = 0;
        let chained = chain(&body, &form, &mut |wish| {
            number += 1;
            format!("{wish}{number}").into()
        });
        let text = |body: Block| {
            let text = print(&Unit {
                items: vec![Item::Function {
                    linkage: "".into(),
                    result: Type::U32,
                    name: "leg".into(),
                    params: Vec::new(),
                    body,
                }],
            });
            let lines = text.lines().skip(2).map(str::trim);
            lines.collect::<Vec<_>>().join(" ")
        };
        chained.unwrap_or_default().into_iter().map(text).collect()
    }

    #[test]
    fn each_leg_has_about_as_much_and_hands_over_to_the_next() {
        let body = vec![
            call("a"),
            jump_if("short", "late"),
            call("b"),
            call("c"),
            label("late"),
            call("d"),
            jump_if("bad", "reject"),
            done(),
            label("reject"),
            Stmt::Return(Some(Expr::int(1))),
        ];
        assert_eq!(
            legs(body, [10; 6], 2),
            [
                "a(); if (short) goto late; b(); hand_over(3, 1); return 0; late:; hand_over(4, 1); return 0; reject:; return 1; }",
                "switch (site) { case 3: goto go_on1; case 4: goto go_on2; } return 9; go_on1:; c(); go_on2:; d(); if (bad) goto reject; return 0; reject:; return 1; }",
            ]
        );
    }

    #[test]
    fn what_one_leg_has_room_for_is_one() {
        assert_eq!(legs(vec![call("a"), call("b"), done()], [1; 6], 1), [""; 0]);
        assert_eq!(legs(vec![call("a"), done()], [1; 6], 4), [""; 0]);
        let large = legs(vec![call("a"), call("b"), done()], [100, 1, 1, 1, 1, 1], 3);
        assert_eq!(large.len(), 2);
    }

    #[test]
    fn a_path_that_leads_back_stays_in_a_leg() {
        let body = vec![
            call("a"),
            label("again"),
            call("b"),
            call("c"),
            jump_if("more", "again"),
            call("d"),
            done(),
        ];
        let found = legs(body, [10; 6], 4);
        assert_eq!(found.len(), 3);
        assert!(
            found[1].contains("go_on1:; b(); go_on2:; c(); if (more) goto again;"),
            "{found:?}"
        );
        let around = vec![
            call("a"),
            Stmt::Loop(vec![
                call("b"),
                call("c"),
                Stmt::If(id("y"), vec![Stmt::Break], Vec::new()),
            ]),
            call("d"),
            done(),
        ];
        let found = legs(around, [10; 6], 4);
        assert_eq!(found.len(), 3);
        let whole = |text: &&String| text.contains("b();") && text.contains("c();");
        assert_eq!(found.iter().filter(whole).count(), 1, "{found:?}");
    }

    /// Code after a loop that only the first leg runs may be in a later leg.
    #[test]
    fn what_is_left_of_other_legs_knows_its_variables() {
        let body = vec![
            call("a"),
            Stmt::decl(Type::U32, "x", Expr::int(0)),
            label("again"),
            Stmt::Assign(id("x"), id("y")),
            jump_if("x", "again"),
            call("b"),
            done(),
        ];
        let found = legs(body, [10; 6], 2);
        assert!(found[1].contains("u32 x; again:; x = y;"), "{found:?}");
        assert!(found[1].ends_with("go_on1:; b(); return 0; }"), "{found:?}");
    }

    /// A label at the end by which an outlined function is entered leads forward, not back.
    #[test]
    fn a_way_round_leads_where_its_jump_does() {
        let body = vec![
            call("a"),
            jump_if("short", "late"),
            call("b"),
            label("enter"),
            call("c"),
            call("d"),
            done(),
            label("late"),
            Stmt::Assign(id("at"), Expr::int(7)),
            Stmt::Goto("enter".into()),
        ];
        let found = legs(body, [10; 6], 4);
        assert_eq!(found.len(), 4);
        assert!(found[0].contains("late:; at = 7; goto enter;"), "{found:?}");
        assert!(!found[3].contains("late"), "{found:?}");
    }

    #[test]
    fn where_a_variable_is_needed_all_legs_call_the_part() {
        let body = vec![
            call("a"),
            Stmt::Assign(id("x"), id("y")),
            call("b"),
            Stmt::Assign(id("z"), id("x")),
            call("c"),
            done(),
        ];
        let found = legs(body, [10; 6], 3);
        assert_eq!(found.len(), 2);
        assert!(
            found[0].contains("a(); x = y; b(); z = x; hand_over(3, 1);"),
            "{found:?}"
        );
        assert!(
            found[1].ends_with("return 9; go_on1:; c(); return 0; }"),
            "{found:?}"
        );
    }

    #[test]
    fn a_leg_goes_on_inside_a_condition() {
        let body = vec![
            call("a"),
            Stmt::If(id("y"), vec![call("b"), call("c")], Vec::new()),
            call("d"),
            done(),
        ];
        let found = legs(body, [10; 6], 2);
        assert!(
            found[0].ends_with(
                "a(); if (y) { b(); hand_over(3, 1); return 0; } hand_over(4, 1); return 0; }"
            ),
            "{found:?}"
        );
        assert!(
            found[1].contains("{ return 9; go_on1:; c(); }")
                || found[1].contains("{ go_on1:; c(); }"),
            "{found:?}"
        );
    }
}

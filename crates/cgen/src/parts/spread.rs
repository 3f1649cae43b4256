//! A function that was cut as several, its *legs*: each calls some of the parts, in order, and hands over to another leg where the next part is
//! that one's.
//!
//! A leg knows nothing of what the one before it had in variables, so they hand over only where none is live. A part that is called elsewhere
//! is called by all of them. Legs hand over to later ones only: parts between which a path leads back are one leg's.

use super::live::{Around, Liveness, Set};
use super::mentions::Mentions;
use crate::tidy::{blocks_mut, drop_empty};
use crate::tree::{Block, Expr, Stmt, block_diverges};
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// How a function is to be spread.
pub struct Spread<'a> {
    /// What it calls that may be another leg's, with their sizes.
    pub sizes: &'a HashMap<SmolStr, u64>,
    /// Its variables that the next leg does not have.
    pub lost: &'a HashSet<SmolStr>,
    /// Labels that code in front of the body jumps to.
    pub entered: &'a HashSet<SmolStr>,
    /// How many legs there are at most.
    pub legs: usize,
    /// Hands over to a leg, which is to go on at the call with this number. What follows is not reached.
    pub hand_over: &'a dyn Fn(u64, usize) -> Block,
    /// The number of the call at which a leg is to go on.
    pub site: Expr,
    /// What is done where a leg goes on at none that it has.
    pub lost_way: Block,
}

/// A call of a part.
struct Site {
    /// Which statement it is, counted from the beginning.
    at: usize,
    size: u64,
    /// Another leg may go on here.
    is_open: bool,
    /// Whose it is; all legs' if it is not open.
    leg: Option<usize>,
}

/// The legs of a function's body, the one that it begins with first. `None` if there is only one.
pub fn spread(
    body: &Block,
    form: &Spread<'_>,
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

/// The part that a statement calls, if it is one.
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

/// Removes statements that are not reached, and labels that nothing jumps to; `jumps` has how many lead to each. All but those of loops
/// lead on, so one look finds all there is.
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
        // A loop that is not reached either may be left.
        let names = Mentions::of(block).names;
        declared.retain(|stmt| matches!(stmt, Stmt::Decl { name, .. } if names.contains(name)));
        block.splice(0..0, declared);
    }
}

/// What there is in a body, statements counted from the beginning, those in blocks too.
struct Found<'a> {
    form: &'a Spread<'a>,
    live: Liveness,
    sites: Vec<Site>,
    labels: HashMap<SmolStr, usize>,
    jumps: Vec<(usize, SmolStr)>,
    /// First statements, and last ones.
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

    /// Jumps to a label behind which there is nothing but another jump lead where that leads: parts are entered so, from the function's end.
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
        // The jump at the end of a way, which is the next one behind its label.
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

    /// Says whose each call is; how many legs there are.
    fn assign(&mut self) -> usize {
        // How far a path leads back that begins behind each call.
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

/// A leg that is being made.
struct Leg<'a> {
    form: &'a Spread<'a>,
    /// The numbers of calls, and whose they are, by the statements that they are.
    sites: &'a HashMap<usize, (u64, usize)>,
    leg: usize,
    /// Where it goes on.
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

    /// The legs of a body with parts `a` to `f` of this size, whose variable `x` the next leg does not have.
    fn legs(body: Block, sizes: [u64; 6], legs: usize) -> Vec<String> {
        let names = ["a", "b", "c", "d", "e", "f"].map(SmolStr::from);
        let form = Spread {
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
        let spread = spread(&body, &form, &mut |wish| {
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
        spread.unwrap_or_default().into_iter().map(text).collect()
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

    /// What follows a loop that only the first leg runs may be in a later one.
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

    /// A label at the end from which a part is entered leads on, not back.
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

//! Modes of XDP in which a program runs at its interfaces: one decision over all of them, made before the program
//! stays at any.
//!
//! By itself an interface has native XDP if its driver takes the program, and else generic XDP. A program that
//! redirects packets runs in the same mode at all its interfaces: packets that it redirects natively are lost at an
//! interface that is not made for that. A running program keeps its mode: an interface that would change the mode is
//! refused.

use crate::attachment::Refused;

/// An interface, with what is known before the program is attached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate<'a> {
    /// Interface's name.
    pub name: &'a str,
    /// Known reason why the program does not run natively there. If the program only sends there, it is the reason why
    /// packets from native XDP do not arrive.
    pub refused: Option<Refused>,
}

/// Interfaces of a program, with what decides their modes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidates<'a> {
    /// True if the program redirects packets.
    pub redirects: bool,
    /// Interfaces at which it runs already, and then those at which it is to run.
    pub ports: Vec<Candidate<'a>>,
    /// Number of these at which it runs already. It runs natively there unless a reason against it is known.
    pub running: usize,
    /// Interfaces that it only sends packets to.
    pub targets: Vec<Candidate<'a>>,
}

/// Reason why a program does not run natively at an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Why<'a> {
    /// The interface itself has no native XDP.
    Own(Refused),
    /// Packets would not reach the interface of this name.
    Other(&'a str, Refused),
}

/// The kernel's operations on interfaces, which are numbered like the ports.
pub(super) trait Attacher {
    /// Holder of a program at an interface. Dropping it detaches the program.
    type Held;
    type Error;
    /// Attaches the program natively, or returns why the driver does not take it.
    fn native(&mut self, number: usize) -> Result<Result<Self::Held, Refused>, Self::Error>;
    /// Attaches it by generic XDP, for the reason `why`.
    fn generic(&mut self, number: usize, why: &Why<'_>) -> Result<Self::Held, Self::Error>;
    /// Ends an attachment at once, even if a process that another thread is just starting still has it open.
    fn detach(&mut self, held: Self::Held);
    /// Refuses an interface since the program already runs natively at another one.
    fn conflict(&mut self, running: &str, other: &str, refused: &Refused) -> Self::Error;
}

/// Holder of the program at an interface, and the reason why it does not run natively there, if it does not.
type Attached<'a, A> = (<A as Attacher>::Held, Option<Why<'a>>);

impl<'a> Candidates<'a> {
    /// Returns the reason why the program does not run natively at a port, if one is known.
    fn why_generic(&self, number: usize) -> Option<Why<'a>> {
        if let Some(refused) = &self.ports[number].refused {
            return Some(Why::Own(refused.clone()));
        }
        let all = self.ports.iter().chain(&self.targets);
        let mut others = all.filter_map(|other| Some((other.name, other.refused.clone()?)));
        let (name, refused) = others.next().filter(|_| self.redirects)?;
        Some(Why::Other(name, refused))
    }

    /// Fails if the program would have to change its mode at an interface where it runs already.
    fn check<A: Attacher>(&self, attacher: &mut A) -> Result<(), A::Error> {
        for number in 0..self.running {
            if let Some(Why::Other(other, refused)) = self.why_generic(number) {
                return Err(attacher.conflict(self.ports[number].name, other, &refused));
            }
        }
        Ok(())
    }

    /// Attaches the program to the ports at which it does not run yet, in order. Returns for each why it runs by
    /// generic XDP, if it does. On failure nothing is attached.
    pub(super) fn attach<A: Attacher>(
        mut self,
        attacher: &mut A,
    ) -> Result<Vec<Attached<'a, A>>, A::Error> {
        self.check(attacher)?;
        let mut all = Vec::new();
        for number in self.running..self.ports.len() {
            let why = match self.why_generic(number) {
                Some(why) => why,
                None => match attacher.native(number)? {
                    Ok(held) => {
                        all.push((held, None));
                        continue;
                    }
                    // The refusal also decides for interfaces that have taken the program.
                    Err(refused) if self.redirects => {
                        self.ports[number].refused = Some(refused);
                        all.into_iter().for_each(|(held, _)| attacher.detach(held));
                        return self.attach(attacher);
                    }
                    Err(refused) => Why::Own(refused),
                },
            };
            all.push((attacher.generic(number, &why)?, Some(why)));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Interfaces whose drivers refuse programs by the interfaces' names, and a list of what was done to them.
    #[derive(Default)]
    struct Fake {
        names: Vec<&'static str>,
        done: Rc<RefCell<Vec<String>>>,
    }

    struct Held(String, Rc<RefCell<Vec<String>>>);

    type Reason = Option<Why<'static>>;

    impl Drop for Held {
        fn drop(&mut self) {
            self.1.borrow_mut().push(format!("detach {}", self.0));
        }
    }

    impl Fake {
        fn held(&self, number: usize, mode: &str) -> Held {
            let name = self.names[number];
            self.done.borrow_mut().push(format!("{mode} {name}"));
            Held(name.to_string(), self.done.clone())
        }
    }

    impl Attacher for Fake {
        type Held = Held;
        type Error = String;
        fn native(&mut self, number: usize) -> Result<Result<Held, Refused>, String> {
            Ok(match self.names[number] {
                name if name.starts_with("old") => Err(refused("no XDP")),
                _ => Ok(self.held(number, "native")),
            })
        }
        fn generic(&mut self, number: usize, _: &Why<'_>) -> Result<Held, String> {
            match self.names[number] {
                "none" => Err("refused".to_string()),
                _ => Ok(self.held(number, "generic")),
            }
        }
        fn detach(&mut self, held: Held) {
            drop(held);
        }

        fn conflict(&mut self, running: &str, other: &str, _: &Refused) -> String {
            format!("native at {running}, not at {other}")
        }
    }

    fn refused(reason: &str) -> Refused {
        Refused {
            reason: reason.to_string(),
            remedy: None,
        }
    }

    /// Makes an interface. It is known not to have native XDP if its name says so.
    fn candidate(name: &'static str) -> Candidate<'static> {
        Candidate {
            name,
            refused: name.starts_with("known").then(|| refused("too large")),
        }
    }

    fn candidates(
        redirects: bool,
        running: usize,
        ports: &[&'static str],
        targets: &[&'static str],
    ) -> Candidates<'static> {
        Candidates {
            redirects,
            ports: ports.iter().map(|name| candidate(name)).collect(),
            running,
            targets: targets.iter().map(|name| candidate(name)).collect(),
        }
    }

    /// Returns the list of operations, up to the moment at which everything runs, and the result.
    fn attach(all: Candidates<'static>) -> (Vec<String>, Result<Vec<Reason>, String>) {
        let mut fake = Fake {
            names: all.ports.iter().map(|port| port.name).collect(),
            ..Fake::default()
        };
        let attached = all.attach(&mut fake);
        let done = fake.done.borrow().clone();
        (
            done,
            attached.map(|all| all.into_iter().map(|(_, how)| how).collect()),
        )
    }

    const NO_XDP: &str = "no XDP";

    #[test]
    fn each_interface_has_its_own_mode_if_nothing_is_redirected() {
        let ports = ["a", "old", "known", "b"];
        let (done, how) = attach(candidates(false, 0, &ports, &["known2"]));
        assert_eq!(
            done,
            ["native a", "generic old", "generic known", "native b"]
        );
        let expected = [
            None,
            Some(Why::Own(refused(NO_XDP))),
            Some(Why::Own(refused("too large"))),
            None,
        ];
        assert_eq!(how, Ok(expected.to_vec()));
    }

    #[test]
    fn a_program_that_redirects_is_never_native_where_one_interface_is_known_not_to_be() {
        let (done, how) = attach(candidates(true, 0, &["a", "known"], &[]));
        assert_eq!(done, ["generic a", "generic known"]);
        let how = how.expect("attached");
        let known = || Some(Why::Other("known", refused("too large")));
        assert_eq!(how[0], known());
        let (done, how) = attach(candidates(true, 0, &["a", "b"], &["c", "known"]));
        assert_eq!(done, ["generic a", "generic b"]);
        assert_eq!(how, Ok(vec![known(), known()]));
        let (done, _) = attach(candidates(true, 0, &["a", "b"], &["c"]));
        assert_eq!(done, ["native a", "native b"]);
    }

    #[test]
    fn what_a_driver_refuses_decides_for_all_before_anything_stays() {
        let (done, how) = attach(candidates(true, 0, &["a", "old", "b"], &[]));
        assert_eq!(
            done,
            [
                "native a",
                "detach a",
                "generic a",
                "generic old",
                "generic b"
            ]
        );
        let other = || Some(Why::Other("old", refused(NO_XDP)));
        let own = Some(Why::Own(refused(NO_XDP)));
        assert_eq!(how, Ok(vec![other(), own, other()]));
    }

    #[test]
    fn a_running_program_keeps_its_mode() {
        let conflict = |new: &str| Err(format!("native at a, not at {new}"));
        let (done, how) = attach(candidates(true, 1, &["a", "known"], &[]));
        assert_eq!((done, how), (vec![], conflict("known")));
        let (done, how) = attach(candidates(true, 1, &["a", "old"], &[]));
        assert_eq!((done, how), (vec![], conflict("old")));
        let (done, how) = attach(candidates(true, 1, &["a"], &["known"]));
        assert_eq!((done, how), (vec![], conflict("known")));
        let (done, how) = attach(candidates(true, 1, &["a", "b"], &["c"]));
        assert_eq!(done, ["native b"]);
        assert_eq!(how, Ok(vec![None]));
        // It runs by generic XDP already, so that every other interface is fine.
        let (done, how) = attach(candidates(true, 1, &["known", "b"], &["known2"]));
        assert_eq!(done, ["generic b"]);
        assert_eq!(
            how,
            Ok(vec![Some(Why::Other("known", refused("too large")))])
        );
        // What redirects nothing loses nothing.
        let (done, how) = attach(candidates(false, 1, &["a", "old"], &["known"]));
        assert_eq!(done, ["generic old"]);
        assert_eq!(how, Ok(vec![Some(Why::Own(refused(NO_XDP)))]));
    }

    #[test]
    fn an_interface_that_takes_no_mode_leaves_nothing_attached() {
        let (done, how) = attach(candidates(true, 0, &["a", "old", "none"], &[]));
        assert_eq!(how, Err("refused".to_string()));
        let attached = |of: &str| done.iter().filter(|line| line.starts_with(of)).count();
        assert_eq!(attached("native") + attached("generic"), 3);
        assert_eq!(attached("detach"), 3, "{done:?}");
    }
}

//! Interfaces of a bundle: replacement by the command line's, and checks.

use super::{Bundle, BundledProgram, errors};
use bpf::abi::{Abi, Hook};
use control::Change;
use diag::Diagnostics;
use kernel::store::check_copies;
use schema::Schema;

/// Replaces the file's interfaces by those of `--dev`: `IF,...` for every program, `PROGRAM=IF,...` for one. `given`
/// holds the items between the commas. The file's `ports` and `reach` stay.
///
/// # Errors
///
/// The flag does not fit the bundle; the text says why.
pub fn override_devices(bundle: &mut Bundle, given: &[String]) -> Result<(), String> {
    let mut for_all: Vec<&str> = Vec::new();
    let mut for_one: Vec<(usize, Vec<&str>)> = Vec::new();
    for item in given {
        let interface = match item.split_once('=') {
            Some((program, interface)) => {
                for_one.push((find(bundle, program)?, vec![interface]));
                interface
            }
            None => {
                match for_one.last_mut() {
                    Some((_, list)) => list.push(item),
                    None => for_all.push(item),
                }
                item.as_str()
            }
        };
        if interface.is_empty() {
            return Err(
                "`--dev` has no name: write an interface's, such as --dev eth0 or --dev count=eth0"
                    .to_string(),
            );
        }
    }
    for (i, (program, _)) in for_one.iter().enumerate() {
        if for_one[..i].iter().any(|(other, _)| other == program) {
            let name = &bundle.programs[*program].name.value;
            return Err(format!("`--dev` names program {name} twice"));
        }
    }
    if !for_all.is_empty() {
        for member in &mut bundle.programs {
            replace(member, &for_all)?;
        }
    }
    for (program, list) in &for_one {
        replace(&mut bundle.programs[*program], list)?;
    }
    Ok(())
}

fn find(bundle: &Bundle, wanted: &str) -> Result<usize, String> {
    let names: Vec<&str> = bundle
        .programs
        .iter()
        .map(|p| p.name.value.as_str())
        .collect();
    names.iter().position(|n| *n == wanted).ok_or_else(|| {
        format!(
            "`--dev` names a program `{wanted}`, but the bundle has {}",
            names.join(", ")
        )
    })
}

fn replace(member: &mut BundledProgram, list: &[&str]) -> Result<(), String> {
    member.ports.dev = list.iter().map(|name| name.to_string()).collect();
    match member.ports.clash() {
        Some(clash) => Err(format!(
            "`--dev` does not fit program {}: {}",
            member.name.value,
            clash.message()
        )),
        None => Ok(()),
    }
}

/// Refuses programs that have no interface to run at.
pub fn check_interfaces(bundle: &Bundle) -> Result<(), Diagnostics> {
    let mut wrong = Diagnostics::new();
    for member in &bundle.programs {
        if member.ports.attached().next().is_none() {
            wrong.push(errors::no_interface(member.name.span, &member.name.value));
        }
    }
    if wrong.has_errors() {
        Err(wrong)
    } else {
        Ok(())
    }
}

/// Refuses multicast groups of programs that never send to a group, and groups that their target cannot make.
pub(super) fn check_groups(
    bundle: &Bundle,
    programs: &[(&Abi, &Schema)],
) -> Result<(), Diagnostics> {
    let mut wrong = Diagnostics::new();
    for (member, (abi, _)) in bundle.programs.iter().zip(programs) {
        let name = &member.name;
        let sends = abi.ports.groups.is_some() || abi.traffic.groups.is_some();
        if let Some((group, _)) = member.ports.groups.first().filter(|_| !sends) {
            wrong.push(errors::unused_group(
                name.span,
                &name.value,
                *group,
                &abi.arch,
            ));
            continue;
        }
        for (group, replicas) in &member.ports.groups {
            let change = Change::Group(*group, replicas.clone());
            if let Err(error) = check_copies(abi, false, &change) {
                let what = format!("multicast group {group} was not made");
                wrong.push(*control::errors::store(name.span, &what, &error));
            }
        }
    }
    if wrong.has_errors() {
        Err(wrong)
    } else {
        Ok(())
    }
}

/// Refuses a second program at an interface's XDP hook. `hooks` has the hook of each program.
pub fn check_room(bundle: &Bundle, hooks: &[Hook]) -> Result<(), Diagnostics> {
    let mut wrong = Diagnostics::new();
    let mut taken: Vec<(String, &BundledProgram)> = Vec::new();
    let at_xdp = bundle.programs.iter().zip(hooks);
    for (member, _) in at_xdp.filter(|(_, hook)| **hook == Hook::Xdp) {
        for port in member.ports.attached() {
            if let Some((_, first)) = taken.iter().find(|(name, _)| *name == port.interface) {
                wrong.push(errors::two_at_xdp(
                    member.name.span,
                    &port.interface,
                    &first.name.value,
                    first.name.span,
                ));
            }
            taken.push((port.interface, member));
        }
    }
    if wrong.has_errors() {
        Err(wrong)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diag::SourceMap;

    const BUNDLE: &str = "[[program]]\nsource = \"in.p4\"\ndev = [\"a\", \"b\"]\nports = { 7 = \"g\" }\n\
                          [[program]]\nsource = \"out.p4\"\n";

    fn bundle() -> Bundle {
        let mut map = SourceMap::new();
        let file = map.add("a.toml", BUNDLE).unwrap();
        super::super::read(&map, file).unwrap()
    }

    /// Returns the interfaces of the two programs after `--dev` was applied.
    fn with(given: &[&str]) -> Result<[String; 2], String> {
        let mut bundle = bundle();
        let given: Vec<String> = given.iter().map(|g| g.to_string()).collect();
        override_devices(&mut bundle, &given)?;
        let list = |i: usize| {
            let ports = bundle.programs[i].ports.attached();
            let each: Vec<_> = ports
                .map(|p| format!("{}={}", p.port, p.interface))
                .collect();
            each.join(" ")
        };
        Ok([list(0), list(1)])
    }

    #[test]
    fn interfaces_are_for_all_programs_or_for_one() {
        assert_eq!(with(&["x"]).unwrap(), ["0=x 7=g", "0=x"]);
        assert_eq!(with(&["out=x", "y"]).unwrap(), ["0=a 1=b 7=g", "0=x 1=y"]);
        assert_eq!(with(&["z", "out=x"]).unwrap(), ["0=z 7=g", "0=x"]);
    }

    #[test]
    fn what_does_not_fit_is_reported() {
        let cases = [
            (
                &["none=x"][..],
                "`--dev` names a program `none`, but the bundle has in, out",
            ),
            (&["in=x", "in=y"], "`--dev` names program in twice"),
            (
                &["g"],
                "`--dev` does not fit program in: interface g is given twice",
            ),
            (
                &["in="],
                "`--dev` has no name: write an interface's, such as --dev eth0 or --dev count=eth0",
            ),
        ];
        for (given, wanted) in cases {
            assert_eq!(with(given).unwrap_err(), wanted);
        }
    }

    #[test]
    fn a_program_without_interface_is_refused() {
        let mut bundle = bundle();
        let found = check_interfaces(&bundle).unwrap_err();
        let messages: Vec<_> = found.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["program `out` has no interface to run at"]);
        override_devices(&mut bundle, &["x".to_string()]).unwrap();
        assert!(check_interfaces(&bundle).is_ok());
    }
    #[test]
    fn an_interface_has_room_for_one_program_by_xdp_and_for_many_by_tc() {
        let mut bundle = bundle();
        override_devices(&mut bundle, &["x".to_string()]).unwrap();
        assert!(check_room(&bundle, &[Hook::TcIngress, Hook::TcIngress]).is_ok());
        assert!(check_room(&bundle, &[Hook::Xdp, Hook::TcIngress]).is_ok());
        let found = check_room(&bundle, &[Hook::Xdp, Hook::Xdp]).unwrap_err();
        let messages: Vec<_> = found.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["`in` runs at the xdp hook of x already"]);
    }
}

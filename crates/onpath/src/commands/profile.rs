//! `onpath profile`

use super::changes::{self, How};
use super::instance::open;
use super::named::{not_done, one_or_all, print_array};
use crate::args::{Instance, ProfileCommand};
use crate::output::{Done, Stop, out_line};
use control::profile::{
    MEMBER, MEMBER_GROUP, find_profile, member_json, parse_member, parse_member_group, profiles,
    show_member,
};
use control::{Change, Piece, Store, errors};
use diag::counted;
use schema::{ActionCall, Object, ObjectKind};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Reads or changes the members and groups of a running program's action profiles.
pub(crate) fn run(command: ProfileCommand) -> Done {
    match command {
        ProfileCommand::List {
            instance,
            profile,
            json,
        } => list(&*open(&instance)?, profile.as_deref(), json),
        ProfileCommand::SetMember { instance, member } => {
            changes::from_words(&instance, &member, How::default(), |schema, text| {
                let (profile, member, to) = parse_member(schema, text)?;
                match to {
                    Some(to) => Ok(Change::Member(profile, member, Some(to))),
                    None => Err(errors::malformed(
                        text.span(),
                        "the action is missing",
                        MEMBER,
                    )),
                }
            })
        }
        ProfileCommand::SetGroup { instance, group } => {
            changes::from_words(&instance, &group, How::default(), |schema, text| {
                let (selector, group, members) = parse_member_group(schema, text)?;
                match members.is_empty() {
                    false => Ok(Change::MemberGroup(selector, group, members)),
                    true => Err(errors::malformed(
                        text.span(),
                        "the members are missing",
                        MEMBER_GROUP,
                    )),
                }
            })
        }
        ProfileCommand::RemoveMember {
            instance,
            profile,
            member,
        } => remove(&instance, &profile, member, |schema, text| {
            let (profile, member, _) = parse_member(schema, text)?;
            Ok(Change::Member(profile, member, None))
        }),
        ProfileCommand::RemoveGroup {
            instance,
            selector,
            group,
        } => remove(&instance, &selector, group, |schema, text| {
            let (selector, group, _) = parse_member_group(schema, text)?;
            Ok(Change::MemberGroup(selector, group, Vec::new()))
        }),
    }
}

fn remove(
    instance: &Instance,
    profile: &str,
    number: u32,
    parse: impl FnOnce(&schema::Schema, Piece) -> Result<Change, errors::Refusal>,
) -> Done {
    let words = [profile.to_string(), number.to_string()];
    changes::from_words(instance, &words, How::default(), parse)
}

/// Members and groups of a profile.
pub(super) struct Contents {
    profile: Object,
    pub(super) members: Vec<(u32, ActionCall)>,
    pub(super) groups: Vec<(u32, Vec<u32>)>,
}

fn list(store: &dyn Store, wanted: Option<&str>, as_json: bool) -> Done {
    let schema = &**store.schema();
    let every = profiles(schema).map(|(profile, _)| profile);
    let wanted = one_or_all(wanted, |text| find_profile(schema, text), every)?;
    let all = wanted.into_iter().map(|profile| contents(store, profile));
    let all: Vec<Contents> = all.collect::<Result<_, _>>()?;
    if as_json {
        print_array(all.iter().map(|c| as_value(store, c)));
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        out_line!("the program has no action profiles");
    }
    for Contents {
        profile,
        members,
        groups,
    } in all
    {
        let name = &schema.objects[profile].name;
        let groups_of = match is_selector(store, profile) {
            true => format!(", {}", counted(groups.len(), "group")),
            false => String::new(),
        };
        out_line!("{name}: {}{groups_of}", counted(members.len(), "member"));
        for (member, call) in members {
            out_line!("  member {member}: {}", show_member(schema, profile, &call));
        }
        for (group, members) in groups {
            let members: Vec<String> = members.iter().map(u32::to_string).collect();
            out_line!("  group {group}: members {}", members.join(", "));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn is_selector(store: &dyn Store, profile: Object) -> bool {
    let kind = &store.schema().objects[profile].kind;
    matches!(kind, ObjectKind::ActionSelector(_))
}

/// Reads the members and groups of a profile.
pub(super) fn contents(store: &dyn Store, profile: Object) -> Result<Contents, Stop> {
    let name = &store.schema().objects[profile].name;
    let unread = not_done(format!("action profile `{name}` could not be read"));
    Ok(Contents {
        profile,
        members: store.members(profile).map_err(&unread)?,
        groups: match is_selector(store, profile) {
            true => store.member_groups(profile).map_err(&unread)?,
            false => Vec::new(),
        },
    })
}

fn as_value(store: &dyn Store, contents: &Contents) -> Value {
    let schema = &**store.schema();
    let members = contents.members.iter();
    let members = members.map(|(id, call)| member_json(schema, contents.profile, *id, call));
    let groups = contents.groups.iter();
    let groups = groups.map(|(group, members)| json!({ "group": group, "members": members }));
    json!({
        "profile": schema.objects[contents.profile].name.as_str(),
        "members": members.collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
    })
}

//! Members and groups of action profiles and selectors by name.

use crate::StoreError;
use crate::call::{Omitted, parse_call, show_call};
use crate::entry::find;
use crate::errors::{self, Refusal};
use crate::json::json_call;
use crate::numbers::number;
use crate::piece::Piece;
use schema::{
    Action, ActionCall, ActionSchema, Object, ObjectKind, ProfileSchema, Reference, Schema,
};
use serde_json::{Value, json};

/// Members that a group may have.
pub const MOST_MEMBERS_OF_A_GROUP: usize = 256;

/// How a member is written.
pub const MEMBER: &str = "action_member PROFILE MEMBER [ACTION(ARGS)]";
/// How a group of members is written.
pub const MEMBER_GROUP: &str = "action_group SELECTOR GROUP [MEMBER ...]";

/// Whether there can be such a group of an action selector on any target.
///
/// # Errors
/// As for [`Change::MemberGroup`](crate::Change::MemberGroup).
pub fn check_member_group(members: &[u32]) -> Result<(), StoreError> {
    if members.len() <= MOST_MEMBERS_OF_A_GROUP {
        return Ok(());
    }
    let what = format!(
        "a group of an action selector has {MOST_MEMBERS_OF_A_GROUP} members at most, and this one has {}",
        members.len()
    );
    Err(StoreError::Invalid { what })
}

/// What refers to a member or a group finds none.
pub fn is_missing(reference: Reference) -> StoreError {
    let what = format!("there is no {}", named(reference));
    StoreError::Reference { what }
}

/// A member that is to go is in a group.
pub fn is_in_group(member: u32, group: u32) -> StoreError {
    let what = format!("member {member} is in group {group}");
    StoreError::Reference { what }
}

/// An entry of a table refers to what is to go.
pub fn is_referred_to(table: &str, reference: Reference) -> StoreError {
    let what = format!("an entry of `{table}` refers to {}", named(reference));
    StoreError::Reference { what }
}

fn named(reference: Reference) -> String {
    match reference {
        Reference::Member(member) => format!("member {member}"),
        Reference::Group(group) => format!("group {group}"),
    }
}

/// The action profiles and selectors of a program, with their names.
pub fn profiles(schema: &Schema) -> impl Iterator<Item = (Object, &str)> {
    let all = schema.objects.iter();
    all.filter(|(_, object)| object.kind.profile().is_some())
        .map(|(id, object)| (id, object.name.as_str()))
}

/// The action selectors.
pub fn selectors(schema: &Schema) -> impl Iterator<Item = (Object, &str)> {
    let is_selector = |id: Object| matches!(schema.objects[id].kind, ObjectKind::ActionSelector(_));
    profiles(schema).filter(move |(id, _)| is_selector(*id))
}

/// Finds an action profile or selector by name.
pub fn find_profile(schema: &Schema, name: Piece) -> Result<Object, Refusal> {
    find(profiles(schema), name, "action profile")
}

/// Parses `PROFILE MEMBER [ACTION(ARGS)]`: the action's number is an index of the profile's actions.
pub fn parse_member(
    schema: &Schema,
    text: Piece,
) -> Result<(Object, u32, Option<ActionCall>), Refusal> {
    let (name, rest) = text.first_word();
    let profile = find_profile(schema, name)?;
    let (word, rest) = rest.first_word();
    let member = id(text, word, "member", MEMBER)?;
    if rest.text.is_empty() {
        return Ok((profile, member, None));
    }
    let actions = actions(schema, profile).iter();
    let actions: Vec<&ActionSchema> = actions.map(|action| &schema.actions[*action]).collect();
    let call = parse_call(
        schema,
        &actions,
        actions.len(),
        rest,
        |_| Ok(()),
        &mut Omitted::Refused,
    )?;
    Ok((profile, member, Some(call)))
}

/// Parses `SELECTOR GROUP [MEMBER ...]`, the members between blanks or commas.
pub fn parse_member_group(
    schema: &Schema,
    text: Piece,
) -> Result<(Object, u32, Vec<u32>), Refusal> {
    let (name, rest) = text.first_word();
    let selector = find(selectors(schema), name, "action selector")?;
    let (word, mut rest) = rest.first_word();
    let group = id(text, word, "group", MEMBER_GROUP)?;
    let mut members = Vec::new();
    while !rest.text.is_empty() {
        let (word, after) = rest
            .split_once(|c| c == ',' || c.is_whitespace())
            .unwrap_or((rest, rest.part(rest.text.len(), rest.text.len())));
        members.push(id(text, word, "member", MEMBER_GROUP)?);
        rest = after.trim();
    }
    Ok((selector, group, members))
}

fn id(line: Piece, word: Piece, what: &str, form: &str) -> Result<u32, Refusal> {
    match number(word.text).and_then(|n| u32::try_from(n).ok()) {
        Some(id) => Ok(id),
        None if word.text.is_empty() => Err(errors::malformed(
            line.trim().span(),
            &format!("the {what} is missing"),
            form,
        )),
        None => Err(errors::malformed(
            word.span(),
            &format!("this is not a {what}'s number"),
            form,
        )),
    }
}

/// The actions that members of a profile may run.
fn actions(schema: &Schema, profile: Object) -> &[Action] {
    let kept: Option<&ProfileSchema> = schema.objects[profile].kind.profile();
    kept.map_or(&[][..], |kept| &kept.actions)
}

/// What a member runs, as text.
pub fn show_member(schema: &Schema, profile: Object, call: &ActionCall) -> String {
    let action = actions(schema, profile)[call.action as usize];
    show_call(schema, &schema.actions[action], call)
}

/// A member for programs: `member` and `action`.
pub fn member_json(schema: &Schema, profile: Object, member: u32, call: &ActionCall) -> Value {
    let action = actions(schema, profile)[call.action as usize];
    json!({ "member": member, "action": json_call(schema, &schema.actions[action], call) })
}

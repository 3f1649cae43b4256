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

/// Most members that a group may have.
pub const MOST_MEMBERS_OF_A_GROUP: usize = 256;

/// Syntax of a member.
pub const MEMBER: &str = "action_member PROFILE MEMBER [ACTION(ARGS)]";
/// Syntax of a group of members.
pub const MEMBER_GROUP: &str = "action_group SELECTOR GROUP [MEMBER ...]";

/// Checks the limits on a group of an action selector that hold on every target.
///
/// # Errors As for [`Change::MemberGroup`](crate::Change::MemberGroup).
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

/// Makes the error for a reference to a member or a group that does not exist.
pub fn is_missing(reference: Reference) -> StoreError {
    let what = format!("there is no {}", named(reference));
    StoreError::Reference { what }
}

/// Makes the error for the removal of a member that is in a group.
pub fn is_in_group(member: u32, group: u32) -> StoreError {
    let what = format!("member {member} is in group {group}");
    StoreError::Reference { what }
}

/// Makes the error for the removal of a member or group that an entry refers to.
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

/// Returns the action profiles and selectors of a program, with their names.
pub fn profiles(schema: &Schema) -> impl Iterator<Item = (Object, &str)> {
    let all = schema.objects.iter();
    all.filter(|(_, object)| object.kind.profile().is_some())
        .map(|(id, object)| (id, object.name.as_str()))
}

/// Returns the action selectors of a program, with their names.
pub fn selectors(schema: &Schema) -> impl Iterator<Item = (Object, &str)> {
    let is_selector = |id: Object| matches!(schema.objects[id].kind, ObjectKind::ActionSelector(_));
    profiles(schema).filter(move |(id, _)| is_selector(*id))
}

/// Finds an action profile or selector by name.
pub fn find_profile(schema: &Schema, name: Piece) -> Result<Object, Refusal> {
    find(profiles(schema), name, "action profile")
}

/// Parses `PROFILE MEMBER [ACTION(ARGS)]`. The action's number in the call is an index of the profile's actions.
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

/// Parses `SELECTOR GROUP [MEMBER ...]`, with the members separated by blanks or commas.
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

/// Returns the actions that members of a profile may run.
fn actions(schema: &Schema, profile: Object) -> &[Action] {
    let kept: Option<&ProfileSchema> = schema.objects[profile].kind.profile();
    kept.map_or(&[][..], |kept| &kept.actions)
}

/// Formats the action call of a member.
pub fn show_member(schema: &Schema, profile: Object, call: &ActionCall) -> String {
    let action = actions(schema, profile)[call.action as usize];
    show_call(schema, &schema.actions[action], call)
}

/// Returns a member as JSON: `member` and `action`.
pub fn member_json(schema: &Schema, profile: Object, member: u32, call: &ActionCall) -> Value {
    let action = actions(schema, profile)[call.action as usize];
    json!({ "member": member, "action": json_call(schema, &schema.actions[action], call) })
}

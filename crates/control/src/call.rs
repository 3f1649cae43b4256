//! Calls of actions: `ACTION(ARGUMENT, ...)`, arguments by name or by position.

use crate::entry::reads_as_name;
use crate::errors::{self, Refusal};
use crate::names::{NameError, resolve};
use crate::piece::Piece;
use crate::values::{parse_value, show_value};
use diag::Diagnostic;
use schema::{ActionCall, ActionSchema, Bits, Schema};

/// Returns the index of a name among names. The first `first` names have precedence over the others.
pub(crate) fn resolve_first(
    names: &[&str],
    first: usize,
    wanted: &str,
) -> Result<usize, NameError> {
    let (own, others) = names.split_at(first);
    match resolve(own.iter().copied(), wanted) {
        Err(NameError::Unknown { .. }) => {}
        found => return found,
    }
    match resolve(others.iter().copied(), wanted) {
        Err(NameError::Unknown { .. }) => resolve(names.iter().copied(), wanted),
        found => found.map(|index| first + index),
    }
}

/// Treatment of a call that gives none of the arguments that its action takes.
pub(crate) enum Omitted<'w> {
    /// It is refused.
    Refused,
    /// All of them are zero, with a warning.
    Zero(&'w mut Vec<Diagnostic>),
}

/// Parses `ACTION` or `ACTION(ARGUMENTS)`. The action's number in the call is an index of `actions`. If a name fits
/// several actions, the first `first` of them have precedence. `allowed` returns an error for an action that is not
/// allowed here; the error names the only context that allows it.
pub(crate) fn parse_call(
    schema: &Schema,
    actions: &[&ActionSchema],
    first: usize,
    word: Piece,
    allowed: impl Fn(usize) -> Result<(), &'static str>,
    omitted: &mut Omitted<'_>,
) -> Result<ActionCall, Refusal> {
    let (name, arguments) = match word.text.find('(') {
        Some(open) => {
            let Some(close) = word.text.rfind(')').filter(|&c| c + 1 == word.text.len()) else {
                return Err(errors::malformed(
                    word.span(),
                    "the action's arguments have no closing parenthesis",
                    "ACTION(ARGUMENT, ...)",
                ));
            };
            (word.part(0, open).trim(), Some(word.part(open + 1, close)))
        }
        None => (word, None),
    };
    let names: Vec<&str> = actions.iter().map(|action| action.name.as_str()).collect();
    let index = resolve_first(&names, first, name.text)
        .map_err(|error| errors::bad_name(name.span(), "action", name.text, &names, error))?;
    if let Err(only) = allowed(index) {
        return Err(errors::action_not_allowed(name.span(), names[index], only));
    }
    let params = &actions[index].params;
    let param_names: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
    let words: Vec<Piece> = match arguments {
        Some(list) if !list.trim().text.is_empty() => split_commas(list),
        _ => Vec::new(),
    };
    if words.is_empty()
        && !params.is_empty()
        && let Omitted::Zero(warnings) = omitted
    {
        warnings.push(errors::arguments_omitted(
            word.span(),
            names[index],
            &param_names,
        ));
        let zeros = params.iter().map(|param| Bits::new(param.ty.width(), 0u32));
        return Ok(ActionCall {
            action: index as u32,
            args: zeros.collect(),
        });
    }
    let mut values: Vec<Option<Bits>> = vec![None; params.len()];
    if words.len() != params.len() {
        return Err(errors::argument_count(
            word.span(),
            names[index],
            &param_names,
            words.len(),
        ));
    }
    for (position, &argument) in words.iter().enumerate() {
        let named = argument
            .split_named()
            .map(|(name, value)| (name.trim(), value.trim()))
            .filter(|(name, _)| {
                param_names.contains(&name.text) || reads_as_name(name.text, false)
            });
        let named = match named {
            Some((name, value)) => match resolve(param_names.iter().copied(), name.text) {
                Ok(at) => Some((at, value)),
                Err(error) => {
                    let names = &param_names;
                    return Err(errors::bad_name(
                        name.span(),
                        "argument",
                        name.text,
                        names,
                        error,
                    ));
                }
            },
            None => None,
        };
        let (at, value) = named.unwrap_or((position, argument));
        if values[at].is_some() {
            return Err(errors::given_twice(argument.span(), param_names[at]));
        }
        let parsed = parse_value(schema, params[at].ty, value.text)
            .map_err(|error| errors::bad_value(value.span(), param_names[at], error))?;
        values[at] = Some(parsed);
    }
    // There are as many arguments as parameters and none twice, so every parameter has its value.
    Ok(ActionCall {
        action: index as u32,
        args: values.into_iter().flatten().collect(),
    })
}

fn split_commas(list: Piece) -> Vec<Piece> {
    let mut parts = Vec::new();
    let mut rest = list;
    while let Some((part, tail)) = rest.split_once(|c| c == ',') {
        parts.push(part.trim());
        rest = tail;
    }
    parts.push(rest.trim());
    parts
}

/// Formats a call of an action.
pub(crate) fn show_call(schema: &Schema, action: &ActionSchema, call: &ActionCall) -> String {
    let args: Vec<String> = action
        .params
        .iter()
        .zip(&call.args)
        .map(|(param, value)| format!("{}: {}", param.name, show_value(schema, param, value)))
        .collect();
    format!("{}({})", action.name, args.join(", "))
}

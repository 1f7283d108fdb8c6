//! What the text of a command proves if its shell could not be watched.

use safety::parse::Join;

use crate::builtins::{is_builtin, is_opaque, starts_programs};
use crate::types::{End, Evidence, State, Verdict};
use crate::units::{Id, Shape, Units};

/// Returns the evidence of a command whose shell was not watched: one program, or programs joined by `&&`, that ended
/// with 0 have all ended with 0. Of all else nothing is known.
pub fn evidence(command: &str, units: &Units, end: End) -> Evidence {
    let utf16 = safety::Utf16::new(command);
    let programs = (end.by_itself && end.code == Some(0)).then(|| programs(units)).flatten();
    let (verdict, why, state) = match (&programs, end) {
        (Some(_), _) => (Verdict::Passed, None, State::Known),
        (None, End { by_itself: true, code: Some(0), .. }) => {
            (Verdict::Unproven, Some("The shell could not be watched.".to_owned()), State::Unknown)
        }
        (None, End { by_itself: false, .. }) => {
            (Verdict::Failed, Some("The command did not end by itself.".to_owned()), State::Unknown)
        }
        (None, End { code: Some(code), .. }) => {
            (Verdict::Failed, Some(format!("The exit code is {code}.")), State::Unknown)
        }
        (None, End { signal, .. }) => {
            let by = signal.map_or_else(|| "a signal".to_owned(), sys::signal_name);
            (Verdict::Failed, Some(format!("The command was ended by {by}.")), State::Unknown)
        }
    };
    let parts: Vec<_> =
        programs.unwrap_or_default().into_iter().map(|id| crate::verdict::passed(units, id, &utf16)).collect();
    Evidence { verdict, why, state, parts_total: parts.len(), parts, masked: Vec::new() }
}

/// Returns the programs of a text that is one program, or programs joined by `&&`.
fn programs(units: &Units) -> Option<Vec<Id>> {
    let Shape::List(entries) = &units[0].shape else { return None };
    let [entry] = entries.as_slice() else { return None };
    let Shape::AndOr { pipelines, background: false } = &units[*entry].shape else { return None };
    let program = |(at, (join, pipeline)): (usize, &(Join, Id))| {
        let Shape::Pipeline { commands, negated: false } = &units[*pipeline].shape else { return None };
        let [command] = commands.as_slice() else { return None };
        let Shape::Simple { words } = &units[*command].shape else { return None };
        let name = words.first()?.as_deref()?;
        let runs_itself = !is_opaque(name) && !starts_programs(name) && name != "trap";
        let plain = units[*command].substitutions.is_empty() && units.function(name).is_none() && runs_itself;
        // `cd` and the like prove nothing wrong, and are no part.
        ((at == 0 || *join == Join::And) && plain).then_some((!is_builtin(name)).then_some(*command))
    };
    let programs = pipelines.iter().enumerate().map(program).collect::<Option<Vec<_>>>()?;
    Some(programs.into_iter().flatten().collect())
}

//! Commands with the evidence that they must give.

use super::watch;
use crate::{By, Evidence, State, Verdict, read};

/// Runs a command and returns its evidence: verdict and state, the parts, and what is masked.
fn proved(script: &str) -> String {
    let (trace, end) = watch::run(script);
    shown(&read(script, trace.as_ref(), end))
}

fn shown(evidence: &Evidence) -> String {
    let part = |part: &crate::Part| {
        let code = part.exit_code.map(|code| code.to_string()).or(part.signal.clone()).unwrap_or("?".into());
        let place = if part.span.is_none() { "~" } else { "" };
        let times = if part.times > 1 { format!("*{}", part.times) } else { String::new() };
        format!("{place}{} {code}{times}", part.command)
    };
    let by = |by| match by {
        By::Pipe => "|",
        By::Or => "||",
        By::Sequence => ";",
        By::Background => "&",
        By::Substitution => "$()",
    };
    let verdict = match evidence.verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Unproven => "unproven",
    };
    let state = match evidence.state {
        State::Known => "",
        State::Partial => " partial",
        State::Unknown => " unknown",
    };
    let parts: Vec<_> = evidence.parts.iter().map(part).collect();
    let masked = evidence.masked.iter().map(|masked| {
        format!("{} {} {}", part(&masked.part), by(masked.by), masked.behind.clone().unwrap_or_default())
    });
    let masked: Vec<_> = masked.collect();
    format!("{verdict}{state}: {} # {}", parts.join(", "), masked.join(", ")).trim_end().to_owned()
}

#[test]
fn dump() {
    let Ok(script) = std::env::var("SCRIPT") else { return };
    let (trace, end) = watch::run(&script);
    println!("{}", shown(&read(&script, trace.as_ref(), end)));
    if std::env::var("TRACE").is_ok() {
        trace.unwrap().events.iter().for_each(|event| println!("{event:?}"));
    }
}

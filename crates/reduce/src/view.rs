//! Makes the view of a complete output.

use super::class::{Class, printed};
use super::estimate::estimate_tokens;
use super::failure::{Context, Severity, is_said, severity};
use super::lines::Lines;
use super::options::Options;
use super::seen::lines_of;
use super::stream::{Reducer, WHOLE};
use super::{End, Level, Stream, View};

/// Largest output that is folded whole, in bytes. Larger outputs would take longer than a caller should wait.
const LARGEST: usize = 1 << 20;

/// Returns the view of a whole output. `None` if nothing is gained.
pub fn reduce(stdout: &str, stderr: &str, end: End, options: &Options) -> Option<View> {
    let printed = options.printed();
    let size = stdout.len() + stderr.len();
    let is_streamed = matches!(options.level, Level::Salient { .. }) && size > WHOLE && !printed.exact;
    if is_streamed {
        let mut reducer = Reducer::new(options);
        reducer.push(Stream::Stdout, stdout);
        reducer.push(Stream::Stderr, stderr);
        if let Some(view) = reducer.finish(end) {
            return Some(view);
        }
    }
    if size > LARGEST {
        return None;
    }
    let level = if is_streamed { Level::Lossless } else { options.level };
    Lines::of(stdout, stderr, options, &printed).view(&printed, end, level)
}

/// Returns the view that shows an output unchanged.
pub fn whole(stdout: &str, stderr: &str, end: End, command: Option<&str>) -> View {
    let printed = command.map(printed).unwrap_or_default();
    let text = match (stdout, stderr) {
        (_, "") => stdout.to_owned(),
        ("", _) => format!("stderr:\n{stderr}"),
        _ => format!("stdout:\n{}\n\nstderr:\n{stderr}", stdout.strip_suffix('\n').unwrap_or(stdout)),
    };
    let reports = |text: &str| {
        let mut context = Context::default();
        let mut fails = |line: &str| context.next(line, severity(line)) == Severity::Failure;
        text.lines().any(|line| fails(line) && (!printed.rows || is_said(line)))
    };
    let failed = end == End::Failed || !printed.exact && (reports(stdout) || reports(stderr));
    let tokens = estimate_tokens(&text);
    View {
        text,
        before: tokens,
        after: tokens,
        class: Class::of(&printed, failed),
        elided: Vec::new(),
        rules: Vec::new(),
        lines: [stdout, stderr].map(|text| lines_of(text).count()),
    }
}

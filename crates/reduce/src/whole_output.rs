//! Makes the view of a complete output.

use super::class::{OutputClass, output_profile};
use super::earlier_results::lines_of;
use super::estimate::estimate_tokens;
use super::failure::{FailureContext, FailureSeverity, is_program_message, severity};
use super::output_lines::OutputLines;
use super::reduction_options::ReductionOptions;
use super::stream::{OutputReducer, WHOLE};
use super::{CommandStream, ExitOutcome, ReducedView, ReductionLevel};

/// Largest output that is folded whole, in bytes. Larger outputs would take longer than a caller should wait.
const LARGEST: usize = 1 << 20;

/// Returns the view of a whole output. `None` if nothing is gained.
pub fn reduce(stdout: &str, stderr: &str, end: ExitOutcome, options: &ReductionOptions) -> Option<ReducedView> {
    let printed = options.output_profile();
    let size = stdout.len() + stderr.len();
    let is_streamed = matches!(options.level, ReductionLevel::Salient { .. }) && size > WHOLE && !printed.exact;
    if is_streamed {
        let mut reducer = OutputReducer::new(options);
        reducer.push(CommandStream::Stdout, stdout);
        reducer.push(CommandStream::Stderr, stderr);
        if let Some(view) = reducer.finish(end) {
            return Some(view);
        }
    }
    if size > LARGEST {
        return None;
    }
    let level = if is_streamed { ReductionLevel::Lossless } else { options.level };
    OutputLines::of(stdout, stderr, options, &printed).view(&printed, end, level)
}

/// Returns the view that shows an output unchanged.
pub fn unreduced_view(stdout: &str, stderr: &str, end: ExitOutcome, command: Option<&str>) -> ReducedView {
    let printed = command.map(output_profile).unwrap_or_default();
    let text = match (stdout, stderr) {
        (_, "") => stdout.to_owned(),
        ("", _) => format!("stderr:\n{stderr}"),
        _ => format!("stdout:\n{}\n\nstderr:\n{stderr}", stdout.strip_suffix('\n').unwrap_or(stdout)),
    };
    let reports = |text: &str| {
        let mut context = FailureContext::default();
        let mut fails = |line: &str| context.next(line, severity(line)) == FailureSeverity::Failure;
        text.lines().any(|line| fails(line) && (!printed.rows || is_program_message(line)))
    };
    let failed = end == ExitOutcome::Failed || !printed.exact && (reports(stdout) || reports(stderr));
    let tokens = estimate_tokens(&text);
    ReducedView {
        text,
        before: tokens,
        after: tokens,
        class: OutputClass::of(&printed, failed),
        elided: Vec::new(),
        rules: Vec::new(),
        lines: [stdout, stderr].map(|text| lines_of(text).count()),
    }
}

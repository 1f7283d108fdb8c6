//! The view of a command's output, in the making.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use crate::request::{OutputReduction, PlannedRun};
use capture::CapturedStream;
use reduce::earlier_results::EarlierLines;
use reduce::{
    CommandStream, ExitOutcome, OutputReducer, ReducedView, ReductionLevel, ReductionOptions, estimate_tokens, reduce,
};

/// Makes the view of an output, if one is wanted. A salient reduction makes its view while the command runs.
pub struct ViewMaker<'a> {
    /// The wishes. `None` if no view is wanted, and after a fault in the reduction, which must not cost the output.
    wanted: Option<ViewRequest<'a>>,
}

struct ViewRequest<'a> {
    reduction: &'a OutputReduction,
    command: &'a str,
    /// The reducer. `None` if the text of the result suffices.
    reducer: Option<Box<OutputReducer<'a>>>,
}

/// A view, and the text that the file with the whole output needs.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewDraft {
    /// The view.
    pub view: ReducedView,
    /// The whole of each stream that the result has only in part, if it was still in memory.
    pub whole: [Option<String>; 2],
}

impl<'a> ViewMaker<'a> {
    /// Begins the view that a command asks for.
    pub fn new(request: &'a PlannedRun) -> Self {
        let wanted = request.reduce.as_deref().map(|reduction| {
            let command = request.command.as_str();
            let is_salient = reduction.level != ReductionLevel::Lossless;
            let reducer = is_salient.then(|| Box::new(OutputReducer::new(&reduction.options(Some(command)))));
            ViewRequest { reduction, command, reducer }
        });
        Self { wanted }
    }

    /// Takes the next text of a stream.
    pub fn push(&mut self, stream: CommandStream, text: &str) {
        let Some(ViewRequest { reducer: Some(reducer), .. }) = &mut self.wanted else { return };
        if catch_unwind(AssertUnwindSafe(|| reducer.push(stream, text))).is_err() {
            self.wanted = None;
        }
    }

    /// Returns the view of the whole output. `None` if no view is wanted, or the view is no gain.
    pub fn draft(
        self,
        end: ExitOutcome,
        stdout: &mut CapturedStream,
        stderr: &mut CapturedStream,
    ) -> Option<ViewDraft> {
        let wanted = self.wanted?;
        let reduction = wanted.reduction;
        let size = stdout.text.len() + stderr.text.len();
        let draft = || reduction.with_earlier_lines(size, |shown| wanted.draft(end, shown, [stdout, stderr]));
        catch_unwind(AssertUnwindSafe(draft)).ok().flatten()
    }
}

impl ViewRequest<'_> {
    fn draft(
        self,
        end: ExitOutcome,
        shown: Option<&EarlierLines<'_>>,
        streams: [&mut CapturedStream; 2],
    ) -> Option<ViewDraft> {
        let Self { reduction, command, reducer } = self;
        let options = ReductionOptions { earlier: shown, ..reduction.options(Some(command)) };
        let is_cut = streams.iter().any(|stream| stream.truncation.is_some());
        let of_result = |level| reduce(&streams[0].text, &streams[1].text, end, &ReductionOptions { level, ..options });
        let Some(reducer) = reducer else { return of_result(ReductionLevel::Lossless).map(ViewDraft::of_result) };
        let is_whole = reducer.is_whole();
        let view = finished(*reducer, end, shown);
        match view {
            Some(view) if !is_cut => Some(ViewDraft::of_result(view)),
            None if !is_cut && is_whole => None,
            None if !is_cut => of_result(reduction.level).map(ViewDraft::of_result),
            Some(view) if is_worth_showing(&view, &streams) && view.elided.is_empty() => {
                Some(ViewDraft::of_result(view))
            }
            Some(view) if is_worth_showing(&view, &streams) => {
                Some(ViewDraft { view, whole: streams.map(|stream| stream.whole.take()) })
            }
            Some(_) | None => of_result(ReductionLevel::Lossless).map(ViewDraft::of_result),
        }
    }
}

impl ViewDraft {
    /// Returns the view of the text of the result.
    fn of_result(view: ReducedView) -> Self {
        Self { view, whole: [None, None] }
    }
}

fn finished<'a>(
    reducer: OutputReducer<'a>,
    end: ExitOutcome,
    shown: Option<&'a EarlierLines<'a>>,
) -> Option<ReducedView> {
    match shown {
        Some(shown) => reducer.with_earlier_lines(shown).finish(end),
        None => reducer.finish(end),
    }
}

/// Returns whether the view of a whole output is useful where the result has only a part of the output. Where it leaves
/// out lines of a stream that was cut, the whole must be there to be kept. It must take fewer tokens than the text of
/// the result.
fn is_worth_showing(view: &ReducedView, streams: &[&mut CapturedStream; 2]) -> bool {
    let complete = [CommandStream::Stdout, CommandStream::Stderr].iter().zip(streams).all(|(stream, captured)| {
        let Some(cut) = &captured.truncation else { return true };
        let is_kept = captured.whole.is_some() || cut.path.is_some() && cut.spill_error.is_none();
        is_kept || !view.elided.iter().any(|gap| gap.stream == *stream)
    });
    complete && view.after < streams.iter().map(|stream| estimate_tokens(&stream.text)).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{RawOptions, RawReduction};
    use capture::{KeptTextLimits, SanitizeRules, StreamCapture, TruncationPolicy};

    /// Returns the request of a command with a reduction.
    fn request(budget_tokens: Option<f64>) -> PlannedRun {
        let reduce = Some(RawReduction { budget_tokens, off: Some(Vec::new()), ..RawReduction::default() });
        PlannedRun::check(RawOptions { command: "make all".into(), cwd: "/".into(), reduce, ..RawOptions::default() })
            .expect("valid")
    }

    /// Returns lines that are no series.
    fn steps(count: usize) -> String {
        (0..count).map(|at| format!("step {}: prepared the part and went on with it\n", at * at * 31 % 9_973)).collect()
    }

    /// Returns the draft of an output that arrives in pieces, and the captured standard output.
    fn draft(request: &PlannedRun, truncate: TruncationPolicy, stdout: &str) -> (Option<ViewDraft>, CapturedStream) {
        let mut maker = ViewMaker::new(request);
        let mut capture = StreamCapture::new("stdout", truncate, Some(SanitizeRules::default()), false);
        for piece in stdout.as_bytes().chunks(1_000) {
            capture.push_to(piece, |text| maker.push(CommandStream::Stdout, text));
            if capture.wants_spill() {
                capture.spill_off();
            }
        }
        capture.end_to(|text| maker.push(CommandStream::Stdout, text));
        let mut stdout = capture.finish();
        (maker.draft(ExitOutcome::Succeeded, &mut stdout, &mut CapturedStream::default()), stdout)
    }

    fn tail(max_lines: Option<u64>, max_bytes: Option<u64>) -> TruncationPolicy {
        TruncationPolicy::Tail(KeptTextLimits { max_lines, max_bytes, max_chars: None })
    }

    #[test]
    fn a_command_that_is_not_reduced_has_no_view() {
        let raw = RawOptions { command: "make".into(), cwd: "/".into(), ..RawOptions::default() };
        let request = PlannedRun::check(raw).expect("valid");
        assert_eq!(draft(&request, TruncationPolicy::default(), &steps(400)).0, None);
    }

    #[test]
    fn the_view_while_the_command_runs_is_that_of_its_whole_output() {
        for count in [400, 4_000] {
            let text = steps(count);
            let request = request(Some(200.0));
            let (draft, _) = draft(&request, tail(None, None), &text);
            let reduction = request.reduce.as_deref().expect("wanted");
            let view = reduction.view(&text, "", ExitOutcome::Succeeded, Some("make all")).expect("a gain");
            assert!(!view.elided.is_empty());
            assert_eq!(draft, Some(ViewDraft { view, whole: [None, None] }), "{count} lines");
        }
    }

    #[test]
    fn a_stream_that_lost_only_lines_is_whole_in_the_draft() {
        let text = steps(400);
        let (draft, captured) = draft(&request(Some(200.0)), tail(Some(200), None), &text);
        let ViewDraft { view, whole } = draft.expect("a gain");
        assert!(captured.truncation.is_some() && view.lines == [400, 0]);
        assert_eq!(whole, [Some(text), None]);
    }

    #[test]
    fn a_stream_whose_whole_is_lost_gives_the_folds_of_what_is_left() {
        let text = format!("{}{}", steps(4_000), "waiting for the server\n".repeat(100));
        let (draft, captured) = draft(&request(Some(200.0)), tail(None, Some(8_000)), &text);
        let ViewDraft { view, whole } = draft.expect("a gain");
        assert!(captured.truncation.is_some());
        assert!(view.elided.is_empty() && view.text.contains("waiting for the server\n[x100]\n"), "{}", view.text);
        assert_eq!(whole, [None, None]);
    }

    #[test]
    fn a_view_that_is_larger_than_what_is_left_is_not_used() {
        let (draft, captured) = draft(&request(Some(1_000.0)), tail(Some(5), None), &steps(400));
        assert_eq!(captured.truncation.map(|cut| cut.output_lines), Some(5));
        assert_eq!(draft, None);
    }

    #[test]
    fn a_fault_in_the_reduction_costs_only_the_view() {
        for level in [ReductionLevel::Lossless, ReductionLevel::Salient { budget: 200 }] {
            let request = request(None).with_reduction(OutputReduction::faulty(level));
            let (draft, captured) = draft(&request, tail(None, None), &steps(400));
            assert_eq!((draft, captured.text), (None, steps(400)));
        }
    }
}

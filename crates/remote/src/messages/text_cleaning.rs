//! Cleans text of a program again. A program of ours has done so. A compromised one may send escape sequences, which
//! would reach the terminal of a person.

use super::greeting::TargetFacts;
use super::id::is_id;
use super::target_call::TargetEvent;
use super::target_failure::TargetFailure;
use super::target_registry::{RegistryEvent, TargetRegistryResponse};
use super::target_request::TargetResponse;
use capture::{SanitizeRules, keep_controls};
use protocol::task::Task;
use runner::run::outcome::CommandOutcome;

/// The control characters of plain text.
const PLAIN: [char; 2] = ['\t', '\n'];
/// Those of output from which escape sequences were removed: progress lines may be kept.
const OUTPUT: [char; 4] = ['\t', '\n', '\r', '\u{8}'];

/// Removes control characters from what an event tells about its run. Output is cleaned if `sanitize` removes escape
/// sequences from it. The text of a terminal and paths stay as they are. Returns false if the event has an id that no
/// program of ours gives.
#[must_use]
pub fn clean_event(event: &mut TargetEvent, sanitize: Option<SanitizeRules>) -> bool {
    let output = |text: &mut String| {
        if sanitize.is_some_and(|rules| rules.ansi) {
            clean_output(text);
        }
    };
    match event {
        TargetEvent::Output(_, text) => output(text),
        TargetEvent::View { stdout, stderr, .. } => [stdout, stderr].into_iter().for_each(output),
        TargetEvent::Prompt { command, text, .. } => [command, text].into_iter().for_each(plain),
        TargetEvent::Ended(outcome, _) => {
            let CommandOutcome { stdout, stderr, notes, background, view, survivors, reused, .. } = &mut **outcome;
            [stdout, stderr].into_iter().for_each(output);
            notes.iter_mut().for_each(plain);
            background.iter_mut().for_each(|(task, _)| clean_task(task));
            survivors.iter_mut().for_each(|(survivor, _)| plain(&mut survivor.command));
            let tasks =
                background.iter().map(|(task, _)| &task.id).chain(survivors.iter().filter_map(|(_, id)| id.as_ref()));
            if !tasks.chain(reused.iter().map(|reused| &reused.run_id)).all(|id| is_id(id)) {
                return false;
            }
            if let Some(draft) = view {
                output(&mut draft.view.text);
                draft.whole.iter_mut().flatten().for_each(output);
            }
        }
        TargetEvent::Registry(event) => match &mut **event {
            RegistryEvent::Opened(tasks, _) => tasks.iter_mut().for_each(clean_task),
            RegistryEvent::Output(task, _) | RegistryEvent::Exited(task, ..) => clean_task(task),
        },
        TargetEvent::Answered(TargetResponse::Registry(answer)) => match answer {
            TargetRegistryResponse::Listed(tasks, notes, _) => {
                tasks.iter_mut().for_each(clean_task);
                notes.iter_mut().for_each(plain);
            }
            TargetRegistryResponse::Checked(check, _) => clean_task(&mut check.task),
            TargetRegistryResponse::Done => {}
        },
        TargetEvent::Answered(TargetResponse::Undone(undone)) => {
            undone.not_covered.iter_mut().for_each(plain);
            undone.conflicts.iter_mut().for_each(|stayed| plain(&mut stayed.why));
            return undone.undo.is_empty() || is_id(&undone.undo);
        }
        TargetEvent::Answered(TargetResponse::UndoPoints(points)) => {
            points.iter_mut().for_each(|point| plain(&mut point.command));
            return points.iter().all(|point| is_id(&point.run));
        }
        TargetEvent::Answered(TargetResponse::NewestToUndo(Some(run))) => return is_id(run),
        TargetEvent::Failed(TargetFailure { message, errno, missing, .. }) => {
            plain(message);
            errno.iter_mut().for_each(plain);
            missing.iter_mut().flat_map(|part| [&mut part.why, &mut part.remedy]).for_each(plain);
        }
        TargetEvent::Answered(_)
        | TargetEvent::Data(_)
        | TargetEvent::Typed
        | TargetEvent::Started(..)
        | TargetEvent::Exited => {}
        TargetEvent::InputTaken(_) | TargetEvent::Part(_) => {}
    }
    true
}

/// Removes control characters from output.
pub fn clean_output(text: &mut String) {
    keep_controls(text, &OUTPUT);
}

/// Removes control characters from the names in a greeting.
pub fn clean_facts(facts: &mut TargetFacts) {
    let TargetFacts { machine, host_name, kernel, arch, user, version, .. } = facts;
    [machine, host_name, kernel, arch, user, version].into_iter().for_each(|name| keep_controls(name, &[]));
}

fn clean_task(task: &mut Task) {
    keep_controls(&mut task.id, &[]);
    plain(&mut task.command);
    task.notes.iter_mut().for_each(plain);
}

fn plain(text: &mut String) {
    keep_controls(text, &PLAIN);
}

#[cfg(test)]
mod tests {
    use super::*;
    use capture::OutputStream;

    const RED: &str = "\u{1b}[31mred\r\n";

    fn cleaned(mut event: TargetEvent, sanitize: Option<SanitizeRules>) -> String {
        assert!(clean_event(&mut event, sanitize));
        match event {
            TargetEvent::Output(_, text) | TargetEvent::Data(text) | TargetEvent::Prompt { text, .. } => text,
            TargetEvent::Failed(failure) => failure.message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn output_is_cleaned_as_it_was_there_and_what_is_told_about_a_run_always() {
        let kept = Some(SanitizeRules { ansi: false, ..SanitizeRules::default() });
        let (code, message) = ("ERR_BASH_SPAWN".to_owned(), RED.to_owned());
        for (sanitize, output) in [(None, RED), (kept, RED), (Some(SanitizeRules::default()), "[31mred\r\n")] {
            let text = RED.to_owned();
            assert_eq!(cleaned(TargetEvent::Output(OutputStream::Stdout, text.clone()), sanitize), output);
            assert_eq!(cleaned(TargetEvent::Data(text.clone()), sanitize), RED);
            assert_eq!(cleaned(TargetEvent::Prompt { pid: 1, command: String::new(), text }, sanitize), "[31mred\n");
            let failure =
                TargetFailure { code: code.clone(), message: message.clone(), errno: None, missing: Vec::new() };
            assert_eq!(cleaned(TargetEvent::Failed(failure), sanitize), "[31mred\n");
        }
    }
}

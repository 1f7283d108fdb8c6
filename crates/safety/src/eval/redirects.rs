//! Redirects to their values.

use std::rc::Rc;

use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::simulated_shell::SimulatedShell;
use crate::parse::{ByteSpan, RedirectSyntax};
use crate::simple_command_view::{CommandStdin, ExpandedRedirect, StdinTextSource};
use crate::word_value::{ValuePiece, WordValue};

impl CommandEvaluator<'_> {
    /// Evaluates redirects. Returns also the new standard input and its place, if a redirect sets it.
    pub(super) fn evaluate_redirects(
        &mut self,
        shell: &mut SimulatedShell,
        redirections: &[RedirectSyntax],
        frame: &EvaluationFrame,
    ) -> (Vec<ExpandedRedirect>, Option<(CommandStdin, ByteSpan)>) {
        let mut redirects = Vec::new();
        let mut input = None;
        for redirection in redirections {
            let target = self.expand_unsplit(shell, &redirection.target, frame);
            if redirection.fd.is_none_or(|fd| fd == 0) {
                input = self.input_of_redirect(shell, redirection, &target, frame).or(input);
            } else {
                self.input_of_redirect(shell, redirection, &target, frame);
            }
            let source = frame.origin.text.get(redirection.target.span.clone()).unwrap_or_default().to_owned();
            let (op, cwd) = (redirection.op.to_owned(), shell.cwd().clone());
            redirects.push(ExpandedRedirect { op, fd: redirection.fd, target, source, cwd });
        }
        (redirects, input)
    }

    /// The input that a redirect gives to its descriptor.
    fn input_of_redirect(
        &mut self,
        shell: &mut SimulatedShell,
        redirection: &RedirectSyntax,
        target: &WordValue,
        frame: &EvaluationFrame,
    ) -> Option<(CommandStdin, ByteSpan)> {
        match redirection.op {
            "<<" | "<<-" => {
                let heredocs = Rc::clone(&frame.origin.heredocs);
                let body = heredocs.get(redirection.heredoc?)?;
                let mut inside = frame.clone();
                Rc::make_mut(&mut inside.via).push(StdinTextSource::Heredoc.name().to_owned());
                let text = self.expand_quoted_text(shell, &body.parts, &inside).of_heredoc();
                Some((CommandStdin::Text(text, StdinTextSource::Heredoc), body.span.clone()))
            }
            "<<<" => {
                let mut text = target.clone();
                text.push(ValuePiece::Text("\n".to_owned()));
                Some((CommandStdin::Text(text, StdinTextSource::HereString), redirection.target.span.clone()))
            }
            "<" if target.prefix().starts_with("/dev/fd/") => {
                Some((CommandStdin::Opaque { program: None, contents: target.contents().cloned() }, 0..0))
            }
            // The text of a file counts as a script's that is run by its name: it was not put together just now.
            "<" => Some((CommandStdin::Inherited, 0..0)),
            _ => None,
        }
    }
}

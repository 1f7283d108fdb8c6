//! Redirects to their values.

use std::rc::Rc;

use super::evaluator::Evaluator;
use super::frame::Frame;
use super::shell::Shell;
use crate::command::{Input, Redirect, Source};
use crate::parse::{Redirection, Span};
use crate::value::{Piece, Value};

impl Evaluator<'_> {
    /// Evaluates redirects. Returns also the new standard input and its place, if a redirect sets it.
    pub(super) fn redirects(
        &mut self,
        shell: &mut Shell,
        redirections: &[Redirection],
        frame: &Frame,
    ) -> (Vec<Redirect>, Option<(Input, Span)>) {
        let mut redirects = Vec::new();
        let mut input = None;
        for redirection in redirections {
            let target = self.single(shell, &redirection.target, frame);
            if redirection.fd.is_none_or(|fd| fd == 0) {
                input = self.input(shell, redirection, &target, frame).or(input);
            } else {
                self.input(shell, redirection, &target, frame);
            }
            let source = frame.origin.text.get(redirection.target.span.clone()).unwrap_or_default().to_owned();
            let (op, cwd) = (redirection.op.to_owned(), shell.cwd().clone());
            redirects.push(Redirect { op, fd: redirection.fd, target, source, cwd });
        }
        (redirects, input)
    }

    /// The input that a redirect gives to its descriptor.
    fn input(
        &mut self,
        shell: &mut Shell,
        redirection: &Redirection,
        target: &Value,
        frame: &Frame,
    ) -> Option<(Input, Span)> {
        match redirection.op {
            "<<" | "<<-" => {
                let heredocs = Rc::clone(&frame.origin.heredocs);
                let body = heredocs.get(redirection.heredoc?)?;
                let mut inside = frame.clone();
                Rc::make_mut(&mut inside.via).push(Source::Heredoc.name().to_owned());
                let text = self.joined(shell, &body.parts, &inside).of_heredoc();
                Some((Input::Text(text, Source::Heredoc), body.span.clone()))
            }
            "<<<" => {
                let mut text = target.clone();
                text.push(Piece::Text("\n".to_owned()));
                Some((Input::Text(text, Source::HereString), redirection.target.span.clone()))
            }
            "<" if target.prefix().starts_with("/dev/fd/") => {
                Some((Input::Opaque { program: None, contents: target.contents().cloned() }, 0..0))
            }
            // The text of a file counts as a script's that is run by its name: it was not put together just now.
            "<" => Some((Input::Inherited, 0..0)),
            _ => None,
        }
    }
}

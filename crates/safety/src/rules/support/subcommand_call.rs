//! A command line of a program with subcommands: `terraform -chdir=prod state rm x`.

use crate::options::{ParsedArguments, parse};
use crate::programs;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::{ValuePiece, WordValue};

/// One call.
#[derive(Debug)]
pub struct SubcommandCall<'a> {
    /// The options before the subcommand.
    pub options: ParsedArguments,
    /// The words before the subcommand, the name of the program first.
    pub before: &'a [WordValue],
    /// The subcommand: `state`.
    pub name: &'a str,
    /// The words behind the subcommand.
    pub args: &'a [WordValue],
}

impl<'a> SubcommandCall<'a> {
    /// Reads a command by the options that its program knows. `None` if the subcommand is missing or not known.
    pub fn of(command: &SimpleCommandView<'a>) -> Option<Self> {
        let program = programs::of(command.name()?);
        let args = command.args();
        let options = parse(args, &program.options);
        // A word of which nothing is known may be an option, or nothing: `git $(cat options) push`.
        let blank = |at: &&usize| args[**at].pieces().iter().all(|piece| matches!(piece, ValuePiece::Unknown(true)));
        let at = *options.operands.iter().find(|at| !blank(at))?;
        let name = args.get(at)?.known()?;
        let before = command.argv.get(..=at).unwrap_or_default();
        Some(Self { options, before, name, args: &args[at + 1..] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simple_command_view::CommandDirectories;

    #[test]
    fn options_of_the_program_stand_before_the_subcommand() {
        for (line, name, rest) in [
            ("terraform -chdir=prod destroy -auto-approve", "destroy", "-auto-approve"),
            ("terraform -chdir prod state rm x", "state", "rm x"),
            ("docker -H x compose up", "compose", "up"),
            ("kubectl -n x delete pod y", "delete", "pod y"),
            ("git -C sub push -f", "push", "-f"),
            ("unheard-of run x", "run", "x"),
        ] {
            let argv: Vec<WordValue> = line.split(' ').map(WordValue::of).collect();
            let (cwd, directories) = (WordValue::of("/home/dev/project"), CommandDirectories::default());
            let command = SimpleCommandView::of_words(&argv, &cwd, &directories);
            let call = SubcommandCall::of(&command).unwrap();
            let args: Vec<_> = call.args.iter().filter_map(WordValue::known).collect();
            assert_eq!((call.name, args.join(" ").as_str()), (name, rest), "{line}");
            assert_eq!(call.before.len() + 1 + call.args.len(), argv.len(), "{line}");
        }
    }
}

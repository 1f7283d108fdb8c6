//! Programs that are named by something other than the first word: by an image, a package manager or an interpreter.

use super::inner_command::InnerCommand;
use super::table_wrappers::command_start;
use crate::options::parse;
use crate::programs;
use crate::programs::call::stakes;
use crate::programs::program::InterpretedLanguage;
use crate::programs::wrapper::WrapperSpec;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::AnalysisConfidence;
use crate::word_value::WordValue;

/// Reads `docker run hashicorp/terraform destroy`. An image usually starts the program that it is named after.
pub(super) fn unwrap_image(command: &SimpleCommandView, name: &str, wrapper: &WrapperSpec) -> Option<InnerCommand> {
    let start = command_start(command, name, wrapper)?;
    let image = command.argv.get(start.checked_sub(1)?)?.base_name()?;
    let program = image.split([':', '@']).next()?;
    guess_lasting_call(program, command.argv.get(start..)?, format!("{name} run"))
}

/// Reads `pnpm prisma migrate reset`. A word that is no subcommand of a package manager may be a program of a package.
pub(super) fn unwrap_package(command: &SimpleCommandView, name: &str) -> Option<InnerCommand> {
    let args = command.args();
    let at = *parse(args, &programs::of(name).options).operands.first()?;
    guess_lasting_call(args[at].known()?, &args[at + 1..], name)
}

/// Reads `python -m twine upload` and `python manage.py flush`.
pub(super) fn unwrap_module(command: &SimpleCommandView, name: &str) -> Option<InnerCommand> {
    let args = command.args();
    let interpreter = programs::of_any_version(name).interpreters.first()?;
    let parsed = parse(args, &interpreter.options);
    let module = parsed.last("m").filter(|_| interpreter.language == InterpretedLanguage::Python);
    if let Some(module) = module {
        let program = module.value.as_ref()?.known()?;
        let attached = args[module.at].prefix().len() > 2 && args[module.at].prefix().ends_with(program);
        let rest = module.at + if attached { 1 } else { 2 };
        return guess_lasting_call(program, args.get(rest..)?, format!("{name} -m"));
    }
    let at = *parsed.operands.first()?;
    guess_lasting_call(args[at].base_name()?, &args[at + 1..], name)
}

/// Guesses a call of a program whose effects may last. Other programs need no guess.
fn guess_lasting_call(program: &str, rest: &[WordValue], via: impl Into<String>) -> Option<InnerCommand> {
    stakes(programs::of(program)).next()?;
    let argv = std::iter::once(WordValue::of(program)).chain(rest.iter().cloned()).collect();
    let mut inner = InnerCommand::argv(argv, via);
    if let InnerCommand::Argv { confidence, .. } = &mut inner {
        *confidence = AnalysisConfidence::Partial;
    }
    Some(inner)
}

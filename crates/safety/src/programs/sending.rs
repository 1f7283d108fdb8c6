//! Programs that send data to another machine: which of their words, files and input they send.

use crate::options::OptionSpec;

/// One way in which programs send data.
#[derive(Debug)]
pub struct SendingSpec {
    /// The names of the programs.
    pub names: &'static str,
    /// Paths of subcommands, one of which must come first. Empty: without a subcommand.
    pub sub: &'static str,
    /// The options, also those behind the subcommand.
    pub options: OptionSpec,
    /// Options whose value is sent.
    pub text: &'static str,
    /// Options whose value is the name of a file that is sent. `-` is the standard input.
    pub files: &'static str,
    /// Options whose value may name a file behind a mark.
    pub marked: &'static [(FileMark, &'static str)],
    /// The meaning of the program's operands.
    pub operands: SentOperands,
    /// The condition under which the standard input is sent.
    pub input: StdinSendingCondition,
    /// The receiver, if no operand names it.
    pub to: &'static str,
}

/// The form in which a value names a file.
#[derive(Clone, Copy, Debug)]
pub enum FileMark {
    /// `@FILE`
    Whole,
    /// `name=@FILE`, `name=<FILE`
    Field,
    /// `@FILE`, `name@FILE`
    Name,
}

/// The meaning of operands.
#[derive(Clone, Copy, Debug)]
pub enum SentOperands {
    /// Nothing that is sent.
    Other,
    /// The receivers. The text of a URL is sent.
    Addresses,
    /// The receiver, and then text.
    Host,
    /// The receiver, and then fields, which may name files.
    Fields,
    /// Files.
    Files,
    /// Files, and then the target, which is on another machine if it contains this text.
    Copies(&'static str),
}

/// The condition under which the standard input is sent.
#[derive(Clone, Copy, Debug)]
pub enum StdinSendingCondition {
    /// Never, or if a word names it.
    Named,
    /// Always, except with these options.
    Always(&'static str),
}

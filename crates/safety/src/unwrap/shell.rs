//! Shells: `bash -c 'script' name args`, `bash <<EOF`, `sh -s`.

use super::command_variables;
use super::inner_command::InnerCommand;
use super::stdin_scripts::from_stdin;
use super::words::{is_stdin, is_substitution, joined};
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::verdict::AnalysisConfidence;
use crate::word_value::{ValuePiece, WordValue};

/// The kind of a shell's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShellOptionStyle {
    /// With `-c`, the first operand is the script.
    Posix,
    /// Like `Posix`, but the name of `-o` may be attached.
    Zsh,
    /// The script is the value of `-c`.
    Fish,
    /// All words behind `-c` or `-Command` are the script.
    Rest,
}

/// Returns the kind of a shell by its name.
fn kind(name: &str) -> Option<ShellOptionStyle> {
    Some(match name {
        "bash" | "sh" | "dash" | "ash" | "rbash" | "yash" | "posh" | "csh" | "tcsh" => ShellOptionStyle::Posix,
        "zsh" | "rzsh" | "ksh" | "ksh93" | "rksh" | "mksh" | "oksh" | "lksh" | "pdksh" => ShellOptionStyle::Zsh,
        "fish" | "nu" | "elvish" | "xonsh" | "osh" => ShellOptionStyle::Fish,
        "pwsh" | "powershell" | "powershell.exe" | "cmd" | "cmd.exe" => ShellOptionStyle::Rest,
        _ => return None,
    })
}

/// Long options of shells that take a value.
const VALUED: &[&str] =
    &["--rcfile", "--init-file", "--emulate", "--init-command", "--features", "--profile", "--config"];

/// Returns the commands that a shell runs. `None` for other programs.
pub(super) fn shell(command: &SimpleCommandView, name: &str, input: &CommandStdin) -> Option<Vec<InnerCommand>> {
    let kind = kind(name)?;
    let mut options = ParsedShellOptions::default();
    options.read(command.args(), kind);
    let operands = &command.args()[options.end..];
    let mut found = Vec::new();
    if options.stop {
        return Some(found);
    }
    // `PROMPT_COMMAND='…' bash -i`, `BASH_ENV='$(…)' bash -c true`
    found.extend(command_variables::by_variables(command.assignments, AnalysisConfidence::Exact));
    // `bash --rcfile <(curl …)`
    if options.substitution {
        found.push(InnerCommand::Opaque { via: name.to_owned() });
    }
    let via = format!("{name} -c");
    found.extend(options.scripts.iter().filter_map(|text| InnerCommand::script(text.clone(), via.as_str())));
    if options.command {
        let (text, parameters) = match (kind, operands.split_first()) {
            (_, None) => return Some(found),
            (ShellOptionStyle::Rest, _) => (joined(operands), &[][..]),
            (_, Some((script, parameters))) => (script.clone(), parameters),
        };
        if let Some(mut inner) = InnerCommand::script(text, via) {
            if let InnerCommand::Script { args, confidence, .. } = &mut inner {
                *args = parameters.to_vec();
                if options.unclear {
                    *confidence = AnalysisConfidence::Partial;
                }
            }
            found.push(inner);
        }
        return Some(found);
    }
    if !options.scripts.is_empty() {
        return Some(found);
    }
    match operands.first() {
        Some(file) if !options.stdin && is_substitution(file) => {
            found.push(InnerCommand::Opaque { via: name.to_owned() })
        }
        Some(file) if !options.stdin && !is_stdin(file) && file.known() != Some("-") => {}
        first => {
            // With `-s`, `$0` is the shell itself.
            let parameters = match first {
                Some(_) if options.stdin => {
                    std::iter::once(WordValue::of(name)).chain(operands.iter().cloned()).collect()
                }
                _ => operands.to_vec(),
            };
            found.extend(from_stdin(input, name, parameters, false, false));
        }
    }
    Some(found)
}

/// The options of a shell.
#[derive(Debug, Default)]
struct ParsedShellOptions {
    /// The number of words that are options.
    end: usize,
    /// `-c`
    command: bool,
    /// `-s`
    stdin: bool,
    /// `-n`, `--help`: nothing runs.
    stop: bool,
    /// Whether a word may be an option or not.
    unclear: bool,
    /// Whether another program makes a startup file.
    substitution: bool,
    /// Scripts given as values.
    scripts: Vec<WordValue>,
}

impl ParsedShellOptions {
    fn read(&mut self, args: &[WordValue], kind: ShellOptionStyle) {
        let mut at = 0;
        while let Some(word) = args.get(at) {
            let text = match word.pattern() {
                Some(text) => text.into_owned(),
                None => word.prefix().to_owned(),
            };
            let unknown = word.pieces().iter().all(|piece| matches!(piece, ValuePiece::Unknown(true)))
                && !word.pieces().is_empty();
            if unknown && !self.command && args[at + 1..].iter().any(|later| later.prefix().starts_with('-')) {
                // `bash $OPTIONS -c '…'`
                self.unclear = true;
                at += 1;
                continue;
            }
            if text == "-" || text == "--" {
                at += 1;
                break;
            }
            if kind == ShellOptionStyle::Rest {
                let lower = text.to_ascii_lowercase();
                if matches!(lower.as_str(), "-c" | "-command" | "/c" | "/k" | "-encodedcommand" | "-e" | "-ec") {
                    self.command = true;
                    at += 1;
                    break;
                }
                if !lower.starts_with('-') && !lower.starts_with('/') {
                    break;
                }
                at += 1;
                continue;
            }
            if let Some(long) = text.strip_prefix("--") {
                at += 1 + self.long(long, word, args.get(at + 1), kind);
            } else if text.len() > 1 && text.starts_with(['-', '+']) {
                at += 1 + self.cluster(&text, word, args.get(at + 1), kind);
            } else {
                break;
            }
        }
        self.end = at.min(args.len());
    }

    /// Reads a long option. Returns the number of further words that it takes.
    fn long(&mut self, long: &str, word: &WordValue, next: Option<&WordValue>, kind: ShellOptionStyle) -> usize {
        let (name, attached) = match long.split_once('=') {
            Some((name, _)) => (name, Some(word.after(name.len() + 3))),
            None => (long, None),
        };
        if name == "help" || name == "version" {
            self.stop = true;
        }
        if kind == ShellOptionStyle::Fish && matches!(name, "command" | "commands" | "init-command") {
            let taken = usize::from(attached.is_none());
            self.scripts.extend(attached.or_else(|| next.cloned()));
            return taken;
        }
        let takes = attached.is_none() && VALUED.contains(&&*format!("--{name}"));
        let value = if takes { next } else { attached.as_ref() };
        self.substitution |= value.is_some_and(is_substitution);
        usize::from(takes)
    }

    /// Reads the letters behind one dash. Returns the number of further words that they take.
    fn cluster(&mut self, text: &str, word: &WordValue, next: Option<&WordValue>, kind: ShellOptionStyle) -> usize {
        let on = text.starts_with('-');
        // `-$flags` may hold anything.
        if on && word.has_unknown() {
            self.unclear = true;
            self.command = true;
        }
        let mut taken = 0;
        for (index, letter) in text.char_indices().skip(1) {
            match letter {
                'c' | 'C' if on && kind == ShellOptionStyle::Fish => {
                    let rest = word.after(index + 1);
                    if rest.pieces().is_empty() {
                        self.scripts.extend(next.cloned());
                        return 1;
                    }
                    self.scripts.push(rest);
                    return 0;
                }
                // `-opipefail`
                'o' if kind == ShellOptionStyle::Zsh && index + 1 < text.len() => return taken,
                // The name is the next word, whatever letters follow: `-oc pipefail 'script'`.
                'o' | 'O' => taken += 1,
                'c' if on => self.command = true,
                's' if on => self.stdin = true,
                'n' => self.stop = on,
                _ => {}
            }
        }
        taken
    }
}

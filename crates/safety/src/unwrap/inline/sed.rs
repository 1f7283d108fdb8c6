//! sed programs: `e command`, `s/…/…/e`, `w file`.

use crate::options::parse;
use crate::programs;
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::unwrap::inner_command::InnerCommand;
use crate::unwrap::placeholder_text::PlaceholderText;
use crate::word_value::WordValue;

/// Returns the commands that a sed program runs.
pub(super) fn sed(command: &SimpleCommandView, name: &str, input: &CommandStdin) -> Vec<InnerCommand> {
    let args = command.args();
    let parsed = parse(args, &programs::of("sed").options);
    if parsed.has("sandbox help version") {
        return Vec::new();
    }
    let given = parsed.options.iter().filter(|given| matches!(given.name.as_str(), "e" | "expression"));
    let mut programs: Vec<WordValue> = given.filter_map(|given| given.value.clone()).collect();
    match parsed.value("f file").and_then(WordValue::known) {
        Some("-" | "/dev/stdin") => {
            if let CommandStdin::Text(text, _) = input {
                programs.push(text.clone());
            }
        }
        Some(_) => {}
        None if programs.is_empty() => {
            // BSD's `-i ''`
            let mut operands = parsed.operands.iter().map(|at| &args[*at]);
            programs.extend(operands.find(|word| word.known() != Some("")).cloned());
        }
        None => {}
    }
    let mut found = Vec::new();
    for program in programs {
        let flat = PlaceholderText::of(&program);
        let letters: Vec<char> = flat.text.chars().collect();
        let mut reader = SedScriptReader { letters: &letters, at: 0, flat: &flat, name, found: Vec::new() };
        reader.run();
        found.extend(reader.found);
    }
    found
}

struct SedScriptReader<'a> {
    letters: &'a [char],
    at: usize,
    flat: &'a PlaceholderText,
    name: &'a str,
    found: Vec<InnerCommand>,
}

impl SedScriptReader<'_> {
    fn letter(&self) -> char {
        self.letters.get(self.at).copied().unwrap_or('\0')
    }

    fn run(&mut self) {
        while self.at < self.letters.len() {
            self.address();
            let letter = self.letter();
            self.at += 1;
            match letter {
                's' => self.substitute(),
                'y' => {
                    let _ = self.halves();
                }
                'e' => {
                    let script = self.line();
                    self.found.extend(InnerCommand::script(script, self.name));
                }
                'w' | 'W' => self.write(),
                '#' | 'r' | 'R' | 'b' | 't' | 'T' | ':' | 'v' => {
                    let _ = self.line();
                }
                'a' | 'i' | 'c' => self.text(),
                _ => {}
            }
        }
    }

    /// Skips addresses before a command, and blanks.
    fn address(&mut self) {
        while self.at < self.letters.len() {
            match self.letter() {
                '/' => {
                    self.at += 1;
                    let _ = self.until('/');
                }
                '\\' => {
                    let sign = self.letters.get(self.at + 1).copied().unwrap_or('\0');
                    self.at += 2;
                    let _ = self.until(sign);
                }
                'I' | 'M' => self.at += 1,
                letter if letter.is_ascii_digit() || letter.is_whitespace() || "$,~+!;{}".contains(letter) => {
                    self.at += 1
                }
                _ => return,
            }
        }
    }

    /// Returns the text before this sign, past backslashes and brackets.
    fn until(&mut self, sign: char) -> String {
        let from = self.at;
        while self.at < self.letters.len() && self.letter() != sign {
            self.at += if self.letter() == '\\' { 2 } else { 1 };
        }
        let end = self.at.min(self.letters.len());
        self.at = (end + 1).min(self.letters.len());
        self.letters[from.min(end)..end].iter().collect()
    }

    fn halves(&mut self) -> (String, String) {
        let sign = self.letter();
        self.at += 1;
        (self.until(sign), self.until(sign))
    }

    fn substitute(&mut self) {
        let (_, replacement) = self.halves();
        let mut runs = false;
        loop {
            match self.letter() {
                'e' => runs = true,
                'w' => {
                    self.at += 1;
                    self.write();
                    break;
                }
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
                _ => break,
            }
            self.at += 1;
        }
        if runs {
            let script = self.flat.value(&plain(&replacement));
            // If the replacement has a part of the input, the command depends on the input.
            let inner = if replacement.contains('&') || replacement.contains("\\1") {
                None
            } else {
                InnerCommand::script(script, self.name)
            };
            self.found.push(inner.unwrap_or_else(|| InnerCommand::Opaque { via: self.name.to_owned() }));
        }
    }

    /// Returns the rest of the line.
    fn line(&mut self) -> WordValue {
        let from = self.at;
        while self.at < self.letters.len() && self.letter() != '\n' {
            self.at += 1;
        }
        let text: String = self.letters[from.min(self.at)..self.at].iter().collect();
        self.flat.value(text.trim())
    }

    /// Skips a text of several lines.
    fn text(&mut self) {
        while self.at < self.letters.len() && self.letter() != '\n' {
            self.at += if self.letter() == '\\' { 2 } else { 1 };
        }
    }

    fn write(&mut self) {
        let file = self.line();
        if !matches!(file.known(), Some("" | "/dev/stdout" | "/dev/stderr")) {
            self.found.push(InnerCommand::argv(vec![WordValue::of("tee"), file], self.name));
        }
    }
}

/// Returns a replacement without its backslashes.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                other => plain.extend(other),
            },
            other => plain.push(other),
        }
    }
    plain
}

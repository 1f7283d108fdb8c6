//! Tells whether a text mentions a word. A program's name alone cannot settle this, because `eval`, `bash -c` and
//! `trap` run text that the parser reads as data.

use std::borrow::Cow;

use super::reader::read;
use super::syntax::{Kind, Node, Part};
use super::visit::{Visitor, visit};

/// Returns whether at least one of these words (letters, digits and underscores) occurs in a text as bash reads it: as
/// a program, an argument, the name of a function or inside quoted text, in any kind of quotes (`k\ill`, `'tr'ap`,
/// `$'\x74rap'`). Comments and longer words do not count: `ls skills # kill` does not mention `kill`.
///
/// For signals ask for `&["kill", "pkill", "killall", "skill"]`, for handlers for `&["trap"]`.
///
/// The answer says only that the word is there. A word that the running command puts together (`a=ki; ${a}ll`) is not
/// found. In a text that bash would refuse, the word is searched for without its quotes, comments included.
pub fn mentions(text: &str, words: &[&str]) -> bool {
    let read = read(text);
    if read.script.fault.is_some() {
        return holds(text, words);
    }
    let mut search = Search { words, found: false };
    visit(&read, &mut search);
    search.found
}

struct Search<'a> {
    words: &'a [&'a str],
    found: bool,
}

impl Visitor for Search<'_> {
    fn node(&mut self, node: &Node) {
        if let Kind::Function { name, .. } = &node.kind {
            self.found |= holds(name, self.words);
        }
    }

    fn parts(&mut self, parts: &[Part]) {
        if !self.found {
            let mut text = String::new();
            flatten(parts, &mut text);
            self.found = holds(&text, self.words);
        }
    }
}

/// Appends the literal text of a word, with a NUL for each part whose value only bash knows.
fn flatten(parts: &[Part], text: &mut String) {
    for part in parts {
        match part {
            Part::Text(plain) | Part::Quoted(plain) | Part::Pattern(plain, _) => text.push_str(plain),
            Part::Double(inner) => flatten(inner, text),
            Part::Parameter(_) | Part::Command(_) | Part::Arithmetic(_) | Part::Process(_) | Part::Array(_) => {
                text.push('\0');
            }
        }
    }
}

/// Returns whether a text holds one of the words. Quotes in the text may be taken off later: `eval "k'il'l"`.
fn holds(text: &str, words: &[&str]) -> bool {
    let is_quote = |next: char| matches!(next, '\\' | '\'' | '"');
    let text = if text.contains(is_quote) {
        Cow::Owned(text.replace("\\\n", "").replace(is_quote, ""))
    } else {
        Cow::Borrowed(text)
    };
    text.split(|next: char| !next.is_ascii_alphanumeric() && next != '_').any(|word| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn words_are_found_however_they_are_quoted_and_nested() {
        for text in [
            "kill $$",
            "k\\ill 1",
            "'ki'll 1",
            "k\"il\"l 1",
            "$'\\x6bill' 1",
            "eval 'kill $$'",
            "eval 'k\"il\"l \\$\\$'",
            "eval 'ki\\\nll 1'",
            "bash -c \"sleep 1; kill $PPID\"",
            "x=$(kill 1)",
            "x=`kill 1`",
            "echo ${x:-$(kill 1)}",
            "cat <<EOF\n$(kill 1)\nEOF",
            "bash <<'EOF'\nkill 1\nEOF",
            "f() { kill 1; }; f",
            "kill() { :; }",
            "case x in x) kill 1 ;; esac",
            "for x in kill; do $x 1; done",
            "${x}kill 1",
            "/bin/kill 1",
            "a=(kill)",
            "cat <(kill 1)",
            "echo $((1 + $(kill 1)))",
            // Bash refuses these texts, so they are searched as plain text.
            "kill 1 (",
            "if k''ill 1",
        ] {
            assert!(mentions(text, &["kill"]), "{text}");
        }
    }

    #[test]
    fn other_words_and_comments_are_not_found() {
        for text in ["ls skills", "killall x", "kill_it", "echo a # kill", "a=ki; ${a}ll 1", ""] {
            assert!(!mentions(text, &["kill"]), "{text}");
        }
        assert!(mentions("pkill x", &["kill", "pkill"]));
    }
}

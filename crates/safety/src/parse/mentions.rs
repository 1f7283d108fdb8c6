//! Tells whether a text mentions a word. A program's name alone cannot settle this, because `eval`, `bash -c` and
//! `trap` run text that the parser reads as data.

use std::borrow::Cow;

use super::reader::read;
use super::syntax::{CommandNode, CommandNodeKind, WordPart};
use super::syntax_visitor::{SyntaxVisitor, visit};

/// Returns whether at least one of these words (letters, digits and underscores) occurs in a text as bash reads it: as
/// a program, an argument, the name of a function or inside quoted text, in any kind of quotes (`k\ill`, `'tr'ap`,
/// `$'\x74rap'`). Comments and longer words do not count: `ls skills # kill` does not mention `kill`.
///
/// For signals ask for `&["kill", "pkill", "killall", "skill"]`, for handlers for `&["trap"]`.
///
/// The answer says only that the word is there. A word that the running command puts together (`a=ki; ${a}ll`) is not
/// found. In a text that bash would refuse, the word is searched for without its quotes, comments included.
pub fn mentions(text: &str, words: &[&str]) -> bool {
    if !may_mention(text, words) {
        return false;
    }
    let read = read(text);
    if read.script.fault.is_some() {
        return contains_any_word(text, words);
    }
    let mut search = MentionSearch { words, found: false };
    visit(&read, &mut search);
    search.found
}

/// Returns whether a text could mention one of these words, without reading it as bash does, which takes many times the
/// memory of the text. Without expansions, a word that bash reads is also there in the text without its quotes.
fn may_mention(text: &str, words: &[&str]) -> bool {
    text.contains('$') || contains_any_word(text, words)
}

struct MentionSearch<'a> {
    words: &'a [&'a str],
    found: bool,
}

impl SyntaxVisitor for MentionSearch<'_> {
    fn add_node(&mut self, node: &CommandNode) {
        if let CommandNodeKind::Function { name, .. } = &node.kind {
            self.found |= contains_any_word(name, self.words);
        }
    }

    fn parts(&mut self, parts: &[WordPart]) {
        if !self.found {
            let mut text = String::new();
            flatten(parts, &mut text);
            self.found = contains_any_word(&text, self.words);
        }
    }
}

/// Appends the literal text of a word, with a NUL for each part whose value only bash knows.
fn flatten(parts: &[WordPart], text: &mut String) {
    for part in parts {
        match part {
            WordPart::Text(plain) | WordPart::Quoted(plain) => text.push_str(plain),
            WordPart::Pattern(pattern) => text.push_str(&pattern.source),
            WordPart::Double(inner) => flatten(inner, text),
            WordPart::Parameter(_)
            | WordPart::Command(_)
            | WordPart::Arithmetic(_)
            | WordPart::Process(_)
            | WordPart::Array(_) => {
                text.push('\0');
            }
        }
    }
}

/// Returns whether a text holds one of the words.
fn contains_any_word(text: &str, words: &[&str]) -> bool {
    let text = without_quotes(text);
    words_of(&text).any(|word| words.contains(&word))
}

/// Returns a text without its quotes, which may be taken off later: `eval "k'il'l"`.
fn without_quotes(text: &str) -> Cow<'_, str> {
    let is_quote = |next: char| matches!(next, '\\' | '\'' | '"');
    if text.contains(is_quote) {
        Cow::Owned(text.replace("\\\n", "").replace(is_quote, ""))
    } else {
        Cow::Borrowed(text)
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|next: char| !next.is_ascii_alphanumeric() && next != '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus_tests::corpus;

    /// All words that a text mentions.
    struct AllMentions(Vec<String>);

    impl SyntaxVisitor for AllMentions {
        fn parts(&mut self, parts: &[WordPart]) {
            let mut text = String::new();
            flatten(parts, &mut text);
            self.0.extend(words_of(&without_quotes(&text)).filter(|word| !word.is_empty()).map(str::to_owned));
        }
    }

    #[test]
    fn a_first_look_overlooks_no_word_that_bash_reads() {
        for line in corpus() {
            let mut all = AllMentions(Vec::new());
            visit(&read(&line.command), &mut all);
            for word in &all.0 {
                assert!(may_mention(&line.command, &[word]), "{word}: {}", line.command);
            }
        }
    }

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
            "$1kill 1",
            "k$\"il\"l 1",
            "`k\\\\ill 1`",
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

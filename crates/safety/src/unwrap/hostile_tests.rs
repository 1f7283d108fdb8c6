//! Unlikely words, in any order and number.

use proptest::prelude::*;

use super::CustomWrappers;
use super::testing::{found, input, shown};
use crate::name_lists::{has_word, paths, words};
use crate::programs::all;
use crate::programs::program::ProgramSpec;
use crate::programs::wrapper::{CommandMarkMeaning, WrappedCommandForm, WrapperSpec};

proptest! {
    #[test]
    fn any_words_are_looked_into(
        words in proptest::collection::vec(proptest::sample::select(WORDS), 0..12),
        from in proptest::sample::select(&["", "!", "rm -rf /", "'"][..]),
    ) {
        let line = words.join(" ");
        let _ = found(&line, &input(from), &CustomWrappers::new());
    }

    #[test]
    fn any_text_is_looked_into(line: String) {
        let _ = found(&line, &input(&line), &CustomWrappers::new());
    }
}

/// Returns a wrapper's words before its command: some of its options, and its operands.
fn before(program: &ProgramSpec, wrapper: &WrapperSpec, choice: &[bool]) -> Vec<String> {
    let quiet = |name: &str| ![wrapper.stop, wrapper.script, wrapper.switch].iter().any(|names| has_word(names, name));
    let mut chosen = choice.iter().cycle();
    let mut line: Vec<String> = words(program.names).take(1).map(str::to_owned).collect();
    line.extend(paths(wrapper.sub).take(1).flat_map(words).map(str::to_owned));
    let letters: Vec<char> = wrapper.spec.short.chars().collect();
    for (index, letter) in letters.iter().enumerate() {
        let name = letter.to_string();
        if *letter == ':' || !chosen.next().unwrap_or(&false) || !quiet(&name) {
            continue;
        }
        let valued = letters.get(index + 1) == Some(&':') && letters.get(index + 2) != Some(&':');
        line.push(format!("-{name}"));
        line.extend(valued.then(|| "7".to_owned()));
    }
    for entry in words(wrapper.spec.long) {
        let name = entry.trim_end_matches(['=', '?']);
        if *chosen.next().unwrap_or(&false) && quiet(name) {
            line.push(if entry.ends_with('=') { format!("--{name}=7") } else { format!("--{name}") });
        }
    }
    line.extend((0..wrapper.operands).map(|_| "7".to_owned()));
    line.extend(wrapper.assignments.then(|| "A=1".to_owned()));
    line.extend((wrapper.dashes == CommandMarkMeaning::Need).then(|| words(wrapper.marks).take(1).collect()));
    line
}

proptest! {
    #[test]
    fn each_wrapper_leads_to_its_command(choice in proptest::collection::vec(any::<bool>(), 40)) {
        // These wrappers have options that change the meaning of the words. They have their own tests.
        let own = |program: &ProgramSpec| words(program.names).any(|name| has_word("env genv runuser docker podman nerdctl screen", name));
        let wrappers = all().filter(|program| !own(program)).flat_map(|program| program.wrappers.iter().map(move |wrapper| (program, wrapper)));
        for (program, wrapper) in wrappers.filter(|(_, wrapper)| wrapper.form == WrappedCommandForm::Rest) {
            let line = format!("{} rm -rf x", before(program, wrapper, &choice).join(" "));
            let got = shown(&found(&line, &input(""), &CustomWrappers::new()));
            prop_assert!(got.lines().any(|got| got.ends_with("rm -rf x")), "{line}: {got:?}");
        }
    }
}

#[test]
#[ignore = "stress: it takes more than a second"]
fn long_argument_lists_are_done_soon() {
    let begun = std::time::Instant::now();
    let heads = [
        "sudo",
        "env A=1",
        "timeout 5",
        "xargs -I{}",
        "xargs",
        "find . -exec",
        "find",
        "parallel",
        "git -c a.b=c",
        "bash -c",
        "bash",
        "mytool",
        "docker run",
        "ssh host",
        "watch",
        "python3 -c",
        "sed",
        "vim",
        "tmux send-keys",
        "make",
        "tar",
        "fd -x",
        "eval",
        "hyperfine",
    ];
    for head in heads {
        for word in [
            "{}", "-x", "A=1", "git", ":::", "(", "-name", "--", "-o", "--exec=x", "sudo", "-exec", "{}{}{}{}", "'a;b'",
        ] {
            let line = format!("{head} {}", [word].repeat(20_000).join(" "));
            let _ = found(&line, &input("a b c"), &CustomWrappers::new());
        }
    }
    assert!(begun.elapsed().as_secs() < 600, "{:?}", begun.elapsed());
}

/// Pieces of commands that cause trouble together.
const WORDS: &[&str] = &[
    "sudo",
    "env",
    "-S",
    "-u",
    "--",
    "-",
    "A=1",
    "bash",
    "-c",
    "-lc",
    "'rm x'",
    "xargs",
    "-I{}",
    "{}",
    "{}+",
    "find",
    ".",
    "(",
    "\\;",
    ")",
    "!",
    "-o",
    "-name",
    "*.x",
    "-exec",
    "+",
    "git",
    "-c",
    "alias.x=!y",
    "x",
    "parallel",
    ":::",
    "::::",
    "ssh",
    "host",
    "<?>",
    "<*>",
    "-<?>",
    "timeout",
    "10",
    "docker",
    "run",
    "--entrypoint",
    "exec",
    "watch",
    "su",
    "python",
    "'os.system(\"x\")'",
    "node",
    "-e",
    "awk",
    "sed",
    "'s/a/b/e'",
    "perl",
    "vim",
    "+!x",
    "''",
    "rm",
    "crontab",
    "flock",
    "nice",
    "-n",
    "é",
    "\u{100000}",
];

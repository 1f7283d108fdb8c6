//! Compares the reader with bash.

use std::process::Command;

use super::tree_sitter_check::missed_programs;
use super::{CommandNodeKind, ScriptFault, WordPart, read, read_pieces};
use crate::corpus_tests::{corpus, judge};

/// Returns whether bash accepts a text.
fn is_bash(text: &str) -> bool {
    let output =
        Command::new("bash").args(["--norc", "-O", "extglob", "-n", "-c", text]).env("LC_ALL", "C").output().unwrap();
    // For `[[ a == ]]` and `[[ a ]` bash reports an error, but exits with 0.
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success() && !errors.contains("unexpected") && !errors.contains("syntax error")
}

/// Rare syntax.
static RARE: &[&str] = &[
    "if a; then b; elif c; then d; else e; fi > log 2>&1",
    "for x do echo $x; done",
    "for ((i = 0; i < 3; i++)) { echo $i; }",
    "select x in a b; do break; done < /dev/null",
    "case x in (a) ;; b|c) x ;& d) y ;;& *) esac",
    "f() ( cd /; ls ); g() [[ -f x ]]; function h { :; }",
    "coproc cat; coproc NAME { cat; }",
    "time -p ! true | false",
    "a[1]=x b+=(c d) e=f g 3>&1 >&2 {fd}<x <<<y",
    "[[ $x =~ ^(a|b c)$ && ! ( -f y || z < w ) ]]",
    "((a = b << 2)); echo $((1 + (2 * 3))) $[4]",
    "( (echo a); (echo b) ); ((echo a); (echo b))",
    "echo $( (echo a) ) `echo \\`echo b\\`` ${x:-$(echo \"${y:-'}'}\")} ${!p*} ${#x} ${x//a/b} ${x:1:2}",
    "cat <<A <<-'B' | tr a b\n$(echo x)\nA\n\tb\n\tB\necho after",
    "x=$(cat <<EOF\nit's (\nEOF\n)",
    "echo a#b # a comment ' with quotes\necho c",
    "echo $'a\\'b' $\"c\" \"d $(echo \"e 'f\")\" 'g\"h'",
    "diff <(sort a) >(cat)",
    "echo a \\\n  b && \\\n  c",
    "{ a; } 2> /dev/null | while read -r l; do :; done",
    "exec 3<>/dev/tcp/h/80",
    "! { false; }",
    "echo {a,b}{1..3} ~ ~/x *.js",
    "! { [ -f x ]; }; ! if (( 1 )); then ls; fi; time while ls; do (( x++ )); done",
    "./x |& cat | sort\n(( x++ )) || true\na=1 b=2\n[[ $x ]]",
    "x=$PWD/$1 y=$a,$b/$c; PATH=$PATH:$HOME/bin:$GOPATH/bin; z=a/`readlink $l`/b",
    "{\n  a= b=1\n  if ls; then ls; fi\n}; time if a; then b; fi",
    "if [ $? -ne 0 ]\nthen\n\techo\nfi\nif [ -x ${X} ]\nthen\n\techo\nfi",
    "echo a[1 [2; [3; declare a[1; for x in a[1; do :; done; case a[1 in x) ;; esac; 1a[x",
    "a[1 + 2]=3 b[x y]; x=([1]=2 [3 + 4]=5)",
    "echo \"`g 'x. y, run'`\" \"'e'.\"\ny=\"<- ` g 'e'`\"; case $1 in a) x=\"a\"`ls`;; esac",
];

/// Text that bash refuses.
static WRONG: &[&str] = &[
    "if a; then b",
    "for",
    "for x in a b; done",
    "case x in a) b",
    "echo )",
    "a && ",
    "| a",
    "a | ! b",
    "a |& ! b | c",
    "; a",
    "a ;; b",
    "{ a; } b",
    "( a",
    "echo $(a",
    "echo ${x",
    "echo 'a",
    "echo \"a",
    "echo `a",
    "f() ",
    "[[ a",
    "[[ a == ]]",
    "a &| b",
    "a < ",
    "then a",
    "do a; done",
    "fi",
    "}",
    "x=(a",
    "a[1",
    "a[1 x=2\necho hi",
    "! a[1 | cat",
    "x=([1 b)",
];

#[test]
#[ignore = "stress: it takes more than a second"]
fn reads_what_bash_reads() {
    let corpus = corpus();
    let every_fifth = corpus.iter().step_by(5).map(|line| line.command.as_str());
    let texts = RARE.iter().chain(WRONG).copied().chain(every_fifth).filter(|text| !text.contains('\0'));
    let differ: Vec<&str> = texts.filter(|text| read(text).script.fault.is_none() != is_bash(text)).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn refuses_what_is_no_script() {
    for text in WRONG {
        assert!(matches!(read(text).script.fault, Some(ScriptFault::Syntax(_))), "{text}");
    }
}

#[test]
fn lines_before_a_fault_are_kept_since_bash_runs_them() {
    let read = read("rm -rf /\necho 'x");
    assert!(read.script.fault.is_some());
    assert_eq!(read.script.body.len(), 1);
}

#[test]
fn tree_sitter_finds_no_program_that_the_reader_missed() {
    let corpus = corpus();
    let texts = corpus.iter().map(|line| line.command.as_str()).chain(RARE.iter().copied());
    let differ: Vec<_> =
        texts.map(|text| (missed_programs(text), text)).filter(|(missed, _)| !missed.is_empty()).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn nesting_is_read_down_to_a_depth_and_not_further() {
    for (open, close) in
        [("$(", ")"), ("( ", ")"), ("{ ", "; }"), ("\"$(", ")\""), ("${x:-", "}"), ("if ", "; then :; fi")]
    {
        let nested = |depth: usize| format!("echo {}:{}", open.repeat(depth), close.repeat(depth));
        let nested = |depth| {
            if open.starts_with(['(', '{', 'i']) { nested(depth).replacen("echo ", "", 1) } else { nested(depth) }
        };
        assert_eq!(read(&nested(8)).script.fault, None, "{}", nested(8));
        assert_eq!(read(&nested(10_000)).script.fault, Some(ScriptFault::Limit), "{open}");
    }
}

#[test]
fn a_text_of_many_words_is_read_no_further_than_its_pieces() {
    let end = |words: usize| {
        let read = read_pieces(&"true a;".repeat(words), 1_000);
        assert_eq!(read.script.fault, Some(ScriptFault::Limit), "{words}");
        read.script.end
    };
    assert_eq!(end(10_000), end(100_000));
    let heredoc = format!("cat <<'EOF'\n{}\nEOF\n", "a b\n".repeat(100_000));
    assert_eq!(read_pieces(&heredoc, 10).script.fault, None, "a heredoc is one piece, however long");
    assert_eq!(read_pieces("a b c", 4).script.fault, None);
    assert_eq!(read_pieces("a b c", 3).script.fault, Some(ScriptFault::Limit));
    assert_eq!(read_pieces("a `b c`", 4).script.fault, Some(ScriptFault::Limit), "also between backticks");
}

#[test]
fn a_word_takes_no_more_memory_than_its_part() {
    let read = read("true a 'b' \"c\"");
    let CommandNodeKind::Simple(simple) = &read.script.body[0].pipelines[0].1.commands[0].kind else {
        panic!("a command")
    };
    for word in &simple.words {
        assert_eq!((word.parts.len(), word.parts.capacity()), (1, 1), "{word:?}");
    }
    assert!(size_of::<WordPart>() <= 32, "{} bytes", size_of::<WordPart>());
}

/// Bodies with lines that are almost the delimiter, each behind `cat <<EOF`, with more text around it.
static ALMOST_ENDED: &[(&str, &str, &str)] = &[
    ("", "a\n EOF\nb\nEOF", ""),
    ("", "a\nEOF \nb\nEOF", ""),
    ("", "a\n\tEOF\nb\nEOF", ""),
    ("", "a\nEOF\t\nEOF)\nEOF )\nEOFX\nEOF", ""),
    ("", "a\n EOF", ""),
    ("", "a\nEOF ", ""),
    ("", "a\nEOF", ""),
    ("(", "a\nEOF)\nEOF", "\n)"),
    ("{ ", "a\nEOF)\nEOF", "\n}"),
    ("echo \"`", "a\nEOF)\nEOF", "\n`\""),
    ("echo \"$(", "a\n EOF)\n EOF\nb\nEOF", "\n)\""),
    ("echo \"$(", "a\nEOF \nb\nEOF", "\n)\""),
    ("echo \"$(", "a\nEOF", ")\""),
    ("echo \"$(", "a\nEOF", " )\""),
    ("echo \"$(", "a\nEOF", " true )\""),
    ("echo \"$( (", "a\nEOF", ") )\""),
    ("cat <(", "a\nEOF", " )"),
    ("echo \"`echo \"$(", "a\nEOF", " )\"`\""),
];

#[test]
fn a_heredoc_ends_where_bash_ends_it() {
    for (before, body, after) in ALMOST_ENDED {
        let text = format!("{before}cat <<EOF\n{body}{after}");
        let read = read(&text);
        assert_eq!(read.script.fault, None, "{text}");
        let output = Command::new("bash").args(["--norc", "-c", &text]).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let [WordPart::Quoted(body)] = &read.heredocs[0].parts[..] else { panic!("{text}") };
        assert_eq!(body.trim_end_matches('\n'), printed.trim_end_matches('\n'), "{text}");
    }
}

/// tree-sitter ends these bodies too early, so they are not in the corpus.
#[test]
fn text_behind_a_line_that_is_almost_the_delimiter_is_no_command() {
    for almost in [" EOF", "EOF ", "\tEOF", "EOF)", "EOF;"] {
        let text = format!("cat <<EOF\n{almost}\nit's git push -f\nEOF\necho end");
        let analysis = judge(&text);
        assert!(analysis.complete && analysis.findings.is_empty(), "{text}");
        let programs: Vec<_> = analysis.commands.iter().filter_map(|unit| unit.name.as_deref()).collect();
        assert_eq!(programs, ["cat", "echo"], "{text}");
    }
}

#[test]
fn a_heredoc_belongs_to_the_command_that_announces_it() {
    let read = read("cd x && bash <<-EOF; rm y\n\techo $z\n\tEOF\nls");
    assert_eq!(read.script.fault, None);
    assert_eq!(read.script.body.len(), 3);
    let bash = &read.script.body[0].pipelines[1].1.commands[0];
    assert!(matches!(&bash.kind, CommandNodeKind::Simple(simple) if simple.redirects[0].heredoc == Some(0)));
    assert!(
        matches!(&read.heredocs[0].parts[..], [WordPart::Quoted(text), WordPart::Parameter(_), ..] if text == "echo ")
    );
}

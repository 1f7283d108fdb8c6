//! GNU parallel, its `sem`, and the parallel of moreutils.

use super::inner::Inner;
use super::items::{Cut, bounded, cut, replaced};
use super::words::{joined, weight};
use crate::safety::command::{Command, Input};
use crate::safety::options::{Spec, parse};
use crate::safety::value::{Piece, Value};

const SPEC: Spec = Spec::leading(
    "0a:B:C:d:D:E:e::fhI:i::j:kL:l::m:N:n:P:pqrS:s:tTuU:vVW:wXx",
    &[
        "null",
        "arg-file=",
        "arg-sep=",
        "arg-file-sep=",
        "bar",
        "basefile=",
        "bg",
        "block=",
        "cat",
        "cleanup",
        "colsep=",
        "compress",
        "delay=",
        "delimiter=",
        "dry-run",
        "env=",
        "eta",
        "fg",
        "fifo",
        "files",
        "group",
        "gnu",
        "halt=",
        "header=",
        "id=",
        "joblog=",
        "jobs=",
        "keep-order",
        "line-buffer",
        "lb",
        "link",
        "linebuffer",
        "load=",
        "max-args=",
        "max-chars=",
        "max-lines=?",
        "max-procs=",
        "max-replace-args=",
        "memfree=",
        "nice=",
        "no-notice",
        "no-run-if-empty",
        "onall",
        "nonall",
        "pipe",
        "pipepart",
        "plain",
        "plus",
        "progress",
        "quote",
        "recend=",
        "recstart=",
        "results=",
        "resume",
        "resume-failed",
        "retries=",
        "return=",
        "round-robin",
        "rpl=",
        "semaphore",
        "seqreplace=",
        "shebang",
        "shellquote",
        "silent",
        "sshlogin=",
        "sshloginfile=",
        "tag",
        "tagstring=",
        "tee",
        "termseq=",
        "timeout=",
        "tmpdir=",
        "tmux",
        "transfer",
        "transferfile=",
        "trim=",
        "ungroup",
        "verbose",
        "version",
        "wait",
        "will-cite",
        "workdir=",
        "wd=",
        "xapply",
        "help",
        "citation",
    ],
);

/// How much may be written out in all.
const WEIGHT: usize = 1 << 19;
/// How many items get a script of their own.
const ITEMS: usize = 64;

/// What parallel runs: its words with an item in them, as a script.
pub(super) fn parallel(command: &Command, name: &str, input: &Input) -> Vec<Inner> {
    let args = command.args();
    let parsed = parse(args, &SPEC);
    if parsed.has(&["dry-run", "version", "V", "help", "h", "shellquote", "citation"]) {
        return Vec::new();
    }
    let remote = parsed.has(&["S", "sshlogin", "sshloginfile"]);
    let start = parsed.operands.first().copied().unwrap_or(args.len());
    let rest = &args[start..];
    let separator = |word: &Value| matches!(word.known(), Some(":::" | ":::+" | "::::" | "::::+"));
    // moreutils: `parallel cmd -- items`
    let length = rest.iter().position(separator).or_else(|| rest.iter().position(|word| word.known() == Some("--")));
    let template = &rest[..length.unwrap_or(rest.len())];
    let sources = sources(
        &rest[length.unwrap_or(rest.len())..],
        input,
        name == "sem" || parsed.has(&["pipe", "pipepart", "semaphore"]),
    );
    let mark = parsed.value(&["I", "i"]).and_then(Value::known).unwrap_or("{}").to_owned();
    let most = ITEMS.min(1 + WEIGHT / weight(template).max(1));
    let text = joined(template);
    let scripts: Vec<Value> = match sources {
        None => vec![text],
        Some(sources) => combinations(sources, most).iter().map(|items| fill(&text, template, &mark, items)).collect(),
    };
    let mut found: Vec<_> = scripts.into_iter().filter_map(|script| Inner::script(script, name)).collect();
    for inner in &mut found {
        if let Inner::Script { elsewhere, stdin, .. } = inner {
            *elsewhere = remote;
            *stdin = false;
        }
    }
    found
}

/// The lists of items: those behind `:::`, or what is on standard input.
fn sources(words: &[Value], input: &Input, no_items: bool) -> Option<Vec<Vec<Value>>> {
    let mut sources: Vec<Vec<Value>> = Vec::new();
    for word in words {
        match (word.known(), sources.last_mut()) {
            (Some(":::" | ":::+" | "--"), _) => sources.push(Vec::new()),
            (Some("::::" | "::::+"), _) => sources.push(vec![Value::unknown()]),
            (_, Some(last)) if last.first() != Some(&Value::unknown()) => last.push(word.clone()),
            _ => {}
        }
    }
    if !sources.is_empty() {
        return Some(sources);
    }
    match input {
        _ if no_items => None,
        Input::Text(text, _) => Some(vec![cut(text, Cut::Lines)]),
        _ => Some(vec![vec![Value::unknown()]]),
    }
}

/// Every item of each list beside one of each other.
fn combinations(sources: Vec<Vec<Value>>, most: usize) -> Vec<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for source in sources.into_iter().take(8) {
        let items = bounded(source, most);
        let room = (most / items.len().max(1)).max(1);
        all = all
            .iter()
            .take(room)
            .flat_map(|row| items.iter().map(move |item| [row.as_slice(), std::slice::from_ref(item)].concat()))
            .collect();
    }
    all
}

/// The script for one row of items.
fn fill(text: &Value, template: &[Value], mark: &str, items: &[Value]) -> Value {
    let all = items.iter().fold(Value::default(), |mut all, item| {
        if !all.pieces().is_empty() {
            all.push(Piece::Text(" ".to_owned()));
        }
        all.extend(&quoted(item));
        all
    });
    // Without a command, the items are the commands.
    if template.is_empty() {
        return joined(items);
    }
    let mut made = text.clone();
    let mut hit = false;
    let mut put = |mark: &str, item: &Value| {
        if let Some(next) = replaced(&made, mark, item) {
            made = next;
            hit = true;
        }
    };
    put(mark, &all);
    for (index, item) in items.iter().enumerate() {
        put(&format!("{{{}}}", index + 1), &quoted(item));
    }
    // Parts of an item, and numbers.
    for part in ["{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1/.}", "{1.}", "{1/}"] {
        put(part, &Value::unknown());
    }
    if !hit {
        made.push(Piece::Text(" ".to_owned()));
        made.extend(&all);
    }
    made
}

/// An item as it stands in a script: one word.
fn quoted(item: &Value) -> Value {
    match item.known() {
        Some(text) if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-=:@%+,".contains(&byte)) => {
            item.clone()
        }
        Some(text) => Value::of(format!("'{}'", text.replace('\'', "'\\''"))),
        None => item.clone(),
    }
}

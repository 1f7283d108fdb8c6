//! The files that a command writes.

use super::paths::Ground;
use crate::safety::command::Command;
use crate::safety::options::{Parsed, Spec, parse};
use crate::safety::tables::files::{COPY, CURL, INSTALL, LINK, PERL, RSYNC, SED, SHRED, TEE, TRUNCATE, WGET};
use crate::safety::value::Value;

/// Calls back with each file that the command writes, and the folder that it is to be seen from: what redirects name,
/// and what programs take as the place to write to.
pub fn each(command: &Command, mut found: impl FnMut(&Value, &Value)) {
    for redirect in command.redirects.iter().filter(|redirect| redirect.writes_file()) {
        found(&redirect.target, &redirect.cwd);
    }
    let Some(name) = command.name() else { return };
    let cwd = command.cwd;
    let args = command.args();
    let read = |spec: &Spec| Some(parse(args, spec)).filter(|parsed| !parsed.has(&["help", "version"]));
    let words = |parsed: &Parsed| -> Vec<&Value> { parsed.operands.iter().filter_map(|at| args.get(*at)).collect() };
    match name {
        "dd" => {
            for arg in args {
                if let Some(file) = value_of(arg, "of=") {
                    found(&file, cwd);
                }
            }
        }
        "tee" | "sponge" => {
            if let Some(parsed) = read(&TEE) {
                words(&parsed).into_iter().for_each(|file| found(file, cwd));
            }
        }
        "truncate" => {
            if let Some(parsed) = read(&TRUNCATE) {
                words(&parsed).into_iter().for_each(|file| found(file, cwd));
            }
        }
        "shred" => {
            if let Some(parsed) = read(&SHRED) {
                words(&parsed).into_iter().for_each(|file| found(file, cwd));
            }
        }
        "cp" | "gcp" | "mv" | "gmv" => copies(command, &COPY, &mut found),
        "ln" | "gln" => copies(command, &LINK, &mut found),
        "install" | "ginstall" => copies(command, &INSTALL, &mut found),
        "rsync" => copies(command, &RSYNC, &mut found),
        "sed" | "gsed" => {
            if let Some(parsed) = read(&SED).filter(|parsed| parsed.has(&["i", "I", "in-place"])) {
                // Without -e or -f the first operand is the script. On macOS the value of -i is a word of its own, and
                // then the script comes second: a script looks like no file that rules are about.
                words(&parsed).into_iter().for_each(|file| found(file, cwd));
            }
        }
        "perl" => {
            let parsed = parse(args, &PERL);
            if parsed.has(&["i"]) {
                words(&parsed).into_iter().for_each(|file| found(file, cwd));
            }
        }
        "curl" => {
            let parsed = parse(args, &CURL);
            let folder = parsed.value(&["output-dir"]).map_or_else(|| cwd.clone(), |folder| folder.seen_from(cwd));
            for given in parsed.options.iter().filter(|given| matches!(given.name.as_str(), "o" | "output")) {
                given.value.iter().for_each(|file| found(file, &folder));
            }
        }
        "wget" => {
            for given in parse(args, &WGET).options {
                if matches!(given.name.as_str(), "O" | "output-document") {
                    given.value.iter().for_each(|file| found(file, cwd));
                }
            }
        }
        _ => {}
    }
}

/// `cp A B DIR`: into the folder, or onto the file, that comes last.
fn copies(command: &Command, spec: &Spec, found: &mut impl FnMut(&Value, &Value)) {
    let args = command.args();
    let parsed = parse(args, spec);
    let dry = spec.long.contains(&"dry-run") && parsed.has(&["n", "dry-run", "list-only"]);
    let folders = spec.long.contains(&"strip-program=") && parsed.has(&["d", "directory"]);
    if dry || folders || parsed.has(&["help", "version"]) {
        return;
    }
    let words: Vec<&Value> = parsed.operands.iter().filter_map(|at| args.get(*at)).collect();
    let given = parsed.value(&["t", "target-directory"]);
    let (sources, target) = match (given, words.split_last()) {
        (Some(folder), _) => (words.as_slice(), folder),
        (None, Some((last, sources))) if !sources.is_empty() => (sources, *last),
        _ => return,
    };
    let ground = Ground::new(command.scene);
    found(target, command.cwd);
    // Into a home itself the names of the sources count.
    if ground.home(target, command.cwd) {
        let folder = target.seen_from(command.cwd);
        for source in sources {
            let name = source.known().map(|text| text.trim_end_matches('/')).and_then(|text| text.rsplit('/').next());
            if let Some(name) = name.filter(|name| !matches!(*name, "" | "." | "..")) {
                found(&Value::of(name), &folder);
            }
        }
    }
}

/// What stands behind a beginning, such as the file in `of=FILE`.
fn value_of(word: &Value, start: &str) -> Option<Value> {
    word.prefix().starts_with(start).then(|| word.after(start.len()))
}

//! Programs that list files: the set of files that their output names, if it is everything in a directory.

use std::rc::Rc;

use super::name_lists::has_word;
use super::options::{OptionSpec, parse};
use super::programs;
use super::unwrap::finds_everything;
use super::word_value::{FileSet, FileSetKind, ValueContents, WordValue};

/// Tests of `fd` that leave only some files.
const FD: OptionSpec = OptionSpec::gnu(
    "HIust:e:E:d:g:S:o:x:X:a0LpFlc:j:",
    "extension= exclude= max-depth= glob= size= owner= type= changed-within= changed-before= exec= exec-batch= base-directory= search-path=",
);
/// Options of `ls` and of `git ls-files`.
const LS: OptionSpec = OptionSpec::gnu("aAbBcCdfFgGhHI:iklLmnNopqQrRsStT:uUvw:xX1Z", "directory ignore= hide=");
const LS_FILES: OptionSpec = OptionSpec::gnu(
    "zcdmostuvfkrx:X:",
    "others deleted modified unmerged exclude-standard exclude= directory error-unmatch",
);

/// Returns the set of files that a command prints. `None` if it may be only some of a directory's files.
pub fn listed_files(argv: &[WordValue], cwd: &WordValue) -> Option<ValueContents> {
    let (name, args) = argv.split_first()?;
    let from = |roots: Vec<WordValue>, listing: FileSetKind| {
        let roots = if roots.is_empty() { vec![WordValue::of(".")] } else { roots };
        let roots = roots.iter().map(|root| root.seen_from(cwd)).collect();
        Some(ValueContents::Files(Rc::new(FileSet { roots, listing })))
    };
    let operands = |spec: &OptionSpec, skipped: usize| {
        let given = parse(args, spec);
        let operands: Vec<WordValue> = given.operands.iter().skip(skipped).map(|at| args[*at].clone()).collect();
        (given, operands)
    };
    match name.base_name()? {
        "find" | "gfind" => from(finds_everything(argv)?, FileSetKind::All),
        "fd" | "fdfind" => {
            let (given, roots) = operands(&FD, 1);
            let pattern = given.operands.first().and_then(|at| args[*at].known()).unwrap_or(".");
            let whole = matches!(pattern, "." | "" | ".*")
                && !given.has(
                    "e extension d max-depth g glob S size o owner changed-within changed-before x exec X exec-batch",
                );
            if whole { from(roots, FileSetKind::All) } else { None }
        }
        "rg" | "ripgrep" if args.iter().any(|arg| arg.known() == Some("--files")) => {
            let (given, roots) = operands(&programs::of("rg").options, 0);
            if given.has("g glob iglob t type T type-not") { None } else { from(roots, FileSetKind::Tracked) }
        }
        "ls" | "gls" | "dir" | "vdir" => {
            let (given, roots) = operands(&LS, 0);
            if given.has("d directory") || roots.iter().any(WordValue::has_glob) {
                None
            } else {
                from(roots, FileSetKind::Top)
            }
        }
        "git" => of_git(args).and_then(|listing| from(Vec::new(), listing)),
        _ => None,
    }
}

/// The files of a repository that a call of git lists.
fn of_git(args: &[WordValue]) -> Option<FileSetKind> {
    let at = *parse(args, &programs::of("git").options).operands.first()?;
    let (sub, args) = args[at..].split_first()?;
    let has = |words: &str| args.iter().any(|arg| arg.known().is_some_and(|arg| has_word(words, arg)));
    match sub.known()? {
        "ls-files" => {
            let given = parse(args, &LS_FILES);
            let some = given.operands.iter().any(|at| !matches!(args[*at].known(), Some("." | ":/" | "*")));
            match () {
                () if some || given.has("d deleted") => None,
                () if given.has("o others") && given.has("m modified c") => Some(FileSetKind::Changed),
                () if given.has("o others") => Some(FileSetKind::Unknown),
                () => Some(FileSetKind::Tracked),
            }
        }
        "status" if has("--porcelain --porcelain=v1 --short -s -sb") => {
            (!has("-uno --untracked-files=no")).then_some(FileSetKind::Changed)
        }
        "diff" if has("--name-only") => {
            let filtered = args.iter().any(|arg| arg.prefix().starts_with("--diff-filter"));
            (!filtered).then_some(FileSetKind::Tracked)
        }
        "ls-tree" if has("--name-only --name-status") && has("-r -rt") => Some(FileSetKind::Tracked),
        _ => None,
    }
}

/// Returns whether a program that gets the names of files prints them all, whatever it changes in the lines.
pub fn passes_all(name: &str, args: &[WordValue]) -> bool {
    let script =
        || args.iter().find(|arg| !arg.prefix().starts_with('-')).and_then(WordValue::known).unwrap_or_default();
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => !script().contains(['/', '~', '=', '<', '>', '(']),
        "cat" | "column" | "cut" | "nl" | "rev" | "sort" | "tac" | "tee" | "tr" | "uniq" => true,
        "grep" | "egrep" | "fgrep" | "ggrep" => args.iter().any(|arg| {
            arg.known().is_some_and(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.contains('v'))
        }),
        "sed" | "gsed" => script().starts_with('s'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_set_is_one() {
        let of = |line: &str| {
            let words: Vec<WordValue> = line.split(' ').map(WordValue::of).collect();
            match listed_files(&words, &WordValue::of("/p")) {
                Some(ValueContents::Files(files)) => {
                    Some((files.listing, files.roots[0].known().unwrap_or("…").to_owned()))
                }
                _ => None,
            }
        };
        for (line, listing, root) in [
            ("find . -type f", FileSetKind::All, "/p/."),
            ("find -type f -print0", FileSetKind::All, "/p/."),
            ("find /a b -not -name x", FileSetKind::All, "/a"),
            ("fd . src", FileSetKind::All, "/p/src"),
            ("fd -t f", FileSetKind::All, "/p/."),
            ("rg --files", FileSetKind::Tracked, "/p/."),
            ("ls -A", FileSetKind::Top, "/p/."),
            ("git ls-files -z", FileSetKind::Tracked, "/p/."),
            ("git ls-files -mo --exclude-standard", FileSetKind::Changed, "/p/."),
            ("git status --porcelain", FileSetKind::Changed, "/p/."),
            ("git diff --name-only", FileSetKind::Tracked, "/p/."),
        ] {
            assert_eq!(of(line), Some((listing, root.to_owned())), "{line}");
        }
        for line in [
            "find . -name *.log",
            "find . -type f -mtime +3",
            "fd log",
            "fd -e pyc",
            "rg --files -g *.js",
            "ls -d x",
            "git ls-files -d",
            "git ls-files src",
            "git diff --name-only --diff-filter=D",
            "git status",
            "cat x",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}

//! Programs that delete or overwrite what exists.
//!
//! In the table: programs that remove, move or edit files in place, unpack over them, or take another state of a
//! repository or of installed packages. Left out on purpose: what only appends (`>>`, `tee -a`), what only adds
//! (`git add`, `git commit`, `mkdir`), builds and tests, and programs whose words do not tell (`node x.js`, a script in
//! `package.json`). What the table leaves out is not undone by `'risky'`, but by `'always'`.

use crate::command::Command;
use crate::lists::{has_word, paths};
use crate::options::{OptionSpec, Parsed, parse};
use crate::programs;
use crate::rules::{Git, Search};
use crate::value::Value;

/// A use of programs that deletes or overwrites.
#[derive(Debug)]
pub struct Overwriting {
    /// The names of the programs.
    pub programs: &'static str,
    /// Paths of subcommands, one of which must come first. Empty: any words.
    pub sub: &'static str,
    /// Options, one of which must be given. Empty: none.
    pub with: &'static str,
    /// Options with which nothing is overwritten.
    pub unless: &'static str,
    /// Operands, one of which must be given anywhere. Empty: none.
    pub operand: &'static str,
}

const fn always(programs: &'static str) -> Overwriting {
    Overwriting { programs, sub: "", with: "", unless: "", operand: "" }
}

const fn with(programs: &'static str, with: &'static str) -> Overwriting {
    Overwriting { with, ..always(programs) }
}

const fn unless(programs: &'static str, unless: &'static str) -> Overwriting {
    Overwriting { unless, ..always(programs) }
}

const fn sub(programs: &'static str, sub: &'static str) -> Overwriting {
    Overwriting { sub, ..always(programs) }
}

/// All of them, but for git, find and tar.
pub static TABLE: &[Overwriting] = &[
    always("rm grm rmdir grmdir unlink gunlink shred gshred srm wipe mv gmv truncate gtruncate sponge"),
    always("rimraf del-cli trash trash-put rename prename mmv dos2unix unix2dos jscodeshift sd rpl fastmod"),
    unless("rsync", "n dry-run list-only"),
    unless("patch", "dry-run"),
    with("sed gsed ssed", "i I in-place"),
    with("perl ruby", "i"),
    with("sort gsort", "o output"),
    // These programs remove the files that they pack or unpack.
    unless(
        "gzip gunzip pigz unpigz bzip2 bunzip2 lbzip2 xz unxz lzma unlzma lzip compress uncompress",
        "c stdout to-stdout k keep l list t test h V",
    ),
    with("zstd unzstd", "rm"),
    Overwriting { unless: "l t p z Z v", ..with("unzip", "o") },
    sub("7z 7za 7zr 7zz", "x, e, d, u, rn"),
    sub("unrar rar", "x, e"),
    with("cpio", "u unconditional"),
    with("unsquashfs", "f force"),
    sub(
        "npm",
        "\
        install, i, in, add, ci, clean-install, install-clean, uninstall, un, remove, rm, r, update, up, upgrade, \
        prune, dedupe, ddp, rebuild, audit fix, version, pkg set, pkg delete, pkg fix, shrinkwrap, init",
    ),
    sub("pnpm", "install, i, add, remove, rm, uninstall, un, update, up, upgrade, prune, dedupe, import, rebuild"),
    sub("yarn", "install, add, remove, up, upgrade, dedupe, version, link, unlink"),
    sub("bun", "install, i, add, a, remove, rm, update, pm trust"),
    sub("composer", "install, update, upgrade, require, remove, bump"),
    sub("bundle bundler", "install, update, clean, add, remove, lock"),
    sub("poetry uv pdm pipenv", "install, lock, sync, add, remove, update, upgrade, uninstall, clean, version"),
    sub("cargo", "add, remove, rm, update, fix, clean"),
    Overwriting { unless: "check", ..sub("cargo", "fmt") },
    sub("go", "get, fmt, fix, clean, mod tidy, mod vendor, mod edit, work sync"),
    sub("dotnet", "add, remove, clean, format"),
    sub("mix", "format, deps.get, deps.update, deps.unlock, deps.clean, clean"),
    Overwriting { operand: "clean distclean mrproper clobber realclean", ..always("make gmake ninja just task rake") },
    Overwriting { operand: "clean", ..always("mvn mvnw gradle gradlew ant sbt bazel npm pnpm yarn bun") },
    with("prettier", "w write"),
    with("eslint stylelint tslint xo standard semistandard oxlint markdownlint", "fix"),
    Overwriting { with: "write fix apply apply-unsafe", ..sub("biome", "format, lint, check, migrate") },
    sub("dprint", "fmt"),
    unless("black isort", "check check-only diff c"),
    with("autopep8 yapf docformatter autoflake", "i in-place in_place"),
    Overwriting { unless: "check diff", ..sub("ruff", "format") },
    Overwriting { with: "fix unsafe-fixes", ..sub("ruff", "check") },
    always("pyupgrade"),
    with("gofmt gofumpt goimports shfmt", "w"),
    unless("rustfmt", "check"),
    with("clang-format", "i"),
    Overwriting { unless: "check", ..sub("terraform tofu", "fmt") },
    with("rubocop", "a A autocorrect autocorrect-all x fix-layout"),
    sub("php-cs-fixer", "fix"),
    always("phpcbf swiftformat stylua nixfmt"),
    with("ktlint", "F format"),
    sub("dart", "format, fix"),
    sub("zig", "fmt"),
    sub("sqlfluff", "fix, format"),
    with("codespell", "w write-changes"),
    with("comby", "i in-place"),
    with("ast-grep sg", "U update-all"),
    sub("hg", "update, up, checkout, revert, purge, rebase, strip, remove, rm, mv, import, unshelve, shelve"),
    sub("svn", "revert, update, up, switch, cleanup, merge, rm, delete, mv, move, patch"),
    sub("jj", "abandon, restore, squash, undo, edit, rebase, new, op restore"),
];

/// Subcommands of git, with the options that one of them needs, and those with which it overwrites nothing.
pub static GIT: &[(&str, &str, &str)] = &[
    ("reset restore rebase merge pull cherry-pick revert am rm mv read-tree checkout-index", "", "n dry-run"),
    ("filter-branch filter-repo sparse-checkout bisect gc prune update-ref replace", "", ""),
    ("checkout", "", "b orphan"),
    ("switch", "", "c create orphan"),
    ("clean", "", "n dry-run"),
    ("apply", "", "check stat numstat summary"),
    ("branch", "d D m M f C delete move force", ""),
    ("tag", "d f delete force", ""),
];

/// Subcommands of git whose first operand decides. With `-` before it, no operand counts, too.
pub static GIT_ACTIONS: &[(&str, &str)] = &[
    ("stash", "- push save pop apply drop clear branch"),
    ("worktree", "remove prune move"),
    ("submodule", "update deinit sync"),
    ("reflog", "expire delete"),
    ("remote", "remove rm rename set-url prune"),
    ("notes", "remove prune merge"),
    ("lfs", "pull checkout migrate prune"),
];

/// Whether a command deletes or overwrites what exists.
pub fn is(command: &Command) -> bool {
    let Some(name) = command.name() else { return false };
    match name {
        "git" | "git.exe" => return git(command),
        "find" | "gfind" => return !Search::read(command).deletes.is_empty(),
        "tar" | "gtar" | "bsdtar" => return unpacks(command.args()),
        "awk" | "gawk" => return edits_in_place(command.args()),
        "yarn" if command.args().is_empty() => return true,
        _ => {}
    }
    let mut uses = TABLE.iter().filter(|entry| has_word(entry.programs, name)).peekable();
    if uses.peek().is_none() {
        return false;
    }
    let call = Call::of(command, &programs::of(name).options);
    !call.has("help version", false) && uses.any(|entry| entry.fits(&call))
}

/// The words of a call.
struct Call<'a> {
    args: &'a [Value],
    parsed: Parsed,
    operands: Vec<&'a Value>,
    /// Nothing is known of its options.
    is_unknown: bool,
}

impl<'a> Call<'a> {
    fn of(command: &Command<'a>, spec: &OptionSpec) -> Self {
        let args = command.args();
        let parsed = parse(args, spec);
        let operands = parsed.operands.iter().filter_map(|at| args.get(*at)).collect();
        Self { args, parsed, operands, is_unknown: spec.short.is_empty() && spec.long.is_empty() }
    }

    /// Whether one of these options is given. `anywhere`: also behind a subcommand, whose options are not known.
    fn has(&self, options: &str, anywhere: bool) -> bool {
        self.parsed.has(options) || ((anywhere || self.is_unknown) && given(self.args, options))
    }
}

/// Whether one of these options is among words, in clusters of letters, too.
fn given(args: &[Value], options: &str) -> bool {
    let is_one = |arg: &Value| {
        let text = arg.prefix();
        match text.strip_prefix("--") {
            Some(long) => has_word(options, long.split('=').next().unwrap_or(long)),
            None => text.strip_prefix('-').is_some_and(|letters| {
                letters.chars().any(|letter| has_word(options, letter.encode_utf8(&mut [0; 4])))
            }),
        }
    };
    args.iter().take_while(|arg| arg.known() != Some("--")).any(is_one)
}

impl Overwriting {
    fn fits(&self, call: &Call<'_>) -> bool {
        let begins = |path: &str| {
            let mut own = call.operands.iter();
            path.split(' ').all(|part| own.next().is_some_and(|word| word.known() == Some(part)))
        };
        // `:app:clean`, `clean-all`
        let names = |word: &&Value| {
            let last = word.known().and_then(|text| text.rsplit(':').next());
            last.is_some_and(|last| has_word(self.operand, last.split('-').next().unwrap_or(last)))
        };
        let is_sub = !self.sub.is_empty();
        (!is_sub || paths(self.sub).any(begins))
            && (self.with.is_empty() || call.has(self.with, is_sub))
            && (self.operand.is_empty() || call.operands.iter().any(names))
            && !call.has(self.unless, is_sub)
    }
}

fn git(command: &Command) -> bool {
    let Some(git) = Git::new(command) else { return false };
    let given = |options: &str| given(&git.args, options);
    if given("h help") {
        return false;
    }
    let simple = GIT.iter().find(|(subs, ..)| has_word(subs, git.sub));
    if let Some((_, with, unless)) = simple {
        return (with.is_empty() || given(with)) && (unless.is_empty() || !given(unless));
    }
    let Some((_, actions)) = GIT_ACTIONS.iter().find(|(sub, _)| *sub == git.sub) else { return false };
    match git.args.iter().find(|arg| !arg.prefix().starts_with('-')) {
        Some(action) => action.known().is_none_or(|action| has_word(actions, action)),
        None => has_word(actions, "-"),
    }
}

/// `tar xf`, but not to the standard output, and not if existing files are kept.
fn unpacks(args: &[Value]) -> bool {
    let has = |options: &[&str]| args.iter().any(|arg| options.contains(&arg.known().unwrap_or_default()));
    let letters = |letter: char| {
        let clusters = args.iter().enumerate().filter_map(|(at, arg)| {
            let text = arg.prefix();
            let cluster = text.strip_prefix('-').or((at == 0).then_some(text))?;
            (!cluster.starts_with('-')).then_some(cluster)
        });
        clusters.into_iter().any(|cluster| cluster.contains(letter))
    };
    let takes_out = has(&["--extract", "--get"]) || letters('x');
    takes_out && !letters('O') && !letters('k') && !has(&["--to-stdout", "--keep-old-files", "--skip-old-files"])
}

/// `gawk -i inplace`
fn edits_in_place(args: &[Value]) -> bool {
    let pairs = args.windows(2).any(|pair| {
        matches!(pair[0].known(), Some("-i" | "--include")) && pair[1].known().is_some_and(|value| value == "inplace")
    });
    pairs || args.iter().any(|arg| matches!(arg.known(), Some("-iinplace" | "--include=inplace")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::words;

    #[test]
    fn no_subcommand_of_git_stands_twice() {
        let listed = GIT.iter().flat_map(|(subs, ..)| words(subs));
        let mut all: Vec<_> = listed.chain(GIT_ACTIONS.iter().map(|(sub, _)| *sub)).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn each_entry_names_programs_and_is_no_shorter_form_of_another() {
        for entry in TABLE {
            assert!(words(entry.programs).next().is_some());
            let is_plain = |other: &Overwriting| {
                [other.sub, other.with, other.unless, other.operand].iter().all(|text| text.is_empty())
            };
            for name in words(entry.programs) {
                let entries = TABLE.iter().filter(|other| has_word(other.programs, name)).count();
                assert!(!is_plain(entry) || entries == 1, "{name}");
            }
        }
    }
}

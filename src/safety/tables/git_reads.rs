//! Commands of git that only read, and those that write.

/// Commands of git that read.
pub static GIT_READS: &[&str] = &[
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "cherry",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "range-diff",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "status",
    "var",
    "whatchanged",
];

/// Those of them that may run a program to show a difference, unless told not to.
pub static GIT_DIFFS: &[&str] =
    &["diff", "diff-files", "diff-index", "diff-tree", "log", "range-diff", "show", "whatchanged", "stash", "reflog"];

/// Those that run one to show a file, and cannot be told not to.
pub static GIT_TEXTCONV: &[&str] = &["blame"];

/// Options with which a reading command of git writes a file or runs a program.
pub static GIT_DOUBTFUL: &[&str] =
    &["--output", "--ext-diff", "--textconv", "--open-files-in-pager", "-O", "--filters", "--exec-path", "--paginate"];

/// Commands of git that write.
pub static GIT_WRITES: &[&str] = &[
    "add",
    "am",
    "apply",
    "archive",
    "bisect",
    "checkout",
    "checkout-index",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "commit-tree",
    "fast-import",
    "fetch",
    "filter-branch",
    "filter-repo",
    "format-patch",
    "gc",
    "init",
    "lfs",
    "maintenance",
    "merge",
    "mergetool",
    "mktag",
    "mktree",
    "mv",
    "notes",
    "prune",
    "pull",
    "push",
    "read-tree",
    "rebase",
    "repack",
    "replace",
    "reset",
    "restore",
    "revert",
    "rm",
    "sparse-checkout",
    "stage",
    "submodule",
    "subtree",
    "switch",
    "update-index",
    "update-ref",
    "write-tree",
];

/// Settings that may be given by `-c` and run nothing.
pub static GIT_SETTINGS: &[&str] = &[
    "advice.",
    "color.",
    "column.",
    "core.abbrev",
    "core.fsmonitor",
    "core.hookspath",
    "core.pager",
    "core.precomposeunicode",
    "core.quotepath",
    "core.untrackedcache",
    "diff.algorithm",
    "diff.context",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.renames",
    "i18n.",
    "log.",
    "pager.",
    "safe.directory",
    "status.",
];

//! The options of git and of those of its commands that rules look at. A negated form (`no-force`) is listed where a
//! later one takes an earlier one back; the others count as flags all the same.

use crate::safety::options::Spec;

/// In front of the command's name. Neither clustered nor abbreviated.
pub static GLOBAL: Spec = Spec {
    short: "C:c:pPhv",
    long: &[
        "version",
        "help",
        "exec-path=?",
        "html-path",
        "man-path",
        "info-path",
        "paginate",
        "no-pager",
        "no-replace-objects",
        "no-lazy-fetch",
        "no-optional-locks",
        "no-advice",
        "bare",
        "git-dir=",
        "work-tree=",
        "namespace=",
        "super-prefix=",
        "attr-source=",
        "config-env=",
        "list-cmds=",
        "literal-pathspecs",
        "glob-pathspecs",
        "noglob-pathspecs",
        "icase-pathspecs",
    ],
    permute: false,
    abbreviate: false,
};

/// `git add`, `git stage`.
pub static ADD: Spec = Spec::gnu(
    "nvipefuNA",
    &[
        "dry-run",
        "no-dry-run",
        "verbose",
        "interactive",
        "patch",
        "edit",
        "force",
        "update",
        "no-update",
        "renormalize",
        "intent-to-add",
        "all",
        "no-all",
        "ignore-removal",
        "no-ignore-removal",
        "refresh",
        "ignore-errors",
        "ignore-missing",
        "sparse",
        "chmod=",
        "pathspec-from-file=",
        "pathspec-file-nul",
        "unified=",
        "inter-hunk-context=",
    ],
);

/// `git push`.
pub static PUSH: Spec = Spec::gnu(
    "vqdnfuo:46",
    &[
        "verbose",
        "quiet",
        "repo=",
        "all",
        "branches",
        "mirror",
        "no-mirror",
        "delete",
        "tags",
        "dry-run",
        "no-dry-run",
        "porcelain",
        "force",
        "no-force",
        "force-with-lease=?",
        "no-force-with-lease",
        "force-if-includes",
        "no-force-if-includes",
        "recurse-submodules=",
        "thin",
        "receive-pack=",
        "exec=",
        "set-upstream",
        "progress",
        "prune",
        "no-prune",
        "no-verify",
        "verify",
        "follow-tags",
        "no-follow-tags",
        "signed=?",
        "atomic",
        "push-option=",
        "ipv4",
        "ipv6",
    ],
);

/// `git reset`.
pub static RESET: Spec = Spec::gnu(
    "qpNU:",
    &[
        "quiet",
        "no-refresh",
        "refresh",
        "mixed",
        "soft",
        "hard",
        "merge",
        "keep",
        "recurse-submodules=?",
        "patch",
        "intent-to-add",
        "pathspec-from-file=",
        "pathspec-file-nul",
        "unified=",
    ],
);

/// `git clean`.
pub static CLEAN: Spec =
    Spec::gnu("qnfide:xX", &["quiet", "dry-run", "no-dry-run", "force", "no-force", "interactive", "exclude="]);

/// `git checkout`.
pub static CHECKOUT: Spec = Spec::gnu(
    "b:B:lqmdtf23pU:",
    &[
        "guess",
        "no-guess",
        "overlay",
        "no-overlay",
        "quiet",
        "recurse-submodules=?",
        "progress",
        "merge",
        "conflict=",
        "detach",
        "track=?",
        "no-track",
        "force",
        "no-force",
        "orphan=",
        "overwrite-ignore",
        "ignore-other-worktrees",
        "ours",
        "theirs",
        "patch",
        "ignore-skip-worktree-bits",
        "pathspec-from-file=",
        "pathspec-file-nul",
        "unified=",
    ],
);

/// `git restore`.
pub static RESTORE: Spec = Spec::gnu(
    "s:SWqm23pU:",
    &[
        "source=",
        "staged",
        "no-staged",
        "worktree",
        "no-worktree",
        "ignore-unmerged",
        "overlay",
        "no-overlay",
        "quiet",
        "recurse-submodules=?",
        "progress",
        "merge",
        "conflict=",
        "ours",
        "theirs",
        "patch",
        "ignore-skip-worktree-bits",
        "pathspec-from-file=",
        "pathspec-file-nul",
        "unified=",
    ],
);

/// `git switch`.
pub static SWITCH: Spec = Spec::gnu(
    "c:C:qmdtf",
    &[
        "create=",
        "force-create=",
        "guess",
        "no-guess",
        "discard-changes",
        "no-discard-changes",
        "quiet",
        "recurse-submodules=?",
        "progress",
        "merge",
        "conflict=",
        "detach",
        "track=?",
        "no-track",
        "force",
        "no-force",
        "orphan=",
        "overwrite-ignore",
        "ignore-other-worktrees",
    ],
);

/// `git branch`.
pub static BRANCH: Spec = Spec::gnu(
    "vqtu:radDmMcClfi",
    &[
        "verbose",
        "quiet",
        "track=?",
        "no-track",
        "set-upstream-to=",
        "unset-upstream",
        "color=?",
        "remotes",
        "contains=",
        "no-contains=",
        "abbrev=?",
        "all",
        "delete",
        "move",
        "omit-empty",
        "copy",
        "list",
        "show-current",
        "create-reflog",
        "edit-description",
        "force",
        "no-force",
        "merged=?",
        "no-merged=?",
        "column=?",
        "sort=",
        "points-at=",
        "ignore-case",
        "recurse-submodules",
        "format=",
    ],
);

/// `git worktree remove`.
pub static WORKTREE_REMOVE: Spec = Spec::gnu("f", &["force", "no-force"]);

/// `git config`, in its old and its new form.
pub static CONFIG: Spec = Spec::gnu(
    "f:lezt:",
    &[
        "global",
        "system",
        "local",
        "worktree",
        "file=",
        "blob=",
        "get",
        "get-all",
        "get-regexp",
        "get-urlmatch",
        "replace-all",
        "add",
        "append",
        "unset",
        "unset-all",
        "rename-section",
        "remove-section",
        "list",
        "edit",
        "get-color",
        "get-colorbool",
        "type=",
        "no-type",
        "bool",
        "int",
        "bool-or-int",
        "bool-or-str",
        "path",
        "expiry-date",
        "null",
        "name-only",
        "show-origin",
        "show-scope",
        "show-names",
        "includes",
        "no-includes",
        "default=",
        "comment=",
        "fixed-value",
        "all",
        "regexp",
        "value=",
        "url=",
    ],
);

/// `git clone`, as far as operands have to be told from values.
pub static CLONE: Spec = Spec::gnu(
    "vqnlsj:o:b:u:c:46",
    &[
        "template=",
        "reference=",
        "reference-if-able=",
        "jobs=",
        "origin=",
        "branch=",
        "revision=",
        "upload-pack=",
        "depth=",
        "shallow-since=",
        "shallow-exclude=",
        "separate-git-dir=",
        "ref-format=",
        "config=",
        "server-option=",
        "filter=",
        "bundle-uri=",
        "recurse-submodules=?",
        "recursive=?",
        "mirror",
        "bare",
    ],
);

/// `git update-ref`.
pub static UPDATE_REF: Spec =
    Spec::gnu("m:dz", &["no-deref", "deref", "stdin", "batch-updates", "create-reflog", "delete"]);

/// `git reflog expire`, `git reflog delete`.
pub static REFLOG: Spec = Spec::gnu(
    "n",
    &[
        "dry-run",
        "no-dry-run",
        "rewrite",
        "updateref",
        "verbose",
        "expire=",
        "expire-unreachable=",
        "stale-fix",
        "all",
        "single-worktree",
    ],
);

/// `git filter-repo`.
pub static FILTER_REPO: Spec =
    Spec { short: "hp:", long: &["help", "version", "analyze", "dry-run", "force"], permute: true, abbreviate: true };

/// `git send-pack`.
pub static SEND_PACK: Spec = Spec::gnu(
    "vqnf",
    &["dry-run", "mirror", "force", "no-force", "force-with-lease=?", "receive-pack=", "exec=", "remote=", "all"],
);

/// `git checkout-index`.
pub static CHECKOUT_INDEX: Spec =
    Spec::gnu("afqnu", &["all", "force", "quiet", "no-create", "index", "stdin", "prefix=", "stage=", "temp"]);

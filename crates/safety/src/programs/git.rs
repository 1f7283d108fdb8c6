//! git, its options, and what its subcommands do.

use super::program::Arity::{Never, Words};
use super::program::{Effect, Fact, Program};
use crate::options::OptionSpec;

pub(super) static PROGRAMS: &[Program] = &[Program {
    names: "git git.exe",
    options: OptionSpec::exact(
        "C:c:pPhv",
        "\
            version help exec-path=? html-path man-path info-path paginate no-pager no-replace-objects \
            no-lazy-fetch no-optional-locks no-advice bare git-dir= work-tree= namespace= super-prefix= \
            attr-source= config-env= list-cmds= literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs",
    ),
    rule: Words(2),
    sub_rules: &[
        (Words(3), "bisect, config, notes, remote, stash, submodule, worktree"),
        (Never, "bisect run, filter-branch, submodule foreach"),
    ],
    subcommands: &[
        (
            Effect::Reads,
            "\
                blame, cat-file, check-attr, check-ignore, cherry, count-objects, describe, diff, diff-files, \
                diff-index, diff-tree, for-each-ref, grep, log, ls-files, ls-tree, merge-base, name-rev, \
                range-diff, rev-list, rev-parse, shortlog, show, show-branch, show-ref, status, var, whatchanged, \
                remote get-url, config --get, config --get-all, config --get-regexp, config --list, config -l, \
                config get, config list, stash list, stash show, worktree list, reflog",
        ),
        (
            Effect::Changes,
            "\
                add, am, apply, archive, bisect, checkout, checkout-index, cherry-pick, clean, clone, commit, \
                commit-tree, fast-import, fetch, filter-branch, filter-repo, format-patch, gc, init, lfs, \
                maintenance, merge, mergetool, mktag, mktree, mv, notes, prune, pull, push, read-tree, rebase, \
                repack, replace, reset, restore, revert, rm, sparse-checkout, stage, submodule, subtree, switch, \
                update-index, update-ref, write-tree, \
                remote add, remote remove, remote rm, remote rename, remote set-url, remote prune, remote update, \
                remote set-head, remote set-branches, config set, config unset, config --add, config --unset, \
                config --unset-all, config --replace-all, config edit, config -e, config --edit, stash, \
                reflog expire, reflog delete, worktree add, worktree remove, worktree move, worktree prune, \
                worktree lock, worktree unlock, worktree repair",
        ),
    ],
    facts: &[Fact::PrintsItsVersion],
    ..Program::DATA
}];

/// `git add`, `git stage`.
pub static ADD: OptionSpec = OptionSpec::gnu(
    "nvipefuNA",
    "\
        dry-run no-dry-run verbose interactive patch edit force update no-update renormalize intent-to-add all \
        no-all ignore-removal no-ignore-removal refresh ignore-errors ignore-missing sparse chmod= \
        pathspec-from-file= pathspec-file-nul unified= inter-hunk-context=",
);

/// `git push`.
pub static PUSH: OptionSpec = OptionSpec::gnu(
    "vqdnfuo:46",
    "\
        verbose quiet repo= all branches mirror no-mirror delete tags dry-run no-dry-run porcelain force no-force \
        force-with-lease=? no-force-with-lease force-if-includes no-force-if-includes recurse-submodules= thin \
        receive-pack= exec= set-upstream progress prune no-prune no-verify verify follow-tags no-follow-tags \
        signed=? atomic push-option= ipv4 ipv6",
);

/// `git reset`.
pub static RESET: OptionSpec = OptionSpec::gnu(
    "qpNU:",
    "\
        quiet no-refresh refresh mixed soft hard merge keep recurse-submodules=? patch intent-to-add \
        pathspec-from-file= pathspec-file-nul unified=",
);

/// `git clean`.
pub static CLEAN: OptionSpec =
    OptionSpec::gnu("qnfide:xX", "quiet dry-run no-dry-run force no-force interactive exclude=");

/// `git checkout`.
pub static CHECKOUT: OptionSpec = OptionSpec::gnu(
    "b:B:lqmdtf23pU:",
    "\
        guess no-guess overlay no-overlay quiet recurse-submodules=? progress merge conflict= detach track=? \
        no-track force no-force orphan= overwrite-ignore ignore-other-worktrees ours theirs patch \
        ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul unified=",
);

/// `git restore`.
pub static RESTORE: OptionSpec = OptionSpec::gnu(
    "s:SWqm23pU:",
    "\
        source= staged no-staged worktree no-worktree ignore-unmerged overlay no-overlay quiet recurse-submodules=? \
        progress merge conflict= ours theirs patch ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul \
        unified=",
);

/// `git switch`.
pub static SWITCH: OptionSpec = OptionSpec::gnu(
    "c:C:qmdtf",
    "\
        create= force-create= guess no-guess discard-changes no-discard-changes quiet recurse-submodules=? progress \
        merge conflict= detach track=? no-track force no-force orphan= overwrite-ignore ignore-other-worktrees",
);

/// `git branch`.
pub static BRANCH: OptionSpec = OptionSpec::gnu(
    "vqtu:radDmMcClfi",
    "\
        verbose quiet track=? no-track set-upstream-to= unset-upstream color=? remotes contains= no-contains= \
        abbrev=? all delete move omit-empty copy list show-current create-reflog edit-description force no-force \
        merged=? no-merged=? column=? sort= points-at= ignore-case recurse-submodules format=",
);

/// `git worktree remove`.
pub static WORKTREE_REMOVE: OptionSpec = OptionSpec::gnu("f", "force no-force");

/// `git config`, in its old and its new form.
pub static CONFIG: OptionSpec = OptionSpec::gnu(
    "f:lezt:",
    "\
        global system local worktree file= blob= get get-all get-regexp get-urlmatch replace-all add append unset \
        unset-all rename-section remove-section list edit get-color get-colorbool type= no-type bool int \
        bool-or-int bool-or-str path expiry-date null name-only show-origin show-scope show-names includes \
        no-includes default= comment= fixed-value all regexp value= url=",
);

/// `git clone`: the options that take a value, and those that rules read.
pub static CLONE: OptionSpec = OptionSpec::gnu(
    "vqnlsj:o:b:u:c:46",
    "\
        template= reference= reference-if-able= jobs= origin= branch= revision= upload-pack= depth= shallow-since= \
        shallow-exclude= separate-git-dir= ref-format= config= server-option= filter= bundle-uri= \
        recurse-submodules=? recursive=? mirror bare",
);

/// `git update-ref`.
pub static UPDATE_REF: OptionSpec = OptionSpec::gnu("m:dz", "no-deref deref stdin batch-updates create-reflog delete");

/// `git reflog expire`, `git reflog delete`.
pub static REFLOG: OptionSpec = OptionSpec::gnu(
    "n",
    "dry-run no-dry-run rewrite updateref verbose expire= expire-unreachable= stale-fix all single-worktree",
);

/// `git filter-repo`.
pub static FILTER_REPO: OptionSpec = OptionSpec::gnu("hp:", "help version analyze dry-run force");

/// `git send-pack`.
pub static SEND_PACK: OptionSpec =
    OptionSpec::gnu("vqnf", "dry-run mirror force no-force force-with-lease=? receive-pack= exec= remote= all");

/// `git checkout-index`.
pub static CHECKOUT_INDEX: OptionSpec =
    OptionSpec::gnu("afqnu", "all force quiet no-create index stdin prefix= stage= temp");

/// Reading subcommands that may run a program to show a difference, unless an option forbids it.
pub static MAY_RUN_DIFF: &str = "diff diff-files diff-index diff-tree log range-diff show whatchanged stash reflog";
/// Reading subcommands that always run a configured program to show a file.
pub static MAY_RUN_TEXTCONV: &str = "blame";
/// Options with which a reading subcommand writes a file or runs a program.
pub static DOUBTFUL: &str = "--output --ext-diff --textconv --open-files-in-pager -O --filters --exec-path --paginate";
/// Settings that `-c` may give and that run nothing. One that ends in a dot is the beginning of several.
pub static HARMLESS_SETTINGS: &str = "\
        advice. color. column. core.abbrev core.fsmonitor core.hookspath core.pager core.precomposeunicode \
        core.quotepath core.untrackedcache diff.algorithm diff.context diff.mnemonicprefix diff.noprefix \
        diff.renames i18n. log. pager. safe.directory status.";

/// Settings whose value is a command.
pub static COMMAND_SETTINGS: &str = "\
        core.sshcommand core.pager core.editor core.askpass core.fsmonitor sequence.editor diff.external \
        core.gitproxy uploadpack.packobjectshook interactive.difffilter credential.helper gpg.program";
/// How the names of further such settings end: `filter.x.clean`.
pub static COMMAND_SETTING_ENDS: &str = ".clean .smudge .process .textconv .cmd .driver .command";
/// Variables whose value is a command.
pub static COMMAND_VARIABLES: &str =
    "GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER EDITOR VISUAL PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND";

/// Options with which `branch` and `tag` list.
pub static LISTING_OPTIONS: &str = "\
    -l --list -a --all -r --remotes -v -vv --show-current --contains --no-contains --merged --no-merged --points-at -n";
/// Options with which they change something.
pub static EDITING_OPTIONS: &str = "\
    --delete --move --copy --edit-description --set-upstream-to --unset-upstream --annotate --sign --force --message \
    --file --local-user --create-reflog";
/// The short ones of those, also as part of a cluster.
pub static EDITING_LETTERS: [char; 10] = ['d', 'D', 'm', 'M', 'c', 'C', 'f', 'u', 's', 'F'];

/// Options of subcommands whose value is a command.
pub struct CommandOption {
    /// The subcommands.
    pub subcommands: &'static str,
    /// Their options, as far as words that are values need it.
    pub spec: OptionSpec,
    /// Those whose value is a command.
    pub options: &'static str,
    /// How a finding names them.
    pub via: &'static str,
}

/// All of them.
pub static COMMAND_OPTIONS: &[CommandOption] = &[
    CommandOption {
        subcommands: "rebase",
        spec: OptionSpec::gnu("x:s:X:C:S::iqvnfrmp", "exec= onto= strategy= strategy-option="),
        options: "x exec",
        via: "git rebase --exec",
    },
    CommandOption {
        subcommands: "difftool",
        spec: OptionSpec::leading("x:t:gyd", "extcmd= tool= no-prompt dir-diff"),
        options: "x extcmd",
        via: "git difftool -x",
    },
    CommandOption {
        subcommands: "filter-branch",
        spec: OptionSpec::leading(
            "d:f",
            "setup= env-filter= tree-filter= index-filter= parent-filter= msg-filter= commit-filter= tag-name-filter= \
            subdirectory-filter= prune-empty original= force state-branch=",
        ),
        options: "\
            setup env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter",
        via: "git filter-branch",
    },
    CommandOption {
        subcommands: "clone fetch pull ls-remote",
        spec: OptionSpec::gnu("b:o:j:", "upload-pack="),
        options: "upload-pack",
        via: "git --upload-pack",
    },
    CommandOption {
        subcommands: "push",
        spec: OptionSpec::gnu("o:", "receive-pack= exec="),
        options: "receive-pack exec",
        via: "git --receive-pack",
    },
];

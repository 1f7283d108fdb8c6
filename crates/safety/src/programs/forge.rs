//! Forges: GitHub and GitLab. Other version control.

use super::lasting::{Lasting, Stake};
use super::program::Arity::{Exact, Words};
use super::program::{Effect, Program};
use crate::options::OptionSpec;

const fn deletes(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Cloud, says, instead)
}

const fn publishes(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Publication, says, instead)
}

const API: OptionSpec = OptionSpec::gnu(
    "X:H:f:F:q:t:p:",
    "method= header= field= raw-field= jq= template= preview= input= hostname= cache= paginate slurp silent include",
);

static REPO_DELETE: Lasting = deletes("deletes the repository [{}|of this directory] for everyone", "repo view[ {}]");
static REPO_ARCHIVE: Lasting =
    deletes("makes the repository [{}|of this directory] read-only for everyone", "repo view[ {}]");
static VISIBILITY: Lasting =
    deletes("changes who sees the repository [{}|of this directory][, to {visibility}]", "repo view[ {}]")
        .with("visibility");
static RELEASE_DELETE: Lasting = deletes("deletes the release[ {}][ of {R repo}] for everyone", "release view[ {}]");
static SECRET: Lasting =
    deletes("changes the secrets or variables that workflows use: [{}|those of a file]", "secret list");
static THING_DELETE: Lasting = deletes("deletes [{}|something][ of {R repo}] for everyone", "");
static WORKFLOW_DISABLE: Lasting = deletes("stops the workflow [{}|at hand] for everyone", "workflow list");
static API_DELETE: Lasting =
    deletes("deletes [{}|something] at the forge for everyone", "api[ {}]").with("X=DELETE method=DELETE").spec(API);

static RELEASE_CREATE: Lasting = publishes("publishes the release[ {}][ of {R repo}]", "+--draft").unless("d draft");
static RELEASE_EDIT: Lasting =
    publishes("publishes the draft of the release[ {}]", "release view[ {}]").with("draft=false");
static MERGE: Lasting =
    publishes("merges [{}|the pull request of this branch] for everyone", "pr view[ {}]").unless("disable-auto");
static GLAB_MERGE: Lasting = publishes("merges [{}|the merge request of this branch] for everyone", "mr view[ {}]");
static WORKFLOW_RUN: Lasting =
    publishes("runs the workflow[ {}][ of {R repo}], whatever that publishes or deploys", "workflow view[ {}]");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "gh",
        options: OptionSpec::leading(
            "R:",
            "repo= hostname= org= env= user= ref= title= notes= notes-file= target= body=",
        ),
        rule: Words(3),
        sub_rules: &[(Exact, "api")],
        subcommands: &[
            (
                Effect::Reads,
                "\
                auth status, gist list, gist view, issue list, issue status, issue view, label list, pr checks, \
                pr diff, pr list, pr status, pr view, release list, release view, repo list, repo view, run list, \
                run view, search, status, workflow list, workflow view",
            ),
            (
                Effect::Changes,
                "\
                issue close, issue comment, issue create, issue edit, pr checkout, pr close, pr comment, pr create, \
                pr edit, pr review, repo create",
            ),
            (Effect::Lasts(&REPO_DELETE), "repo delete"),
            (Effect::Lasts(&REPO_ARCHIVE), "repo archive"),
            (Effect::Lasts(&VISIBILITY), "repo edit"),
            (Effect::Lasts(&RELEASE_DELETE), "release delete, release delete-asset"),
            (
                Effect::Lasts(&SECRET),
                "secret set, secret delete, secret remove, variable set, variable delete, variable remove",
            ),
            (Effect::Lasts(&THING_DELETE), "gist delete, issue delete, cache delete, run delete"),
            (Effect::Lasts(&WORKFLOW_DISABLE), "workflow disable"),
            (Effect::Lasts(&API_DELETE), "api"),
            (Effect::Lasts(&RELEASE_CREATE), "release create, release new"),
            (Effect::Lasts(&RELEASE_EDIT), "release edit"),
            (Effect::Lasts(&MERGE), "pr merge"),
            (Effect::Lasts(&WORKFLOW_RUN), "workflow run"),
        ],
        ..Program::DATA
    },
    Program {
        names: "glab",
        options: OptionSpec::leading("R:", "repo= group= hostname="),
        rule: Words(3),
        sub_rules: &[(Exact, "api")],
        subcommands: &[
            (Effect::Lasts(&REPO_DELETE), "repo delete"),
            (Effect::Lasts(&RELEASE_DELETE), "release delete"),
            (Effect::Lasts(&THING_DELETE), "issue delete, mr delete, ci delete"),
            (Effect::Lasts(&API_DELETE), "api"),
            (Effect::Lasts(&Lasting { instead: "release list", ..RELEASE_CREATE }), "release create"),
            (Effect::Lasts(&GLAB_MERGE), "mr merge, mr accept"),
        ],
        ..Program::DATA
    },
    Program { names: "jj", rule: Words(2), ..Program::DATA },
    Program {
        names: "svn",
        rule: Words(2),
        subcommands: &[
            (Effect::Reads, "info, list, log, status"),
            (Effect::Changes, "add, checkout, commit, delete, revert, update"),
        ],
        ..Program::DATA
    },
];

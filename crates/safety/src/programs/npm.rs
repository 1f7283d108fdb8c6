//! Package managers and tools of JavaScript.

use super::lasting::{Lasting, Operands, Stake};
use super::program::Arity::{Never, Words};
use super::program::{Effect, Fact, Interpreter, Language, Program};
use super::wrapper::{Dashes, Wrapper};
use crate::options::OptionSpec;

const NPM: OptionSpec = OptionSpec::leading(
    "C:w:rF:sqd",
    "\
    prefix= workspace= workspaces include-workspace-root silent loglevel= registry= recursive filter= dir= cwd= \
    workspace-root yes quiet access= tag= otp= userconfig=",
);

const fn publishes(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Publication, says, instead).unless("registry~//localhost registry~//127.0.0.1")
}

static PUBLISH: Lasting =
    publishes("publishes [{}|the package of this directory] to the registry, for good", "+--dry-run");
static UNPUBLISH: Lasting =
    publishes("takes [{}|the package of this directory] off the registry, from all who use it", "+--dry-run");
static REGISTRY: Lasting =
    publishes("changes what the registry tells all users of [{}|a package]", "").operands(Operands::Given);
static RELEASE: Lasting =
    publishes("publishes a release[: {}]", "+--dry-run").unless("d preview release-version changelog version v");
static PUBLISH_ALL: Lasting = publishes("publishes the packages of this repository[: {}]", "");
static EXTENSION: Lasting = publishes("publishes [{}|the extension of this directory] to the marketplace", "");

const DOTENV_GLOBAL: OptionSpec = OptionSpec::leading("e:f:v:p:c:q:o", "file= env-file= quote= override");

const NPM_EXEC: Wrapper = Wrapper::rest(
    "yqhvc:p:w:n:",
    "\
            yes no package= call= workspace= workspaces include-workspace-root quiet silent ignore-existing \
            no-install prefer-online prefer-offline offline prefix= registry= cache= userconfig= shell= \
            script-shell= node-arg= loglevel= shell-mode reporter= filter= recursive parallel no-bail resume-from= \
            bun help version verbose",
)
.sub("exec, x, dlx")
.script("c call")
.child();

const NPX: Wrapper = Wrapper::rest(
    "yqhvc:p:w:n:",
    "\
            yes no package= call= workspace= workspaces include-workspace-root quiet silent ignore-existing \
            no-install prefer-online prefer-offline offline prefix= registry= cache= userconfig= shell= \
            script-shell= node-arg= loglevel= shell-mode reporter= filter= recursive parallel no-bail resume-from= \
            bun help version verbose",
)
.script("c call")
.stop("v version")
.child();

const CONCURRENTLY: Wrapper = Wrapper::each(
    "n:c:p:km:rsi:l:",
    "\
            names= name-separator= prefix-colors= prefix= prefix-length= kill-others kill-others-on-fail \
            kill-signal= max-processes= raw no-color hide= group timings success= handle-input \
            default-input-target= restart-tries= restart-after= passthrough-arguments teardown= timestamp-format=",
)
.script("teardown");

const DOTENV_RUN: Wrapper =
    Wrapper::rest("e:c::v:p:o:f:q:", "file= env-file= quote= export= override debug expand cascade=?")
        .sub("run")
        .dashes(Dashes::Begin);

const DOTENV: Wrapper =
    Wrapper::rest("e:c::v:p:o:f:q:", "file= env-file= quote= export= override debug expand cascade=?")
        .dashes(Dashes::Begin);

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "bun",
        options: NPM,
        wrappers: &[NPM_EXEC],
        interpreters: &[
            Interpreter {
                language: Language::JavaScript,
                options: OptionSpec::leading(
                    "ce:hipr:vC:P:TO:",
                    "\
                eval= print require= import= check interactive test watch input-type= loader= experimental-loader= \
                env-file= conditions= title= version help run= max-old-space-size= inspect=? inspect-brk=?",
                ),
                code: "e eval",
                flag: "p print",
                stop: "v version h help c check test run",
                ..Interpreter::NONE
            },
            Interpreter {
                language: Language::JavaScript,
                options: OptionSpec::leading("AqRWNESIr", "allow-all quiet ext= no-check watch"),
                stop: "watch",
                subcommand: "run",
                ..Interpreter::NONE
            },
        ],
        rule: Words(2),
        sub_rules: &[(Words(3), "pm, run"), (Never, "exec, x")],
        subcommands: &[(Effect::Lasts(&PUBLISH), "publish")],
        facts: &[Fact::PrintsItsVersion],
        ..Program::COMMANDS
    },
    Program { names: "bunx npx pnpx", wrappers: &[NPX], rule: Never, ..Program::UNKNOWN },
    Program {
        names: "changeset @changesets/cli",
        subcommands: &[(Effect::Lasts(&PUBLISH_ALL), "publish")],
        ..Program::DATA
    },
    Program {
        names: "chokidar onchange",
        wrappers: &[Wrapper::rest("ijk1d:f:c:p:t:", "initial kill delay= filter= command=")
            .script("c command")
            .dashes(Dashes::Need)
            .child()],
        ..Program::UNKNOWN
    },
    Program { names: "conc", wrappers: &[CONCURRENTLY], ..Program::UNKNOWN },
    Program { names: "concurrently", wrappers: &[CONCURRENTLY], rule: Never, ..Program::UNKNOWN },
    Program { names: "cross-env", wrappers: &[Wrapper::rest("", "").assignments()], rule: Never, ..Program::UNKNOWN },
    Program { names: "cross-env-shell", wrappers: &[Wrapper::joined("", "").assignments()], ..Program::UNKNOWN },
    Program {
        names: "dotenv",
        options: DOTENV_GLOBAL,
        wrappers: &[DOTENV_RUN, DOTENV],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program { names: "dotenvx", options: DOTENV_GLOBAL, wrappers: &[DOTENV_RUN, DOTENV], ..Program::UNKNOWN },
    Program {
        names: "env-cmd",
        wrappers: &[Wrapper::rest("f:e:r:x", "file= environments= rc-file= fallback no-override silent use-shell")],
        ..Program::UNKNOWN
    },
    Program {
        names: "lerna",
        wrappers: &[Wrapper::rest("", "scope= ignore= since= concurrency= stream parallel no-bail no-prefix no-sort")
            .sub("exec")
            .child()],
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&PUBLISH_ALL), "publish")],
        ..Program::DATA
    },
    Program { names: "ng", rule: Words(2), ..Program::DATA },
    Program { names: "jsr", subcommands: &[(Effect::Lasts(&PUBLISH), "publish")], ..Program::DATA },
    Program { names: "np release-it semantic-release", subcommands: &[(Effect::Lasts(&RELEASE), "")], ..Program::DATA },
    Program { names: "nodemon", rule: Never, ..Program::UNKNOWN },
    Program {
        names: "npm",
        options: NPM,
        wrappers: &[NPM_EXEC, Wrapper::rest("", "").sub("explore").operands(1).dashes(Dashes::Need).child()],
        rule: Words(2),
        sub_rules: &[(Words(3), "cache, config, run, run-script"), (Never, "exec, x")],
        subcommands: &[
            (
                Effect::Reads,
                "\
                bin, config get, config list, explain, help, list, ls, outdated, prefix, root, search, view, info, \
                show, why, whoami",
            ),
            (
                Effect::Changes,
                "\
                add, ci, config set, dedupe, i, init, install, link, prune, rebuild, remove, rm, un, uninstall, \
                update, version",
            ),
            (
                Effect::Unknown,
                "dist-tag ls, dist-tag list, dist-tags ls, owner ls, owner list, access list, access get, access ls*",
            ),
            (Effect::Lasts(&PUBLISH), "pub*"),
            (Effect::Lasts(&UNPUBLISH), "unpub*"),
            (Effect::Lasts(&REGISTRY), "deprecate, undeprecate, dist-tag, dist-tags, owner, author, access"),
        ],
        ..Program::DATA
    },
    Program {
        names: "nx",
        wrappers: &[Wrapper::rest("", "").sub("exec").dashes(Dashes::Begin).child()],
        rule: Words(2),
        ..Program::DATA
    },
    Program {
        names: "pnpm",
        options: NPM,
        wrappers: &[NPM_EXEC],
        rule: Words(2),
        sub_rules: &[(Words(3), "run"), (Never, "dlx, exec")],
        subcommands: &[
            (Effect::Reads, "list, ls, outdated, why"),
            (Effect::Changes, "add, i, install, remove, rm, unlink, up, update"),
            (Effect::Unknown, "dist-tag ls, owner ls, access list, access get"),
            (Effect::Lasts(&PUBLISH), "publish"),
            (Effect::Lasts(&UNPUBLISH), "unpublish"),
            (Effect::Lasts(&REGISTRY), "deprecate, dist-tag, owner, access"),
        ],
        facts: &[Fact::Contains(&[("recursive multi", "pnpm")])],
        ..Program::DATA
    },
    Program { names: "pnx", wrappers: &[NPX], ..Program::UNKNOWN },
    Program { names: "rush-pnpm rushx", wrappers: &[Wrapper::rest("", "").sub("exec").child()], ..Program::UNKNOWN },
    Program { names: "shx", wrappers: &[Wrapper::rest("s", "silent").child()], ..Program::UNKNOWN },
    Program { names: "start-server-and-test", wrappers: &[Wrapper::rest("", "")], ..Program::UNKNOWN },
    Program {
        names: "vsce @vscode/vsce ovsx",
        subcommands: &[(Effect::Lasts(&EXTENSION), "publish, unpublish")],
        ..Program::DATA
    },
    Program { names: "turbo", rule: Words(2), sub_rules: &[(Words(3), "run")], ..Program::DATA },
    Program {
        names: "yarn",
        options: NPM,
        wrappers: &[NPM_EXEC],
        rule: Words(2),
        sub_rules: &[(Words(3), "run"), (Words(4), "workspace"), (Never, "dlx, exec")],
        subcommands: &[
            (Effect::Reads, "info, list, why"),
            (Effect::Changes, "add, install, remove, up, upgrade"),
            (
                Effect::Lasts(&PUBLISH),
                "\
                publish, npm publish, workspace * publish, workspace * npm publish, workspaces foreach npm publish, \
                workspaces foreach publish",
            ),
            (Effect::Lasts(&UNPUBLISH), "unpublish, npm unpublish"),
            (
                Effect::Lasts(&REGISTRY),
                "npm tag add, npm tag remove, npm deprecate, tag add, tag remove, owner add, owner remove",
            ),
        ],
        ..Program::DATA
    },
];

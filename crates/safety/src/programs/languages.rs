//! Package managers and build tools of other languages.

use super::lasting::{Lasting, Stake};
use super::migrations::{DATABASE_DROP, DATABASE_UNDONE};
use super::program::Arity::{Exact, Never, Words, WordsOrNone};
use super::program::{Effect, Fact, Program};
use super::wrapper::{Dashes, Wrapper};
use crate::options::OptionSpec;

const fn publishes(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Publication, says, instead)
}

static CARGO_PUBLISH: Lasting =
    publishes("publishes [the crate {p package}|the crate of this directory] to crates.io, for good", "+--dry-run")
        .unless("n");
static CARGO_YANK: Lasting = publishes("takes a version of [{}|the crate] from all who would use it anew", "");
static CARGO_RELEASE: Lasting = publishes("publishes the crates of this repository", "release").with("x execute");
static GEM_PUSH: Lasting =
    publishes("publishes [{}|a gem] to [{host}|RubyGems], for good", "").unless("host~//localhost");
static DEPLOY: Lasting = publishes("publishes the artifacts to a remote repository", "");
static GRADLE_PUBLISH: Lasting = publishes("publishes the artifacts to a remote repository", "+--dry-run").unless("m");
static NUGET_PUSH: Lasting = publishes("publishes [{}|a package] to [{s source}|the feed], for good", "")
    .unless("s~//localhost source~//localhost");
static PUB_PUBLISH: Lasting =
    publishes("publishes the package of this directory to pub.dev, for good", "+--dry-run").unless("n");
static UPLOAD: Lasting = publishes("publishes [{}|the package of this directory], for good", "");
static GORELEASER: Lasting =
    publishes("publishes a release", "+--snapshot").unless("snapshot skip~publish skip-publish");

const MAVEN: OptionSpec =
    OptionSpec::leading("P:f:s:T:D:l:b:", "activate-profiles= file= settings= threads= define= projects=");
const GRADLE: OptionSpec = OptionSpec::leading(
    "x:p:b:c:I:D:P:g:",
    "exclude-task= project-dir= build-file= settings-file= init-script= group= task= tests= console= max-workers= dry-run",
);

const SBT: Wrapper = Wrapper::rest("", "").dashes(Dashes::Need);

pub(super) static PROGRAMS: &[Program] = &[
    Program { names: "bazel composer meson zig", rule: Words(2), ..Program::DATA },
    Program {
        names: "bear ccache colormake coverage-run distcc icecc intercept-build scan-build sccache",
        wrappers: &[Wrapper::rest("o:vk", "output= append").dashes(Dashes::Begin)],
        ..Program::UNKNOWN
    },
    Program {
        names: "bundle",
        options: OptionSpec::leading("", "no-color retry= verbose"),
        wrappers: &[Wrapper::rest("", "keep-file-descriptors gemfile=").sub("exec, e")],
        rule: Words(2),
        sub_rules: &[(Never, "exec")],
        ..Program::DATA
    },
    Program {
        names: "cargo",
        options: OptionSpec::leading("qv", "quiet verbose locked offline frozen"),
        wrappers: &[Wrapper::rest(
            "x:s:w:cqi:d:B:C:E:",
            "exec= shell= watch= clear quiet ignore= delay= why poll no-vcs-ignores workdir=",
        )
        .sub("watch")
        .script("s shell")
        .child()
        .each_is_a_script()],
        rule: Words(2),
        sub_rules: &[(Never, "script")],
        subcommands: &[
            (Effect::Reads, "search, version"),
            (Effect::Changes, "add, build, clean, fmt, init, install, new, remove, uninstall, update"),
            (Effect::Lasts(&CARGO_PUBLISH), "publish, +* publish, workspaces publish, ws publish"),
            (Effect::Lasts(&CARGO_YANK), "yank, +* yank"),
            (Effect::Lasts(&CARGO_RELEASE), "release"),
        ],
        ..Program::DATA
    },
    Program {
        names: "cmake",
        options: OptionSpec::leading("E", ""),
        wrappers: &[
            Wrapper::rest("", "").sub("env, time").assignments(),
            Wrapper::rest("", "").sub("chdir").operands(1),
        ],
        facts: &[Fact::PrintsItsVersion],
        ..Program::DATA
    },
    Program {
        names: "dart flutter",
        rule: Words(2),
        sub_rules: &[(Words(3), "pub")],
        subcommands: &[(Effect::Lasts(&PUB_PUBLISH), "pub publish, pub lish")],
        ..Program::DATA
    },
    Program {
        names: "dotnet",
        rule: Words(2),
        subcommands: &[
            (Effect::Lasts(&NUGET_PUSH), "nuget push, nuget delete"),
            (Effect::Lasts(&DATABASE_DROP), "ef database drop"),
            (Effect::Lasts(&DATABASE_UNDONE), "ef database update 0"),
        ],
        facts: &[Fact::PrintsItsVersion],
        ..Program::DATA
    },
    Program {
        names: "gem",
        rule: Words(2),
        sub_rules: &[(Exact, "install")],
        subcommands: &[(Effect::Lasts(&GEM_PUSH), "push"), (Effect::Lasts(&CARGO_YANK), "yank")],
        ..Program::DATA
    },
    Program { names: "gmake just task", rule: WordsOrNone(2), ..Program::DATA },
    Program {
        names: "go",
        rule: Words(2),
        sub_rules: &[(Words(3), "mod, tool")],
        subcommands: &[
            (Effect::Reads, "doc, list, version"),
            (Effect::Changes, "build, fmt, get, install, mod tidy, clean"),
        ],
        ..Program::DATA
    },
    Program {
        names: "goreleaser",
        options: OptionSpec::leading("f:p:", "config= timeout= parallelism= skip= release-notes="),
        subcommands: &[(Effect::Lasts(&GORELEASER), "release, r")],
        ..Program::DATA
    },
    Program {
        names: "gradle gradlew",
        options: GRADLE,
        rule: Words(2),
        subcommands: &[
            (Effect::Changes, "publish*ToMavenLocal, *:publish*ToMavenLocal, publish*LocalPublication"),
            (Effect::Lasts(&GRADLE_PUBLISH), "publish*, *:publish*, uploadArchives, *:uploadArchives, bintrayUpload"),
        ],
        facts: &[Fact::RunsTasks, Fact::PrintsItsVersion],
        ..Program::DATA
    },
    Program { names: "lein", subcommands: &[(Effect::Lasts(&UPLOAD), "deploy")], ..Program::DATA },
    Program {
        names: "luarocks",
        subcommands: &[(Effect::Lasts(&UPLOAD), "upload")],
        facts: &[Fact::PrintsShellCode("path")],
        ..Program::DATA
    },
    Program { names: "make", rule: WordsOrNone(2), facts: &[Fact::PrintsItsVersion], ..Program::DATA },
    Program { names: "mill", wrappers: &[SBT], ..Program::DATA },
    Program {
        names: "mvn mvnw",
        options: MAVEN,
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&DEPLOY), "deploy, deploy:deploy*, release:perform")],
        facts: &[Fact::RunsTasks, Fact::PrintsItsVersion],
        ..Program::DATA
    },
    Program { names: "nuget", subcommands: &[(Effect::Lasts(&NUGET_PUSH), "push, delete")], ..Program::DATA },
    Program { names: "opam", facts: &[Fact::PrintsShellCode("env config")], ..Program::DATA },
    Program {
        names: "rustup",
        options: OptionSpec::leading("qv", ""),
        wrappers: &[Wrapper::rest("", "install").sub("run").operands(1)],
        rule: Words(2),
        sub_rules: &[(Words(3), "component, target, toolchain")],
        facts: &[Fact::PrintsItsVersion],
        ..Program::DATA
    },
    Program {
        names: "sbt",
        wrappers: &[SBT],
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&DEPLOY), "publish, +publish, publishSigned, +publishSigned")],
        facts: &[Fact::RunsTasks],
        ..Program::DATA
    },
    Program {
        names: "stack",
        rule: Words(2),
        facts: &[Fact::PrintsShellCode("--bash-completion-script")],
        ..Program::DATA
    },
    Program { names: "swift", rule: Words(2), sub_rules: &[(Words(3), "package")], ..Program::DATA },
];

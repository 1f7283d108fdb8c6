//! Package managers of Python.

use super::lasting::{Lasting, Stake};
use super::program::Arity::{Never, Words};
use super::program::{Effect, Fact, Program};
use super::wrapper::Wrapper;
use crate::options::OptionSpec;

static PUBLISH: Lasting =
    Lasting::of(Stake::Publication, "publishes [{}|the built packages] to [{r repository index}|PyPI], for good", "")
        .unless(LOCAL);
const LOCAL: &str =
    "repository-url~//localhost repository-url~//127.0.0.1 publish-url~//localhost publish-url~//127.0.0.1";
static DRY_PUBLISH: Lasting = Lasting { instead: "+--dry-run", ..PUBLISH };

const RYE: OptionSpec = OptionSpec::leading("e:p:qv", "env= project= quiet verbose");

const CONDA_RUN: Wrapper =
    Wrapper::rest("n:p:v", "name= prefix= cwd= no-capture-output live-stream dev verbose attach=")
        .sub("run")
        .chdir("cwd");

const RYE_RUN: Wrapper = Wrapper::rest("lf:p:ae:q", "list pyproject= env= environment= manifest-path= site-packages")
    .sub("run")
    .stop("l list");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "conda",
        wrappers: &[CONDA_RUN],
        rule: Words(2),
        sub_rules: &[(Words(3), "env")],
        facts: &[Fact::PrintsShellCode("shell.bash shell.posix shell.zsh")],
        ..Program::DATA
    },
    Program { names: "flit maturin", subcommands: &[(Effect::Lasts(&PUBLISH), "publish, upload")], ..Program::DATA },
    Program {
        names: "hatch pdm",
        options: RYE,
        wrappers: &[RYE_RUN],
        subcommands: &[(Effect::Lasts(&PUBLISH), "publish")],
        ..Program::DATA
    },
    Program { names: "mamba", wrappers: &[CONDA_RUN], facts: &[Fact::PrintsShellCode("shell")], ..Program::DATA },
    Program {
        names: "micromamba",
        wrappers: &[CONDA_RUN],
        facts: &[Fact::PrintsShellCode("shell")],
        ..Program::UNKNOWN
    },
    Program {
        names: "pip pip3",
        rule: Words(2),
        subcommands: &[
            (Effect::Reads, "check, freeze, list, show"),
            (Effect::Changes, "download, install, uninstall, wheel"),
        ],
        ..Program::DATA
    },
    Program {
        names: "pipenv",
        options: OptionSpec::leading("q", "bare quiet python="),
        wrappers: &[Wrapper::rest("", "system").sub("run")],
        rule: Words(2),
        sub_rules: &[(Never, "run")],
        ..Program::DATA
    },
    Program {
        names: "pipx",
        options: OptionSpec::leading("", "quiet verbose"),
        wrappers: &[Wrapper::rest(
            "p:qvn",
            "python= from= with= spec= index-url= refresh isolated offline quiet pip-args=",
        )
        .sub("run")
        .child()],
        ..Program::DATA
    },
    Program {
        names: "pixi",
        options: RYE,
        wrappers: &[RYE_RUN],
        facts: &[Fact::PrintsShellCode("shell-hook")],
        ..Program::DATA
    },
    Program {
        names: "poetry",
        options: OptionSpec::leading("qnvC:P:", "quiet no-interaction directory= project= ansi no-ansi"),
        wrappers: &[Wrapper::rest("", "").sub("run")],
        rule: Words(2),
        sub_rules: &[(Words(3), "env"), (Never, "run")],
        subcommands: &[
            (Effect::Reads, "show, version"),
            (Effect::Changes, "add, init, install, lock, remove, update"),
            (Effect::Lasts(&DRY_PUBLISH), "publish"),
        ],
        ..Program::DATA
    },
    Program {
        names: "rye",
        options: RYE,
        wrappers: &[RYE_RUN],
        sub_rules: &[(Never, "run")],
        subcommands: &[(Effect::Lasts(&PUBLISH), "publish")],
        ..Program::DATA
    },
    Program {
        names: "setup.py",
        subcommands: &[(Effect::Lasts(&PUBLISH), "upload")],
        facts: &[Fact::RunsTasks],
        ..Program::UNKNOWN
    },
    Program {
        names: "twine",
        options: OptionSpec::leading("r:u:p:", "repository= repository-url= username= password= config-file="),
        subcommands: &[(Effect::Lasts(&PUBLISH), "upload")],
        ..Program::DATA
    },
    Program {
        names: "uv",
        options: OptionSpec::leading(
            "qvn",
            "directory= project= quiet verbose offline no-cache cache-dir= config-file= color=",
        ),
        wrappers: &[Wrapper::rest(
            "p:m:sqvnUP:w:C:i:f:",
            "\
            python= module script with= with-editable= with-requirements= extra= all-extras no-extra= group= \
            no-group= only-group= no-dev only-dev dev all-groups no-default-groups editable no-editable exact \
            env-file= no-env-file isolated active no-sync locked frozen package= all-packages no-project refresh \
            refresh-package= upgrade upgrade-package= index= default-index= index-url= extra-index-url= find-links= \
            no-index index-strategy= keyring-provider= resolution= prerelease= exclude-newer= link-mode= reinstall \
            reinstall-package= no-cache cache-dir= directory= project= config-file= no-config offline quiet verbose \
            color= managed-python no-managed-python no-python-downloads gui-script from=",
        )
        .sub("run, tool run")
        .chdir("directory")
        .stop("m module")],
        rule: Words(2),
        sub_rules: &[(Words(3), "pip, tool"), (Never, "run")],
        subcommands: &[
            (Effect::Reads, "pip list, pip show, pip freeze, version"),
            (Effect::Changes, "add, lock, pip install, pip uninstall, remove, sync, venv"),
            (Effect::Lasts(&DRY_PUBLISH), "publish"),
        ],
        ..Program::DATA
    },
    Program {
        names: "uvx",
        wrappers: &[Wrapper::rest(
            "p:qvn",
            "python= from= with= spec= index-url= refresh isolated offline quiet pip-args=",
        )
        .child()],
        rule: Never,
        ..Program::UNKNOWN
    },
];

//! Programs that set up the environment of a project, and those that print shell code for it.

use super::program::Arity::{Never, Words};
use super::program::{Fact, Program};
use super::wrapper::{Dashes, Wrapper};
use crate::options::OptionSpec;

const AWS_VAULT: OptionSpec = OptionSpec::leading("", "debug backend=");

const OP: OptionSpec = OptionSpec::leading("", "account=");

const RBENV_EXEC: Wrapper = Wrapper::rest("", "using= using-file node= npm= yarn= silent").sub("exec");

const AWS_VAULT_EXEC: Wrapper =
    Wrapper::rest("nd:t:s:a:", "duration= no-session server ecs-server mfa-token= region= exec-profile=")
        .sub("exec")
        .operands(1)
        .dashes(Dashes::Begin);

const OP_RUN: Wrapper =
    Wrapper::rest("e:p:", "env-file= env= path= projectId= no-masking account=").sub("run").dashes(Dashes::Begin);

const DEVBOX_RUN: Wrapper =
    Wrapper::rest("c:e:q", "config= env= quiet environment=").sub("run, shell, activate").dashes(Dashes::Begin);

const NVM_RUN: Wrapper = Wrapper::rest("", "silent node= npm= yarn=").sub("run");

pub(super) static PROGRAMS: &[Program] = &[
    Program { names: "asdf", wrappers: &[RBENV_EXEC], facts: &[Fact::PrintsShellCode("completion")], ..Program::DATA },
    Program { names: "atuin starship", facts: &[Fact::PrintsShellCode("init")], ..Program::UNKNOWN },
    Program {
        names: "aws-okta aws-vault chamber granted",
        options: AWS_VAULT,
        wrappers: &[AWS_VAULT_EXEC],
        ..Program::UNKNOWN
    },
    Program { names: "bws envchain infisical phase teller", options: OP, wrappers: &[OP_RUN], ..Program::UNKNOWN },
    Program { names: "cs", facts: &[Fact::PrintsShellCode("setup java")], ..Program::UNKNOWN },
    Program {
        names: "devbox",
        wrappers: &[DEVBOX_RUN],
        facts: &[Fact::PrintsShellCode("shellenv global")],
        ..Program::UNKNOWN
    },
    Program { names: "devenv flox", wrappers: &[DEVBOX_RUN], ..Program::UNKNOWN },
    Program { names: "dircolors keychain lesspipe ssh-agent", facts: &[Fact::PrintsShellCode("")], ..Program::DATA },
    Program {
        names: "direnv",
        wrappers: &[Wrapper::rest("", "").sub("exec").operands(1)],
        rule: Never,
        facts: &[Fact::PrintsShellCode("hook export")],
        ..Program::DATA
    },
    Program {
        names: "doppler",
        options: OptionSpec::leading("t:", "token= scope="),
        wrappers: &[Wrapper::rest("p:c:t:", "project= config= token= command= fallback= mount= preserve-env=?")
            .sub("run")
            .script("command")
            .dashes(Dashes::Need)],
        ..Program::UNKNOWN
    },
    Program { names: "fnm", wrappers: &[RBENV_EXEC], facts: &[Fact::PrintsShellCode("env")], ..Program::DATA },
    Program { names: "fzf", facts: &[Fact::PrintsShellCode("--bash --zsh")], ..Program::DATA },
    Program {
        names: "goenv jenv nodenv plenv",
        wrappers: &[RBENV_EXEC],
        facts: &[Fact::PrintsShellCode("init")],
        ..Program::UNKNOWN
    },
    Program {
        names: "guix",
        wrappers: &[Wrapper::rest("Cf:m:e:D", "container pure network manifest= load-path=")
            .sub("shell, environment")
            .dashes(Dashes::Need)
            .child()],
        ..Program::UNKNOWN
    },
    Program {
        names: "lesspipe.sh register-python-argcomplete resize",
        facts: &[Fact::PrintsShellCode("")],
        ..Program::UNKNOWN
    },
    Program {
        names: "mise",
        options: OptionSpec::leading("C:qvy", "cd= env= quiet yes"),
        wrappers: &[Wrapper::rest("c:j:C:qvy", "command= jobs= cd= raw quiet yes")
            .sub("exec, x")
            .dashes(Dashes::Need)
            .chdir("C cd")
            .script("c command")],
        rule: Words(2),
        sub_rules: &[(Never, "exec, x")],
        facts: &[Fact::PrintsShellCode("activate env hook-env")],
        ..Program::DATA
    },
    Program {
        names: "nix",
        options: OptionSpec::leading("", "extra-experimental-features= experimental-features= option="),
        wrappers: &[Wrapper::rest(
            "c:iku:",
            "\
            command= ignore-environment keep= unset= impure offline option= profile= extra-experimental-features= \
            experimental-features=",
        )
        .sub("develop, shell, run")
        .behind("-c --command --")
        .child()],
        rule: Words(2),
        sub_rules: &[(Never, "develop")],
        ..Program::DATA
    },
    Program {
        names: "nix-shell",
        wrappers: &[Wrapper::rest(
            "pA:E:I:j:Qk:",
            "packages run= command= pure attr= expr= keep= arg= argstr= option=",
        )
        .permuted()
        .script("run command")
        .dashes(Dashes::Need)
        .child()],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program { names: "nvm", wrappers: &[RBENV_EXEC, NVM_RUN], rule: Words(2), ..Program::DATA },
    Program { names: "op", options: OP, wrappers: &[OP_RUN], ..Program::DATA },
    Program {
        names: "pyenv",
        wrappers: &[RBENV_EXEC],
        rule: Words(2),
        facts: &[Fact::PrintsShellCode("init virtualenv-init")],
        ..Program::UNKNOWN
    },
    Program {
        names: "rbenv",
        wrappers: &[RBENV_EXEC],
        rule: Words(2),
        facts: &[Fact::PrintsShellCode("init")],
        ..Program::UNKNOWN
    },
    Program { names: "rtx", wrappers: &[RBENV_EXEC], ..Program::UNKNOWN },
    Program { names: "saml2aws", options: AWS_VAULT, wrappers: &[AWS_VAULT_EXEC], ..Program::DATA },
    Program {
        names: "sops",
        wrappers: &[Wrapper::joined("", "user= background pristine same-process")
            .sub("exec-env, exec-file")
            .operands(1)],
        ..Program::DATA
    },
    Program { names: "thefuck", facts: &[Fact::PrintsShellCode("--alias")], ..Program::UNKNOWN },
    Program { names: "volta", wrappers: &[RBENV_EXEC, NVM_RUN], ..Program::DATA },
    Program { names: "zoxide", facts: &[Fact::PrintsShellCode("init")], ..Program::DATA },
];

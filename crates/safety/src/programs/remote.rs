//! Programs whose command runs on another machine or device.

use super::program::Arity::Never;
use super::program::{Fact, Hook, Program};
use super::wrapper::{Dashes, Login, Wrapper};
use crate::options::OptionSpec;

const SSH_OPTIONS: OptionSpec =
    OptionSpec::leading("46AaB:b:Cc:D:E:e:F:fGgI:i:J:KkL:l:M:m:NnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy", "");

const SSH: Wrapper = Wrapper::joined("46AaB:b:Cc:D:E:e:F:fGgI:i:J:KkL:l:M:m:NnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy", "")
    .operands(1)
    .again()
    .stop("V G Q O N s")
    .login(Login::Alone)
    .elsewhere();

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "adb",
        options: OptionSpec::leading("ades:t:H:P:L:", ""),
        wrappers: &[Wrapper::joined("dentTx", "").sub("shell").login(Login::Alone).elsewhere()],
        ..Program::DATA
    },
    Program {
        names: "autossh",
        options: SSH_OPTIONS,
        wrappers: &[SSH],
        hooks: &[Hook {
            options: "o",
            begins: &[
                "proxycommand=",
                "proxycommand ",
                "localcommand=",
                "localcommand ",
                "knownhostscommand=",
                "knownhostscommand ",
            ],
        }],
        ..Program::DATA
    },
    Program {
        names: "clush dsh parallel-ssh pdsh pssh",
        wrappers: &[Wrapper::joined("w:x:l:f:t:u:g:abdSH:h:p:i", "hosts= user= timeout=").elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "mosh",
        wrappers: &[Wrapper::rest("46anp:", "client= server= predict= family= port= ssh= no-ssh-pty no-init local")
            .operands(1)
            .dashes(Dashes::Begin)
            .login(Login::Alone)
            .elsewhere()],
        facts: &[Fact::RunsElsewhere],
        ..Program::UNKNOWN
    },
    Program {
        names: "mpiexec mpirun salloc srun",
        wrappers: &[Wrapper::rest(
            "n:N:c:p:t:A:J:w:q:G:o:e:x:H:v",
            "\
            ntasks= nodes= partition= time= account= gres= mem= np= hostfile= host= pty oversubscribe \
            allow-run-as-root",
        )
        .elsewhere()],
        ..Program::UNKNOWN
    },
    Program { names: "slogin", wrappers: &[SSH], ..Program::UNKNOWN },
    Program {
        names: "ssh",
        options: SSH_OPTIONS,
        wrappers: &[SSH],
        hooks: &[Hook {
            options: "o",
            begins: &[
                "proxycommand=",
                "proxycommand ",
                "localcommand=",
                "localcommand ",
                "knownhostscommand=",
                "knownhostscommand ",
            ],
        }],
        rule: Never,
        facts: &[Fact::OnlyRunsCommands, Fact::RunsElsewhere],
        ..Program::UNKNOWN
    },
    Program { names: "sshpass", wrappers: &[Wrapper::rest("f:d:p:P:evhV", "")], ..Program::UNKNOWN },
    Program {
        names: "wsl wsl.exe",
        wrappers: &[Wrapper::rest("d:u:e", "distribution= user= cd= exec shell-type=").login(Login::Alone).elsewhere()],
        ..Program::UNKNOWN
    },
];

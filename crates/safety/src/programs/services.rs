//! Services, schedules and logs.

use super::program::Arity::{Never, Words};
use super::program::{Effect, Program, Unless};
use super::wrapper::{Dashes, Login, Wrapper};
use crate::options::OptionSpec;

pub(super) static PROGRAMS: &[Program] = &[
    Program { names: "at", rule: Never, ..Program::DATA },
    Program { names: "batch", rule: Never, ..Program::UNKNOWN },
    Program {
        names: "dbus-launch dbus-run-session",
        wrappers: &[Wrapper::rest("", "config-file= dbus-daemon= exit-with-session sh-syntax")],
        ..Program::UNKNOWN
    },
    Program { names: "ip", rule: Words(2), ..Program::DATA },
    Program {
        names: "journalctl",
        options: OptionSpec::gnu(
            "n:u:p:S:U:o:b::k",
            "\
            vacuum-size= vacuum-time= vacuum-files= rotate flush sync relinquish-var setup-keys update-catalog \
            cursor-file=",
        ),
        effect: Effect::ReadsUnless(Unless {
            writes: "\
                vacuum-size vacuum-time vacuum-files rotate flush sync relinquish-var setup-keys update-catalog \
                cursor-file",
            runs: "",
            operands: None,
        }),
        ..Program::DATA
    },
    Program {
        names: "start-stop-daemon",
        wrappers: &[Wrapper::rest(
            "SKTHVp:n:x:a:s:u:U:c:r:d:g:k:R:N:P:I:bmoqtvCO:",
            "start stop exec= startas= pidfile= name= user= chuid= chdir= background make-pidfile quiet",
        )
        .dashes(Dashes::Need)
        .child()],
        ..Program::UNKNOWN
    },
    Program {
        names: "systemd-cat",
        wrappers: &[Wrapper::rest("t:p:", "identifier= priority= stderr-priority= level-prefix=").child()],
        ..Program::UNKNOWN
    },
    Program {
        names: "systemd-inhibit",
        wrappers: &[Wrapper::rest("", "what= who= why= mode= list").child()],
        ..Program::UNKNOWN
    },
    Program {
        names: "systemd-run",
        wrappers: &[Wrapper::rest(
            "H:M:p:u:E:d:tPqGSrh",
            "\
            user system host= machine= scope unit= property= description= slice= remain-after-exit send-sighup \
            service-type= uid= gid= nice= working-directory= same-dir setenv= pty pipe quiet on-active= on-boot= \
            on-startup= on-unit-active= on-unit-inactive= on-calendar= timer-property= path-property= \
            socket-property= no-block wait collect shell",
        )
        .chdir("working-directory")
        .login(Login::With("S shell"))
        .child()],
        rule: Never,
        ..Program::UNKNOWN
    },
];

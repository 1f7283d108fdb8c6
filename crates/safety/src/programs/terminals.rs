//! Terminals, sessions and programs that watch files.

use super::program::Arity::Never;
use super::program::{Fact, Program};
use super::wrapper::{Dashes, Login, Wrapper};
use crate::options::OptionSpec;

const WATCH: Wrapper = Wrapper::joined(
    "bcCdegn:pq:rs:tvwxfh",
    "\
            beep color no-color differences=? errexit chgexit equexit= interval= precise no-rerun shotsdir= \
            no-title no-wrap exec follow",
)
.switch("x exec");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "alacritty konsole lxterminal st urxvt xfce4-terminal xterm",
        wrappers: &[Wrapper::rest("", "").behind("-e -x").line().child()],
        ..Program::UNKNOWN
    },
    Program { names: "entr", wrappers: &[Wrapper::rest("acdnprsxz", "").switch("s").child()], ..Program::UNKNOWN },
    Program {
        names: "foot kitty ptyxis wezterm",
        wrappers: &[Wrapper::rest("", "tab window working-directory= title=").dashes(Dashes::Need).child()],
        ..Program::UNKNOWN
    },
    Program {
        names: "gnome-terminal mate-terminal",
        wrappers: &[Wrapper::rest("e:", "tab window working-directory= title= command= geometry= profile=")
            .script("e command")
            .dashes(Dashes::Need)
            .child()],
        ..Program::UNKNOWN
    },
    Program { names: "gwatch hwatch viddy", wrappers: &[WATCH], ..Program::UNKNOWN },
    Program {
        names: "pueue",
        wrappers: &[Wrapper::joined(
            "w:iseg:d:l:p:o:a:",
            "working-directory= escape immediate stashed group= delay= after= label= priority= print-task-id",
        )
        .sub("add")],
        ..Program::UNKNOWN
    },
    Program {
        names: "screen",
        wrappers: &[Wrapper::rest("aAc:dDe:fh:iILlmMnOp:qQrRs:S:t:T:UvwxX", "").stop("X").child()],
        ..Program::UNKNOWN
    },
    Program {
        names: "script",
        wrappers: &[Wrapper::rest(
            "aB:c:eE:fI:O:m:o:qt:T:hV",
            "append command= return flush log-in= log-out= log-io= log-timing= quiet timing=",
        )
        .operands(1)
        .script("c command")
        .login(Login::Alone)
        .child()],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "tmux",
        options: OptionSpec::leading("2CDlNuvVc:f:L:S:T:", ""),
        wrappers: &[Wrapper::joined("dc:n:t:s:e:F:hvbPfAEXDx:y:l:p:Z", "")
            .sub("new-session, new, new-window, neww, split-window, splitw, respawn-pane, run-shell, run")],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program { names: "ts tsp", wrappers: &[Wrapper::rest("nfmdL:N:D:E", "").child()], ..Program::UNKNOWN },
    Program { names: "watch", wrappers: &[WATCH], rule: Never, facts: &[Fact::OnlyRunsCommands], ..Program::UNKNOWN },
    Program {
        names: "watchexec",
        wrappers: &[Wrapper::joined(
            "w:W:L:c::o:rs:d:pnE:e:f:i:1vqhF:N:",
            "\
            watch= watch-non-recursive= watch-file= clear=? on-busy-update= restart signal= stop-signal= \
            stop-timeout= debounce= delay-run= poll=? shell= no-environment env= workdir= exts= filter= ignore= \
            filter-file= ignore-file= postpone project-origin= socket=",
        )
        .switch("n")
        .chdir("workdir")],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "xvfb-run xvfb-run-safe",
        wrappers: &[Wrapper::rest(
            "ae:f:hln:p:s:w:",
            "auto-servernum error-file= auth-file= server-num= server-args= wait=",
        )],
        ..Program::UNKNOWN
    },
];

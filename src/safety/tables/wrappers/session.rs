//! Wrappers that give a command a terminal, a service or another turn.

use super::wrapper::{Dashes, Login, Wrapper};

pub(super) static SESSION: &[Wrapper] = &[
    Wrapper::rest(
        &["script"],
        "aB:c:eE:fI:O:m:o:qt:T:hV",
        &["append", "command=", "return", "flush", "log-in=", "log-out=", "log-io=", "log-timing=", "quiet", "timing="],
    )
    .operands(1)
    .script(&["c", "command"])
    .login(Login::Alone)
    .child(),
    Wrapper::rest(
        &["systemd-run"],
        "H:M:p:u:E:d:tPqGSrh",
        &[
            "user",
            "system",
            "host=",
            "machine=",
            "scope",
            "unit=",
            "property=",
            "description=",
            "slice=",
            "remain-after-exit",
            "send-sighup",
            "service-type=",
            "uid=",
            "gid=",
            "nice=",
            "working-directory=",
            "same-dir",
            "setenv=",
            "pty",
            "pipe",
            "quiet",
            "on-active=",
            "on-boot=",
            "on-startup=",
            "on-unit-active=",
            "on-unit-inactive=",
            "on-calendar=",
            "timer-property=",
            "path-property=",
            "socket-property=",
            "no-block",
            "wait",
            "collect",
            "shell",
        ],
    )
    .chdir(&["working-directory"])
    .login(Login::With(&["S", "shell"]))
    .child(),
    Wrapper::rest(&["systemd-inhibit"], "", &["what=", "who=", "why=", "mode=", "list"]).child(),
    Wrapper::rest(&["systemd-cat"], "t:p:", &["identifier=", "priority=", "stderr-priority=", "level-prefix="]).child(),
    Wrapper::rest(
        &["dbus-run-session", "dbus-launch"],
        "",
        &["config-file=", "dbus-daemon=", "exit-with-session", "sh-syntax"],
    ),
    Wrapper::rest(
        &["xvfb-run", "xvfb-run-safe"],
        "ae:f:hln:p:s:w:",
        &["auto-servernum", "error-file=", "auth-file=", "server-num=", "server-args=", "wait="],
    ),
    Wrapper::rest(&["xterm", "konsole", "urxvt", "alacritty", "xfce4-terminal", "lxterminal", "st"], "", &[])
        .behind(&["-e", "-x"])
        .line()
        .child(),
    Wrapper::rest(
        &["gnome-terminal", "mate-terminal"],
        "e:",
        &["tab", "window", "working-directory=", "title=", "command=", "geometry=", "profile="],
    )
    .script(&["e", "command"])
    .dashes(Dashes::Need)
    .child(),
    Wrapper::rest(&["ptyxis", "kitty", "foot", "wezterm"], "", &["tab", "window", "working-directory=", "title="])
        .dashes(Dashes::Need)
        .child(),
    Wrapper::joined(&["tmux"], "dc:n:t:s:e:F:hvbPfAEXDx:y:l:p:Z", &[]).sub(
        &[
            &["new-session"],
            &["new"],
            &["new-window"],
            &["neww"],
            &["split-window"],
            &["splitw"],
            &["respawn-pane"],
            &["run-shell"],
            &["run"],
        ],
        "2CDlNuvVc:f:L:S:T:",
        &[],
    ),
    Wrapper::rest(&["screen"], "aAc:dDe:fh:iILlmMnOp:qQrRs:S:t:T:UvwxX", &[]).stop(&["X"]).child(),
    Wrapper::rest(
        &["start-stop-daemon"],
        "SKTHVp:n:x:a:s:u:U:c:r:d:g:k:R:N:P:I:bmoqtvCO:",
        &[
            "start",
            "stop",
            "exec=",
            "startas=",
            "pidfile=",
            "name=",
            "user=",
            "chuid=",
            "chdir=",
            "background",
            "make-pidfile",
            "quiet",
        ],
    )
    .dashes(Dashes::Need)
    .child(),
    Wrapper::rest(&["tsp", "ts"], "nfmdL:N:D:E", &[]).child(),
    Wrapper::joined(
        &["pueue"],
        "w:iseg:d:l:p:o:a:",
        &[
            "working-directory=",
            "escape",
            "immediate",
            "stashed",
            "group=",
            "delay=",
            "after=",
            "label=",
            "priority=",
            "print-task-id",
        ],
    )
    .sub(&[&["add"]], "", &[]),
    Wrapper::joined(
        &["watch", "gwatch", "viddy", "hwatch"],
        "bcCdegn:pq:rs:tvwxfh",
        &[
            "beep",
            "color",
            "no-color",
            "differences=?",
            "errexit",
            "chgexit",
            "equexit=",
            "interval=",
            "precise",
            "no-rerun",
            "shotsdir=",
            "no-title",
            "no-wrap",
            "exec",
            "follow",
        ],
    )
    .switch(&["x", "exec"]),
    Wrapper::rest(&["entr"], "acdnprsxz", &[]).switch(&["s"]).child(),
    Wrapper::joined(
        &["watchexec"],
        "w:W:L:c::o:rs:d:pnE:e:f:i:1vqhF:N:",
        &[
            "watch=",
            "watch-non-recursive=",
            "watch-file=",
            "clear=?",
            "on-busy-update=",
            "restart",
            "signal=",
            "stop-signal=",
            "stop-timeout=",
            "debounce=",
            "delay-run=",
            "poll=?",
            "shell=",
            "no-environment",
            "env=",
            "workdir=",
            "exts=",
            "filter=",
            "ignore=",
            "filter-file=",
            "ignore-file=",
            "postpone",
            "project-origin=",
            "socket=",
        ],
    )
    .switch(&["n"])
    .chdir(&["workdir"]),
    Wrapper::rest(&["onchange", "chokidar"], "ijk1d:f:c:p:t:", &["initial", "kill", "delay=", "filter=", "command="])
        .script(&["c", "command"])
        .dashes(Dashes::Need)
        .child(),
];

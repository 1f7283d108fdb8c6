//! Programs that set up, limit, trace, time or repeat a process.

use super::program::Arity::Never;
use super::program::{Effect, Fact, Program};
use super::wrapper::{Dashes, Wrapper};

const NOHUP: Wrapper = Wrapper::rest("cfwpnhV", "ctty fork wait");

const GDB: Wrapper = Wrapper::rest("", "args").behind("--args -args").child();

const ENV: Wrapper = Wrapper::rest(
    "i0u:C:S:va:P:L:U:",
    "\
            ignore-environment null unset= chdir= split-string= block-signal=? default-signal=? ignore-signal=? \
            list-signal-handling debug argv0= help version",
)
.assignments()
.chdir("C chdir")
.stop("help version");

const NICE: Wrapper = Wrapper::rest("n:0123456789", "adjustment= help version");

const STDBUF: Wrapper = Wrapper::rest("i:o:e:", "input= output= error= help version");

const TIME: Wrapper = Wrapper::rest("apvqlf:o:hV", "append format= output= portability quiet verbose help version");

const TIMEOUT: Wrapper =
    Wrapper::rest("fk:s:pv", "foreground kill-after= preserve-status signal= verbose help version").operands(1);

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "aarch64 i386 linux32 linux64 setarch x86_64",
        wrappers: &[Wrapper::rest("vRFZLXBIST3hV", "uname-2.6 addr-no-randomize list")],
        ..Program::UNKNOWN
    },
    Program {
        names: "arch",
        wrappers: &[Wrapper::rest("cd:e:h", "x86_64 arm64 arm64e i386")],
        effect: Effect::Reads,
        ..Program::UNKNOWN
    },
    Program { names: "caffeinate", wrappers: &[Wrapper::rest("disut:w:m", "")], ..Program::UNKNOWN },
    Program {
        names: "catatonit dumb-init tini",
        wrappers: &[Wrapper::rest("svgwp:ecr:", "single-child rewrite= verbose")],
        ..Program::UNKNOWN
    },
    Program {
        names: "catchsegv chronic daemon eatmydata gnohup ifne mispipe nocache",
        wrappers: &[NOHUP],
        ..Program::UNKNOWN
    },
    Program { names: "cgdb", wrappers: &[GDB], ..Program::UNKNOWN },
    Program {
        names: "chrt",
        wrappers: &[Wrapper::rest(
            "abdefimoprRT:P:D:vhV",
            "\
            all-tasks batch deadline ext fifo idle max other pid rr reset-on-fork sched-runtime= sched-period= \
            sched-deadline= verbose help version",
        )
        .operands(1)
        .stop("p pid m max")],
        ..Program::UNKNOWN
    },
    Program {
        names: "cpulimit",
        wrappers: &[Wrapper::rest(
            "l:p:P:e:c:zqvmfibh",
            "limit= pid= exe= path= include-children lazy foreground background",
        )],
        ..Program::UNKNOWN
    },
    Program {
        names: "dockerize wait-for wait-for-it wait-for-it.sh wait-port",
        wrappers: &[Wrapper::rest("h:p:t:sq", "host= port= timeout= strict quiet").dashes(Dashes::Need).child()],
        ..Program::UNKNOWN
    },
    Program { names: "env", wrappers: &[ENV], rule: Never, ..Program::UNKNOWN },
    Program {
        names: "faketime",
        wrappers: &[Wrapper::rest("fmp:", "exclude-monotonic").operands(1)],
        ..Program::UNKNOWN
    },
    Program {
        names: "flock",
        wrappers: &[Wrapper::rest(
            "sxeounFw:E:c:hV",
            "shared exclusive unlock nonblock timeout= conflict-exit-code= close no-fork command= verbose",
        )
        .operands(1)
        .script("c command")],
        rule: Never,
        facts: &[Fact::OnlyRunsCommands],
        ..Program::UNKNOWN
    },
    Program { names: "gdb", wrappers: &[GDB], rule: Never, ..Program::UNKNOWN },
    Program { names: "genv", wrappers: &[ENV], ..Program::UNKNOWN },
    Program { names: "gnice", wrappers: &[NICE], ..Program::UNKNOWN },
    Program { names: "gstdbuf", wrappers: &[STDBUF], ..Program::UNKNOWN },
    Program { names: "gtime", wrappers: &[TIME], ..Program::UNKNOWN },
    Program { names: "gtimeout", wrappers: &[TIMEOUT], ..Program::UNKNOWN },
    Program {
        names: "hyperfine",
        wrappers: &[Wrapper::each(
            "w:m:M:r:s:p:c:P:D:L:S:iNn:uh:",
            "\
            warmup= min-runs= max-runs= runs= setup= prepare= conclude= cleanup= parameter-scan= \
            parameter-step-size= parameter-list= shell= ignore-failure style= sort= time-unit= export-json= \
            export-csv= export-markdown= show-output output= input= command-name=",
        )
        .script("s p c setup prepare conclude cleanup")],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "ionice",
        wrappers: &[Wrapper::rest("c:n:p:P:u:tThV", "class= classdata= pid= pgid= uid= ignore help version")
            .stop("p P u pid pgid uid")],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "lldb",
        wrappers: &[Wrapper::rest("o:O:s:S:p:n:", "batch").dashes(Dashes::Need).child()],
        ..Program::UNKNOWN
    },
    Program {
        names: "ltrace",
        wrappers: &[Wrapper::rest("a:A:bcCD:e:fF:hiLl:n:o:p:rs:Stu:vVw:x:X:", "output= library= config=")],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program { names: "nice", wrappers: &[NICE], rule: Never, ..Program::UNKNOWN },
    Program { names: "nohup setsid unbuffer", wrappers: &[NOHUP], rule: Never, ..Program::UNKNOWN },
    Program {
        names: "numactl",
        wrappers: &[Wrapper::rest(
            "i:p:P:m:N:C:lbaHsw:",
            "interleave= preferred= membind= cpunodebind= physcpubind= localalloc balancing all show hardware",
        )
        .stop("H s show hardware")],
        ..Program::UNKNOWN
    },
    Program {
        names: "perf",
        wrappers: &[Wrapper::rest(
            "e:o:r:p:t:a:C:F:g:D:I:x:dvniBABS",
            "event= output= repeat= pid= tid= call-graph= freq=",
        )
        .sub("stat, record, trace, mem record")
        .child()],
        ..Program::UNKNOWN
    },
    Program {
        names: "prlimit",
        wrappers: &[Wrapper::rest(
            "c::d::e::f::i::l::m::n::q::r::s::t::u::v::x::y::p:o:",
            "pid= output= noheadings raw verbose",
        )
        .stop("p pid")],
        ..Program::UNKNOWN
    },
    Program {
        names: "proxychains proxychains4 torify torsocks tsocks",
        wrappers: &[Wrapper::rest("qf:", "")],
        ..Program::UNKNOWN
    },
    Program {
        names: "retry",
        wrappers: &[Wrapper::rest("t:s:m:x:d:u:f:i:", "times= delay= tries= sleep= max= until= while=")
            .dashes(Dashes::Begin)
            .child()],
        ..Program::UNKNOWN
    },
    Program {
        names: "rlwrap",
        wrappers: &[Wrapper::rest("A:a:b:cC:D:ef:F:g:hH:iIl:m:M:nN:oO:p:P:q:rRs:S:t:T:uUvw:WzZ:", "")],
        ..Program::UNKNOWN
    },
    Program { names: "rr", wrappers: &[Wrapper::rest("", "").sub("record").child()], ..Program::UNKNOWN },
    Program { names: "softlimit", wrappers: &[Wrapper::rest("m:a:d:f:o:p:r:c:t:s:l:", "")], ..Program::UNKNOWN },
    Program { names: "stdbuf", wrappers: &[STDBUF], rule: Never, ..Program::UNKNOWN },
    Program {
        names: "strace",
        wrappers: &[Wrapper::rest(
            "a:b:cCdDe:E:fFhI:ikno:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ",
            "\
            attach= columns= env= output= trace= trace-path= string-limit= summary-sort-by= user= summary-columns= \
            interruptible= signal= inject= follow-forks summary summary-only status=",
        )],
        rule: Never,
        ..Program::UNKNOWN
    },
    Program {
        names: "taskset",
        wrappers: &[Wrapper::rest("apchV", "all-tasks pid cpu-list help version").operands(1).stop("p pid")],
        ..Program::UNKNOWN
    },
    Program { names: "time", wrappers: &[TIME], rule: Never, ..Program::UNKNOWN },
    Program { names: "timeout", wrappers: &[TIMEOUT], rule: Never, ..Program::UNKNOWN },
    Program { names: "trickle", wrappers: &[Wrapper::rest("sd:u:w:t:l:n:L:P:hvV", "")], ..Program::UNKNOWN },
    Program {
        names: "valgrind",
        wrappers: &[Wrapper::rest("qvhd", "tool= log-file= suppressions=")],
        ..Program::UNKNOWN
    },
];

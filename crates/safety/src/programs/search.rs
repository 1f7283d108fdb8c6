//! Programs that look for files and may run a command for each of them.

use super::program::Arity::{Exact, Never};
use super::program::{Effect, Fact, Program, Unless};
use crate::options::OptionSpec;

const XARGS: OptionSpec = OptionSpec::leading(
    "0a:d:E:e::I:i::J:L:l::n:oP:pR:rs:S:tx",
    "\
    null arg-file= delimiter= eof=? replace=? max-lines=? max-args= max-procs= max-chars= interactive \
    no-run-if-empty verbose exit open-tty process-slot-var= show-limits help version",
);

const PARALLEL: OptionSpec = OptionSpec::leading(
    "0a:B:C:d:D:E:e::fhI:i::j:kL:l::m:N:n:P:pqrS:s:tTuU:vVW:wXx",
    "\
    null arg-file= arg-sep= arg-file-sep= bar basefile= bg block= cat cleanup colsep= compress delay= delimiter= \
    dry-run env= eta fg fifo files group gnu halt= header= id= joblog= jobs= keep-order line-buffer lb link \
    linebuffer load= max-args= max-chars= max-lines=? max-procs= max-replace-args= memfree= nice= no-notice \
    no-run-if-empty onall nonall pipe pipepart plain plus progress quote recend= recstart= results= resume \
    resume-failed retries= return= round-robin rpl= semaphore seqreplace= shebang shellquote silent sshlogin= \
    sshloginfile= tag tagstring= tee termseq= timeout= tmpdir= tmux transfer transferfile= trim= ungroup verbose \
    version wait will-cite workdir= wd= xapply help citation",
);

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "fd fdfind",
        options: OptionSpec::gnu("HIsiFd:t:e:S:E:x:X:c:j:", "exec exec-batch"),
        rule: Exact,
        effect: Effect::ReadsUnless(Unless { writes: "", runs: "x X exec exec-batch", operands: None }),
        ..Program::DATA
    },
    Program { names: "find", rule: Exact, ..Program::DATA },
    Program { names: "gfind", rule: Exact, ..Program::UNKNOWN },
    Program { names: "gxargs", options: XARGS, ..Program::UNKNOWN },
    Program {
        names: "parallel",
        options: PARALLEL,
        rule: Never,
        facts: &[Fact::OnlyRunsCommands],
        ..Program::COMMANDS
    },
    Program { names: "sem", options: PARALLEL, ..Program::COMMANDS },
    Program { names: "xargs", options: XARGS, rule: Never, facts: &[Fact::OnlyRunsCommands], ..Program::COMMANDS },
];

/// Tests of find that take a value and narrow a search down.
pub static NARROWING_TESTS: &str = "\
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -newer -anewer -cnewer \
    -samefile -inum -links -mtime -atime -ctime -mmin -amin -cmin -used -size -user -uid -group -gid -perm \
    -context";
/// Tests and actions of find that take a value and leave the search as wide as it is, or may.
pub static OTHER_VALUED_TESTS: &str = "\
    -fstype -type -xtype -maxdepth -mindepth -files0-from -regextype -printf -fprint -fprint0 -fls -flags \
    -mnewer -since -xattr -Bmin -Btime -acl";
/// Tests without a value that narrow a search down.
pub static NARROWING_FLAGS: &str = "-empty -nouser -nogroup -executable";
/// Tests and actions that do not narrow a search down.
pub static NEUTRAL_TESTS: &str = "\
    -depth -d -daystart -follow -ignore_readdir_race -noignore_readdir_race -mount -xdev -x -noleaf -nowarn \
    -warn -print -print0 -printx -prune -true -ls -a -and -delete -regextype -fstype -maxdepth -printf -fprint \
    -fprint0 -fls -mindepth";

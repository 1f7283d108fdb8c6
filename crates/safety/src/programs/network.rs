//! Programs that fetch, send and connect.

use super::program::Arity::Exact;
use super::program::{Effect, Fact, Hook, Program, Target};
use crate::options::OptionSpec;

const SCP: OptionSpec = OptionSpec::leading("c:D:F:i:J:l:o:P:S:X:", "");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "curl",
        options: OptionSpec::gnu(
            "#0123469aA:b:BC:c:d:D:e:E:fF:gGh:H:iIjJkK:lLm:MnNo:OpP:qQ:r:RsSt:T:u:U:vVw:x:X:y:Y:z:Z",
            "\
            output= output-dir= data= header= request= user= user-agent= url= form= cookie= cookie-jar= \
            dump-header= connect-timeout= max-time= retry= proxy= config= upload-file= write-out= trace= \
            trace-ascii= stderr= range= referer=",
        ),
        rule: Exact,
        facts: &[Fact::Writes(Target::Values("o output"))],
        ..Program::DATA
    },
    Program { names: "http https nc ncat", rule: Exact, ..Program::DATA },
    Program {
        names: "rsync",
        options: OptionSpec::gnu(
            "vqcarRbudlLkKHpEAXogDtSnWxe:B:T:yCf:Fz08s46hiPmOJM:IU@:",
            "\
            backup-dir= suffix= chmod= block-size= rsh= rsync-path= max-delete= max-size= min-size= partial-dir= \
            timeout= contimeout= modify-window= temp-dir= compare-dest= copy-dest= link-dest= compress-level= \
            skip-compress= filter= exclude= exclude-from= include= include-from= files-from= address= port= \
            sockopts= out-format= log-file= log-file-format= password-file= bwlimit= protocol= iconv= info= debug= \
            usermap= groupmap= chown= dry-run list-only help version",
        ),
        hooks: &[Hook { options: "e rsh rsync-path", begins: &[] }],
        rule: Exact,
        effect: Effect::Changes,
        facts: &[Fact::Writes(Target::LastUnless("n dry-run list-only"))],
        ..Program::DATA
    },
    Program {
        names: "scp",
        options: SCP,
        hooks: &[
            Hook {
                options: "o",
                begins: &[
                    "proxycommand=",
                    "proxycommand ",
                    "localcommand=",
                    "localcommand ",
                    "knownhostscommand=",
                    "knownhostscommand ",
                ],
            },
            Hook { options: "S", begins: &[] },
        ],
        rule: Exact,
        effect: Effect::Changes,
        ..Program::DATA
    },
    Program {
        names: "sftp",
        options: SCP,
        hooks: &[
            Hook {
                options: "o",
                begins: &[
                    "proxycommand=",
                    "proxycommand ",
                    "localcommand=",
                    "localcommand ",
                    "knownhostscommand=",
                    "knownhostscommand ",
                ],
            },
            Hook { options: "S", begins: &[] },
        ],
        rule: Exact,
        ..Program::DATA
    },
    Program {
        names: "wget",
        options: OptionSpec::gnu(
            "VhbdqvFo:a:e:i:B:t:O:cSN4T:w:Q:P:xnU:rl:kKmpA:R:D:HLI:X:",
            "\
            output-document= output-file= append-output= directory-prefix= tries= timeout= wait= header= post-data= \
            post-file= user= password= user-agent= input-file= base= level= accept= reject=",
        ),
        rule: Exact,
        facts: &[Fact::Writes(Target::Values("O output-document"))],
        ..Program::DATA
    },
];

/// Options with which rsync deletes what its source does not have.
pub static RSYNC_DELETES: &str =
    "del delete delete-before delete-during delete-delay delete-after delete-excluded delete-missing-args";

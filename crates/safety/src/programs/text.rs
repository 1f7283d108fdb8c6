//! Programs that read or rewrite text.

use super::program::Arity::Exact;
use super::program::{Effect, Fact, Hook, Program, Target, Unless};
use crate::options::OptionSpec;

const SED: OptionSpec = OptionSpec::gnu(
    "aEe:f:HI::i::l:nrsuz",
    "\
    quiet silent debug expression= file= follow-symlinks in-place=? line-length= posix regexp-extended separate \
    sandbox unbuffered null-data zero-terminated help version",
);

const SPLIT: OptionSpec = OptionSpec::gnu("a:b:C:l:n:t:", "filter=");

const TAR: OptionSpec = OptionSpec::gnu(
    "f:C:b:I:T:X:F:H:K:L:N:V:g:",
    "to-command= use-compress-program= info-script= new-volume-script= rsh-command= checkpoint-action=",
);

const TEE: OptionSpec = OptionSpec::gnu("aip", "append ignore-interrupts output-error=? help version");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "ag",
        options: OptionSpec::gnu("A:B:C:G:m:p:g:", "pager="),
        effect: Effect::ReadsUnless(Unless { writes: "", runs: "pager", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "bat",
        options: OptionSpec::gnu("l:H:r:m:", "pager= paging="),
        effect: Effect::ReadsUnless(Unless { writes: "", runs: "pager", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "bsdtar",
        options: OptionSpec::gnu(
            "f:C:b:I:T:X:F:H:K:L:N:V:g:",
            "to-command= use-compress-program= info-script= new-volume-script= rsh-command=",
        ),
        hooks: &[Hook {
            options: "to-command use-compress-program I info-script new-volume-script F rsh-command",
            begins: &[],
        }],
        ..Program::DATA
    },
    Program {
        names: "date",
        options: OptionSpec::gnu("d:f:I::Rr:s:u", "set= date= file= reference="),
        effect: Effect::ReadsUnless(Unless { writes: "s set", runs: "", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "file",
        options: OptionSpec::gnu("Ce:F:f:m:P:", "compile"),
        effect: Effect::ReadsUnless(Unless { writes: "C compile", runs: "", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "gsed",
        options: SED,
        facts: &[Fact::Writes(Target::OperandsWith("i I in-place"))],
        ..Program::DATA
    },
    Program {
        names: "gsort",
        options: OptionSpec::gnu("k:o:S:t:T:", "compress-program="),
        hooks: &[Hook { options: "compress-program", begins: &[] }],
        ..Program::UNKNOWN
    },
    Program { names: "gsplit", options: SPLIT, hooks: &[Hook { options: "filter", begins: &[] }], ..Program::UNKNOWN },
    Program {
        names: "gtar",
        options: TAR,
        hooks: &[
            Hook {
                options: "to-command use-compress-program I info-script new-volume-script F rsh-command",
                begins: &[],
            },
            Hook { options: "checkpoint-action", begins: &["exec="] },
        ],
        ..Program::UNKNOWN
    },
    Program {
        names: "hostname",
        options: OptionSpec::gnu("F:b", "file= boot"),
        effect: Effect::ReadsUnless(Unless { writes: "F file b boot", runs: "", operands: Some(0) }),
        ..Program::DATA
    },
    Program {
        names: "less",
        options: OptionSpec::gnu("o:O:k:T:", "log-file= LOG-FILE="),
        effect: Effect::ReadsUnless(Unless { writes: "o O log-file LOG-FILE", runs: "k T", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "man",
        options: OptionSpec::gnu("P:C:L:m:M:S:s:e:p:r:E:H::", "pager= html=?"),
        hooks: &[Hook { options: "P pager H html", begins: &[] }],
        ..Program::DATA
    },
    Program {
        names: "rg",
        options: OptionSpec::gnu("A:B:C:E:M:d:e:f:g:j:m:r:t:T:z", "pre= pre-glob= hostname-bin= search-zip"),
        hooks: &[Hook { options: "pre hostname-bin", begins: &[] }],
        effect: Effect::ReadsUnless(Unless { writes: "", runs: "pre hostname-bin z search-zip", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "ripgrep",
        options: OptionSpec::gnu("e:f:g:t:T:A:B:C:m:j:r:E:M:d:", "pre= hostname-bin="),
        hooks: &[Hook { options: "pre hostname-bin", begins: &[] }],
        ..Program::DATA
    },
    Program {
        names: "sdiff",
        options: OptionSpec::gnu("o:", "output="),
        effect: Effect::ReadsUnless(Unless { writes: "o output", runs: "", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "sed",
        options: SED,
        rule: Exact,
        facts: &[Fact::Writes(Target::OperandsWith("i I in-place"))],
        ..Program::DATA
    },
    Program {
        names: "shuf",
        options: OptionSpec::gnu("ei:n:o:rz", "output= random-source= input-range= head-count="),
        effect: Effect::ReadsUnless(Unless { writes: "o output", runs: "", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "sort",
        options: OptionSpec::gnu(
            "bdfgiMhnRrVcCmuszk:o:S:t:T:",
            "output= compress-program= temporary-directory= key= field-separator= buffer-size= files0-from=",
        ),
        hooks: &[Hook { options: "compress-program", begins: &[] }],
        effect: Effect::ReadsUnless(Unless { writes: "o output", runs: "compress-program", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "split",
        options: SPLIT,
        hooks: &[Hook { options: "filter", begins: &[] }],
        effect: Effect::Changes,
        ..Program::DATA
    },
    Program { names: "sponge", options: TEE, facts: &[Fact::Writes(Target::Operands)], ..Program::DATA },
    Program {
        names: "tar",
        options: TAR,
        hooks: &[
            Hook {
                options: "to-command use-compress-program I info-script new-volume-script F rsh-command",
                begins: &[],
            },
            Hook { options: "checkpoint-action", begins: &["exec="] },
        ],
        rule: Exact,
        ..Program::DATA
    },
    Program { names: "tee", options: TEE, rule: Exact, facts: &[Fact::Writes(Target::Operands)], ..Program::DATA },
    Program {
        names: "tree",
        options: OptionSpec::gnu("L:P:I:o:H:T:R", "filelimit="),
        effect: Effect::ReadsUnless(Unless { writes: "o R", runs: "", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "uniq",
        options: OptionSpec::gnu("cdDf:is:uw:z", "skip-fields= skip-chars= check-chars="),
        effect: Effect::ReadsUnless(Unless { writes: "", runs: "", operands: Some(1) }),
        ..Program::DATA
    },
    Program {
        names: "xxd",
        options: OptionSpec::gnu("abc:CeEg:hil:no:prs:uv", "revert"),
        effect: Effect::ReadsUnless(Unless { writes: "r revert", runs: "", operands: Some(1) }),
        ..Program::DATA
    },
    Program {
        names: "yq",
        options: OptionSpec::gnu("io:p:s:I:", "inplace split-exp= in-place"),
        effect: Effect::ReadsUnless(Unless { writes: "i inplace in-place s split-exp", runs: "", operands: None }),
        ..Program::DATA
    },
    Program {
        names: "zip",
        options: OptionSpec::gnu("b:i:n:t:x:O:", "unzip-command="),
        hooks: &[Hook { options: "unzip-command", begins: &[] }],
        effect: Effect::Changes,
        ..Program::DATA
    },
];

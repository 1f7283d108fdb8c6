//! Programs that send data to another machine: which of their words, files and input they send.

use crate::options::OptionSpec;

/// One way in which programs send data.
#[derive(Debug)]
pub struct Sending {
    /// The names of the programs.
    pub names: &'static str,
    /// Paths of subcommands, one of which must come first. Empty: without a subcommand.
    pub sub: &'static str,
    /// The options, also those behind the subcommand.
    pub options: OptionSpec,
    /// Options whose value is sent.
    pub text: &'static str,
    /// Options whose value is the name of a file that is sent. `-` is the standard input.
    pub files: &'static str,
    /// Options whose value may name a file behind a mark.
    pub marked: &'static [(Mark, &'static str)],
    /// The meaning of its operands.
    pub operands: Operands,
    /// When the standard input is sent.
    pub input: StandardInput,
    /// The receiver, if no operand names it.
    pub to: &'static str,
}

/// How a value names a file.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// `@FILE`
    Whole,
    /// `name=@FILE`, `name=<FILE`
    Field,
    /// `@FILE`, `name@FILE`
    Name,
}

/// The meaning of operands.
#[derive(Clone, Copy, Debug)]
pub enum Operands {
    /// Nothing that is sent.
    Other,
    /// The receivers. The text of a URL is sent.
    Addresses,
    /// The receiver, and then text.
    Host,
    /// The receiver, and then fields, which may name files.
    Fields,
    /// Files.
    Files,
    /// Files, and then the target, which is on another machine if it contains this text.
    Copies(&'static str),
}

/// When standard input is sent.
#[derive(Clone, Copy, Debug)]
pub enum StandardInput {
    /// Never, or if a word names it.
    Named,
    /// Always, but with these options.
    Always(&'static str),
}

impl Sending {
    const NONE: Self = Self {
        names: "",
        sub: "",
        options: OptionSpec::NONE,
        text: "",
        files: "",
        marked: &[],
        operands: Operands::Other,
        input: StandardInput::Named,
        to: "another machine",
    };
}

const CURL: OptionSpec = OptionSpec::gnu(
    "#0123469aA:b:BC:c:d:D:e:E:fF:gGh:H:iIjJkK:lLm:MnNo:OpP:qQ:r:RsSt:T:u:U:vVw:x:X:y:Y:z:Z",
    "\
    aws-sigv4= cacert= capath= cert= cert-type= ciphers= config= connect-timeout= connect-to= cookie= cookie-jar= data= \
    data-ascii= data-binary= data-raw= data-urlencode= dump-header= form= form-string= header= interface= json= key= \
    key-type= limit-rate= max-redirs= max-time= netrc-file= noproxy= oauth2-bearer= output= output-dir= pass= proto= \
    proxy= proxy-header= proxy-user= range= rate= referer= request= request-target= resolve= retry= retry-delay= \
    retry-max-time= stderr= time-cond= tls-max= trace= trace-ascii= unix-socket= upload-file= url= user= user-agent= \
    write-out=",
);

const WGET: OptionSpec = OptionSpec::gnu(
    "VhbdqvFo:a:e:i:B:t:O:cSN4T:w:Q:P:xnU:rl:kKmpA:R:D:HLI:X:",
    "\
    body-data= body-file= ca-certificate= certificate= header= method= output-document= output-file= password= \
    post-data= post-file= private-key= referer= user= user-agent=",
);

const NETCAT: OptionSpec = OptionSpec::gnu(
    "46bCDdFhklNnrStUuvZzc:e:G:g:i:I:m:M:O:o:P:p:q:s:T:V:w:W:X:x:",
    "allow= deny= exec= proxy= proxy-auth= proxy-type= sh-exec= source= source-port= ssl-cert= ssl-key= wait= idle-timeout=",
);

const SSH: OptionSpec = OptionSpec::leading("46AaB:b:Cc:D:E:e:F:fGgI:i:J:KkL:l:M:m:NnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy", "");

const RSYNC: OptionSpec = OptionSpec::gnu(
    "vqcarRbudlLkKHpEAXogDtSnWxe:B:T:yCf:Fz08s46hiPmOJM:IU@:",
    "\
    backup-dir= bwlimit= chmod= chown= compare-dest= copy-dest= exclude= exclude-from= files-from= filter= include= \
    include-from= info= link-dest= log-file= max-size= min-size= out-format= partial-dir= password-file= port= \
    rsh= rsync-path= suffix= temp-dir= timeout= usermap= groupmap=",
);

const GH_TEXT: OptionSpec = OptionSpec::gnu(
    "a:b:B:dF:fH:l:m:n:p:r:R:t:T:w",
    "\
    assignee= base= body= body-file= head= label= milestone= notes= notes-file= project= recover= repo= reviewer= \
    target= template= title=",
);

const STORAGE: OptionSpec = OptionSpec::gnu(
    "h:i:",
    "\
    account= acl= cache-control= cli-read-timeout= content-type= endpoint-url= exclude= expires= impersonate-service-account= \
    include= metadata= output= profile= project= query= region= sse= sse-kms-key-id= storage-class= config= transfers= \
    checkers= bwlimit= filter= log-file= log-level=",
);

/// All of them.
pub static SENDINGS: &[Sending] = &[
    Sending {
        names: "curl",
        options: CURL,
        text: "\
            d data data-ascii data-binary data-raw data-urlencode json F form form-string H header url A user-agent e \
            referer",
        files: "T upload-file",
        marked: &[
            (Mark::Whole, "d data data-ascii data-binary json H header"),
            (Mark::Field, "F form"),
            (Mark::Name, "data-urlencode"),
        ],
        operands: Operands::Addresses,
        ..Sending::NONE
    },
    Sending {
        names: "wget wget2",
        options: WGET,
        text: "body-data post-data header U user-agent referer",
        files: "body-file post-file",
        operands: Operands::Addresses,
        ..Sending::NONE
    },
    Sending {
        names: "http httpie https xh xhs",
        options: OptionSpec::gnu(
            "a:A:o:p:s:P:",
            "auth= auth-type= cert= cert-key= output= print= session= style= timeout= verify=",
        ),
        operands: Operands::Fields,
        input: StandardInput::Always("I ignore-stdin"),
        ..Sending::NONE
    },
    Sending {
        names: "nc nc.openbsd nc.traditional ncat netcat",
        options: NETCAT,
        operands: Operands::Host,
        input: StandardInput::Always("d z"),
        ..Sending::NONE
    },
    Sending {
        names: "socat websocat",
        operands: Operands::Addresses,
        input: StandardInput::Always(""),
        options: OptionSpec::gnu("b:t:T:l:", "header= protocol="),
        ..Sending::NONE
    },
    Sending {
        names: "openssl",
        sub: "s_client",
        options: OptionSpec { permute: true, ..OptionSpec::go("cert= connect= key= servername= CAfile=") },
        input: StandardInput::Always(""),
        ..Sending::NONE
    },
    Sending {
        names: "dig host nslookup ping",
        options: OptionSpec::gnu("c:i:p:t:w:W:", ""),
        operands: Operands::Addresses,
        to: "a name server",
        ..Sending::NONE
    },
    Sending {
        names: "telnet",
        operands: Operands::Host,
        input: StandardInput::Always(""),
        options: OptionSpec::leading("b:e:l:n:S:X:", ""),
        ..Sending::NONE
    },
    Sending {
        names: "autossh rsh slogin ssh",
        options: SSH,
        operands: Operands::Host,
        input: StandardInput::Always("f n N"),
        ..Sending::NONE
    },
    Sending {
        names: "rcp scp",
        options: OptionSpec::leading("c:D:F:i:J:l:o:P:S:X:", ""),
        operands: Operands::Copies(":"),
        ..Sending::NONE
    },
    Sending { names: "rsync", options: RSYNC, operands: Operands::Copies(":"), ..Sending::NONE },
    Sending {
        names: "mail mailx msmtp mutt neomutt s-nail sendmail swaks",
        options: OptionSpec::gnu("a:A:b:c:e:f:F:H:i:q:r:s:S:t:u:", "attach= body= from= server= subject= to="),
        text: "s subject body",
        files: "a A i q attach",
        input: StandardInput::Always(""),
        to: "a mailbox",
        ..Sending::NONE
    },
    Sending {
        names: "gh",
        sub: "gist create, gist new, gist edit",
        options: OptionSpec::gnu("a:d:f:pr:w", "add= desc= filename= remove= public web"),
        files: "a add",
        operands: Operands::Files,
        input: StandardInput::Always(""),
        to: "GitHub",
        ..Sending::NONE
    },
    Sending {
        names: "gh",
        sub: "\
            issue create, issue new, issue comment, issue edit, pr create, pr new, pr comment, pr edit, pr review",
        options: GH_TEXT,
        text: "b body t title",
        files: "F body-file",
        to: "GitHub",
        ..Sending::NONE
    },
    Sending {
        names: "gh",
        sub: "release create, release new, release edit, release upload",
        options: GH_TEXT,
        text: "n notes t title",
        files: "F notes-file",
        operands: Operands::Files,
        to: "GitHub",
        ..Sending::NONE
    },
    Sending {
        names: "gh",
        sub: "api",
        options: OptionSpec::gnu(
            "f:F:H:iX:q:t:p:",
            "raw-field= field= header= include method= input= jq= template= preview= hostname= cache=",
        ),
        text: "f raw-field F field",
        files: "input",
        marked: &[(Mark::Field, "F field")],
        to: "GitHub",
        ..Sending::NONE
    },
    Sending {
        names: "aws",
        sub: "s3 cp, s3 mv, s3 sync",
        options: STORAGE,
        operands: Operands::Copies("s3://"),
        to: "a bucket",
        ..Sending::NONE
    },
    Sending {
        names: "aws",
        sub: "s3api put-object",
        options: OptionSpec::gnu("", "body= bucket= endpoint-url= key= profile= region= output="),
        files: "body",
        to: "a bucket",
        ..Sending::NONE
    },
    Sending {
        names: "mc mcli",
        sub: "cp, mirror, mv",
        operands: Operands::Copies("/"),
        to: "a bucket",
        ..Sending::NONE
    },
    Sending {
        names: "gsutil",
        sub: "cp, mv, rsync",
        options: STORAGE,
        operands: Operands::Copies("gs://"),
        to: "a bucket",
        ..Sending::NONE
    },
    Sending {
        names: "gcloud",
        sub: "storage cp, storage mv, storage rsync",
        options: STORAGE,
        operands: Operands::Copies("gs://"),
        to: "a bucket",
        ..Sending::NONE
    },
    Sending {
        names: "s3cmd",
        sub: "put, sync",
        options: STORAGE,
        operands: Operands::Copies("s3://"),
        to: "a bucket",
        ..Sending::NONE
    },
    Sending {
        names: "az",
        sub: "storage blob upload",
        options: OptionSpec::gnu("f:n:c:", "file= name= container-name= account-name= account-key= sas-token="),
        files: "f file",
        to: "a container of Azure",
        ..Sending::NONE
    },
    Sending {
        names: "rclone",
        sub: "copy, copyto, move, moveto, sync",
        options: STORAGE,
        operands: Operands::Copies(":"),
        ..Sending::NONE
    },
    Sending { names: "rclone", sub: "rcat", options: STORAGE, input: StandardInput::Always(""), ..Sending::NONE },
    Sending { names: "glab", sub: "snippet create", operands: Operands::Files, to: "GitLab", ..Sending::NONE },
    Sending { names: "croc wormhole", sub: "send", operands: Operands::Files, ..Sending::NONE },
];

/// Parts of the names of headers with which a program signs in.
pub static SIGN_IN_HEADERS: &str = "auth authorization token key cookie secret";

/// The beginnings of names below `/dev` that are connections.
pub static CONNECTIONS: &str = "/dev/tcp/ /dev/udp/";

//! Names of files that hold secrets, and programs by the contents that they print.

/// Names of files that hold secrets. In these lists a `?` is a blank.
pub static SECRET_FILES: &str = "\
        .npmrc .netrc _netrc .pypirc .pgpass .dockercfg .vault-token .git-credentials credentials credentials.yml \
        credentials.yaml credentials.toml credentials.ini credentials.csv credentials.db credentials.xml kubeconfig \
        kubeconfig.yaml kubeconfig.yml environ key4.db logins.json cookies.sqlite Login?Data";

/// The ends of such names behind their last dot.
pub static SECRET_EXTENSIONS: &str = "pem key p12 pfx jks keystore ppk kdbx keychain keychain-db";

/// The beginning of such names: `.env.production`.
pub static ENVIRONMENT_FILES: &str = ".env";

/// The end of such names: `gcloud-credentials.json`.
pub static CREDENTIAL_FILES: &str = "credentials.json";

/// The beginning of the names of private keys, which have no extension.
pub static KEY_FILES: &str = "id_";

/// Directories and files that hold secrets, by the last components of their paths.
pub static SECRET_PATHS: &str = "\
        .ssh .gnupg .aws .password-store .kube/config .docker/config.json .mozilla/firefox .config/google-chrome \
        .config/chromium .config/BraveSoftware Google/Chrome Application?Support/Firefox Library/Keychains \
        share/keyrings";

/// Files in such directories that hold none.
pub static PLAIN_FILES: &str = ".ssh/config .ssh/known_hosts .ssh/authorized_keys .aws/config";

/// Parts of names, between dots, dashes and underscores, of files that hold none: examples and public keys.
pub static PLAIN_PARTS: &str =
    "example examples sample samples template tmpl tpl dist default defaults schema pub public";

/// Programs that print the files among their words, or their input, in some form.
pub static PRINTS_FILES: &str = "\
        7z age base32 base64 bat batcat bsdtar bzcat bzip2 cat column comm cut dd diff expand fmt fold gbase64 gcat gpg \
        gpg2 gtar gunzip gzip head hexdump iconv join less lz4 more nl od openssl paste pigz pr rev sort sqlite3 strings tac \
        tail tar unexpand uniq uuencode xxd xz xzcat zcat zip zstd zstdcat";

/// Programs that do so, and whose first operand is no file.
pub static PRINTS_FURTHER_FILES: &str = "awk gawk gojq gsed jaq jq mawk sed yq";

/// Programs that print the lines of files or their input that fit their first operand.
pub static PRINTS_MATCHES: &str = "ack ag egrep fgrep ggrep grep rg ripgrep ugrep";

/// Programs that print their input, in some form, and no file.
pub static PRINTS_INPUT: &str = "envsubst node perl php python python3 pv ruby tee tr xargs";

/// Programs that print numbers of processes, found by their names or all of them.
pub static PRINTS_PROCESSES: &str = "pgrep pidof ps";

/// The beginnings of words with which they print those of processes that are known otherwise.
pub static KNOWN_PROCESSES: &str = "-p -q -P -F --pid --quick-pid --ppid --parent --pidfile";

/// Programs that print all variables of the environment, each with the only words that it may have for that.
pub static PRINTS_VARIABLES: &[(&str, &str)] = &[
    ("declare", "-p -x -xp -px"),
    ("env", "-0 --null"),
    ("export", "-p"),
    ("genv", "-0 --null"),
    ("printenv", "-0 --null"),
    ("set", ""),
    ("typeset", "-p -x -xp -px"),
];

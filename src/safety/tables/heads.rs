//! Programs whose words are data to them: a `git` or `rm` among these is a name, not a command.
//!
//! What runs its words in some forms only (`docker exec`, `find -exec`) stands here too; those forms are looked for first.

use super::wrappers;

/// Whether a program is known to take data.
pub fn is_data(name: &str) -> bool {
    DATA.binary_search(&name).is_ok() || name.starts_with("mkfs.") || name.starts_with("fsck.")
}

/// Whether it is the name of a program that these tables know.
pub fn is_program(name: &str) -> bool {
    is_data(name) || runs_words(name)
}

/// Whether it is the name of a shell, an interpreter or a wrapper.
pub fn runs_words(name: &str) -> bool {
    RUNNERS.binary_search(&name).is_ok() || wrappers::of(name).next().is_some()
}

/// What runs code and stands in no other table.
static RUNNERS: &[&str] = &[
    ".",
    "ash",
    "awk",
    "bash",
    "bun",
    "csh",
    "dash",
    "deno",
    "eval",
    "fish",
    "gawk",
    "ksh",
    "lua",
    "mawk",
    "mksh",
    "node",
    "nodejs",
    "nvim",
    "osascript",
    "parallel",
    "perl",
    "php",
    "pwsh",
    "pypy",
    "pypy3",
    "python",
    "python2",
    "python3",
    "rbash",
    "ruby",
    "sem",
    "sh",
    "source",
    "su",
    "tcsh",
    "trap",
    "vim",
    "xargs",
    "zsh",
];

/// Sorted.
#[rustfmt::skip]
static DATA: &[&str] = &[
    "7z", "7za", "7zr", ":", "R", "Rscript", "VBoxManage", "[", "[[", "]]", "ab", "abbr", "ack", "acme.sh", "act",
    "actionlint", "adb", "addgroup", "adduser", "ag", "age", "age-keygen", "agvtool", "air", "alacritty-msg",
    "alembic", "alex", "alias", "amplify", "ansible", "ansible-doc", "ansible-galaxy", "ansible-inventory",
    "ansible-lint", "ansible-playbook", "ansible-vault", "ant", "apache2", "apachectl", "apk", "apropos", "apt",
    "apt-cache", "apt-file", "apt-get", "apt-key", "apt-mark", "aptitude", "ar", "argocd", "aria2c", "arj", "as",
    "ascii", "asciidoctor", "asciinema", "asdf", "aspell", "astro", "at", "atq", "atrm", "auditctl", "aureport",
    "ausearch", "autocannon", "autoconf", "autogen", "autoload", "automake", "autopep8", "autoreconf", "autossh",
    "ava", "avdmanager", "awk", "aws", "awslocal", "axel", "az", "azd", "b2sum", "badblocks", "bandit", "banner",
    "base32", "base64", "basedpyright", "basename", "bat", "batcat", "bats", "bazel", "bazelisk", "bc", "bfg", "bg",
    "bind", "biome", "bison", "black", "blkid", "blockdev", "bluetoothctl", "bmake", "bokeh", "bombardier", "bootctl",
    "borg", "bower", "bq", "brakeman", "break", "brew", "bsdtar", "btm", "btop", "btrfs", "buck2", "buf", "buildah",
    "bun-test", "bundle", "bundler", "bunzip2", "bw", "bzcat", "bzgrep", "bzip2", "c++", "c8", "cabal", "caddy", "cal",
    "caller", "capacitor", "cargo", "cargo-audit", "cargo-binstall", "cargo-deny", "cargo-nextest", "cargo-tarpaulin",
    "cat", "cc", "ccmake", "cd", "cdk", "cdktf", "celery", "certbot", "cf", "cfdisk", "chage", "changeset", "chattr",
    "cheat", "checkov", "chflags", "chfn", "chgrp", "chmod", "choco", "choose", "chown", "chpasswd", "chrome",
    "chromium", "chromium-browser", "chsh", "civo", "cksum", "clang", "clang++", "clang-format", "clang-tidy",
    "claude", "clear", "clippy-driver", "cloc", "cloudflared", "cmake", "cmp", "cockroach", "code", "code-insiders",
    "codecov", "codespell", "codex", "col", "colordiff", "colrm", "column", "comm", "commitizen", "commitlint",
    "compgen", "complete", "compopt", "composer", "composite", "compress", "conan", "conda", "configure", "confluent",
    "conftest", "conky", "consul", "continue", "convert", "cordova", "corepack", "cosign", "coverage", "cowsay", "cp",
    "cpack", "cpan", "cpanm", "cpio", "cpplint", "crane", "createdb", "createrepo", "createuser", "credo", "crictl",
    "crontab", "cryptsetup", "crystal", "cspell", "csplit", "csslint", "csvcut", "csvgrep", "csvjson", "csvlook",
    "csvsql", "csvstat", "ctest", "ctr", "cucumber", "curl", "cursor", "cut", "cvs", "cypress", "cz", "daphne", "dart",
    "dasel", "dask", "databricks", "datamash", "date", "dbmate", "dbt", "dc", "dconf", "dd", "ddev", "deadcode",
    "debconf-set-selections", "declare", "defaults", "delta", "dep", "depcheck", "deployctl", "depmod", "devpi",
    "devspace", "df", "dhclient", "diff", "diff3", "difft", "dig", "dir", "dircolors", "direnv", "dirname", "dirs",
    "diskutil", "disown", "django-admin", "dmd", "dmesg", "dmidecode", "dnf", "dnf5", "dnsmasq", "docker",
    "docker-compose", "doctl", "dos2unix", "dot", "dotnet", "doxygen", "dpkg", "dpkg-deb", "dpkg-query",
    "dpkg-reconfigure", "dprint", "dredd", "drizzle-kit", "dropdb", "dropuser", "dscl", "dseditgroup", "dtrx", "du",
    "duckdb", "duf", "dune", "duplicity", "dust", "dwdiff", "e2fsck", "earth", "earthly", "eas", "easy_install", "eb",
    "echo", "ed", "efibootmgr", "egrep", "eksctl", "electron", "electron-builder", "eleventy", "elixirc", "elm",
    "emacsclient", "emerge", "emulate", "emulator", "enable", "enca", "enscript", "envsubst", "erl", "erlc", "esbuild",
    "esbuild-server", "eslint", "eslint_d", "espeak", "etcdctl", "ethtool", "exa", "exiftool", "exit", "expand",
    "expo", "export", "expr", "eza", "eza-cloud", "factor", "fallocate", "false", "fastapi", "fastboot", "fastfetch",
    "fastlane", "fauna", "faust", "fc", "fc-cache", "fc-list", "fd", "fdfind", "fdisk", "fdupes", "ffmpeg", "ffplay",
    "ffprobe", "fg", "fgrep", "figlet", "file", "find", "findmnt", "firebase", "firefox", "firewall-cmd", "flake8",
    "flask", "flatc", "flatpak", "flex", "flower", "flutter", "flux", "fly", "flyctl", "flyway", "fmt", "fnm", "fold",
    "foreman", "fortune", "fossil", "fpm", "free", "frogmouth", "fsck", "funcsave", "fuser", "fwupdmgr", "fx", "fzf",
    "g++", "gatsby", "gawk", "gcc", "gcloud", "gdisk", "gem", "gemini", "getcap", "getent", "getfacl", "getopts",
    "gfortran", "ggrep", "gh", "ghc", "ghci", "ghq", "ginkgo", "git", "git-cliff", "git-crypt", "git-lfs",
    "git-secret", "gita", "gitk", "gitlab-runner", "gitleaks", "gitlint", "glab", "glances", "gleam", "glow",
    "glow-cloud", "gmake", "gnuplot", "go", "goaccess", "gofmt", "goimports", "golangci-lint", "gold", "google-chrome",
    "gopass", "goreleaser", "got", "gotestsum", "gotty", "gpasswd", "gpg", "gpg2", "gpp", "gprof", "gradle",
    "gradle-profiler", "gradlew", "granian", "grep", "groff", "gron", "groupadd", "groupdel", "groupmod", "groups",
    "grpcurl", "grunt", "grype", "gs", "gsed", "gsettings", "gsutil", "gtop", "guile", "gulp", "gunicorn", "gunzip",
    "gzcat", "gzip", "hadolint", "halt", "haproxy", "hash", "hatch", "hdiutil", "hdparm", "head", "helm", "helmfile",
    "help", "heroku", "hexdump", "hexyl", "hey", "hf", "hg", "highlight", "history", "hivemind", "hjson",
    "home-manager", "honcho", "host", "hostname", "hostnamectl", "html2text", "htmlhint", "htmlq", "htmltest", "htop",
    "htpasswd", "http", "http-server", "httpie", "https", "hub", "huggingface-cli", "hugo", "husky", "hwclock",
    "hwinfo", "hypercorn", "icdiff", "iconv", "id", "identify", "ifconfig", "ifdown", "ifup", "incus", "indent",
    "influx", "info", "initctl", "inkscape", "insmod", "install", "inxi", "ionic", "iotop", "ip", "ip6tables",
    "ipcalc", "iptables", "isort", "istioctl", "iw", "iwconfig", "iwctl", "jaeger", "jar", "jasmine", "java", "javac",
    "javadoc", "jekyll", "jest", "jj", "jless", "jo", "jobs", "join", "journalctl", "jq", "jscpd", "jshell", "jshint",
    "json-server", "jsonlint", "julia", "jupyter", "jupyter-lab", "jupyter-notebook", "just", "k", "k3d", "k3s", "k6",
    "k9s", "kafka-topics", "kafkacat", "kaggle", "kaniko", "karma", "kcat", "kexec", "keychain", "keyctl", "kill",
    "killall", "killall5", "kind", "knex", "knip", "ko", "kompose", "kops", "kotlin", "kotlinc", "krew", "ktlint",
    "kubeadm", "kubeconform", "kubectl", "kubectx", "kubens", "kubeseal", "kubeval", "kustomize", "lake", "last",
    "lastlog", "launchctl", "lazygit", "ld", "ldc2", "ldconfig", "ldd", "lddtree", "lefthook", "lein", "lerna", "less",
    "lesspipe", "let", "libtool", "lighthouse", "link", "linkchecker", "linkerd", "links", "linode-cli", "liquibase",
    "litestream", "live-server", "lld", "llm", "ln", "local", "locale-gen", "localectl", "localedef", "localtunnel",
    "locate", "locust", "logger", "loginctl", "logname", "logout", "lolcat", "look", "lorem", "losetup", "lpr",
    "lpstat", "ls", "lsattr", "lsb_release", "lsblk", "lscpu", "lsd", "lshw", "lsmem", "lsmod", "lsns", "lsof",
    "lspci", "lsusb", "lt", "luarocks", "lvcreate", "lvdisplay", "lvextend", "lvremove", "lvs", "lxc", "lychee",
    "lynx", "lz4", "lzma", "m4", "madge", "magick", "mail", "mailx", "make", "makepkg", "mamba", "man", "mapfile",
    "markdown", "markdownlint", "markdownlint-cli2", "mas", "matlab", "maven", "mawk", "mc", "md5", "md5sum", "mdadm",
    "mdcat", "mdfind", "mdls", "mermaid", "mesg", "meson", "mill", "minikube", "minisign", "mise", "mitmproxy", "mix",
    "mkcert", "mkdir", "mkdocs", "mke2fs", "mkfifo", "mkfs", "mknod", "mkswap", "mktemp", "mlflow", "mlocate", "mlr",
    "mmdc", "mob", "mocha", "modinfo", "modprobe", "mogrify", "mongo", "mongodump", "mongoexport", "mongoimport",
    "mongorestore", "mongosh", "montage", "moon", "more", "most", "mount", "mountpoint", "msmtp", "multipass", "mutt",
    "mv", "mvn", "mvnw", "mypy", "mysql", "mysqladmin", "mysqldump", "n", "nano", "nasm", "nats", "nbconvert", "nc",
    "ncat", "ncdu", "ncu", "neato", "neofetch", "neonctl", "nerdctl", "netcat", "netlify", "netstat", "networksetup",
    "newgrp", "newman", "next", "nft", "ng", "nginx", "ngrok", "nim", "nimble", "ninja", "nix", "nix-build",
    "nix-channel", "nix-collect-garbage", "nix-env", "nix-instantiate", "nix-store", "nixos-rebuild", "nkf", "nl",
    "nm", "nmap", "nmcli", "nmtui", "nomad", "notify-send", "now", "nox", "npm", "npm-check-updates", "nproc",
    "nslookup", "ntfy", "ntpdate", "nuget", "numfmt", "nuxt", "nvcc", "nvidia-smi", "nvm", "nx", "nyc", "objcopy",
    "objdump", "oc", "ocaml", "ocamlc", "oci", "octave", "od", "oha", "ollama", "onefetch", "op", "opa", "opam",
    "open", "openapi-generator", "openapi-generator-cli", "opencode", "openssl", "openstack", "opkg", "oras",
    "osascript", "osv-scanner", "overcommit", "overmind", "oxlint", "p4", "pack", "packer", "pacman", "pamac",
    "pandoc", "pants", "papermill", "parted", "partprobe", "paru", "pass", "passwd", "paste", "pastel", "patch",
    "pathchk", "pbcopy", "pbpaste", "pdfgrep", "pdftk", "pdftotext", "pdm", "pee", "pest", "pg_ctl", "pg_dump",
    "pg_dumpall", "pg_isready", "pg_restore", "pgbench", "pgcli", "pgrep", "php-cs-fixer", "phpcbf", "phpcs",
    "phpstan", "phpunit", "pidof", "pijul", "ping", "ping6", "pip", "pip-compile", "pip-sync", "pip2", "pip3",
    "pipenv", "pipx", "pixi", "pkg", "pkg-config", "pkgconf", "pkgutil", "pkill", "planetscale", "plantuml", "play",
    "playwright", "please", "plocate", "pluto", "pm2", "pmap", "pnpm", "pocketbase", "pod", "podman", "poetry", "popd",
    "popeye", "port", "postgres", "poweroff", "pr", "pre-commit", "prefect", "premake5", "prettier", "prettierd",
    "print", "printenv", "printf", "prisma", "proselint", "prospector", "protoc", "ps", "psalm", "pscale", "psql",
    "pstree", "pub", "pulumi", "puma", "pushd", "pv", "pvcreate", "pvs", "pwck", "pwd", "pwgen", "py.test",
    "pycodestyle", "pydocstyle", "pyflakes", "pygmentize", "pylint", "pyright", "pytest", "python-config", "pyupgrade",
    "qemu-img", "qemu-system-x86_64", "qmake", "qpdf", "quicktype", "rabbitmqctl", "racket", "rackup", "radon",
    "rails", "railway", "rake", "ranlib", "rar", "ray", "rclone", "rcp", "react-native", "read", "readarray",
    "readelf", "readlink", "readonly", "realpath", "rebar3", "reboot", "recode", "redis-cli", "redis-server", "remake",
    "remix", "rename", "render", "renice", "repo", "resolvectl", "restic", "return", "rev", "rfkill", "rg", "rga",
    "rgrep", "rich", "ripgrep", "rke", "rm", "rmdir", "rmmod", "rock", "rollup", "route", "rpl", "rpm", "rpm2cpio",
    "rq", "rspec", "rsync", "rsyslogd", "rubocop", "ruff", "rush", "rustc", "rustfmt", "rustup", "rye", "s3cmd",
    "s4cmd", "s5cmd", "safety", "sam", "saml2aws", "sapling", "sar", "sass", "say", "sbcl", "sbt", "scalac",
    "scalafmt", "scc", "scons", "scoop", "scp", "scrapy", "scutil", "scw", "sd", "sdiff", "sdkmanager", "sed",
    "semantic-release", "semgrep", "sendmail", "seq", "sequelize", "serve", "serverless", "service", "sestatus", "set",
    "setcap", "setenforce", "setfacl", "setopt", "sfdisk", "sftp", "sgdisk", "sha1sum", "sha224sum", "sha256sum",
    "sha384sum", "sha512sum", "shasum", "shellcheck", "shfmt", "shift", "shopt", "shred", "shuf", "shutdown",
    "sidekiq", "siege", "skaffold", "skopeo", "sl", "sleep", "sls", "smartctl", "snap", "snyk", "socat",
    "softwareupdate", "solhint", "sonar-scanner", "sops", "sorbet", "sort", "spack", "spark-shell", "spark-submit",
    "spctl", "sphinx-build", "split", "sponge", "spr", "sqlcmd", "sqlite", "sqlite3", "sqlplus", "sqlx", "srb", "srm",
    "ss", "ssh-add", "ssh-agent", "ssh-copy-id", "ssh-keygen", "ssh-keyscan", "ssm-session", "stack", "standard",
    "start", "stat", "staticcheck", "stern", "streamlit", "strings", "strip", "stripe", "stylelint", "stylua", "subl",
    "sudoedit", "sum", "supabase", "supervisorctl", "supervisord", "surge", "suspend", "svelte-kit", "svn", "sw_vers",
    "swagger", "swaks", "swapoff", "swapon", "swift", "swiftc", "swiftformat", "swiftlint", "syft", "sync", "sysctl",
    "system_profiler", "systemctl", "systemd-analyze", "systemd-notify", "tac", "tail", "tailscale", "tailspin", "tap",
    "tape", "tar", "task", "taskfile", "tauri", "tcpdump", "tctl", "tea", "tee", "telinit", "telnet", "temporal",
    "tensorboard", "terminal-notifier", "terraform", "terragrunt", "test", "testcafe", "testem", "tflint", "tfsec",
    "thin", "thrift", "tidy", "tig", "tilt", "timedatectl", "times", "tldr", "tofu", "toilet", "tokei", "torchrun",
    "touch", "tox", "tput", "tr", "tracepath", "traceroute", "transmission-remote", "trash", "trash-put", "tree",
    "trino", "trivy", "true", "truncate", "trunk", "ts-prune", "tsc", "tsdown", "tshark", "tslint", "tsort",
    "tsserver", "tsup", "tsx", "tty", "ttyd", "tune2fs", "turbo", "turso", "twilio", "twine", "ty", "type", "typeorm",
    "typeset", "typos", "udevadm", "ufw", "ugrep", "ulimit", "umask", "umount", "unalias", "uname", "uncompress",
    "unexpand", "uniq", "unittest", "unix2dos", "unlink", "unrar", "unset", "unsetopt", "unxz", "unzip",
    "update-alternatives", "update-ca-certificates", "update-grub", "update-initramfs", "updatedb", "uptime",
    "useradd", "userdel", "usermod", "users", "usql", "uuencode", "uuidgen", "uv", "uvicorn", "uwsgi", "v", "vagrant",
    "vale", "vault", "vcluster", "vcpkg", "vdir", "vegeta", "velero", "vercel", "vgcreate", "vgs", "vhs", "vidir",
    "view", "vigr", "vipe", "vipw", "virsh", "virt-install", "visualize-gprof", "visudo", "vite", "vitest", "vmstat",
    "volta", "vsce", "vue", "vue-tsc", "vulture", "w", "w3m", "wait", "waitress-serve", "wall", "wandb", "wasm-pack",
    "wc", "wdio", "webpack", "webpack-dev-server", "websocat", "wg", "wg-quick", "wget", "wget2", "whatis", "wheel",
    "whence", "where", "whereis", "which", "who", "whoami", "whois", "winget", "wipefs", "wl-copy", "wl-paste",
    "wpa_cli", "wrangler", "write", "write-good", "wrk", "xattr", "xbps-install", "xbps-query", "xclip",
    "xcode-select", "xcodebuild", "xcrun", "xdg-open", "xdpyinfo", "xfs_repair", "xhost", "xinput", "xmake", "xmllint",
    "xmlstarlet", "xo", "xq", "xrandr", "xsel", "xset", "xsltproc", "xunit", "xxd", "xz", "xzcat", "xzgrep",
    "yamllint", "yapf", "yarn", "yasm", "yay", "yes", "youtube-dl", "yq", "yt-dlp", "yum", "yum-builddep", "z", "zcat",
    "zcmp", "zdiff", "zed", "zegrep", "zellij", "zfs", "zgrep", "zig", "zip", "zipinfo", "zizmor", "zless", "zmodload",
    "zmore", "zola", "zoxide", "zpool", "zramctl", "zstd", "zstdcat", "zstdgrep", "zypper",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(DATA.is_sorted());
        assert!(RUNNERS.is_sorted());
    }

    #[test]
    fn programs_are_told_apart() {
        for name in ["echo", "grep", "docker", "mkfs.ext4", "[", "npm"] {
            assert!(is_data(name), "{name}");
        }
        for name in ["bash", "sudo", "env", "xargs", "python3"] {
            assert!(runs_words(name) && is_program(name), "{name}");
        }
        for name in ["mytool", "", "sudox"] {
            assert!(!is_program(name), "{name}");
        }
    }
}

//! Programs of which only this is known: their words are data.

use super::program::{Fact, Program, Target};
use crate::options::OptionSpec;

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "\
            7z 7za 7zr VBoxManage ]] ab abbr ack acme.sh act actionlint addgroup adduser age age-keygen agvtool air \
            alacritty-msg alex alias amplify ansible-doc ansible-galaxy ansible-inventory ansible-lint \
            ansible-playbook ansible-vault ant apache2 apachectl apt-file apt-key apt-mark ar aria2c arj as ascii \
            asciidoctor asciinema aspell astro atq atrm auditctl aureport ausearch autocannon autoconf autogen \
            autoload automake autopep8 autoreconf ava avdmanager awslocal axel azd bandit banner base32 base64 \
            basedpyright batcat bats bazelisk bfg bg bind biome bison black blkid blockdev bluetoothctl bmake bokeh \
            bombardier bootctl borg bower brakeman btm btop buck2 buf bun-test bundler bunzip2 bw bzcat bzgrep bzip2 \
            c++ c8 cabal caddy caller capacitor cargo-audit cargo-binstall cargo-deny cargo-nextest cargo-tarpaulin \
            cc ccmake celery certbot cf cfdisk chage cheat checkov chflags chfn choco choose chpasswd chrome \
            chromium chromium-browser chsh civo clang++ clang-format clang-tidy claude clear clippy-driver cloc \
            cloudflared code code-insiders codecov codespell codex col colordiff colrm commitizen commitlint compgen \
            complete compopt composite compress conan configure confluent conftest conky consul convert cordova \
            corepack cosign coverage cowsay cpack cpan cpanm cpio cpplint createdb createrepo createuser credo \
            crictl crystal cspell csslint csvcut csvgrep csvjson csvlook csvsql csvstat ctest ctr cucumber cursor \
            cvs cypress cz daphne dasel dask databricks datamash dbt dc dconf ddev deadcode debconf-set-selections \
            defaults delta dep depcheck deployctl depmod devpi devspace dhclient diff3 difft dig disown dmd dmesg \
            dmidecode dnsmasq dos2unix dot doxygen dpkg dpkg-deb dpkg-query dpkg-reconfigure dprint dredd dscl \
            dseditgroup dtrx duf dune duplicity dust dwdiff e2fsck earth earthly easy_install eb efibootmgr electron \
            electron-builder eleventy elixirc elm emerge emulate emulator enable enca enscript envsubst \
            erl erlc esbuild esbuild-server eslint eslint_d espeak etcdctl ethtool exa exiftool expo eza eza-cloud \
            fastapi fastboot fastfetch fastlane fauna faust fc fc-cache fc-list fdupes ffmpeg ffplay ffprobe fg \
            figlet findmnt firefox firewall-cmd flake8 flatc flatpak flex flower foreman fortune fossil fpm \
            frogmouth fsck funcsave fuser fwupdmgr fx gatsby gdisk gemini getcap getfacl gfortran ggrep ghc ghci ghq \
            ginkgo git-cliff git-crypt git-lfs git-secret gita gitk gitlab-runner gitleaks gitlint glances gleam \
            glow glow-cloud gnuplot goaccess gofmt goimports golangci-lint gold google-chrome gopass got gotestsum \
            gotty gpasswd gpg gpg2 gpp gprof gradle-profiler granian groff gron groupadd groupmod grpcurl grunt \
            grype gs gsettings gtop guile gulp gunicorn gunzip gzcat gzip hadolint haproxy hash hdiutil help hexyl \
            hey hf hg highlight hivemind hjson home-manager honcho host hostnamectl html2text htmlhint htmlq \
            htmltest htop htpasswd http-server httpie hub huggingface-cli hugo husky hwclock hwinfo hypercorn icdiff \
            iconv identify ifconfig ifdown ifup indent influx info initctl inkscape insmod inxi ionic iotop ipcalc \
            isort istioctl iw iwconfig iwctl jaeger jar jasmine javadoc jekyll jest jless jo jscpd jshell jshint \
            json-server jsonlint jupyter jupyter-lab jupyter-notebook k6 k9s kafka-topics kafkacat kaggle kaniko \
            karma kcat kexec keyctl killall5 knip ko kompose kotlin kotlinc krew ktlint kubeconform kubectx kubens \
            kubeseal kubeval kustomize lake last lastlog lazygit ld ldc2 ldconfig ldd lddtree lefthook libtool \
            lighthouse linkchecker linkerd links litestream live-server lld llm locale-gen localectl localedef \
            localtunnel locate locust logger loginctl logname logout lolcat look lorem losetup lpr lpstat lsattr \
            lsb_release lsd lshw lsmem lsmod lsns lt lvcreate lvdisplay lvextend lvs lychee lynx lz4 lzma m4 madge \
            magick mail mailx makepkg mapfile markdown markdownlint markdownlint-cli2 mas matlab maven mdcat mdfind \
            mdls mermaid mesg minisign mitmproxy mkcert mkdocs mlflow mlocate mlr mmdc mob mocha modinfo modprobe \
            mogrify mongodump mongoexport montage moon more most mountpoint msmtp mutt mypy mysqldump n nano nasm \
            nats nbconvert ncdu ncu neato neofetch neonctl netcat netstat networksetup newgrp newman next nginx \
            ngrok nim nimble ninja nix-build nix-channel nix-collect-garbage nix-env nix-instantiate nix-store \
            nixos-rebuild nkf nmap nmcli nmtui nomad notify-send now nox npm-check-updates nslookup ntfy ntpdate \
            nuxt nvcc nvidia-smi nyc objcopy ocaml ocamlc octave oha ollama onefetch opa open openapi-generator \
            openapi-generator-cli opencode openssl openstack opkg osv-scanner overcommit overmind oxlint p4 pack \
            packer pamac pandoc pants papermill partprobe pass pastel pathchk pbcopy pbpaste pdfgrep pdftk \
            pdftotext pee pest pg_ctl pg_dump pg_dumpall pg_isready pgbench php-cs-fixer phpcbf phpcs phpstan \
            phpunit pidof pijul ping ping6 pip-compile pip-sync pip2 pkg pkg-config pkgconf pkgutil planetscale \
            plantuml play playwright please plocate pluto pm2 pmap pocketbase pod popeye port postgres pre-commit \
            prefect premake5 prettier prettierd print proselint prospector protoc psalm pscale pub puma pv pvs pwck \
            pwgen py.test pycodestyle pydocstyle pyflakes pygmentize pylint pyright pytest python-config pyupgrade \
            qemu-img qemu-system-x86_64 qmake qpdf quicktype rabbitmqctl racket rackup radon ranlib rar ray rcp \
            react-native readarray rebar3 recode redis-server remake remix repo resolvectl restic rfkill rga rgrep \
            rich rke rmmod rock rollup route rpl rpm rpm2cpio rq rspec rsyslogd rubocop ruff rush rustfmt s4cmd \
            s5cmd safety sapling sar sass say sbcl scalac scalafmt scc scons scoop scrapy scutil sd sdkmanager \
            semgrep sendmail serve sestatus setcap setopt shellcheck shfmt sidekiq siege skaffold skopeo sl smartctl \
            snap snyk socat softwareupdate solhint sonar-scanner sorbet spack spark-shell spark-submit spctl \
            sphinx-build spr sqlplus srb ss ssh-add ssh-copy-id ssh-keygen ssh-keyscan ssm-session standard start \
            staticcheck stern streamlit strip stripe stylelint stylua subl sudoedit supervisorctl supervisord surge \
            suspend svelte-kit sw_vers swagger swaks swapon swiftc swiftformat swiftlint syft sync sysctl \
            system_profiler systemd-analyze systemd-notify tailscale tailspin tap tape taskfile tauri tcpdump tctl \
            tea telnet temporal tensorboard terminal-notifier testcafe testem tflint tfsec thin thrift tidy tig tilt \
            timedatectl tldr toilet tokei torchrun tox tput tracepath traceroute transmission-remote trash trash-put \
            trivy trunk ts-prune tsdown tshark tslint tsserver tsup ttyd tune2fs turso twilio ty typos udevadm ugrep \
            unalias uncompress unittest unix2dos unrar unsetopt unxz update-alternatives update-ca-certificates \
            update-grub update-initramfs updatedb uuencode uuidgen uvicorn uwsgi v vale vault vcpkg vegeta velero \
            vgcreate vgs vhs vidir view vigr vipe vipw virsh virt-install visualize-gprof vite vitest vue vue-tsc \
            vulture w3m waitress-serve wall wandb wasm-pack wdio webpack webpack-dev-server websocat wg wg-quick \
            wget2 wheel whence where whois winget wl-copy wl-paste wpa_cli write write-good wrk xattr xbps-install \
            xbps-query xclip xcode-select xcodebuild xcrun xdg-open xdpyinfo xfs_repair xhost xinput xmake xmllint \
            xmlstarlet xo xq xrandr xsel xset xsltproc xunit xz xzcat xzgrep yamllint yapf yasm yes youtube-dl \
            yt-dlp yum-builddep z zcmp zdiff zed zellij zipinfo zizmor zless zmodload zmore zola zramctl zstd \
            zstdcat zstdgrep zypper",
        ..Program::DATA
    },
    Program {
        names: "ginstall",
        options: OptionSpec::gnu(
            "bcCdDg:m:o:pS:st:TvZ",
            "\
            backup=? compare directory debug group= mode= owner= preserve-timestamps strip strip-program= suffix= \
            target-directory= no-target-directory verbose preserve-context context=? help version",
        ),
        facts: &[Fact::Writes(Target::LastUnless("d directory"))],
        ..Program::UNKNOWN
    },
    Program {
        names: "srm",
        options: OptionSpec::gnu(
            "firRIdvPWx",
            "force interactive=? one-file-system no-preserve-root preserve-root=? recursive dir verbose help version",
        ),
        facts: &[Fact::Erases(Target::Operands, "")],
        ..Program::DATA
    },
    Program {
        names: "ssed",
        options: OptionSpec::gnu(
            "aEe:f:HI::i::l:nrsuz",
            "\
            quiet silent debug expression= file= follow-symlinks in-place=? line-length= posix regexp-extended \
            separate sandbox unbuffered null-data zero-terminated help version",
        ),
        ..Program::UNKNOWN
    },
];

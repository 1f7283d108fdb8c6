/**
 * Runs dangerous commands of the corpus for real, against fakes: programs on the PATH that record their arguments and
 * refuse. The words that `analyze` judged have to be the words that a program would have got.
 *
 * Nothing here may reach a program that acts. The PATH is one directory of fakes, with the few programs beside them
 * that only run others or pass text on, and what gets around the PATH is left out by data (`LEFT_OUT`).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyze, bash, type CommandUnit } from 'agent-bash';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noMisses, where } from '../../../safety/support.ts';
import { folder } from '../../../support/index.ts';

/** The programs that have a fake. */
const FAKES = `
  terraform tofu terragrunt pulumi cdk serverless sls sst vagrant ansible flyway liquibase
  kubectl kubecolor k3s microk8s microk8s.kubectl oc helm argocd flux kustomize eksctl kind minikube k3d
  docker docker-compose podman podman-compose nerdctl
  psql mysql mariadb sqlite3 duckdb clickhouse clickhouse-client sqlcmd cockroach bq mongosh mongo redis-cli valkey-cli
  dropdb createdb dropuser mysqladmin pg_restore mongorestore prisma rails rake alembic flask knex sequelize
  sequelize-cli typeorm drizzle-kit supabase php mix dotnet django-admin
  aws gcloud gsutil az doctl hcloud linode-cli oci ibmcloud scw rclone s3cmd mc heroku fly flyctl railway render netlify
  vercel vc wrangler firebase gh
  npm npx pnpm yarn bun bunx cargo twine uv uvx poetry flit gem mvn gradle goreleaser semantic-release lerna vsce ovsx
  jsr deno hatch pdm maturin np release-it eas changeset make python python3 node pip bundle
  shutdown reboot halt poweroff init telinit systemctl service launchctl killall pkill pgrep pidof iptables ip6tables
  nft ufw crontab userdel groupdel deluser passwd usermod visudo chmod chown umount swapoff swapon lvremove vgremove zfs
  zpool btrfs mdadm cryptsetup wipefs parted fdisk mkfs mkfs.ext4 apt apt-get dnf yum pacman apk brew setenforce sysctl
  shred srm wipe truncate rsync mv dd rm cp find
  curl wget nc ncat socat telnet scp ssh sftp mail mailx mutt http openssl git base64 tar gzip gunzip
  sudo doas su sg grep awk sed jq sort ls cut tail head tee printenv ps df whoami basename sleep sync watch yes tr
`
  .trim()
  .split(/\s+/);

/** Real programs beside the fakes. They find the programs that they run on the PATH. */
const REAL = ['bash', 'sh', 'cat', 'env', 'nice', 'nohup', 'timeout', 'xargs'];

/** Text of commands that the PATH of fakes does not contain, or that may not run, so that nothing could be compared. */
const LEFT_OUT: { pattern: RegExp; why: string }[] = [
  { pattern: /\bkill\b/, why: 'a builtin that acts' },
  { pattern: /\b(exec|command|builtin|enable|hash|source|ulimit|history)\b|(^|[\s;&|(])\.\s/, why: 'other builtins' },
  { pattern: /(^|[\s'"=`;&|(])(\.{1,2}|~|\$\{?\w+\}?)?\/\S*bin\/|(^|[\s'"`;&|(])\.{1,2}\//, why: 'a path as program' },
  { pattern: /\/etc\/init\.d|gradlew|mvnw|(^|[\s'"`;&|(])bin\//, why: 'a path as program' },
  { pattern: /\bPATH\b|\benv\s+(-|\w+=\S*\s+-)|\bxargs\b.*\s-a/, why: 'another PATH' },
  { pattern: /\b(ba|da|z|k)?sh\s+(\S+\s+)*-\w*[il]|--login|--rcfile|BASH_ENV/, why: 'a shell that sets its own PATH' },
  { pattern: />/, why: 'writes a file' },
  { pattern: /(?<!<)<(?![<(])/, why: 'reads a file, which may be missing' },
  { pattern: /\b(cd|pushd|popd)\b/, why: 'a directory that is not here' },
  { pattern: /\b(if|while|until|case|select|test)\b|\[/, why: 'a condition' },
  { pattern: /&\s*$|&\s*\n|\bcoproc\b|\bwait\b/, why: 'in the background' },
  { pattern: /\bxargs\b.*\s-[nL]/, why: 'runs once per item, and is judged with all items at once' },
  { pattern: /\b(basename|mkdir)\b/, why: 'prints or makes what the command goes on with, and a fake does not' },
];

/** Redirects that write no file. */
const WRITES_NOTHING = /\d?>&[12]\b|(\d|&)?>{1,2}\s*\/dev\/null\b/g;

/** The ways into a command that the shell, or a real program, really takes. */
const TAKEN = new Set([
  ...['bash -c', 'sh -c', 'eval', 'heredoc', 'here-string', 'pipe', 'trap', 'command substitution'],
  ...['env', 'nice', 'nohup', 'timeout', 'xargs'],
]);

interface Dangerous {
  file: string;
  rules: string[];
  command: string;
}

const corpus = fileURLToPath(new URL('../../../safety/corpus/outside/', import.meta.url));

const dangerous: Dangerous[] = readdirSync(corpus).flatMap((file) =>
  readFileSync(join(corpus, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as [string, string | null, string, string])
    .filter(([verdict]) => verdict === 'ask')
    .map(([, rules, command]) => ({ file, rules: rules?.split('|') ?? [], command })),
);

/** Whether a word of the text is the path of a program of this machine. */
function namesProgram(command: string): boolean {
  return command
    .split(/[\s'"`=;&|()<>{}$,]+/)
    .some((word) => word.startsWith('/') && existsSync(word) && statSync(word).isFile());
}

function leftOut(command: string): boolean {
  const text = command.replaceAll(WRITES_NOTHING, '');
  return LEFT_OUT.some(({ pattern }) => pattern.test(text)) || namesProgram(command);
}

const fakes = new Set(FAKES);

/** The units that a fake would have got, word for word. */
function judged(command: string): CommandUnit[] {
  return analyze(command, where).commands.filter(
    ({ name, argv, via }) =>
      fakes.has(name ?? '') && argv.every(({ known }) => known) && via.every((each) => TAKEN.has(each)),
  );
}

const words = ({ argv }: CommandUnit) => argv.map(({ text }) => text);
const whole = (argv: string[]) => JSON.stringify(argv);

/** Whether a program with these words is a unit. A word that is not known may be any number of words. */
function isUnit(unit: CommandUnit, ran: string[]): boolean {
  const { argv, prefix } = unit;
  const known = argv.filter((word) => word.known).map(({ text }) => text);
  if (known.length < argv.length) return known.every((text) => ran.includes(text));
  return [words(unit), [...prefix, ...words(unit)]].some((each) => whole(each) === whole(ran));
}

/** Whether a finding of its rule names words of which a fake gets every one. */
function isNamed({ rules, command }: Dangerous): boolean {
  const units = judged(command).map((unit) => whole(words(unit)));
  const { findings } = analyze(command, where);
  return findings.some(({ ruleId, argv }) => rules.includes(ruleId) && units.includes(whole(argv)));
}

const chosen = dangerous.filter((line) => !leftOut(line.command) && isNamed(line));

describe('dangerous commands against fakes', () => {
  let base: string;
  let programs: string;
  let shell: string;
  let count = 0;

  beforeAll(() => {
    base = folder(afterAll);
    programs = join(base, 'bin');
    mkdirSync(programs);
    shell = execFileSync('bash', ['-c', 'type -P bash'], { encoding: 'utf8' }).trim();
    const fake = join(base, 'fake');
    const text = `#!${shell}\nprintf '%s\\0' "$#" "\${0##*/}" "$@" >> "$FAKE_RECORD"\nexit "$FAKE_STATUS"\n`;
    writeFileSync(fake, text, { mode: 0o755 });
    for (const name of FAKES) symlinkSync(fake, join(programs, name));
    for (const name of REAL) {
      const real = execFileSync(shell, ['-c', `type -P ${name}`], { encoding: 'utf8' }).trim();
      symlinkSync(real, join(programs, name));
    }
  });

  /**
   * Runs a command where nothing but the fakes is in reach. All of them start in one directory, and so share one world
   * if they are confined.
   */
  async function started(command: string, status: number) {
    const scratch = join(base, String(count++));
    const cwd = join(scratch, 'here');
    const home = join(scratch, 'home');
    for (const each of [cwd, home]) mkdirSync(each, { recursive: true });
    const record = join(scratch, 'record');
    const means = { FAKE_RECORD: record, FAKE_STATUS: String(status) };
    const env = { PATH: programs, HOME: home, USER: 'dev', HERE: cwd, ...means };
    const options = {
      cwd: base,
      env,
      inheritEnv: 'none',
      shell,
      warm: false,
      safety: 'off',
      timeoutMs: 60_000,
    } as const;
    const result = await bash(`cd "$HERE" || exit\n${command}`, options);
    return { result, ran: existsSync(record) ? recorded(readFileSync(record, 'utf8'), cwd, home) : [] };
  }

  /** The words of each program in a record, as they would be in the directories of the corpus. */
  function recorded(text: string, cwd: string, home: string): string[][] {
    const fields = text.split('\0').map((field) => field.replaceAll(home, where.home).replaceAll(cwd, where.cwd));
    const found: string[][] = [];
    for (let at = 0; at < fields.length - 1; ) {
      const length = Number(fields[at]) + 1;
      found.push(fields.slice(at + 1, at + 1 + length));
      at += 1 + length;
    }
    return found;
  }

  test('nothing but fakes is in reach', async () => {
    expect(FAKES.filter((name, at) => FAKES.indexOf(name) !== at || REAL.includes(name))).toEqual([]);
    expect(readdirSync(programs).sort()).toEqual([...FAKES, ...REAL].sort());
    const { result } = await started('echo "$PATH"; for each in $(compgen -c); do type -P "$each"; done', 1);
    const [path, ...found] = result.stdout.trim().split('\n');
    expect(path).toBe(programs);
    expect(found.filter((each) => !each.startsWith(`${programs}/`))).toEqual([]);
    const acting = ['rm', 'dd', 'mkfs', 'shutdown', 'reboot', 'systemctl', 'chmod', 'chown', 'mv', 'find', 'sudo'];
    expect(acting.filter((name) => !fakes.has(name))).toEqual([]);
  });

  test('what gets around the PATH is left out', () => {
    const around = [
      'kill -9 -1',
      'kill 1',
      'bash -c "kill -1"',
      'command -p reboot',
      'exec /sbin/reboot',
      '/sbin/shutdown -h now',
      'sudo /usr/sbin/reboot',
      '"/usr/bin/rm" -rf x',
      './wipe.sh',
      'env -i reboot',
      'env - reboot',
      'env A=1 -i reboot',
      'PATH=/sbin reboot',
      'env PATH=/sbin reboot',
      'bash -lc reboot',
      'bash --login -c reboot',
      'sh -ic reboot',
      '> /etc/passwd',
      'echo x >/etc/passwd',
      'echo x >> ~/.bashrc',
      'terraform show 2> /etc/x',
      'terraform show &> /etc/x',
      'cat x | dd of=x > y',
      '. /etc/profile',
      'source x',
      'cd / && rm -rf x',
      '/etc/init.d/nginx stop',
      shell,
    ];
    expect(around.filter((command) => !leftOut(command))).toEqual([]);
    const inside = ['terraform destroy', 'cat x | psql app', 'docker ps 2>&1', 'x 2>/dev/null', 'x > /dev/null 2>&1'];
    expect(inside.filter(leftOut)).toEqual([]);
  });

  test('many are chosen, of each rule', () => {
    expect(chosen.length).toBeGreaterThanOrEqual(500);
    for (const name of new Set(dangerous.map(({ file }) => file))) {
      expect(chosen.filter(({ file }) => file === name).length, name).toBeGreaterThanOrEqual(20);
    }
  });

  test('the words that were judged are those that a program got', { timeout: 600_000 }, async () => {
    const misses: string[] = [];
    const left = [...chosen];
    const worker = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const { command } = next;
        // With refusals, as the tools would answer, and then without, so that what follows one runs as well.
        const ran = [...(await started(command, 1)).ran, ...(await started(command, 0)).ran];
        const had = new Set(ran.map(whole));
        const { commands } = analyze(command, where);
        const missing = judged(command).filter((unit) => !had.has(whole(words(unit))));
        const extra = ran.filter((argv) => !commands.some((unit) => isUnit(unit, argv)));
        for (const unit of missing) misses.push(`no ${whole(words(unit))} but ${[...had]}: ${command}`);
        for (const argv of extra) misses.push(`not judged: ${whole(argv)}: ${command}`);
      }
    };
    await Promise.all(Array.from({ length: 4 }, worker));
    noMisses(misses);
  });
});

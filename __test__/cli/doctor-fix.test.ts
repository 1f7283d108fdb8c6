import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CAUSES, COPIES } from '../../ts/cli/doctor/fix/causes.ts';
import { factsOf, type Trial } from '../../ts/cli/doctor/fix/facts.ts';
import { fixed, type Outcome, unfixed } from '../../ts/cli/doctor/fix/index.ts';
import type { Machine } from '../../ts/cli/doctor/fix/machine.ts';
import { jsonOf } from '../../ts/cli/doctor/fix/plan.ts';
import { OF_WORLDS, seccompProfile } from '../../ts/cli/doctor/fix/seccomp.ts';
import { signed } from '../../ts/cli/doctor/fix/signed.ts';
import type { Change, Target } from '../../ts/cli/doctor/fix/types.ts';
import { blocks, page, source } from '../docs/examples.ts';
import { folder, hostEnv, linuxTest } from '../support/index.ts';
import { Program } from './support.ts';

interface Printed {
  plan: { why: string; changes: Change[]; undo: string[] }[];
  applied: boolean;
}

const VERSION = '9.8.7';
const COPY = `usr/local/lib/agent-bash/${VERSION}/agent-bash-supervisor`;
const PROFILE = 'etc/apparmor.d/agent-bash';
const SYSCTL = 'etc/sysctl.d/60-agent-bash.conf';

const WITHOUT: Trial = { way: 'landlock', hosts: false, remedy: 'use another machine', gvisor: false };
const WHOLE: Trial = { way: 'namespaces', hosts: true, remedy: null, gvisor: false };
const RESTRICTED = { 'proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' };

/** A machine made of files, with programs that only write down how they were called. */
class Fake implements Machine {
  readonly top = folder();
  readonly own: Machine['own'];
  readonly hands: Machine['hands'];
  ask: Machine['ask'] = null;
  /** What the trial finds, at first and after the plan was applied. */
  trials: Trial[];
  readonly #bin = folder();

  constructor(files: Record<string, string>, trials: Trial[] = [WITHOUT, WHOLE], sudo = false) {
    this.trials = trials;
    for (const [path, content] of Object.entries(files)) this.put(path, content);
    const supervisor = join(this.#bin, 'own-supervisor');
    writeFileSync(supervisor, 'the bytes of the supervisor');
    this.own = { version: VERSION, supervisor };
    this.hands = { top: this.top, runs: true, sudo };
    this.program('sudo', 'exec "$@"');
    for (const name of ['apparmor_parser', 'sysctl', 'modprobe']) this.program(name, 'exit 0');
    hostEnv({ PATH: `${this.#bin}:${process.env.PATH}` });
  }

  /** Puts a program on the PATH. */
  program(name: string, does: string): void {
    writeFileSync(join(this.#bin, name), `#!/bin/sh\necho "${name} $*" >> '${this.#bin}/calls'\n${does}\n`);
    chmodSync(join(this.#bin, name), 0o755);
  }

  put(path: string, content: string): void {
    mkdirSync(dirname(join(this.top, path)), { recursive: true });
    writeFileSync(join(this.top, path), content);
  }

  read(path: string): string {
    return readFileSync(join(this.top, path), 'utf8');
  }

  has(path: string): boolean {
    return existsSync(join(this.top, path));
  }

  /** How the programs were called. */
  get calls(): string[] {
    const calls = join(this.#bin, 'calls');
    return existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : [];
  }

  async facts() {
    return factsOf(this.trials[0] as Trial, this.top, {});
  }

  async retry() {
    this.trials.shift();
    const [{ way } = WHOLE] = this.trials;
    return [{ name: 'confine-way', state: way === 'namespaces' ? 'ok' : 'missing', found: way, cost: null } as const];
  }

  fix(flags = {}): Promise<Outcome> {
    return fixed({ fix: true, yes: true, json: true, ...flags }, this);
  }

  unfix(flags = {}): Promise<Outcome> {
    return unfixed({ unfix: true, yes: true, json: true, ...flags }, this);
  }
}

const kinds = ({ plan }: Outcome) => jsonOf(plan).flatMap(({ changes }) => changes.map(({ kind }) => kind));
const filesBelow = (top: string) =>
  readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(top.length + 1))
    .sort();

describe('the causes', () => {
  const found = (files: Record<string, string>, trial: Trial = WITHOUT, env: NodeJS.ProcessEnv = {}) => {
    const { top } = new Fake(files);
    return CAUSES.filter((cause) => cause.isAt(factsOf(trial, top, env))).map(({ target }) => target);
  };

  test.each<[what: string, files: Record<string, string>, causes: (Target | null)[]]>([
    ['AppArmor restricts user namespaces', RESTRICTED, ['apparmor']],
    ['user.max_user_namespaces is 0', { 'proc/sys/user/max_user_namespaces': '0\n' }, ['sysctl']],
    ['kernel.unprivileged_userns_clone is 0', { 'proc/sys/kernel/unprivileged_userns_clone': '0\n' }, ['sysctl']],
    ['a container of Docker', { '.dockerenv': '' }, ['docker']],
    ['a container of Podman', { 'run/.containerenv': '' }, ['docker']],
    ['a pod', { 'var/run/secrets/kubernetes.io/serviceaccount/token': '' }, ['kubernetes']],
    ['nothing that is known', { 'proc/sys/user/max_user_namespaces': '1000\n' }, []],
    ['two of them', { ...RESTRICTED, 'proc/sys/user/max_user_namespaces': '0\n' }, ['apparmor', 'sysctl']],
  ])('%s', (_, files, causes) => {
    expect(found(files)).toEqual(causes);
    // Where namespaces hold the parts nevertheless, nothing is wrong.
    expect(found(files, WHOLE)).toEqual([]);
  });

  test('a pod without a token', () => {
    expect(found({ '.dockerenv': '' }, WITHOUT, { KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toEqual(['kubernetes']);
  });

  test('gVisor and a host that turns namespaces off have none, wherever they run', () => {
    const files = { '.dockerenv': '', ...RESTRICTED };
    expect(found(files, { ...WITHOUT, gvisor: true })).toEqual([]);
    expect(found(files, WITHOUT, { AGENT_BASH_NAMESPACES: 'off' })).toEqual([]);
  });

  test('no veth', () => {
    expect(found({}, { ...WHOLE, hosts: false })).toEqual([null]);
  });
});

describe('doctor --fix on a machine', () => {
  test.each([false, true])(
    'AppArmor: the supervisor is copied, and its profile loaded (through sudo: %s)',
    async (sudo) => {
      const machine = new Fake(RESTRICTED, undefined, sudo);
      const outcome = await machine.fix();
      expect(outcome).toMatchObject({
        applied: true,
        isDone: true,
        remarks: ['written', 'confine-way: ok, namespaces'],
      });
      expect(kinds(outcome)).toEqual(['copy', 'file', 'run']);
      expect(machine.read(COPY)).toBe('the bytes of the supervisor');
      expect(statSync(join(machine.top, COPY)).mode & 0o7777).toBe(0o755);
      expect(statSync(join(machine.top, PROFILE)).mode & 0o7777).toBe(0o644);
      const load = 'apparmor_parser --replace /etc/apparmor.d/agent-bash';
      expect(machine.calls.filter((call) => !call.startsWith('sudo'))).toEqual([load]);
      expect(machine.calls.filter((call) => call.startsWith('sudo')).length).toBe(sudo ? 3 : 0);
    },
  );

  test('AppArmor: the profile names no path that a user can write, and nothing but namespaces', async () => {
    const machine = new Fake(RESTRICTED);
    await machine.fix();
    const [first, ...rest] = machine.read(PROFILE).split('\n');
    expect(first).toMatch(/^# agent-bash 9\.8\.7, .*; to remove it: agent-bash doctor --unfix$/);
    expect(rest.join(' ').replace(/\s+/g, ' ').trim()).toBe(
      'abi <abi/4.0>, include <tunables/global> profile agent-bash ' +
        '/usr/local/lib/agent-bash/*/agent-bash-supervisor flags=(unconfined) { userns, }',
    );
    expect(blocks(await page('cli.md'))).toContainEqual({ kind: 'apparmor', text: rest.join('\n') });
  });

  test('the addon looks for the copy where it is made', async () => {
    const addon = await source('crates/runner/src/supervise/client/helpers/supervisor_copy.rs');
    expect(addon).toContain(`"${COPIES}"`);
    const [, ofCrates] = /^version = "(.*)"$/m.exec(await source('Cargo.toml')) ?? [];
    expect(ofCrates).toBe(JSON.parse(await source('package.json')).version);
  });

  test('a sysctl: only what is 0 is set, for all programs', async () => {
    const machine = new Fake({
      'proc/sys/user/max_user_namespaces': '0\n',
      'proc/sys/kernel/unprivileged_userns_clone': '1\n',
    });
    const outcome = await machine.fix();
    expect(outcome.plan[0]?.why).toContain('for all programs');
    expect(machine.read(SYSCTL).split('\n').slice(1)).toEqual(['user.max_user_namespaces = 10000', '']);
    expect(machine.calls).toEqual(['sysctl --system']);
  });

  test('no veth: the module is loaded, now and later', async () => {
    const machine = new Fake({}, [{ ...WHOLE, hosts: false }, WHOLE]);
    expect(await machine.fix()).toMatchObject({ applied: true, isDone: true });
    expect(machine.read('etc/modules-load.d/agent-bash.conf')).toMatch(/^# agent-bash .*\nveth\n$/);
    expect(machine.calls).toEqual(['modprobe veth']);
  });

  test('a second run finds nothing to do', async () => {
    const machine = new Fake(RESTRICTED);
    await machine.fix();
    expect(await machine.fix()).toMatchObject({ plan: [], applied: false, isDone: true });
    expect(machine.calls).toHaveLength(1);
  });

  test('files that are there and do not help are loaded once more, and it says what is missing', async () => {
    const machine = new Fake(RESTRICTED, [WITHOUT, WITHOUT, WITHOUT, WITHOUT]);
    expect(await machine.fix()).toMatchObject({ applied: true, isDone: false });
    const again = await machine.fix();
    expect(kinds(again)).toEqual(['run']);
    expect(again).toMatchObject({
      applied: true,
      isDone: false,
      remarks: ['written', 'confine-way: missing, landlock'],
    });
  });

  test('without a known cause it names the remedy, and is not done', async () => {
    const { plan, isDone, remarks } = await new Fake({}).fix();
    expect([plan, isDone]).toEqual([[], false]);
    expect(remarks).toEqual([expect.stringMatching(/^not done: .*: use another machine$/)]);
  });

  test('a container changes nothing, and says what to do on its machine', async () => {
    const machine = new Fake({ '.dockerenv': '' });
    const { plan, applied, isDone, remarks } = await machine.fix();
    expect([applied, isDone, machine.has('etc')]).toEqual([false, false, false]);
    expect(plan[0]?.use).toEqual([expect.stringMatching(/^docker run .*seccomp=\/etc\/agent-bash\/seccomp.json/)]);
    expect(remarks).toEqual([expect.stringContaining('agent-bash doctor --fix --for docker --root /')]);
  });

  test('without --yes and without a terminal nothing is changed', async () => {
    const machine = new Fake(RESTRICTED);
    expect(await machine.fix({ yes: undefined })).toMatchObject({
      applied: false,
      isDone: false,
      remarks: ['not done: --yes applies this plan'],
    });
    expect([machine.has('etc'), machine.calls]).toEqual([false, []]);
  });

  test.each([true, false])('a terminal is asked, and its answer holds: %s', async (answer) => {
    const machine = new Fake(RESTRICTED);
    const asked: string[] = [];
    machine.ask = async (question) => asked.push(question) > 0 && answer;
    const print = process.stdout.write;
    process.stdout.write = () => true;
    const outcome = await machine.fix({ yes: undefined, json: false }).finally(() => {
      process.stdout.write = print;
    });
    expect(outcome).toMatchObject({ applied: answer, isDone: answer });
    expect([asked.length, machine.has(PROFILE)]).toEqual([1, answer]);
  });

  test('a program that fails is named', async () => {
    const machine = new Fake(RESTRICTED);
    machine.program('apparmor_parser', 'exit 3');
    await expect(machine.fix()).rejects.toThrow(
      'apparmor_parser --replace /etc/apparmor.d/agent-bash failed (exit code 3)',
    );
  });

  test('a program that is not there is named, with a remedy', async () => {
    const machine = new Fake(RESTRICTED);
    hostEnv({ PATH: folder() });
    await expect(machine.fix()).rejects.toThrow('apparmor_parser is not there: install it, and try again');
    const other = new Fake(RESTRICTED, undefined, true);
    hostEnv({ PATH: folder() });
    await expect(other.fix()).rejects.toThrow('sudo is not there: run this as root');
  });

  test('a file of an older version is replaced, one that somebody wrote or changed is not', async () => {
    const older = signed('1.0.0', 'veth\n');
    const machine = new Fake({ [PROFILE]: older, ...RESTRICTED });
    await machine.fix();
    expect(machine.read(PROFILE)).toContain(VERSION);
    for (const text of [`${older}# mine\n`, 'mine\n']) {
      const other = new Fake({ [PROFILE]: text, ...RESTRICTED });
      await expect(other.fix()).rejects.toThrow(
        `${join(other.top, PROFILE)} is there, and is not as agent-bash wrote it`,
      );
      expect([other.read(PROFILE), other.has(COPY)]).toEqual([text, false]);
    }
  });
});

describe('doctor --unfix', () => {
  test.each([false, true])('removes what was written, and unloads it (through sudo: %s)', async (sudo) => {
    const machine = new Fake(RESTRICTED, undefined, sudo);
    await machine.fix();
    const outcome = await machine.unfix();
    expect(outcome).toMatchObject({ applied: true, isDone: true, remarks: ['removed'] });
    expect(filesBelow(machine.top)).toEqual(Object.keys(RESTRICTED));
    expect(machine.has('usr/local/lib/agent-bash')).toBe(false);
    expect(machine.has('usr/local/lib')).toBe(true);
    expect(machine.calls).toContain('apparmor_parser --remove /etc/apparmor.d/agent-bash');
    expect(await machine.unfix()).toMatchObject({ plan: [], applied: false, isDone: true });
  });

  test('leaves what was changed since, and names it', async () => {
    const machine = new Fake({ ...RESTRICTED, 'proc/sys/user/max_user_namespaces': '0\n' });
    await machine.fix();
    machine.put(SYSCTL, `${machine.read(SYSCTL)}vm.swappiness = 1\n`);
    machine.put('usr/local/lib/agent-bash/1.0.0/agent-bash-supervisor', 'of another version');
    const { isDone, remarks } = await machine.unfix();
    expect(isDone).toBe(false);
    const names = remarks.slice(1).map((remark) => remark.split(' ')[0]);
    const left = [SYSCTL, 'usr/local/lib/agent-bash/1.0.0/agent-bash-supervisor'];
    expect(names).toEqual(left.map((path) => join(machine.top, path)));
    expect([machine.has(PROFILE), ...left.map((path) => machine.has(path))]).toEqual([false, true, true]);
  });
});

describe('the seccomp profile', () => {
  const profile = JSON.parse(seccompProfile(VERSION, 'x64'));
  const allowed: string[] = profile.syscalls
    .filter(({ action, args }: { action: string; args?: object[] }) => action === 'SCMP_ACT_ALLOW' && !args)
    .flatMap(({ names }: { names: string[] }) => names);

  test('begins with a line that names agent-bash, its version and the way back', () => {
    const [first] = seccompProfile(VERSION).split('\n');
    expect(first).toMatch(/"comment":"agent-bash 9\.8\.7, .*agent-bash doctor --unfix"/);
  });

  test('refuses by default, and allows each call once', () => {
    expect(profile).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 1 });
    expect(allowed).toEqual([...new Set(allowed)]);
    expect(allowed).toEqual(expect.arrayContaining([...OF_WORLDS, 'seccomp', 'landlock_restrict_self', 'execve']));
  });

  test('refuses what gives power over the machine', () => {
    const refused = 'bpf keyctl add_key init_module kexec_load mount perf_event_open reboot swapon userfaultfd';
    for (const name of refused.split(' ')) expect(allowed).not.toContain(name);
  });

  test('has nothing but what the OCI defines, since Kubernetes ignores the rest', () => {
    const keys = profile.syscalls.flatMap((one: object) => Object.keys(one));
    expect([...new Set(keys)].sort()).toEqual(['action', 'args', 'comment', 'errnoRet', 'names']);
    expect(Object.keys(profile).sort()).toEqual(['architectures', 'defaultAction', 'defaultErrnoRet', 'syscalls']);
  });
});

describe('the program', () => {
  const program = () => new Program();
  const planned = async (...args: string[]) => {
    const { code, stdout, stderr } = await program().run('doctor', '--json', ...args);
    return { ...(JSON.parse(stdout) as Printed & { error: string }), code, stderr };
  };
  const targets = ['apparmor', 'sysctl', 'docker', 'kubernetes'];

  linuxTest.each(targets)('--fix --for %s prints a plan, and changes nothing', async (target) => {
    const { code, plan, applied, stderr } = await planned('--fix', '--for', target, '--yes');
    expect([code, applied]).toEqual([1, false]);
    expect(stderr).toContain('--root DIR');
    expect(plan).toHaveLength(1);
    const [{ why, changes, undo }] = plan as [Printed['plan'][number]];
    expect([why, undo]).toEqual([expect.any(String), expect.arrayContaining([expect.stringMatching(/^rm \//)])]);
    const written = changes.find((change) => change.kind === 'file');
    expect(written).toMatchObject({ path: expect.stringMatching(/^\//), mode: 0o644, content: expect.any(String) });
    const text = (await program().run('doctor', '--fix', '--for', target)).stdout;
    for (const line of (written as { content: string }).content.trimEnd().split('\n')) expect(text).toContain(line);
  });

  test('the lines that use a profile are part of the plan', async () => {
    const text = async (target: string) => (await program().run('doctor', '--fix', '--for', target)).stdout;
    expect(await text('docker')).toContain(
      '--security-opt seccomp=/etc/agent-bash/seccomp.json --security-opt systempaths=',
    );
    expect(await text('kubernetes')).toMatch(/procMount: Unmasked\n.*localhostProfile: agent-bash\.json/);
    expect((await planned('--fix', '--for', 'docker')).plan[0]?.why).toContain('\ndocker run ');
  });

  linuxTest('--root writes all plans below a directory, once, and --unfix removes them', async () => {
    const top = folder();
    for (const target of targets) {
      const ended = await planned('--fix', '--for', target, '--root', top);
      expect([ended.code, ended.applied, ended.stderr]).toEqual([1, false, expect.stringContaining('--yes applies')]);
      expect(ended.plan[0]?.changes.map(({ kind }) => kind)).not.toContain('run');
      expect(await planned('--fix', '--for', target, '--root', top, '--yes')).toMatchObject({ code: 0, applied: true });
      expect(await planned('--fix', '--for', target, '--root', top)).toMatchObject({
        code: 0,
        plan: [],
        applied: false,
      });
    }
    expect(filesBelow(top)).toEqual([
      'etc/agent-bash/seccomp.json',
      'etc/apparmor.d/agent-bash',
      'etc/sysctl.d/60-agent-bash.conf',
      expect.stringMatching(/^usr\/local\/lib\/agent-bash\/[^/]+\/agent-bash-supervisor$/),
      'var/lib/kubelet/seccomp/agent-bash.json',
    ]);
    expect(await planned('--unfix', '--root', top)).toMatchObject({ code: 1, applied: false });
    expect(await planned('--unfix', '--root', top, '--yes')).toMatchObject({ code: 0, applied: true });
    expect(filesBelow(top)).toEqual([]);
    expect(await planned('--unfix', '--root', top)).toMatchObject({ code: 0, plan: [] });
  });

  test('a link in the directory of --root leads to no file outside', async () => {
    const [top, outside] = [folder(), folder()];
    symlinkSync(outside, join(top, 'etc'));
    const { code, error } = await planned('--fix', '--for', 'sysctl', '--root', top, '--yes');
    expect([code, error]).toEqual([1, expect.stringContaining(`leads out of ${top}, to ${outside}`)]);
    expect(readdirSync(outside)).toEqual([]);
  });

  linuxTest('a directory in which no file can be made is named', async () => {
    const { code, error } = await planned('--fix', '--for', 'sysctl', '--root', '/proc', '--yes');
    expect([code, error]).toEqual([expect.any(Number), expect.stringContaining('/proc')]);
    expect(code).not.toBe(0);
  });

  test.each([
    [['--fix', '--unfix'], '--fix and --unfix contradict each other: give one of them'],
    [['--yes'], '--yes belongs to --fix'],
    [['--for', 'docker'], '--for belongs to --fix'],
    [['--unfix', '--for', 'docker'], '--for belongs to --fix'],
    [['--fix', '--for', 'windows'], "'windows' is invalid. It must be apparmor, sysctl, docker or kubernetes."],
    [['--fix', '--root', '/nowhere'], '--root: "/nowhere" does not exist: make the directory first'],
    [['--fix', '--root', import.meta.filename], 'is not a directory: give the directory that stands for /'],
  ])('%j is refused', async (args, message) => {
    const { code, stdout } = await program().run('doctor', '--json', ...args);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', error: expect.stringContaining(message) });
  });

  test('doctor names the way, and what a better one needs', async () => {
    const { stdout } = await program().run('doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; found: string; cost: string }[] };
    const way = checks.find(({ name }) => name === 'confine-way');
    expect(way?.found).toMatch(/^(namespaces|the sandbox of macOS|a listener, |Landlock alone|a filter |nothing)/);
    if (way?.state === 'missing') expect(way.cost).toContain('; ');
  });

  linuxTest('doctor says that the variable turns namespaces off', async () => {
    const { stdout } = await new Program({ AGENT_BASH_NAMESPACES: 'off' }).run('doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; found: string; cost: string }[] };
    const way = checks.find(({ name }) => name === 'confine-way');
    expect(way).toMatchObject({
      state: 'missing',
      cost: expect.stringMatching(/; AGENT_BASH_NAMESPACES=off turns namespaces off: unset that variable$/),
    });
    const parts = checks.filter(({ name }) => name.startsWith('confine-') && name !== 'confine-way');
    expect(parts.map(({ state }) => state)).toEqual(Array(6).fill('ok'));
  });
});

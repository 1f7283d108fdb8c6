import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Program } from '../../../cli/support.ts';
import { alive, processes, until } from '../../../support/index.ts';
import { sshHost, sshTest } from '../../../support/ssh.ts';

interface Report {
  ok: boolean;
  platform: string | null;
  target: string;
  checks: { name: string; state: string; found: string; cost: string | null }[];
}

describe('agent-bash doctor --on', () => {
  sshTest('checks the target as it checks this machine, and leaves nothing there', async () => {
    const { host, config, home } = sshHost();
    const program = new Program();
    const flags = ['--on', host, '--ssh-config', config];
    const report = await program.json<Report>('doctor', ...flags);
    expect(report).toMatchObject({ ok: true, platform: `linux ${process.arch}`, target: `ssh:${host}` });
    const here = await program.json<Report>('doctor');
    const state = ({ checks }: Report, name: string) => checks.find((one) => one.name === name)?.state;
    const names = report.checks.map(({ name }) => name);
    expect(names).toEqual(['connection', ...names.filter((name) => state(here, name) !== undefined)]);
    const without = here.checks.map(({ name }) => name).filter((name) => !names.includes(name));
    // Those of this process and its addon, and those that only the addon asks of the kernel.
    const own = ['node', 'addon', 'supervisor', 'drafts'];
    const ofKernel = ['pidfd', 'close-range', 'landlock', 'user-namespaces', 'seccomp-notify', 'cgroup'];
    expect(without).toEqual([...own, ...ofKernel]);
    // It is this machine. What a busy one answers late is not compared.
    for (const name of names.slice(1).filter((one) => one !== 'warm-starts')) {
      expect([name, state(report, name)]).toEqual([name, state(here, name)]);
    }
    const found = (name: string) => report.checks.find((one) => one.name === name)?.found;
    expect(found('connection')).toMatch(/^a round trip takes \d+\.\d ms, the program was sent to \S+, /);
    expect(found('state-folder')).toBe(`${home}/.state/agent-bash`);
    expect(readdirSync(home).filter((name) => name.startsWith('agent-bash-doctor'))).toEqual([]);
    const isThere = () => processes().some(({ pid, argv }) => argv.join(' ').includes(home) && alive(pid));
    await until(() => !isThere(), 'nothing of it runs there');
    const again = await program.run('doctor', ...flags);
    expect(again.stdout).toMatch(/^agent-bash \S+ on ssh:box, linux \w+: commands run\n✓ connection .*was found at/);
  });

  sshTest('says of a target that cannot be reached why, and exits with 1', async () => {
    const { config } = sshHost();
    const ended = await new Program().run('doctor', '--on', 'no.invalid', '--ssh-config', config, '--json');
    expect([ended.code, ended.stderr]).toEqual([1, '']);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      ok: false,
      platform: null,
      target: 'ssh:no.invalid',
      checks: [{ name: 'connection', state: 'failed', found: expect.stringContaining('cannot be reached') }],
    });
  });

  test.each(['--fix', '--unfix'])('%s changes this machine only', async (flag) => {
    const { code, stderr } = await new Program().run('doctor', flag, '--on', 'build1');
    expect([code, stderr]).toEqual([2, `agent-bash: ${flag} changes this machine: run it on build1\n`]);
  });

  test('wants flags that belong together', async () => {
    const { code, stderr } = await new Program().run('doctor', '--linger', '5m');
    expect([code, stderr]).toEqual([2, 'agent-bash: --linger is about a connection: name the target with --on\n']);
    expect((await new Program().run('doctor', '--on', 'pod:web')).code).toBe(2);
  });
});

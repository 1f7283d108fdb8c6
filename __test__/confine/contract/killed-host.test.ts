import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { alive, folder, host, kill, mark, settles, sleepers, until } from '../../support/index.ts';
import { lasting } from '../support/ground.ts';
import { descendantsOf } from '../support/world.ts';

/** Starts one of everything in a host, each with a sleeper and one that has left its group. */
const everything = (cwd: string, dir: string, seconds: string, task: string) => `
  import { BackgroundRegistry, BashSession, PtySession } from 'agent-bash';
  const options = { cwd: ${JSON.stringify(cwd)}, confine: 'workspace', warm: true };
  const command = 'setsid sleep ${seconds} & sleep ${seconds}';
  const first = await bash('true', options);
  for (let n = 0; n < 3; n++) void bash(command, options);
  const session = new BashSession(options);
  const tmps = [first, await session.run('x=1')].map(({ confinement }) => confinement.tmp);
  void session.run(command);
  const terminal = new PtySession(options);
  await terminal.start(command);
  const ends = new BackgroundRegistry();
  await ends.start(command, options);
  const lasts = new BackgroundRegistry({ dir: ${JSON.stringify(dir)} });
  const task = await lasts.start(${JSON.stringify(task)}, options);
  console.log('up=' + JSON.stringify([task.pid, tmps]) + '.');
  setInterval(() => {}, 1000);`;

describe.runIf(process.platform === 'linux')('a host that is killed', () => {
  test('leaves nothing of its worlds but tasks that outlive it, which stay confined', async () => {
    const [cwd, dir, place, seconds] = [folder(), folder(), lasting(), mark()];
    const denied = `tee ${place}/x </dev/null; mkdir .git/hooks; curl -s --max-time 5 http://other.test`;
    mkdirSync(join(cwd, '.git'));
    const task = `touch up; until [ -e go ]; do sleep .05; done; ${denied}; touch own; sleep 300`;
    const one = host(everything(cwd, dir, seconds, task), { before: 'ulimit -c 0' });
    const [, said = ''] = await one.says(/^up=(.*)\.$/m);
    const [pid, tmps] = JSON.parse(said) as [number, string[]];
    onTestFinished(() => void kill(pid, 'SIGKILL'));
    await until(() => sleepers(seconds).length === 12 && existsSync(join(cwd, 'up')));
    const helpers = descendantsOf(one.pid).filter(({ name }) => name.startsWith('agent-bash-'));
    one.process.kill('SIGKILL');
    await one.ended();
    await until(() => sleepers(seconds).length === 0);
    // The supervisor, init, the gate, and the shim and the listener of the task.
    await until(() => helpers.filter((helper) => alive(helper.pid)).length === 5);
    await until(() => tmps.every((tmp) => !existsSync(tmp)));

    const registry = new BackgroundRegistry({ dir });
    onTestFinished(() => registry.close());
    writeFileSync(join(cwd, 'go'), '');
    await until(() => existsSync(join(cwd, 'own')));
    const now = async () => registry.check(registry.list()[0]?.id ?? '', { cursor: 0 });
    const all = until(async () => {
      const known = await now();
      return (known.confinement?.deniedTotal ?? 0) >= 3 ? known : undefined;
    });
    const check = await all.catch(async (error: Error) => {
      const { output, confinement } = await now();
      throw new Error(`${error.message}; it has ${JSON.stringify([output, confinement?.denied])}`);
    });
    const targets = check.confinement?.denied.map(({ kind, target }) => `${kind} ${target}`);
    expect(targets?.slice(0, 2)).toEqual([`write ${place}/x`, `write ${cwd}/.git/hooks`]);
    expect(targets?.[2]).toContain('network other.test');
    expect([existsSync(join(place, 'x')), existsSync(join(cwd, '.git/hooks'))]).toEqual([false, false]);
    await settles(registry.kill(check.task.id));
    await until(() => helpers.every((helper) => !alive(helper.pid)));
  });
});

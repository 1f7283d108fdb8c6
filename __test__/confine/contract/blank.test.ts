import { readlinkSync } from 'node:fs';
import { describe, expect } from 'vitest';
import {
  alive,
  folder,
  host,
  isRoot,
  kill,
  processes,
  skippedWithout,
  supervisorOf,
  until,
} from '../../support/index.ts';
import { namespacesTest as test } from '../support/held.ts';
import { type Stepped, stepped } from '../support/steps.ts';
import { descendantsOf, isGone, type WorldFiles, worldsOf } from '../support/world.ts';

const asRoot = isRoot ? test : skippedWithout('root');

const session = (name: string) =>
  `const ${name} = new BashSession({ cwd: ${JSON.stringify(folder())}, confine: 'workspace' });`;

/** Code that fails if a command of a session has other output. */
const says = (name: string, command: string, output: string) => `
  const said = await ${name}.run(${JSON.stringify(command)});
  if (said.stdout !== ${JSON.stringify(output)} || said.confinement.held.length !== 4) throw new Error(said.stderr);`;

/** A host after its first confined command, with its blank world, and more steps. */
async function withBlank(...steps: string[]): Promise<Stepped & { blank: WorldFiles }> {
  const first = `${session('first')} await first.run('true'); await first.close();`;
  const started = stepped("import { BashSession } from 'agent-bash';", ["await bash('true');", first, ...steps]);
  const { pid } = started.host;
  await started.step();
  expect(worldsOf(pid)).toEqual([]);
  await started.step();
  return { ...started, blank: (await until(() => onlyWorldOf(pid))) as WorldFiles };
}

/** The world of a host that has just one. */
function onlyWorldOf(pid: number): WorldFiles | undefined {
  const worlds = worldsOf(pid);
  return worlds.length === 1 ? worlds[0] : undefined;
}

describe.runIf(process.platform === 'linux')('a blank world', () => {
  test('is there after the first confined command, and not before', async () => {
    const { blank } = await withBlank();
    expect(alive(blank.pid)).toBe(true);
    expect(blank.places).toHaveLength(isRoot ? 1 : 0);
  });

  test('is claimed by the next world, which ends with its owner', async () => {
    const {
      host: at,
      step,
      blank,
    } = await withBlank(
      session('next') + says('next', 'echo in > /tmp/own; cat /tmp/own', 'in\n'),
      "console.log('tmp=' + said.confinement.tmp + '.');",
      'await next.close();',
    );
    await step();
    await step();
    const [, tmp] = await at.says(/^tmp=(.*)\.$/m);
    expect(blank.places.map((place) => `${place}/tmp`)).toEqual(isRoot ? [tmp] : []);
    // There is another blank one.
    await until(() => worldsOf(at.pid).length === 2);
    expect(alive(blank.pid)).toBe(true);
    await step();
    await until(() => isGone(blank) && worldsOf(at.pid).length === 1);
  });

  test('gets the policy of its owner: files and names', async () => {
    const denied = 'touch /usr/denied; getent hosts name.test; kill -0 1';
    const { host: at, step } = await withBlank(
      `${session('next')} const { confinement } = await next.run('${denied}');
      console.log('denied=' + confinement.denied.map(({ kind, target }) => kind + ' ' + target).join() + '.');`,
    );
    await step();
    const [, said = ''] = await at.says(/^denied=(.*)\.$/m);
    expect(said).toContain('write /usr/denied');
    expect(said).toContain('network name.test');
  });

  asRoot('has no process but its own', async () => {
    const { blank } = await withBlank();
    const space = (pid: number) => {
      try {
        return readlinkSync(`/proc/${pid}/ns/pid`);
      } catch {
        return '';
      }
    };
    const own = space(blank.pid);
    expect(processes().filter(({ pid }) => space(pid) === own)).toMatchObject([{ pid: blank.pid }]);
  });

  test('that was killed is not used', async () => {
    const { step, blank } = await withBlank(session('next') + says('next', 'echo on', 'on\n'));
    kill(blank.pid, 'SIGKILL');
    await step();
  });

  test('ends with its supervisor', async () => {
    const { host: at, step, blank } = await withBlank(session('next') + says('next', 'echo on', 'on\n'));
    kill(supervisorOf(at.pid)?.pid ?? 0, 'SIGKILL');
    await until(() => isGone(blank));
    await step();
  });

  test('ends with a host that is killed', async () => {
    const { host: at, blank } = await withBlank();
    const helpers = descendantsOf(at.pid).filter(({ name }) => name.startsWith('agent-bash-'));
    at.process.kill('SIGKILL');
    await at.ended();
    await until(() => isGone(blank) && helpers.every(({ pid }) => !alive(pid)));
  });

  test('keeps no process alive', async () => {
    const source = `import { BashSession } from 'agent-bash';
      ${session('one')} await one.run('true'); await one.close(); console.log('up.');`;
    const one = host(source);
    expect(await one.ended()).toEqual({ code: 0, signal: null });
    expect(one.stdout()).toBe('up.\n');
  });
});

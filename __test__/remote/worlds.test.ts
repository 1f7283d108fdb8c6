import { BackgroundRegistry, BashSession, type Target } from 'agent-bash';
import { createSandbox, createSandboxSession } from 'agent-bash/sandbox';
import { namespacesTest } from '../confine/support/held.ts';
import { INIT } from '../confine/support/world.ts';
import { childrenOf, folder, place, until } from '../support/index.ts';

interface Owned {
  run(): Promise<unknown>;
  end(): Promise<unknown>;
}

/** What owns the worlds of its confined commands. */
const OWNERS: [name: string, make: (options: { target: Target; cwd: string; confine: 'workspace' }) => Owned][] = [
  [
    'a session',
    (options) => {
      const session = new BashSession(options);
      return { run: () => session.run('true'), end: () => session.close() };
    },
  ],
  [
    'a registry',
    ({ target, cwd, confine }) => {
      const registry = new BackgroundRegistry({ target, confine });
      const run = async () => {
        await registry.wait(await registry.start('true', { cwd }));
      };
      return { run, end: () => registry.close() };
    },
  ],
  [
    'a sandbox',
    (options) => {
      const sandbox = createSandbox(options);
      return { run: () => sandbox.runCommand('true'), end: () => sandbox.stop() };
    },
  ],
  [
    'a session of a sandbox',
    (options) => {
      const session = createSandboxSession({ ...options, home: options.cwd });
      return { run: () => session.run({ command: 'true' }), end: () => session[Symbol.asyncDispose]() };
    },
  ],
];

/** How many worlds a target has, the blank one included that is kept for the next owner. */
function worldsOn({ info }: Target): number {
  const supervisor = childrenOf(info.pid).find(({ argv }) => argv[1] === 'supervisor');
  return childrenOf(supervisor?.pid ?? 0).filter(({ name }) => name === INIT).length;
}

namespacesTest.each(OWNERS)('the worlds of %s end with it, on its target too', async (_, make) => {
  const { target } = await place();
  const owned = make({ target, cwd: folder(), confine: 'workspace' });
  await owned.run();
  await until(() => worldsOn(target) === 2);
  await owned.end();
  await until(() => worldsOn(target) === 1);
});

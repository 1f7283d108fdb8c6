import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hostResult } from '../../support/index.ts';
import { lasting } from '../support/ground.ts';
import { HOST, VALUE, ways } from './support.ts';

/** What someone outside does to the file `at` with `text`, while the sandbox instance lives. `again` makes `at`. */
const CHANGES = {
  'replaced by a rename': `writeFileSync(at + '.new', text); renameSync(at + '.new', at);`,
  'removed and made again': 'rmSync(at); again();',
  'moved away and made again': `renameSync(at, at + '.old'); again();`,
  'exchanged with a link': `writeFileSync(at + '.new', text); rmSync(at); symlinkSync(at + '.new', at);`,
  'made again in a directory that a link leads to': `const place = dirname(at);
    mkdirSync(place + '.new'); writeFileSync(place + '.new/npmrc', text);
    renameSync(place, place + '.old'); symlinkSync(place + '.new', place);`,
  'made again in another directory of the same name': `renameSync(dirname(at), dirname(at) + '.old'); again();`,
  'made again below another directory of the same name': `const above = dirname(dirname(at));
    renameSync(above, above + '.old'); again();`,
};

/** A host that runs the same command before, after and during the change. `missing`: the machine has no such file. */
const script = (file: string, missing: boolean, change: string, write: string[]) => `
  import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
  import { dirname } from 'node:path';
  import { setTimeout } from 'node:timers/promises';
  import { BashSession } from 'agent-bash';
  const at = ${JSON.stringify(file)};
  const text = ${JSON.stringify(`of later ${VALUE}\n`)};
  const again = () => { mkdirSync(dirname(at), { recursive: true }); writeFileSync(at, text); };
  const secret = { value: ${JSON.stringify(VALUE)}, hosts: ['${HOST}'], file: at, ${missing ? `template: 'of later \${TOKEN}\\n'` : ''} };
  const hidden = dirname(at) + '/hidden';
  const confine = { secrets: { TOKEN: secret }, write: ${JSON.stringify(write)}, hide: [hidden] };
  const options = { cwd: ${JSON.stringify(write[0])}, confine, safety: 'off' };
  const session = new BashSession(options);
  const command = 'cat ' + at + ' || true; cat ' + hidden + ' 2>/dev/null';
  const before = await session.run(command);
  const running = bash('for i in $(seq 15); do sleep 0.1; done; ' + command, options);
  await setTimeout(500);
  ${change}
  const all = [before, await session.run(command), await bash(command, options), await running];
  console.log(JSON.stringify(all.map(({ stdout, stderr }) => stdout + stderr)));`;

describe.runIf(process.platform === 'linux').each(ways)('a file with a secret, with %s,', (_, env) => {
  test.each(Object.entries(CHANGES))('has no value when it is %s', async (_, change) => {
    const replace = async (inside: boolean) => {
      const home = lasting();
      const [root, file] = [join(home, 'work'), join(home, inside ? 'work' : 'out', 'a/b/npmrc')];
      mkdirSync(root);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, `of later ${VALUE}\n`);
      const seen = await hostResult<string[]>(script(file, false, change, [root]), { env });
      // Of the command before the change, of two after it, and of one that ran meanwhile.
      expect(
        seen.map((text) => text.includes(VALUE)),
        String(inside),
      ).toEqual([false, false, false, false]);
      expect(seen[0]).toMatch(/^of later ghp_\w{36}\n$/);
    };
    await Promise.all([replace(true), replace(false)]);
  });

  test('has no value when it appears, and what is hidden beside it stays so', async () => {
    const home = lasting();
    const [root, file] = [join(home, 'work'), join(home, 'out/npmrc')];
    for (const path of [root, join(file, '..')]) mkdirSync(path);
    const seen = await hostResult<string[]>(script(file, true, 'again(); writeFileSync(hidden, text);', [root]), {
      env,
    });
    expect(seen.join('')).toMatch(/^(?:of later ghp_\w{36}\n){4}$/);
    expect(seen.join('')).not.toContain(VALUE);
  });

  test('has no value when it appears in another directory of the same name', async () => {
    const home = lasting();
    const [root, file] = [join(home, 'work'), join(home, 'out/npmrc')];
    for (const path of [root, join(file, '..')]) mkdirSync(path);
    const change = CHANGES['made again in another directory of the same name'];
    const seen = await hostResult<string[]>(script(file, true, change, [root]), { env });
    expect(seen.join('')).not.toContain(VALUE);
  });
});

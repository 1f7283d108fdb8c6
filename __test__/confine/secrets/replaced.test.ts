import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

const BESIDE = 'made beside a hidden file that appears';

/** The same for a file that is not there at first, whose secret has a template. */
const BEGINNINGS = {
  [BESIDE]: `again(); writeFileSync(dirname(at) + '/hidden', text);`,
  'made in another directory of the same name': CHANGES['made again in another directory of the same name'],
};

/** A file with a secret of its own. */
interface Case {
  at: string;
  /** The name of the change. */
  name: string;
  change: string;
  /** The machine has no such file at first. */
  missing: boolean;
}

/** A case for each change, inside of the root and outside. A file that is missing inside is refused. */
function cases(home: string): Case[] {
  return Object.entries({ ...CHANGES, ...BEGINNINGS }).flatMap(([name, change], number) => {
    const missing = name in BEGINNINGS;
    return (missing ? ['out'] : ['work', 'out']).map((place) => {
      const at = join(home, place, String(number), 'a/b/npmrc');
      mkdirSync(dirname(at), { recursive: true });
      if (!missing) writeFileSync(at, `of later ${VALUE}\n`);
      return { at, name, change, missing };
    });
  });
}

/** A host that reads all files by the same command before, after and during the changes. */
const script = (root: string, all: Case[]) => `
  import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
  import { dirname } from 'node:path';
  import { setTimeout } from 'node:timers/promises';
  import { BashSession } from 'agent-bash';
  const all = ${JSON.stringify(all)};
  const text = ${JSON.stringify(`of later ${VALUE}\n`)};
  const changes = [${all.map(({ change }) => `(at, again) => { ${change} }`)}];
  const secrets = Object.fromEntries(all.map(({ at, missing }, number) => [
    'TOKEN' + number,
    {
      value: ${JSON.stringify(VALUE)},
      hosts: ['${HOST}'],
      file: at,
      ...(missing && { template: 'of later \${TOKEN' + number + '}\\n' }),
    },
  ]));
  const hide = all.map(({ at }) => dirname(at) + '/hidden');
  const root = ${JSON.stringify(root)};
  const options = { cwd: root, confine: { secrets, write: [root], hide }, safety: 'off' };
  const command = all.map(({ at }, n) => \`cat \${at}; cat \${hide[n]}; echo =====\`).join('\\n');
  const session = new BashSession(options);
  const before = await session.run(command);
  const running = bash('for i in $(seq 15); do sleep 0.1; done; ' + command, options);
  await setTimeout(500);
  all.forEach(({ at }, number) => changes[number](at, () => {
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text);
  }));
  const ends = [before, await session.run(command), await bash(command, options), await running];
  const parts = ends.map(({ stdout }) => stdout.split('=====\\n'));
  console.log(JSON.stringify(all.map((_, number) => parts.map((part) => part[number]))));`;

describe.runIf(process.platform === 'linux').each(ways)('with %s', (_, env) => {
  test('a file with a secret has no value after each change, inside of the root and outside', async () => {
    const home = lasting();
    const all = cases(home);
    // Of each case, the command before the change, two after it, and one that ran meanwhile.
    const seen = await hostResult<string[][]>(script(join(home, 'work'), all), { env });
    all.forEach(({ at, name }, number) => {
      const texts = seen[number] ?? [];
      const where = `${at} is ${name}`;
      expect(
        texts.map((text) => text.includes(VALUE)),
        where,
      ).toEqual([false, false, false, false]);
      // A hidden file beside it, whose text would be the value, is never read.
      const covered = name === BESIDE ? texts : texts.slice(0, 1);
      for (const text of covered) expect(text, where).toMatch(/^of later ghp_\w{36}\n$/);
    });
  });
});

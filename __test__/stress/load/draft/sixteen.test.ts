import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, bash } from 'agent-bash';
import { expect } from 'vitest';
import { draftTest, project } from '../../../draft/support.ts';

const SERVER = `require('http').createServer((_, to) => to.end(require('./answer.js'))).listen(3000, () => console.log('up'))`;
const TEST = `require('node:test')('the server answers', async () => {
  const text = await (await fetch('http://127.0.0.1:3000')).text();
  require('node:assert').strictEqual(text, require('./answer.js'));
});`;

draftTest(
  'sixteen drafts of one project, each with a server on one port and its tests, do not see each other',
  async () => {
    const { root, open, tree } = project();
    writeFileSync(join(root, 'server.js'), SERVER);
    writeFileSync(join(root, 'answer.test.js'), TEST);
    writeFileSync(join(root, 'answer.js'), `module.exports = 'of the project';\n`);
    writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { test: 'node --test' } }));
    const before = tree();
    const all = await Promise.all(Array.from({ length: 16 }, () => open({ expose: [3000] })));
    const seen = await Promise.all(
      all.map(async (draft, number) => {
        await bash(`echo "module.exports = 'of ${number}'" >answer.js; seq ${number} >own-${number}`, { draft });
        const registry = new BackgroundRegistry({ draft });
        const task = await registry.start('exec node server.js');
        await registry.wait(task.id, { pattern: 'up', timeoutMs: 60_000 });
        const tested = await bash('npm test', { draft, timeoutMs: 120_000 });
        const { stdout } = await bash('ls -d own-*', { draft });
        const answer = await (await fetch((await draft.port(3000))?.url ?? '')).text();
        await registry.kill(task.id);
        return [tested.exitCode, stdout, answer];
      }),
    );
    expect(seen).toEqual(all.map((_, number) => [0, `own-${number}\n`, `of ${number}`]));
    expect(tree()).toEqual(before);
  },
);

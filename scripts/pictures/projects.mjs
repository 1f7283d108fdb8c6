/** The projects in which the agents of the pictures work. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SUITES = {
  cart: ['starts empty', 'adds prices', 'merges the same article', 'rejects a negative count', 'keeps the order'],
  checkout: ['starts with the cart of the user', 'reserves the stock for 15 minutes', 'releases the stock on a cancel'],
  invoice: ['numbers without a gap', 'prints the tax per rate', 'refuses a second number for an order'],
  search: ['finds a word at the start', 'finds a word in the middle', 'ranks the exact name first'],
  stock: ['counts what is reserved', 'never goes below zero', 'tells of the last three'],
};

const testFile = (name, titles) => `import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sum } from '../src/cart.js';

describe('${name}', () => {
${titles
  .map(
    (title, index) => `  it('${title}', async () => {
    await setTimeout(${40 + 90 * index});
    assert.equal(sum([${index}, 1]), ${index + 1});
  });`,
  )
  .join('\n')}
${name === 'checkout' ? "  it('rounds to a cent', () => assert.equal(17.991, 17.99));\n" : ''}});
`;

const SHOP = {
  'package.json': `${JSON.stringify(
    { name: 'shop', version: '1.4.0', type: 'module', scripts: { test: 'node tools/test.js', dev: 'node src/dev.js' } },
    null,
    2,
  )}\n`,
  'src/cart.js': 'export const sum = (prices) => prices.reduce((all, price) => all + price, 0);\n',
  'src/legacy/price.js': '// Prices before 2024.\n'.repeat(20),
  'src/legacy/round.js': '// Rounds as before 2024.\n'.repeat(18),
  'src/legacy/tax.js': '// Taxes before 2024.\n'.repeat(22),
  'src/dev.js': `import { createServer } from 'node:http';
const time = () => new Date().toLocaleTimeString('en-GB');
const server = createServer((request, response) => {
  console.log(\`\${time()} \${request.method} \${request.url} \x1b[32m200\x1b[0m\`);
  response.end('{}');
});
server.listen(5173, '127.0.0.1', () => console.log('\\n  Local:  \x1b[36mhttp://127.0.0.1:5173/\x1b[0m\\n  Ready in 212 ms\\n'));
`,
  'tools/test.js': `import { spawn } from 'node:child_process';
const run = () => spawn(process.execPath, ['--test', '--test-reporter=spec', '--test-concurrency=1', 'test/'], { stdio: 'inherit' }).on('close', () => setTimeout(run, 1500));
run();
`,
  'tools/setup.mjs': `const choices = ['Vanilla', 'Vue', 'React', 'Preact', 'Lit', 'Svelte', 'Solid', 'Qwik', 'Angular', 'Others'];
let at = 0;
const draw = () => {
  const lines = choices.map((name, index) => index === at ? \`\\x1b[36m│\\x1b[0m  \\x1b[32m●\\x1b[0m \\x1b[33m\${name}\\x1b[0m\` : \`\\x1b[36m│\\x1b[0m  \\x1b[2m○ \${name}\\x1b[0m\`);
  process.stdout.write('\\x1b[2J\\x1b[H\\x1b[36mcreate-panel\\x1b[0m\\r\\n\\r\\n\\x1b[90m│\\x1b[0m\\r\\n\\x1b[36m◆\\x1b[0m  Select a framework:\\r\\n' + lines.join('\\r\\n') + '\\r\\n\\x1b[36m│\\x1b[0m  \\x1b[2m↑/↓\\x1b[0m to navigate • \\x1b[2mEnter:\\x1b[0m confirm\\r\\n\\x1b[36m└\\x1b[0m  ');
};
process.stdin.setRawMode(true);
process.stdin.on('data', (keys) => {
  for (const key of String(keys).match(/\\x1b\\[[AB]|./gs) ?? []) {
    if (key === '\\x1b[A') at = (at + choices.length - 1) % choices.length;
    if (key === '\\x1b[B') at = (at + 1) % choices.length;
    if (key === '\\r') { process.stdout.write('\\x1b[2J\\x1b[H' + choices[at] + ' it is.\\r\\n'); process.exit(0); }
    if (key === '\\x03') process.exit(130);
  }
  draw();
});
draw();
`,
  ...Object.fromEntries(
    Object.entries(SUITES).map(([name, titles]) => [`test/${name}.test.js`, testFile(name, titles)]),
  ),
};

const BILLING = {
  'package.json': `${JSON.stringify({ name: 'billing', version: '2.0.0', scripts: { build: 'echo built' }, dependencies: { 'left-pad': '1.3.0' } }, null, 2)}\n`,
  'package-lock.json': `${JSON.stringify(
    {
      name: 'billing',
      version: '2.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': { name: 'billing', version: '2.0.0', dependencies: { 'left-pad': '1.3.0' } },
        'node_modules/left-pad': { version: '1.3.0', resolved: 'https://registry.example.org/left-pad-1.3.0.tgz' },
      },
    },
    null,
    2,
  )}\n`,
  '.npmrc': 'fetch-retries=0\n',
  'dist/main.js': '// built\n',
  'check.py': `import itertools, sys, time
names = ['splits_a_cent_once', 'keeps_the_journal_balanced', 'posts_nothing_twice', 'rounds_half_to_even', 'reads_a_torn_file']
for number in itertools.count():
    end = time.time() + 0.4
    while time.time() < end: sum(range(1000))
    print(f'test posting::{names[number % 5]}_{number} ... \x1b[32mok\x1b[0m', flush=True)
`,
  'serve.py': `import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'ok')
print('billing serves on 127.0.0.1:8080', flush=True)
http.server.HTTPServer(('127.0.0.1', 8080), Handler).serve_forever()
`,
  'deploy/migrate.sh': '#!/usr/bin/env bash\ncat "$4"\n',
};

const DOCS = { 'docs/index.html': '<h1>Docs</h1>\n', 'index.html': '<h1>Docs</h1>\n' };

/** Makes the projects in a home directory. Returns their directories by name. */
export function makeProjects(home) {
  const made = { shop: SHOP, billing: BILLING, docs: DOCS };
  return Object.fromEntries(Object.entries(made).map(([name, files]) => [name, makeProject(home, name, files)]));
}

function makeProject(home, name, files) {
  const root = join(home, 'src', name);
  for (const [file, text] of Object.entries(files)) {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: file.endsWith('.sh') ? 0o755 : 0o644 });
  }
  const git = (...args) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args]);
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'Start');
  return root;
}

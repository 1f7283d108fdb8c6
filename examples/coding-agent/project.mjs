import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bash } from 'agent-bash';

/**
 * @typedef {object} Project A small broken project under git.
 * @property {string} directory Its directory.
 * @property {Record<string, string | null>} env Variables for its commands: a git identity, no user settings.
 * @property {string} store Directory that keeps what its commands change.
 * @property {() => Promise<Verdict>} verify Runs the project to find out whether it is repaired.
 * @property {() => Promise<void>} remove Removes it. May be called more than once.
 *
 * @typedef {{ repaired: boolean, reason: string }} Verdict
 */

const FILES = {
  '.gitignore': '.address\n',
  'package.json': `${JSON.stringify(
    {
      name: 'cart',
      private: true,
      type: 'module',
      scripts: {
        test: 'node --test --test-reporter=spec',
        audit: 'node scripts/audit.js',
        dev: 'node scripts/serve.js',
      },
    },
    null,
    2,
  )}\n`,

  'src/cart.js': `/** What all items of a cart cost together, in cents. */
export function total(items) {
  let sum = 0;
  for (let i = 0; i < items.length - 1; i++) {
    sum += items[i].price * items[i].quantity;
  }
  return sum;
}
`,

  'test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.js';

test('an empty cart costs nothing', () => {
  assert.equal(total([]), 0);
});

test('every item counts', () => {
  assert.equal(total([{ price: 250, quantity: 2 }, { price: 100, quantity: 3 }]), 800);
});
`,

  'scripts/audit.js': `// Prices last year's orders again and compares them with what was paid. Takes its time.
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { total } from '../src/cart.js';

const MONTHS = 12;
const ORDERS = 40;
let wrong = 0;

for (let month = 1; month <= MONTHS; month++) {
  let low = 0;
  let listed = '';
  for (let order = 1; order <= ORDERS; order++) {
    const items = Array.from({ length: 1 + ((month * order) % 4) }, (_, i) => ({ price: 100 * (i + month), quantity: 1 + (order % 3) }));
    const paid = items.reduce((sum, item) => sum + item.price * item.quantity, 0);
    if (total(items) < paid) {
      low += 1;
      listed += \`\${month}/\${order}: \${items.length} items, paid \${paid}, priced \${total(items)}\\n\`;
    }
    if (order % 10 === 0) {
      process.stdout.write(\`\\rmonth \${month} of \${MONTHS}: \${order} of \${ORDERS} orders\`);
      await pause(50);
    }
  }
  wrong += low;
  process.stdout.write(\`\\rmonth \${month} of \${MONTHS}: \${low} of \${ORDERS} orders too low\\n\${listed}\`);
}
// It also leaves something in the home of whoever runs it, which nobody has asked for.
await writeFile(\`\${homedir()}/.cart-audit\`, \`\${wrong}\\n\`).catch(() => {});
console.log(\`\${wrong} of \${MONTHS * ORDERS} orders come out too low\`);
process.exitCode = wrong === 0 ? 0 : 1;
`,

  'scripts/serve.js': `// Prices carts for the shop's pages: GET /total?items=[{"price":1,"quantity":2}]
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { total } from '../src/cart.js';

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://shop');
  const sum = pathname === '/total' ? total(JSON.parse(searchParams.get('items') ?? '[]')) : 'not found';
  console.log(\`\${request.method} \${pathname}: \${sum}\`);
  response.end(\`\${sum}\\n\`);
});
server.listen(0, '127.0.0.1', () => {
  const address = \`http://127.0.0.1:\${server.address().port}\`;
  writeFileSync('.address', \`\${address}\\n\`);
  console.log(\`listening on \${address}\`);
});
`,
};

/** Makes the demo independent of the user's git settings, hooks, signing keys and identity. */
const ENV = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Coding Agent',
  GIT_AUTHOR_EMAIL: 'coding-agent@example.invalid',
  GIT_COMMITTER_NAME: 'Coding Agent',
  GIT_COMMITTER_EMAIL: 'coding-agent@example.invalid',
  // If a test runner above has set this, the tests of the project print nothing.
  NODE_TEST_CONTEXT: null,
};

/**
 * Creates the project in a temporary directory, with one commit.
 * @returns {Promise<Project>}
 */
export async function createProject() {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'coding-agent-')));
  const directory = join(parent, 'cart');
  const remove = () => rm(parent, { recursive: true, force: true });
  try {
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    await must(
      directory,
      `git -c init.defaultBranch=main init --quiet && git add ${Object.keys(FILES).join(' ')} && git commit --quiet -m "Price a cart"`,
    );
    const first = (await must(directory, 'git rev-parse HEAD')).trim();
    return { directory, env: ENV, store: join(parent, 'undo'), verify: () => verify(directory, first), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * A repair counts if the last commit is new, and a fresh clone of it passes the original tests.
 * @param {string} directory
 * @param {string} first
 * @returns {Promise<Verdict>}
 */
async function verify(directory, first) {
  const head = (await must(directory, 'git rev-parse HEAD')).trim();
  if (head === first) return { repaired: false, reason: 'nothing was committed' };
  await rm(join(directory, '../check'), { recursive: true, force: true });
  await must(
    directory,
    `git clone --quiet . ../check && cd ../check && git checkout --quiet ${first} -- test package.json`,
  );
  const tests = await run(join(directory, '../check'), 'npm test');
  if (tests.exitCode !== 0)
    return { repaired: false, reason: `the tests fail in a fresh clone of commit ${head.slice(0, 7)}` };
  return { repaired: true, reason: `the tests pass in a fresh clone of commit ${head.slice(0, 7)}` };
}

/** @param {string} cwd @param {string} command */
function run(cwd, command) {
  return bash(command, { cwd, env: ENV, mode: 'slow' });
}

/** @param {string} cwd @param {string} command */
async function must(cwd, command) {
  const result = await run(cwd, command);
  if (result.exitCode !== 0) throw new Error(`could not run \`${command}\`: ${result.stderr.trim()}`);
  return result.stdout;
}

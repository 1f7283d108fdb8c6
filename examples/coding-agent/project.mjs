import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bash } from 'agent-bash';

/**
 * @typedef {object} Project A small broken project of its own, under git.
 * @property {string} folder Where it lies.
 * @property {Record<string, string | null>} env What commands in it need: an identity for git, nobody's own git settings.
 * @property {() => Promise<Verdict>} verify Whether it is repaired, found out by running it.
 * @property {() => Promise<void>} remove Takes it away; may be called again.
 *
 * @typedef {{ repaired: boolean, reason: string }} Verdict
 */

const FILES = {
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
import { setTimeout as pause } from 'node:timers/promises';
import { total } from '../src/cart.js';

const MONTHS = 12;
const ORDERS = 40;
let wrong = 0;

for (let month = 1; month <= MONTHS; month++) {
  let low = 0;
  for (let order = 1; order <= ORDERS; order++) {
    const items = Array.from({ length: 1 + ((month * order) % 4) }, (_, i) => ({ price: 100 * (i + month), quantity: 1 + (order % 3) }));
    const paid = items.reduce((sum, item) => sum + item.price * item.quantity, 0);
    if (total(items) < paid) low += 1;
    if (order % 10 === 0) {
      process.stdout.write(\`\\rmonth \${month} of \${MONTHS}: \${order} of \${ORDERS} orders\`);
      await pause(50);
    }
  }
  wrong += low;
  process.stdout.write(\`\\rmonth \${month} of \${MONTHS}: \${low} of \${ORDERS} orders too low\\n\`);
}
console.log(\`\${wrong} of \${MONTHS * ORDERS} orders come out too low\`);
process.exitCode = wrong === 0 ? 0 : 1;
`,

  'scripts/serve.js': `// Prices carts for the shop's pages: GET /total?items=[{"price":1,"quantity":2}]
import { createServer } from 'node:http';
import { total } from '../src/cart.js';

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://shop');
  const sum = pathname === '/total' ? total(JSON.parse(searchParams.get('items') ?? '[]')) : 'not found';
  console.log(\`\${request.method} \${pathname}: \${sum}\`);
  response.end(\`\${sum}\\n\`);
});
server.listen(0, '127.0.0.1', () => console.log(\`listening on http://127.0.0.1:\${server.address().port}\`));
`,
};

/** The demo is the same whatever the user's git settings, hooks and signing keys, and works without an identity. */
const ENV = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Coding Agent',
  GIT_AUTHOR_EMAIL: 'coding-agent@example.invalid',
  GIT_COMMITTER_NAME: 'Coding Agent',
  GIT_COMMITTER_EMAIL: 'coding-agent@example.invalid',
  // Set by a test runner further up, it would silence the project's own.
  NODE_TEST_CONTEXT: null,
};

/**
 * Makes the project in a temporary folder, with everything in a first commit.
 * @returns {Promise<Project>}
 */
export async function createProject() {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'coding-agent-')));
  const folder = join(parent, 'cart');
  const remove = () => rm(parent, { recursive: true, force: true });
  try {
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    await must(
      folder,
      `git -c init.defaultBranch=main init --quiet && git add ${Object.keys(FILES).join(' ')} && git commit --quiet -m "Price a cart"`,
    );
    const first = (await must(folder, 'git rev-parse HEAD')).trim();
    return { folder, env: ENV, verify: () => verify(folder, first), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * A repair counts when the last commit is a new one, and a fresh clone of it passes the tests as they were at first.
 * @param {string} folder
 * @param {string} first
 * @returns {Promise<Verdict>}
 */
async function verify(folder, first) {
  const head = (await must(folder, 'git rev-parse HEAD')).trim();
  if (head === first) return { repaired: false, reason: 'nothing was committed' };
  await rm(join(folder, '../check'), { recursive: true, force: true });
  await must(
    folder,
    `git clone --quiet . ../check && cd ../check && git checkout --quiet ${first} -- test package.json`,
  );
  const tests = await run(join(folder, '../check'), 'npm test');
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

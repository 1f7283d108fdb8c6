import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
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
 * @typedef {object} Place Where a project is.
 * @property {import('agent-bash').Target | undefined} target `undefined`: this machine.
 * @property {() => Promise<string>} folder Makes a temporary directory.
 * @property {(path: string, text: string) => Promise<void>} write Writes a file, and makes its directories.
 * @property {(path: string) => Promise<unknown>} remove Removes a file or a directory with all in it.
 */

/** @type {Place} */
const HERE = {
  target: undefined,
  folder: async () => realpath(await mkdtemp(join(tmpdir(), 'coding-agent-'))),
  async write(path, text) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  },
  remove: (path) => rm(path, { recursive: true, force: true }),
};

/**
 * @param {import('agent-bash').Target} target
 * @returns {Place}
 */
function placeOn(target) {
  return {
    target,
    folder: async () => (await must({ target }, 'cd -P "$(mktemp -d -t coding-agent-XXXXXX)" && pwd')).trim(),
    write: (path, text) => target.writeFile(path, text),
    remove: (path) => target.remove(path, { recursive: true }),
  };
}

/**
 * Creates the project in a temporary directory, with one commit.
 * @param {import('agent-bash').Target} [target] Where. Default: this machine.
 * @returns {Promise<Project>}
 */
export async function createProject(target) {
  const place = target ? placeOn(target) : HERE;
  const parent = await place.folder();
  const where = { target, cwd: posix.join(parent, 'cart') };
  const remove = async () => void (await place.remove(parent));
  try {
    for (const [path, text] of Object.entries(FILES)) await place.write(posix.join(where.cwd, path), text);
    await must(
      where,
      `git -c init.defaultBranch=main init --quiet && git add ${Object.keys(FILES).join(' ')} && git commit --quiet -m "Price a cart"`,
    );
    const first = (await must(where, 'git rev-parse HEAD')).trim();
    const store = posix.join(parent, 'undo');
    return { directory: where.cwd, env: ENV, store, verify: () => verify(where, first), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * @typedef {Pick<import('agent-bash').BashOptions, 'target' | 'cwd'>} Where The place of a command.
 */

/**
 * A repair counts if the last commit is new, and a fresh clone of it passes the original tests.
 * @param {Where} where
 * @param {string} first
 * @returns {Promise<Verdict>}
 */
async function verify(where, first) {
  const head = (await must(where, 'git rev-parse HEAD')).trim();
  if (head === first) return { repaired: false, reason: 'nothing was committed' };
  await must(
    where,
    `rm -rf ../check && git clone --quiet . ../check && cd ../check && git checkout --quiet ${first} -- test package.json`,
  );
  const tests = await run({ ...where, cwd: posix.join(where.cwd ?? '', '../check') }, 'npm test');
  if (tests.exitCode !== 0)
    return { repaired: false, reason: `the tests fail in a fresh clone of commit ${head.slice(0, 7)}` };
  return { repaired: true, reason: `the tests pass in a fresh clone of commit ${head.slice(0, 7)}` };
}

/** @param {Where} where @param {string} command */
function run(where, command) {
  return bash(command, { ...where, env: ENV, mode: 'slow' });
}

/** @param {Where} where @param {string} command */
async function must(where, command) {
  const result = await run(where, command);
  if (result.exitCode !== 0) throw new Error(`could not run \`${command}\`: ${result.stderr.trim()}`);
  return result.stdout;
}

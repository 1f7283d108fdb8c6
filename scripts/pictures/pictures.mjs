/**
 * Makes the pictures of the page for the docs: three agents at work in three projects, seen in a browser. `npm run
 * pictures` writes them to docs/page/. Needs Chromium, and fonts-inter and fonts-jetbrains-mono for the same letters.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { isMain, main, root } from '../process.mjs';
import { makeProjects } from './projects.mjs';

const AGENTS = { builder: 'shop', scout: 'billing', nightly: 'docs' };
const WIDE = { width: 1440, height: 1000 };
const NARROW = { width: 400, height: 820 };

/** The pictures in the docs. With a directory as argument, all of them are made. */
const IN_DOCS = /^(?:(?:now|approval|receipt|terminal|history)-(?:light|dark)|(?:now|approval)-narrow-light)$/;

/** The scenes: what a person has opened. */
const SCENES = {
  now: (page) => open(page, /^npm test/),
  approval: (page) => open(page, /^npm run build/),
  terminal: (page) => open(page, /^node tools\/setup/),
  receipt: (page) => open(page, /^git mv/),
  denied: (page) => open(page, /^npm ci/),
  stop: async (page) => {
    await open(page, /^npm run dev/);
    await page.locator('.detail').getByRole('button', { name: /^Stop/ }).click();
  },
  undo: async (page) => {
    await open(page, /^git mv/);
    await page.getByRole('button', { name: /^Undo/ }).click();
    await page.getByRole('alertdialog').waitFor();
  },
  history: async (page) => {
    await page.getByRole('tab', { name: 'History' }).click();
    await page.locator('.grid tr[data-run]').first().waitFor();
  },
  ports: (page) => page.getByRole('tab', { name: 'Ports' }).click(),
};

async function open(page, name) {
  await page.getByRole('button', { name }).first().click();
  await page.locator('.list').evaluate((list) => list.scrollTo(0, 0));
  await wait(600);
}

/** Starts the agents and the page in a home of their own. Returns the address, and ends all with `close`. */
export async function startScene() {
  const home = mkdtempSync(join(tmpdir(), 'agent-bash-pictures-'));
  const [state, runtime] = ['state', 'runtime'].map((name) => join(home, `.${name}`));
  mkdirSync(runtime, { mode: 0o700 });
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: state, XDG_RUNTIME_DIR: runtime, AGENT_BASH_LEDGER: 'on' };
  const projects = makeProjects(home);
  const children = [];
  const start = async (args, ready) => {
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    let said = '';
    for await (const text of child.stdout) {
      said += text;
      if (ready.test(said)) break;
    }
    return said;
  };
  const serve = "import { startPage } from 'agent-bash/page'; console.log((await startPage({ control: true })).url)";
  const url = (await start(['--input-type=module', '--eval', serve], /\n/)).trim();
  const agents = fileURLToPath(new URL('agents.mjs', import.meta.url));
  return {
    url,
    startAgents: () =>
      Promise.all(Object.entries(AGENTS).map(([name, at]) => start([agents, name, projects[at]], /ready/))),
    children,
    async close() {
      const cli = join(root, 'dist', 'cli.mjs');
      for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
      await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'close')));
      // The tasks outlive their hosts.
      const ask = (...args) => execFileSync(process.execPath, [cli, ...args], { env, encoding: 'utf8' });
      const tasks = JSON.parse(ask('ps', '-r', '--json'));
      if (tasks.length > 0) ask('kill', ...tasks.map(({ id }) => id));
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function pictures(given) {
  const directory = given ?? join(root, 'docs', 'page');
  mkdirSync(directory, { recursive: true });
  const picture = async (page, name) => {
    if (given || IN_DOCS.test(name)) await page.screenshot({ path: join(directory, `${name}.png`) });
  };
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const scene = await startScene();
  try {
    const page = await (await browser.newContext({ viewport: WIDE })).newPage();
    await page.goto(scene.url);
    await page.getByText('Live').waitFor();
    await scene.startAgents();
    await page.getByRole('region', { name: 'Needs you' }).waitFor();
    scene.children.at(-1).stdin.end();
    await wait(4_000);
    for (const [name, show] of Object.entries(SCENES)) {
      await show(page);
      await page.mouse.move(0, 0);
      for (const scheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: scheme });
        await wait(150);
        await picture(page, `${name}-${scheme}`);
        await page.setViewportSize(NARROW);
        await wait(150);
        await picture(page, `${name}-narrow-${scheme}`);
        await page.setViewportSize(WIDE);
      }
      await page.getByRole('tab', { name: 'Now' }).click();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
    }
  } finally {
    await browser.close();
    await scene.close();
  }
}

if (isMain(import.meta)) await main(() => pictures(process.argv[2]));

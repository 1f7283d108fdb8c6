// The page: its size, the time until it shows something, and what it costs the commands that it watches.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { pageApp } from '../../scripts/page-app.mjs';
import { median } from '../stats.mjs';
import { milliseconds, ratio, size, time } from '../table.mjs';

export const title = 'page';

const COMMANDS = 200;
/** Prints 50 MB in each second. */
const FLOOD = `node -e 'const line = "x".repeat(99) + "\\n"; const piece = line.repeat(5000); setInterval(() => process.stdout.write(piece), 10)'`;

const AGENT = `
  import { bash } from 'agent-bash';
  const ignore = () => {};
  const long = { timeoutMs: 600_000 };
  process.on('message', async ([task, number]) => {
    if (task === 'crowd') {
      for (let at = 1; at < ${COMMANDS}; at++) bash('exec sleep 1000', long).catch(ignore);
      bash(${JSON.stringify(FLOOD)}, { ...long, truncate: { keep: 'tail', maxBytes: 1000 } }).catch(ignore);
    }
    const times = [];
    for (let at = 0; task === 'run' && at < number; at++) {
      const start = performance.now();
      await bash('true');
      times.push(performance.now() - start);
    }
    if (task === 'mark') bash('exec sleep 20 # ' + number, long).catch(ignore);
    process.send({ times, at: Date.now() });
  });
  bash('exec sleep 1000', long).catch(ignore);
  process.send({});`;

const PAGE = `
  import { startPage } from 'agent-bash/page';
  const page = await startPage({ control: true });
  process.on('message', () => process.send(page.url));
  process.send(page.url);`;

export async function measure({ short, ours, folder }) {
  if (ours.length === 0) return [];
  const { script, style } = await pageApp();
  const bytes = gzipSync(script).length + gzipSync(style).length;
  const lines = [size('script and style, compressed', bytes, { reach: { max: 40 * 1024 } })];
  const home = mkdtempSync(join(folder, 'agent-bash-page-'));
  const env = { ...process.env, XDG_RUNTIME_DIR: join(home, 'run'), XDG_STATE_HOME: join(home, 'state') };
  mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 });
  const processes = [AGENT, PAGE].map((source) => new Process(source, env));
  const path = execFileSync('bash', ['-c', 'type -P chromium || type -P google-chrome-stable'], { encoding: 'utf8' });
  const browser = await chromium.launch({ executablePath: path.trim(), args: ['--no-sandbox'] });
  try {
    const [agent, server] = processes;
    await Promise.all(processes.map((one) => one.next()));
    lines.push(await paint(browser, server, short ? 5 : 20));
    const tab = await open(browser, server);
    lines.push(await shown(tab, agent, short ? 10 : 40), ...(await crowded(tab, agent, short ? 40 : 200)));
    return lines;
  } finally {
    await browser.close();
    await Promise.all(processes.map((one) => one.stop()));
    rmSync(home, { recursive: true, force: true });
  }
}

/** A Node process that answers messages. */
class Process {
  #child;

  constructor(source, env) {
    const argv = ['--input-type=module', '--eval', source];
    this.#child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  async next() {
    const [answer] = await once(this.#child, 'message');
    return answer;
  }

  ask(...message) {
    const answer = this.next();
    this.#child.send(message);
    return answer;
  }

  async stop() {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

async function open(browser, server) {
  const tab = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  await tab.goto(await server.ask());
  await tab.locator('[data-run]').first().waitFor();
  return tab;
}

async function paint(browser, server, rounds) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const tab = await open(browser, server);
    times.push(await tab.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`));
    await tab.context().close();
  }
  return time('first paint', median(times), { reach: { max: 500 }, note: `worst ${milliseconds(Math.max(...times))}` });
}

/** The time from the start of a command to its row on the screen. */
async function shown(tab, agent, rounds) {
  await tab.evaluate(`window.await = (mark) => new Promise((resolve) => {
      const look = () => document.querySelector('.list')?.textContent.includes(mark)
        ? requestAnimationFrame(() => resolve(Date.now())) : setTimeout(look, 2);
      look();
    });`);
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const mark = `mark-${round}-`;
    const seen = tab.evaluate(`window.await(${JSON.stringify(mark)})`);
    const { at } = await agent.ask('mark', mark);
    times.push((await seen) - at);
    await wait(100);
  }
  const note = `worst ${milliseconds(Math.max(...times))}`;
  return time('a command on the screen after its start', median(times), { reach: { max: 200 }, note });
}

/** Opens the command that writes most. It is the last of its group. */
async function follow(tab) {
  await tab.getByRole('button', { name: /^Show all/ }).click();
  const open = tab.getByRole('button', { name: /^node -e/ });
  await open.first().click();
  await wait(3_000);
}

/** 200 commands, one of which writes 50 MB/s, with the page and without it. */
async function crowded(tab, agent, number) {
  await agent.ask('crowd');
  await follow(tab);
  const run = async () => median((await agent.ask('run', number)).times);
  const [withPage, without, answers] = [[], [], []];
  const address = tab.url();
  const token = await tab.evaluate(`sessionStorage.getItem('agent-bash-token')`);
  for (let round = 0; round < 3; round++) {
    withPage.push(await run());
    const start = performance.now();
    const headers = { Authorization: `Bearer ${token}` };
    await (await fetch(`${address}api/history?runId=none`, { headers })).text();
    answers.push(performance.now() - start);
    await tab.goto('about:blank');
    // A tab that is away may come back for 10 s.
    await wait(11_000);
    without.push(await run());
    await tab.goto(address);
    await follow(tab);
  }
  const heap = await tab.evaluate('performance.memory.usedJSHeapSize');
  const note = `${milliseconds(median(withPage))} beside ${milliseconds(median(without))}, one command writes 50 MB/s`;
  return [
    ratio(`a command among ${COMMANDS}, watched`, median(withPage) / median(without), { reach: { max: 1.2 }, note }),
    time('the page answers meanwhile', Math.max(...answers), { reach: { max: 200 }, note: 'worst' }),
    size('heap of the tab', heap, { reach: { max: 100e6 } }),
  ];
}

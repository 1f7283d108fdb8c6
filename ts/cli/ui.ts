import { readFileSync } from 'node:fs';
import { type Page, startPage } from 'agent-bash/page';
import { SIGNED_IN, type SignsIn } from '../core/inner.ts';
import { openLink } from './browser.ts';
import { EXIT, print, readerGone, remark } from './console.ts';

export interface UiOptions {
  control?: boolean;
  port?: number;
  open: boolean;
}

/** Runs `agent-bash ui`: serves the page until a signal arrives or the reader of standard output is gone. */
export async function ui({ open, ...options }: UiOptions): Promise<void> {
  const page = (await startPage(options)) as Page & SignsIn;
  const end = ended();
  await print(page.url);
  const isWatched = process.stdout.isTTY === true;
  const link = isWatched && open ? openLink(page.url, page[SIGNED_IN]) : null;
  if (isWatched) await remark(`${options.control ? '' : 'read-only without --control; '}Ctrl-C ends it${again(page)}`);
  await end;
  link?.close();
  process.stdin.destroy();
  await page.close();
}

/** Prints a new link at each Enter. Returns the words that say so; `''` if standard input is not ours to read. */
function again(page: Page): string {
  if (!process.stdin.isTTY || isInBackground()) return '';
  process.stdin.on('data', () => void print(page.url)).on('error', () => {});
  return ', Enter prints another link';
}

/** Returns whether this process runs in the background of its shell, where a read from the terminal would stop it. */
function isInBackground(): boolean {
  try {
    // The fields after the name, which may have spaces: state, parent, group, session, terminal, foreground group.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[2] !== fields[5];
  } catch {
    return false;
  }
}

/** Resolves at the first signal. A second one exits at once. */
function ended(): Promise<void> {
  return new Promise((resolve) => {
    readerGone.signal.addEventListener('abort', () => resolve());
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(name, () => {
        process.on(name, () => process.exit(EXIT.done));
        resolve();
      });
    }
  });
}

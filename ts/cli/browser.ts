import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { remark } from './console.ts';

/** The prefix of the name of a directory with a link. */
const PREFIX = 'agent-bash-ui-';
/** Time in ms after which the file with the link is removed, even if no browser has read it. */
const KEPT_MS = 60_000;

/**
 * Opens a link in the user's browser, if there is one. Other users see the arguments of processes, so the browser gets
 * the path of a private file that redirects to the link. The file is removed when the link was used, by `close()`, and
 * after a minute.
 */
export function openLink(url: string, used: Promise<void>): { close(): void } {
  let folder: string;
  try {
    folder = made(url);
  } catch (error) {
    void remark(`no file for a browser could be made, open the link yourself: ${(error as Error).message}`);
    return { close() {} };
  }
  let isOver = false;
  const close = () => {
    isOver = true;
    clearTimeout(late);
    rmSync(folder, { recursive: true, force: true });
  };
  const late = setTimeout(close, KEPT_MS);
  void used.then(close);
  start(openers(join(folder, 'open.html')), () => isOver);
  return { close };
}

/** Writes the file to a new directory and returns the directory. Removes the directories of killed processes. */
function made(url: string): string {
  const { ownName, removeLeft } = innerOf(bash);
  removeLeft(tmpdir(), PREFIX);
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${ownName()}-`));
  writeFileSync(join(folder, 'open.html'), redirect(url), { mode: 0o600, flag: 'wx' });
  return folder;
}

/** Returns a document that redirects to a link. With scripts, the redirect leaves no entry in the browser's history. */
function redirect(url: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>agent-bash</title>
<script>location.replace(${JSON.stringify(url)})</script>
<meta http-equiv="refresh" content="1;url=${url}">
<a href="${url}">agent-bash</a>
`;
}

/** Returns the commands that open a file in a browser, preferred first. `BROWSER` has the syntax of xdg-open. */
function openers(file: string): string[][] {
  const named = (process.env.BROWSER ?? '').split(':').map((command) => command.split(/\s+/).filter(Boolean));
  const own = [process.platform === 'darwin' ? 'open' : 'xdg-open'];
  return [...named, own]
    .filter((words) => words.length > 0)
    .map((words) =>
      words.some((word) => word.includes('%s')) ? words.map((word) => word.replaceAll('%s', file)) : [...words, file],
    );
}

/** Tries the commands in order until one succeeds. An exit after the link was used is no failure. */
function start([first, ...others]: string[][], isOver: () => boolean): void {
  if (!first) return void remark('no browser could be started: open the link yourself');
  const [program = '', ...args] = first;
  let done = false;
  const next = () => {
    if (!done && !isOver()) start(others, isOver);
    done = true;
  };
  // A session of its own protects the browser from Ctrl-C.
  const child = spawn(program, args, { stdio: 'ignore', detached: true }).on('error', next);
  child.on('exit', (code) => (code === 0 ? undefined : next()));
  child.unref();
}

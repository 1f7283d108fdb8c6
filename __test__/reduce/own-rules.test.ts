import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashError, bash, reduceText } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, rejection } from '../support/index.ts';

const DEPLOY = String.raw`
# The uploaded files.
name = "deploy"
hint = ["deploy.sh"]
proof = ['^deploying to ']
drop = ['^uploaded ']
pin = ['manifest\.json$']
on = "green"
keep = ["uploaded manifest.json"]
`;

/** Numbers that do not count, so that their lines are no series. */
const scattered = (at: number) => (at * at * 31) % 9973;
const uploads = Array.from({ length: 200 }, (_, at) => `uploaded file-${scattered(at)}.css\n`).join('');
const LOG = `deploying to staging\n${uploads}uploaded manifest.json\n${uploads}version 1.2.3 is live\n`;
const OPTIONS = { command: './deploy.sh staging', exitCode: 0, level: 'salient', budgetTokens: 10_000 } as const;

/** Writes a file of rules, and returns its path. */
function file(text: string): string {
  const path = join(folder(), 'deploy.toml');
  writeFileSync(path, text);
  return path;
}

/** The error of a call that must be refused. */
function refused(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(BashError);
    expect((error as BashError).code).toBe('ERR_BASH_INVALID_ARG');
    return (error as BashError).message;
  }
  throw new Error('was not refused');
}

describe('rules of a user', () => {
  test('a rule drops lines of its tool, and pins others', () => {
    const view = reduceText(LOG, { ...OPTIONS, rules: [file(DEPLOY)] });
    expect(view.rules).toContain('deploy');
    expect(new Set(view.elided.map(({ why }) => why))).toEqual(new Set(['deploy']));
    expect(view.text).toContain('\nuploaded manifest.json\n');
    expect(view.text).toContain('version 1.2.3 is live\n');
    expect(view.tokens.after).toBeLessThan(view.tokens.before / 4);
  });

  test('a rule needs its proof, and the level salient', () => {
    const rules = [file(DEPLOY)];
    expect(reduceText(LOG.replace('deploying', 'going'), { ...OPTIONS, rules }).elided).toEqual([]);
    expect(reduceText(LOG, { command: OPTIONS.command, rules }).elided).toEqual([]);
  });

  test('the shipped rules apply beside them', () => {
    const tests = Array.from({ length: 100 }, (_, at) => `test number_${scattered(at)} ... ok\n`).join('');
    const log = `running 100 tests\n${tests}\ntest result: ok. 100 passed; 0 failed\n`;
    const options = { ...OPTIONS, command: 'cargo test' };
    expect(reduceText(log, { ...options, rules: [file(DEPLOY)] }).rules).toContain('cargo-test');
    expect(reduceText(log, { ...options, rules: [] }).rules).toContain('cargo-test');
  });

  test('a rule with the name of a shipped one replaces it', () => {
    const entering = Array.from(
      { length: 100 },
      (_, at) => `make[1]: Entering directory '/srv/app/${scattered(at)}'\n`,
    ).join('');
    const options = { ...OPTIONS, command: 'make' };
    expect(reduceText(entering, options).rules).toContain('make');
    const rules = [file(DEPLOY.replace('"deploy"', '"make"'))];
    expect(reduceText(entering, { ...options, rules }).rules).not.toContain('make');
  });

  test('no rule drops a failure', () => {
    const failure = 'uploaded nothing: error: disk quota exceeded';
    const log = LOG.replace('uploaded manifest.json', failure);
    const view = reduceText(log, { ...OPTIONS, exitCode: 1, rules: [file(DEPLOY.replace('green', 'always'))] });
    expect(view.rules).toContain('deploy');
    expect(view.text).toContain(`\n${failure}\n`);
  });
});

describe('rules of a user in a command', () => {
  test('the files are read with each call', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'log'), LOG);
    writeFileSync(join(cwd, 'deploy.sh'), '#!/bin/sh\ncat log\n');
    chmodSync(join(cwd, 'deploy.sh'), 0o755);
    const path = file(DEPLOY);
    const reduce = { level: 'salient', budgetTokens: 10_000, rules: [path] } as const;
    const rulesOf = async () => (await bash('./deploy.sh', { cwd, reduce, confine: 'off' })).view?.rules ?? [];
    expect(await rulesOf()).toContain('deploy');
    writeFileSync(path, DEPLOY.replace('"deploy"', '"release"'));
    expect(await rulesOf()).toContain('release');
  });

  test('a file that cannot be used is refused, and nothing runs', async () => {
    const path = file(DEPLOY.replace('on =', 'when ='));
    const error = await rejection(() => bash('echo ran', { reduce: { level: 'salient', rules: [path] } }));
    expect(error.code).toBe('ERR_BASH_INVALID_ARG');
    expect(error.message).toContain(`rules: ${path}, line 8: unknown field`);
  });
});

describe('a file of rules that cannot be used', () => {
  test.each([
    ['a pattern', ["'^uploaded '", "'^uploaded ', '('"], 6, 'unclosed group'],
    ['a key', ['on =', 'when ='], 8, 'unknown field `when`'],
    ['a missing name', ['name = "deploy"\n', ''], 1, 'a rule needs a name'],
    ['a line that it must keep', ['json$', 'css$'], 9, 'the rule drops a line that it must keep'],
  ] as const)('%s is refused with file, line and reason', (_, [from, to], line, reason) => {
    const path = file(DEPLOY.replace(from, to));
    const message = refused(() => reduceText(LOG, { ...OPTIONS, rules: [path] }));
    expect(message).toContain(`rules: ${path}, line ${line}: `);
    expect(message).toContain(reason);
  });

  test('a file that is missing, no file or too large is refused by its path', () => {
    const directory = folder();
    const fifo = join(directory, 'fifo');
    execFileSync('mkfifo', [fifo]);
    for (const path of [join(directory, 'none.toml'), directory, fifo]) {
      expect(refused(() => reduceText(LOG, { rules: [path] }))).toContain(`rules: ${path} cannot be read: `);
    }
    const large = file('#'.repeat(65_537));
    expect(refused(() => reduceText(LOG, { rules: [large] }))).toContain('the file has more than 65536 bytes');
  });

  test.each([['a path'], [[1]], [['']], [[undefined, 'a.toml']]])('%j is no list of paths', (rules) => {
    expect(refused(() => reduceText(LOG, { rules: rules as never }))).toContain('rules: ');
  });
});

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, BashSession } from 'agent-bash';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { folder, rejection } from '../support/index.ts';

// Should the engine fail, nothing is removed or pushed: these programs do nothing.
const programs = folder(afterAll);
for (const name of ['rm', 'git']) writeFileSync(join(programs, name), '#!/bin/sh\n', { mode: 0o755 });
const env = { PATH: `${programs}:${process.env.PATH}` };

const sessions: BashSession[] = [];
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()));
});

function begin(options: BashOptions = {}): BashSession {
  const session = new BashSession({ cwd: folder(), env, ...options });
  sessions.push(session);
  return session;
}

/** Runs commands that must be allowed. */
async function run(session: BashSession, ...commands: string[]): Promise<void> {
  for (const command of commands) {
    expect([command, (await session.run(command)).notes]).toEqual([command, []]);
  }
}

/** The rule that a command is refused by, and by nothing less than `deny`. */
async function refused(session: BashSession, command: string, options: BashOptions = {}): Promise<string | undefined> {
  const error = (await rejection(() => session.run(`touch ran; ${command}`, options))) as unknown as {
    code: string;
    findings: { ruleId: string; level: string; span: [number, number] }[];
  };
  expect([command, error.code]).toEqual([command, 'ERR_BASH_BLOCKED']);
  expect(existsSync(join(session.cwd, 'ran'))).toBe(false);
  const [first] = error.findings;
  expect(first?.level).toBe('deny');
  expect(first?.span[1]).toBeLessThanOrEqual(`touch ran; ${command}`.length);
  return first?.ruleId;
}

describe('what earlier commands of a session have left counts', () => {
  test('variables', async () => {
    const session = begin();
    await run(session, 'X=--force; words=(push --force); export Y=-f');
    expect(await refused(session, 'git push $X')).toBe('git-force-push');
    expect(await refused(session, 'git "${words[@]}"')).toBe('git-force-push');
    expect(await refused(session, `bash -c 'git push $Y'`)).toBe('git-force-push');
    await run(session, 'echo $X', 'X=; git push $X', 'git push $X');
    expect(await refused(session, 'git push $Y')).toBe('git-force-push');
    await run(session, 'unset Y words', 'git push $Y', 'git push "${words[@]}"');
  });

  test('functions', async () => {
    const session = begin();
    // A person would be asked about them.
    await session.run('f() { rm -rf "$1"; }');
    await session.run('g() {\n  f "$@"\n}');
    await run(session, 'f nothing-there');
    expect(await refused(session, 'f /')).toBe('rm-critical');
    expect(await refused(session, 'g nothing-there; g /')).toBe('rm-critical');
    await run(session, 'unset -f f', 'f /', 'g /');
    await run(session, 'f() { :; }', 'f /');
  });

  test('aliases, where they are expanded', async () => {
    const session = begin();
    await run(session, `alias gp='git push --force'`, 'gp', 'shopt -s expand_aliases');
    expect(await refused(session, 'gp')).toBe('git-force-push');
    await run(session, `'gp'`, 'unalias gp', 'gp');
  });

  test('the directories that cd and pushd have left', async () => {
    const session = begin();
    await run(session, 'cd /', 'cd /usr', 'pushd -n / >/dev/null');
    for (const way of ['cd -', 'popd', 'cd "$OLDPWD"']) {
      expect([way, await refused(session, `${way} && rm -rf etc`)]).toEqual([way, 'rm-critical']);
    }
  });

  test('traps and options', async () => {
    const session = begin();
    await run(session, `trap 'git push $X' ERR`);
    expect(await refused(session, 'X=--force; false')).toBe('git-force-push');
    await run(session, 'true', 'trap - ERR', 'X=--force; true');
  });

  test('what a sourced file has defined', async () => {
    const session = begin();
    await run(session, `printf '%s\\n' 'F=--force' 'forced() { git push "$F"; }' >lib.sh`, '. ./lib.sh');
    expect(await refused(session, 'forced')).toBe('git-force-push');
    expect(await refused(session, 'git push $F')).toBe('git-force-push');
  });

  test('variables of one command alone', async () => {
    const session = begin();
    await run(session, 'export X=--dry-run');
    expect(await refused(session, 'git push $X', { env: { X: '--force' } })).toBe('git-force-push');
    await run(session, 'git push $X');
    expect(await refused(session, 'git push $Z', { env: { Z: '-f' } })).toBe('git-force-push');
    await run(session, 'git push $Z');
  });

  test('in commands that wait for those before them', async () => {
    const session = begin();
    const [set, push] = await Promise.allSettled([session.run('X=--force'), session.run('touch ran; git push $X')]);
    expect(set).toMatchObject({ value: { exitCode: 0 } });
    expect(push).toMatchObject({ reason: { code: 'ERR_BASH_BLOCKED' } });
    expect(readdirSync(session.cwd)).toEqual([]);
  });

  test('until the session is reset', async () => {
    const session = begin();
    await run(session, 'X=--force');
    expect(await refused(session, 'git push $X')).toBe('git-force-push');
    await session.reset();
    await run(session, 'git push $X');
  });

  test('but not with safety off', async () => {
    const session = begin({ safety: 'off' });
    await run(session, 'X=--force', 'git push $X');
  });
});

test('a function that is never called is not judged, however long it is', async () => {
  const session = begin();
  const functions = Array.from({ length: 40 }, (_, n) => `lib_${n}() { eval "$1"; rm -rf "$2"; }`).join('\n');
  const variables = Array.from({ length: 60 }, (_, n) => `export VALUE_${n}='it is ${n}'`).join('\n');
  await session.run(`cat >lib.sh <<'EOF'\n${functions}\n${variables}\nEOF`);
  await run(session, '. ./lib.sh', 'true', 'echo $VALUE_7', 'ls -la');
});

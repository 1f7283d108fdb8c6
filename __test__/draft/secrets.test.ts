import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, type Draft, drafts, openDraft, PtySession } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { beforeEach, describe, expect } from 'vitest';
import { callTool } from '../ai/fixtures/call.ts';
import { AUTHORITY, HOST, secretFor, secretHost, VALUE } from '../confine/secrets/support.ts';
import { finished, folder, host, isFuse, rejection, skippedWithout } from '../support/index.ts';
import { draftTest, type Project, project } from './support.ts';

const network = { allow: [], hosts: { [HOST]: '127.0.0.1' } };
const STAND_IN = /^ghp_[A-Za-z0-9]{36}$/;

beforeEach(() => {
  process.env.SSL_CERT_FILE = AUTHORITY;
  finished(() => void delete process.env.SSL_CERT_FILE);
});

/** A request with the variable TOKEN, which prints its status. */
const request = (port: number) =>
  `node -e 'fetch("https://${HOST}:${port}/", { headers: { authorization: "Bearer " + process.env.TOKEN } }).then((r) => console.log(r.status))'`;

/**
 * The files below a directory that hold the value of the tests. Only root can look into the working directories of
 * overlays, which are empty.
 */
function holding(directory: string): string[] {
  const { stdout } = spawnSync('grep', ['-rlaF', VALUE, directory], { encoding: 'utf8' });
  return stdout.split('\n').filter((path) => path !== '');
}

/** A project whose `.npmrc` has the value, beside its repository. */
function withFile(): Project & { file: string } {
  const given = project();
  const file = join(given.root, '.npmrc');
  writeFileSync(file, `//r.example/:_authToken=${VALUE}\n`);
  return { ...given, file };
}

const seen = async (draft: Draft, command = 'echo "$TOKEN"') => (await bash(command, { draft })).stdout.trim();

describe('a secret of a draft', () => {
  draftTest('works in requests, also in a fork, a session of a terminal and after a commit', async () => {
    const { open } = project();
    const { port, got } = await secretHost();
    const draft = await open({ confine: { network, secrets: { TOKEN: secretFor(port) } } });
    const run = async (draft: Draft) => {
      const { stdout, confinement } = await bash(`echo "$TOKEN"; echo x >>made; ${request(port)}`, { draft });
      expect(stdout).toMatch(/^ghp_[A-Za-z0-9]{36}\n200\n$/);
      expect(stdout).not.toContain(VALUE);
      expect(confinement).toMatchObject({ denied: [], secrets: [{ name: 'TOKEN', status: 200, refused: null }] });
    };
    await run(draft);
    const fork = await draft.fork();
    await run(fork);
    await fork.discard();
    await bash('echo x >other', { draft });
    await draft.commit({ paths: ['made'] });
    await run(draft);
    const terminal = new PtySession({ draft });
    await terminal.start(request(port));
    expect((await terminal.result()).stdout).toContain('200');
    expect(got.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill(`Bearer ${VALUE}`));
  });

  draftTest(
    'is in no file of the store, in no list and in no change, and a file of it is changed by nobody',
    async () => {
      const { root, dir, open, file, tree } = withFile();
      const before = tree();
      const secrets = {
        TOKEN: secretFor(443, { file: join(root, '.npmrc') }),
        NETRC: secretFor(443, { file: join(folder(), '.netrc'), template: 'password ${NETRC}\n' }),
        PLAIN: secretFor(443),
      };
      const draft = await open({ name: 'n', confine: { secrets } });
      const command = `cat .npmrc ${secrets.NETRC.file}; echo "$PLAIN"; cp .npmrc copied; mkdir d; echo new >d/new
      echo x >>.npmrc; mv .npmrc moved; ln .npmrc linked; rm -f .npmrc; chmod 600 .npmrc; git add .npmrc; cat .npmrc`;
      const result = await bash(command, { draft });
      expect(result.stdout.match(/ghp_[A-Za-z0-9]{36}/g)).toHaveLength(4);
      expect(JSON.stringify(result)).not.toContain(VALUE);
      const fork = await draft.fork();
      await bash('cat .npmrc >>again', { draft: fork });
      await bash('cat .npmrc >>again', { draft });
      const told = [await draft.changes(), await draft.diff(), await drafts({ root }), await fork.changes()];
      expect(JSON.stringify(told)).not.toMatch(new RegExp(`${VALUE}|"[^"]*/\\.npmrc"`));
      expect(holding(dir)).toEqual([]);
      await fork.commit({ paths: ['again'], dryRun: true });
      const { applied } = await draft.commit({ paths: ['again'] });
      expect(applied).toEqual([join(root, 'again')]);
      expect(holding(dir)).toEqual([]);
      await fork.discard();
      const { again, ...after } = tree();
      expect(again).not.toContain(VALUE);
      const index = /^\.git(\/index)?$/;
      const without = (all: Record<string, string>) => Object.entries(all).filter(([path]) => !index.test(path));
      expect(without(after)).toEqual(without(before));
      expect(readFileSync(file, 'utf8')).toContain(VALUE);
    },
  );

  // On FUSE the file below is stale then.
  const replacedTest = isFuse ? skippedWithout('a file system whose files can be replaced below mounts') : draftTest;
  replacedTest('has a file that stays covered when it is replaced, and so do hidden files', async () => {
    const { root, open, file } = withFile();
    const hidden = join(root, 'hidden');
    const draft = await open({ confine: { hide: [hidden], secrets: { TOKEN: secretFor(443, { file }) } } });
    const command = 'cat .npmrc; cat hidden || true';
    const before = await seen(draft, command);
    writeFileSync(join(root, 'new'), VALUE);
    renameSync(join(root, 'new'), file);
    writeFileSync(hidden, VALUE);
    expect(await seen(draft, command)).toBe(before);
    rmSync(file);
    writeFileSync(file, VALUE);
    expect(await seen(draft, command)).toBe(before);
    expect(before).toMatch(/^\/\/r.example\/:_authToken=ghp_\w{36}$/);
  });

  draftTest('whose file the draft has removed is refused, and nothing is made in its place', async () => {
    const { root, open } = project();
    const file = join(root, 'src/one');
    writeFileSync(file, VALUE);
    const draft = await open();
    await bash('rm src/one', { draft });
    await draft.close();
    const confine = { secrets: { TOKEN: secretFor(443, { file }) } };
    const error = await rejection(() => openDraft({ id: draft.id, confine }));
    expect(error).toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: expect.stringContaining('a file that the draft has removed'),
    });
    const again = await open({ id: draft.id });
    expect((await again.changes()).deleted).toMatchObject([{ path: file }]);
  });

  draftTest('is refused as it is elsewhere, without its value, and leaves no draft', async () => {
    const { dir, open } = project();
    for (const confine of [
      { network: 'full' as const, secrets: { TOKEN: secretFor(443) } },
      { secrets: { PATH: secretFor(443) } },
      { secrets: { TOKEN: secretFor(443, { file: '/etc/hostname' }) } },
      { secrets: { TOKEN: secretFor(443, { value: { text: VALUE } as never }) } },
      { secrets: { TOKEN: secretFor(443, { hosts: [VALUE, '*'] }) } },
    ]) {
      const error = await rejection(() => open({ confine }));
      expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_BASH_(INVALID_ARG|CONFINEMENT)$/) });
      expect(error.message).not.toContain(VALUE);
    }
    expect(existsSync(dir)).toBe(false);
    const draft = await open({ confine: { secrets: { TOKEN: secretFor(443) } } });
    const error = await rejection(() => bash('true', { draft, env: { TOKEN: 'x' } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining('env.TOKEN') });
  });

  draftTest('of a function is asked for at the opening, and again after its time', async () => {
    const { open } = project();
    const { port, got } = await secretHost();
    let calls = 0;
    const value = async () => {
      calls += 1;
      return VALUE.replace('000000', `00000${calls}`);
    };
    const draft = await open({ confine: { network, secrets: { TOKEN: secretFor(port, { value, ttlMs: 0 }) } } });
    expect(calls).toBe(1);
    const [first, second] = [await seen(draft), await seen(draft, `echo "$TOKEN"; ${request(port)}`)];
    expect(second).toBe(`${first}\n200`);
    expect(calls).toBe(3);
    expect(got[0]?.headers.authorization).toBe(`Bearer ${VALUE.replace('000000', '000003')}`);
  });
});

describe('a draft that is opened by its id', () => {
  draftTest('has no secrets, and those that are given with the id', async () => {
    const { root, open } = project();
    const confine = { secrets: { TOKEN: secretFor(443) } };
    const draft = await open({ confine });
    const first = await seen(draft);
    expect(first).toMatch(STAND_IN);
    // As long as this process has it open with secrets, its other commands share their world.
    const same = await open({ id: draft.id });
    expect(await seen(same)).toBe(first);
    await same.close();
    await draft.close();
    const without = await open({ id: draft.id });
    expect(await seen(without)).toBe('');
    await without.close();
    const again = await open({ id: draft.id, confine: { ...confine, network: 'full' } });
    const second = await seen(again);
    expect(second).toMatch(STAND_IN);
    expect(second).not.toBe(first);
    // Secrets that a draft gets while it is open count from its next command on.
    await again.close();
    const open1 = await open({ id: draft.id });
    expect(await seen(open1)).toBe('');
    const open2 = await open({ id: draft.id, confine });
    expect(await seen(open2)).toMatch(STAND_IN);
    expect((await drafts({ root }))[0]).toMatchObject({ id: draft.id });
  });

  draftTest(
    'in another process shares the secrets of commands that it meets, and may give no others then',
    async () => {
      const { port, got } = await secretHost();
      const { root, open } = project();
      const other = host(
        `import { openDraft } from 'agent-bash';
      const confine = ${JSON.stringify({ network, secrets: { TOKEN: secretFor(port) } })};
      const draft = await openDraft({ root: ${JSON.stringify(root)}, confine });
      await bash('true', { draft });
      console.log('id=' + draft.id);
      process.stdin.resume();
      setInterval(() => {}, 1000);`,
      );
      const [, id = ''] = await other.says(/^id=(\w+)/m);
      const shared = await open({ id });
      const { stdout, confinement } = await bash(`echo "$TOKEN"; ${request(port)}`, { draft: shared });
      expect(stdout).toMatch(/^ghp_\w{36}\n200\n$/);
      expect(confinement?.secrets).toMatchObject([{ name: 'TOKEN', status: 200 }]);
      expect(got[0]?.headers.authorization).toBe(`Bearer ${VALUE}`);
      await shared.close();
      const confine = { secrets: { OTHER: secretFor(port) } };
      const own = await open({ id, confine });
      const error = await rejection(() => bash('true', { draft: own }));
      expect(error).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'busy' });
      expect(error.message).toContain('other secrets');
      await own.close();
      other.process.kill('SIGKILL');
      await other.ended();
      const later = await open({ id, confine });
      expect(await seen(later, 'echo "$OTHER$TOKEN"')).toMatch(STAND_IN);
      expect(holding(join(root, '..'))).toEqual([]);
    },
  );

  draftTest(
    'without an agent of this process has none, and one that was opened with one is looked at without',
    async () => {
      const { open } = project();
      const error = await rejection(() => open({ confine: { ssh: { hosts: ['a.example'], agent: '/none' } } }));
      expect(error.message).toContain('confine.ssh.agent');
      const draft = await open();
      await draft.close();
      const again = await rejection(() =>
        open({ id: draft.id, confine: { ssh: { hosts: ['a.example'], agent: '/none' } } }),
      );
      expect(again.message).toContain('confine.ssh.agent');
      const { id } = await open({ id: draft.id });
      expect(id).toBe(draft.id);
    },
  );
});

describe('a tool with a draft of its own', () => {
  draftTest('opens it with its confinement', async () => {
    const { root } = project();
    const { port } = await secretHost();
    const confine = { network, secrets: { TOKEN: secretFor(port) } };
    const options = { cwd: root, draft: true, confine } as const;
    expect(createBashTool(options).description).toContain(`The variable TOKEN works for ${HOST}:${port}`);
    const { output } = await callTool(options, { command: request(port) });
    expect(output).toMatchObject({ stdout: '200\n', draft: expect.any(String) });
  });
});

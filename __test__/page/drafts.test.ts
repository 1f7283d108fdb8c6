import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { readPatch } from '../../ts/page/app/drafts/patch.ts';
import { draftTest } from '../draft/support.ts';
import { finished, until } from '../support/index.ts';
import { DraftedProject } from './drafted.ts';
import { type Data, type Events, opened, served } from './support.ts';

const WORK = 'echo four >>a.txt; mkdir out; seq 3 >out/numbers; rm src/b.ts; mv src/old.ts src/new.ts';

/** Waits until a page shows these drafts. */
const shows = (events: Events, is: (drafts: Data[]) => unknown): Promise<Data[]> =>
  until(() => (events.drafts && is(events.drafts) ? events.drafts : null), `drafts with ${is}`);

async function openedWithProject(control = true) {
  const all = await opened(control);
  return { ...all, project: new DraftedProject(all.pages) };
}

const query = (fields: Record<string, string>) => `?${new URLSearchParams(fields)}`;

describe.concurrent('the drafts of a user', () => {
  draftTest('are listed while they are open, with their changes and conflicts', async () => {
    const { events, project } = await openedWithProject(false);
    await shows(events, (drafts) => drafts.length === 0);
    const draft = await project.draft(WORK, { name: 'try it' });
    const [shown] = await shows(events, ([one]) => one?.runs === 1 && one.counts.renamed === 1);
    expect(shown).toEqual({
      id: draft.id,
      name: 'try it',
      root: project.root,
      project: { name: 'shop', path: project.root },
      createdAt: draft.createdAt,
      usedAt: expect.any(Number),
      bytes: expect.any(Number),
      counts: { created: 2, modified: 1, deleted: 1, renamed: 1 },
      state: 'open',
      runs: 1,
      actor: null,
      conflicts: 0,
    });
    project.write('a.txt', 'theirs\n');
    await shows(events, ([one]) => one?.conflicts === 1);
    await draft.discard();
    await shows(events, (drafts) => drafts.length === 0);
  });

  draftTest('are shown with their changes, which are read without a command in them', async () => {
    const { tab, project } = await openedWithProject(false);
    const { id } = await project.draft(WORK);
    const { status, json } = await tab.get(`/api/draft${query({ draft: id })}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ counts: { created: 2, modified: 1, deleted: 1, renamed: 1 }, conflicts: [] });
    expect(json.changes.map(({ kind, path }: Data) => `${kind} ${path.slice(project.root.length + 1)}`)).toEqual([
      'modified a.txt',
      'created out',
      'created out/numbers',
      'deleted src/b.ts',
      'renamed src/new.ts',
    ]);
    expect(json.changes[0]).toMatchObject({ type: 'file', bytes: 19, bytesBefore: 14 });
    expect(json.changes[4].from).toBe(project.at('src/old.ts'));
    expect(json.patch).toContain('\n three\n+four\n');
  });

  draftTest('are shown file by file, both sides of a conflict and no file that is not changed', async () => {
    const { tab, project } = await openedWithProject(false);
    symlinkSync('/etc', project.at('link'));
    const { id } = await project.draft(`${WORK}; printf 'a\\0b' >binary`);
    project.write('a.txt', 'one\n2\nthree\n');
    const { json } = await tab.get(`/api/draft${query({ draft: id })}`);
    expect(json.conflicts).toEqual([{ path: project.at('a.txt'), why: 'it was changed' }]);
    const file = (path: string) => tab.get(`/api/draft-file${query({ draft: id, path })}`);
    const conflict = await file('a.txt');
    expect(conflict.json.change).toMatchObject({ kind: 'modified', bytes: 19, bytesBefore: 12 });
    expect(conflict.json.patch).toContain('\n-2\n+two\n three\n+four\n');
    expect((await file(project.at('src/b.ts'))).json).toMatchObject({ change: { kind: 'deleted' } });
    expect((await file('binary')).json.patch).toBe('# binary: binary: nothing → 3 bytes\n');
    expect((await file('out')).json).toMatchObject({ change: { type: 'directory' }, patch: '' });
    for (const path of ['link/passwd', 'missing', 'src', '.']) {
      expect(await file(path), path).toMatchObject({ status: 409, code: 'gone' });
    }
    for (const path of ['../other', '/etc/passwd', '..', '', '\0', 'x'.repeat(5_000)]) {
      const reply = await file(path);
      expect([400, 409], path).toContain(reply.status);
      expect(reply.json.patch, path).toBeUndefined();
    }
  });
});

describe.concurrent('a commit', () => {
  draftTest('moves the changes into the project, and is undone as a run', async () => {
    const { tab, events, project } = await openedWithProject();
    const { id } = await project.draft(WORK);
    await shows(events, ([one]) => one?.id === id);
    const { status, json } = await tab.post('/api/commit', { draft: id, skip: false });
    expect([status, json.isOver, json.conflicts, json.skipped]).toEqual([200, true, [], []]);
    expect(json.applied).toEqual(expect.arrayContaining([project.at('a.txt'), project.at('out')]));
    expect(readFileSync(project.at('out/numbers'), 'utf8')).toBe('1\n2\n3\n');
    await shows(events, (drafts) => drafts.length === 0);
    const forecast = await tab.get(`/api/forecast${query({ run: json.undoId })}`);
    expect(forecast.json.restored).toContain(project.at('a.txt'));
    expect((await tab.post('/api/undo', { run: json.undoId })).status).toBe(200);
    expect([existsSync(project.at('out')), readFileSync(project.at('a.txt'), 'utf8')]).toEqual([
      false,
      'one\ntwo\nthree\n',
    ]);
  });

  draftTest('of some files leaves the rest in the draft', async () => {
    const { tab, project } = await openedWithProject();
    const draft = await project.draft(WORK);
    const paths = ['src/new.ts', project.at('src/old.ts'), 'out'];
    const { json } = await tab.post('/api/commit', { draft: draft.id, paths, skip: false });
    expect([json.isOver, readFileSync(project.at('src/new.ts'), 'utf8')]).toEqual([false, 'old\n']);
    expect(existsSync(project.at('src/old.ts'))).toBe(false);
    expect(readFileSync(project.at('a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    expect((await draft.changes()).counts).toEqual({ created: 0, modified: 1, deleted: 1, renamed: 0 });
  });

  draftTest('is stopped by a conflict, which a person may leave in the draft', async () => {
    const { tab, project } = await openedWithProject();
    const draft = await project.draft(WORK);
    project.write('a.txt', 'theirs\n');
    const conflict = { path: project.at('a.txt'), why: 'it was changed' };
    const stopped = await tab.post('/api/commit', { draft: draft.id, skip: false });
    expect(stopped.json).toMatchObject({ applied: [], conflicts: [conflict], undoId: '', isOver: false });
    expect(existsSync(project.at('out'))).toBe(false);
    const skipped = await tab.post('/api/commit', { draft: draft.id, skip: true });
    expect(skipped.json).toMatchObject({ conflicts: [], skipped: [conflict], isOver: false });
    expect([existsSync(project.at('out/numbers')), readFileSync(project.at('a.txt'), 'utf8')]).toEqual([
      true,
      'theirs\n',
    ]);
  });
});

draftTest('a discard removes the draft and leaves the project as it is', async () => {
  const { tab, events, project } = await openedWithProject();
  const { id } = await project.draft(WORK);
  await shows(events, ([one]) => one?.id === id);
  expect(await tab.post('/api/discard', { draft: id })).toMatchObject({ status: 200, json: {} });
  await shows(events, (drafts) => drafts.length === 0);
  expect(existsSync(project.at('out'))).toBe(false);
  for (const reply of [
    await tab.post('/api/discard', { draft: id }),
    await tab.post('/api/commit', { draft: id, skip: false }),
    await tab.get(`/api/draft${query({ draft: id })}`),
  ]) {
    expect(reply).toMatchObject({ status: 409, code: 'gone' });
    expect(reply.json.error.message).toMatch(/^this draft is over/);
  }
});

describe.concurrent('what is refused', () => {
  draftTest('a draft in which a command runs is neither committed nor discarded', async () => {
    const { tab, project } = await openedWithProject();
    const draft = await project.draft(WORK);
    const stop = new AbortController();
    let begun = false;
    const onOutput = () => {
      begun = true;
    };
    const running = bash('echo up; exec sleep 1000', { draft, signal: stop.signal, onOutput });
    finished(() => stop.abort());
    await until(() => begun);
    for (const [path, fields] of [
      ['commit', { skip: false }],
      ['discard', {}],
    ] as const) {
      const reply = await tab.post(`/api/${path}`, { draft: draft.id, ...fields });
      expect(reply).toMatchObject({ status: 409, code: 'busy' });
      expect(reply.json.error.message).toMatch(/^a command runs in this draft/);
    }
    expect((await tab.get(`/api/draft${query({ draft: draft.id })}`)).status).toBe(200);
    stop.abort();
    await running;
  });

  draftTest('ids that name no draft, and none is made for them', async () => {
    const { tab, events } = await opened();
    for (const draft of ['x', 'd0123456789ab', '../../x', '../../../etc', '.', '__proto__', ' ', '\0', 'x/y']) {
      for (const reply of [
        await tab.post('/api/commit', { draft, skip: true }),
        await tab.post('/api/discard', { draft }),
        await tab.get(`/api/draft${query({ draft })}`),
        await tab.get(`/api/draft-file${query({ draft, path: 'a' })}`),
      ]) {
        expect([400, 409], draft).toContain(reply.status);
        expect(['gone', 'invalid'], draft).toContain(reply.code);
      }
    }
    expect(events.drafts).toEqual([]);
  });

  draftTest('wrong fields, and paths outside of the root', async () => {
    const { tab, project } = await openedWithProject();
    const { id } = await project.draft(WORK);
    for (const fields of [
      {},
      { draft: id },
      { draft: id, skip: 'yes' },
      { draft: 7, skip: false },
      { draft: null, skip: false },
      { draft: 'x'.repeat(1_001), skip: false },
      ...[[], 'a.txt', {}, [7], [null], [''], ['\0'], ['x'.repeat(4_097)]].map((paths) => ({ paths })),
      ...[['..'], ['../other'], ['/etc/passwd'], ['a.txt', '/']].map((paths) => ({ paths })),
    ]) {
      const given = 'paths' in fields ? { draft: id, skip: true, ...fields } : fields;
      expect(await tab.post('/api/commit', given), JSON.stringify(fields).slice(0, 99)).toMatchObject({
        status: 400,
        code: 'invalid',
      });
    }
    for (const fields of [{}, { draft: '' }, { draft: [] }])
      expect((await tab.post('/api/discard', fields)).code).not.toBe('');
    for (const target of ['/api/draft', '/api/draft?draft=', `/api/draft-file?draft=${id}`]) {
      expect(await tab.get(target), target).toMatchObject({ status: 400, code: 'invalid' });
    }
    expect(readFileSync(project.at('a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  });

  draftTest(
    'every action of a page without control, of another origin and of a tab that is not signed in',
    async () => {
      const { page, tab, pages } = await served(false);
      const { page: other, tab: controlling } = await served();
      const project = new DraftedProject(pages);
      const { id } = await project.draft(WORK);
      for (const [path, fields] of [
        ['commit', { draft: id, skip: false }],
        ['discard', { draft: id }],
      ] as const) {
        expect(await tab.post(`/api/${path}`, fields)).toMatchObject({ status: 403, code: 'control' });
        expect(await page.post(`/api/${path}`, fields)).toMatchObject({ status: 401, code: 'token' });
        for (const headers of [{ Origin: 'http://evil.test' }, { Origin: page.origin }, { Origin: '' }]) {
          const all = { ...controlling.authorization, ...headers };
          expect(await other.post(`/api/${path}`, fields, all)).toMatchObject({ status: 403, code: 'origin' });
        }
      }
      expect(await page.send(`/api/draft${query({ draft: id })}`)).toMatchObject({ status: 401, code: 'token' });
      expect((await tab.get(`/api/draft${query({ draft: id })}`)).status).toBe(200);
      expect(existsSync(project.at('out'))).toBe(false);
    },
  );
});

draftTest('looking at a draft whose commit was cut short does not finish the commit', async () => {
  const { pages, tab, events, project } = await openedWithProject();
  const { id } = await project.draft(WORK);
  const record = join(pages.state, 'agent-bash/drafts', id, 'draft.json');
  const cut = readFileSync(record, 'utf8').replace('"state":"open"', '"state":"committing"');
  writeFileSync(record, cut);
  await shows(events, ([one]) => one?.state === 'committing');
  for (const target of ['/api/draft', '/api/draft-file']) {
    const reply = await tab.get(`${target}${query({ draft: id, path: 'a.txt' })}`);
    expect(reply).toMatchObject({ status: 409, code: 'busy' });
  }
  expect(readFileSync(record, 'utf8')).toBe(cut);
});

draftTest('a page in the process that has the draft open leaves it open', async () => {
  const { pages } = await served();
  const project = new DraftedProject(pages);
  const root = JSON.stringify(project.root);
  const page = await pages.serve(
    { control: true },
    `const { openDraft } = await import('agent-bash');
    const draft = await openDraft({ root: ${root}, keep: 'process' });
    await bash('echo more >>a.txt; echo x >new', { draft });
    console.log('DRAFT ' + draft.id);
    process.on('SIGUSR1', async () => console.log('SAID ' + (await bash('cat new a.txt', { draft })).stdout.length));`,
  );
  const [, id = ''] = await page.host.says(/DRAFT (\w+)/);
  const tab = await page.signIn();
  expect((await tab.get(`/api/draft${query({ draft: id })}`)).json.counts).toMatchObject({ created: 1, modified: 1 });
  expect((await tab.post('/api/commit', { draft: id, paths: ['new'], skip: false })).json.isOver).toBe(false);
  page.host.process.kill('SIGUSR1');
  await page.host.says(/SAID 21/);
});

describe('a patch', () => {
  test('is read file by file, whatever the names and the lines of the files', () => {
    const files = readPatch(
      [
        '# binary: a: b: nothing → 2048 bytes',
        '# 3 more files: the patch is limited to 10 bytes',
        'diff --git a/one two b/one two',
        'old mode 100644',
        'new mode 100755',
        'diff --git "a/bad\\377\\t\\"é" "b/bad\\377\\t\\"é"',
        'new file mode 100644',
        '--- /dev/null',
        '+++ "b/bad\\377\\t\\"é"',
        '@@ -0,0 +1,2 @@',
        '+diff --git a/x b/x',
        '+@@ -1 +1 @@',
        '\\ No newline at end of file',
        'diff --git a/old b/new b/file',
        'similarity index 100%',
        'rename from old',
        'rename to new b/file',
        '',
      ].join('\n'),
    );
    expect([...files]).toEqual([
      ['a: b', { notes: ['no text: nothing → 2.0 kB'], hunks: [] }],
      ['one two', { notes: ['mode 100644 → 100755'], hunks: [] }],
      [
        'bad\ufffd\t"é',
        {
          notes: [],
          hunks: [
            {
              old: 0,
              new: 1,
              lines: [
                { sign: '+', text: 'diff --git a/x b/x' },
                { sign: '+', text: '@@ -1 +1 @@' },
                { sign: '\\', text: ' No newline at end of file' },
              ],
            },
          ],
        },
      ],
      ['new b/file', { notes: [], hunks: [] }],
    ]);
  });
});

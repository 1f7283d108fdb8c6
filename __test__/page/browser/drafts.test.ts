import { existsSync, readFileSync } from 'node:fs';
import type { BrowserContextOptions, Page as BrowserPage } from 'playwright-core';
import { expect } from 'vitest';
import { withoutNamespaces } from '../../confine/support/held.ts';
import { skippedWithout, until } from '../../support/index.ts';
import { DraftedProject } from '../drafted.ts';
import { Pages } from '../support.ts';
import { browserTest, isSound, openTab } from './tab.ts';

const draftTest = withoutNamespaces ? skippedWithout('a user namespace with overlays') : browserTest;

const WORK = `echo four >>a.txt; mkdir out; seq 3 >out/numbers; rm src/b.ts; mv src/old.ts src/new.ts
  printf '<b>bold</b> \\342\\200\\256 turned\\n' >markup; printf '\\0' >binary`;

async function opened(control = true, options: BrowserContextOptions = {}) {
  const pages = new Pages();
  const page = await pages.serve({ control });
  const project = new DraftedProject(pages);
  return { page, project, open: () => openTab(page, options) };
}

/** Opens the view of drafts, and a draft in it. */
async function look(tab: BrowserPage, name: string): Promise<void> {
  await tab.getByRole('tab', { name: 'Drafts' }).click();
  await tab.getByRole('button', { name, exact: true }).click();
  await tab.getByRole('article', { name: `Draft ${name}` }).waitFor();
}

draftTest('a draft is listed, shown with its changed lines, committed and undone', async () => {
  const { project, open } = await opened();
  const tab = await open();
  await tab.getByRole('tab', { name: 'Drafts' }).click();
  await tab.getByText('No drafts', { exact: true }).waitFor();
  await project.draft(WORK, { name: 'try it' });
  const row = tab.getByRole('row', { name: /^try it open 4 created, 1 modified, 1 deleted, 1 renamed/ });
  await row.waitFor();
  await look(tab, 'try it');
  const changed = tab.getByRole('region', { name: 'Changed' });
  await changed.getByText('four', { exact: true }).waitFor();
  // Contents of files are text, with what turns it written out.
  await changed.getByText('<b>bold</b> \\u202e turned', { exact: true }).waitFor();
  await changed.getByRole('button', { name: 'binary' }).click();
  await changed.getByText('no text: nothing → 1 B').waitFor();

  await tab.getByRole('button', { name: /^Commit try it/ }).click();
  const question = tab.getByRole('alertdialog');
  await question.getByText('Commit this draft?').waitFor();
  expect(await tab.locator(':focus').textContent()).toBe('Not now');
  expect(existsSync(project.at('out'))).toBe(false);
  await question.getByRole('button', { name: /^Commit/ }).click();
  await tab
    .getByRole('status')
    .getByText(/^Committed from try it: 7 paths/)
    .waitFor();
  expect(readFileSync(project.at('a.txt'), 'utf8')).toBe('one\ntwo\nthree\nfour\n');
  await tab.getByRole('row', { name: /^try it committed/ }).waitFor();

  await tab.getByRole('button', { name: /^Undo the commit of 7 paths/ }).click();
  await question.getByText(/paths come back, .* new paths are removed/).waitFor();
  await question.getByRole('button', { name: /^Undo/ }).click();
  await tab.getByText('Taken back.').waitFor();
  expect([existsSync(project.at('out')), readFileSync(project.at('a.txt'), 'utf8')]).toEqual([
    false,
    'one\ntwo\nthree\n',
  ]);
});

draftTest('chosen files are committed, and a draft is discarded after a confirmation', async () => {
  const { project, open } = await opened();
  await project.draft(WORK, { name: 'some' });
  const tab = await open();
  await look(tab, 'some');
  await tab.getByRole('checkbox', { name: 'Choose src/new.ts' }).check();
  await tab.getByRole('checkbox', { name: 'Choose markup' }).check();
  await tab.getByRole('button', { name: /^Commit these files/ }).click();
  const question = tab.getByRole('alertdialog');
  await question.getByText(/2 chosen files/).waitFor();
  await question.getByRole('button', { name: /^Commit/ }).click();
  await tab
    .getByRole('region', { name: 'Committed' })
    .getByText(/^3 paths, at/)
    .waitFor();
  expect([
    existsSync(project.at('src/old.ts')),
    existsSync(project.at('markup')),
    existsSync(project.at('out')),
  ]).toEqual([false, true, false]);
  await tab.getByRole('checkbox', { name: 'Choose markup' }).waitFor({ state: 'detached' });
  await tab.getByRole('button', { name: /^Discard some/ }).click();
  await question.getByText('Discard this draft?').waitFor();
  await tab.keyboard.press('Escape');
  await tab.getByRole('button', { name: /^Discard some/ }).click();
  await question.getByRole('button', { name: /^Discard/ }).click();
  await tab.getByText('Its changes are gone.', { exact: false }).waitFor();
  expect(existsSync(project.at('out'))).toBe(false);
});

draftTest('a conflict stops a commit, is shown beside both sides, and may stay in the draft', async () => {
  const { project, open } = await opened();
  const draft = await project.draft(WORK, { name: 'late' });
  const tab = await open();
  await look(tab, 'late');
  project.write('a.txt', 'one\n2\nthree\n');
  const conflicts = tab.getByRole('region', { name: 'Conflicts' });
  await tab.getByRole('button', { name: /^Commit late/ }).click();
  await tab
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Commit/ })
    .click();
  await tab
    .getByRole('status')
    .getByText(/^Nothing was committed from late: 1 path was changed in the project as well/)
    .waitFor();
  const focused = async () => (await tab.locator(':focus').textContent()) === 'Commit without these';
  await until(focused, 'the way to go on has the focus');
  const sides = conflicts.getByRole('table');
  await sides.getByRole('row', { name: '2 two' }).waitFor();
  expect(await sides.getByRole('row').allInnerTexts()).toEqual([
    'The project now\tThis draft',
    'one\tone',
    '2\ttwo',
    'three\tthree',
    '\tfour',
  ]);
  await conflicts.getByRole('button', { name: 'Commit without these' }).click();
  await tab
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Commit/ })
    .click();
  await until(() => existsSync(project.at('out/numbers')), 'the rest is committed');
  await tab
    .getByText(/6 paths, 1 stays in the draft/)
    .first()
    .waitFor();
  expect(readFileSync(project.at('a.txt'), 'utf8')).toBe('one\n2\nthree\n');
  expect((await draft.changes()).counts).toMatchObject({ created: 0, modified: 1 });
});

draftTest('without control a draft is only shown', async () => {
  const { project, open } = await opened(false);
  await project.draft(WORK, { name: 'look' });
  const tab = await open();
  await look(tab, 'look');
  await tab.getByRole('region', { name: 'Changed' }).getByText('four', { exact: true }).waitFor();
  for (const name of [/^Commit/, /^Discard/]) expect(await tab.getByRole('button', { name }).count()).toBe(0);
  expect(await tab.getByRole('checkbox').count()).toBe(0);
});

draftTest('axe finds no violation in drafts, in both schemes, and nothing scrolls sideways', async () => {
  const { page, project } = await opened();
  await project.draft(`${WORK}; printf '%0400d\\n' 7 >long`, { name: 'wide' });
  await project.draft('rm src/old.ts');
  project.write('a.txt', 'one\n2\nthree\n');
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [360, 1_280]) {
      const tab = await openTab(page, { colorScheme, bypassCSP: true, viewport: { width, height: 800 } });
      const state = `${colorScheme}, ${width} px`;
      await tab.getByRole('tab', { name: 'Drafts' }).click();
      await tab.getByRole('row', { name: /^wide 1 conflict/ }).waitFor();
      await isSound(tab, `the list: ${state}`);
      await look(tab, 'wide');
      await tab.getByRole('region', { name: 'Conflicts' }).getByRole('table').waitFor();
      await isSound(tab, `a draft: ${state}`);
      expect(await tab.evaluate('document.documentElement.scrollWidth <= innerWidth'), state).toBe(true);
      const wide = await tab.evaluate<string[]>(`[...document.querySelectorAll('.draft, .draft *')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX))
        .map((one) => one.className)`);
      expect(wide, state).toEqual([]);
      await tab.close();
    }
  }
});

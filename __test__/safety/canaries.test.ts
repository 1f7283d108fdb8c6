import { expect } from 'vitest';
import { linuxTest } from '../support/index.ts';
import { cases, walk } from './canaries/cases.ts';
import { tried } from './canaries/run.ts';
import { places, spellings } from './canaries/ways.ts';

linuxTest('bash runs code in each place that expands a text a second time, and no judgement lets it pass', async () => {
  const all = places.flatMap(({ texts: [text = ''], templates }) =>
    templates.map((template) => walk(text, spellings[0], template, [])),
  );
  const { ran } = await tried(all);
  expect(ran).toBeGreaterThan(all.length - 6);
});

linuxTest('no judgement lets such a text pass that comes by variables, arrays, functions, pipes or files', async () => {
  const { ran } = await tried(cases(1, 600));
  expect(ran).toBeGreaterThan(300);
});

/**
 * Confines every command of the project, unless its call says something else.
 *
 * Leaves out the tests of a file that `reasons/` lists, and says why. A listed name that no test has is a failure, so
 * the lists cannot grow stale.
 */
import './by-default.mjs';
import { join, relative } from 'node:path';
import { beforeAll, beforeEach, type RunnerTask } from 'vitest';
import { packageRoot } from '../host.ts';
import { type Difference, differences, names } from './differences.ts';

let here: Difference[] = [];

/** The name of a test behind those of its blocks. */
function nameOf(task: RunnerTask): string {
  return task.suite ? `${nameOf(task.suite)} > ${task.name}` : task.name;
}

function testNames(tasks: RunnerTask[]): string[] {
  return tasks.flatMap((task) => ('tasks' in task ? testNames(task.tasks) : [nameOf(task)]));
}

// biome-ignore lint/correctness/noEmptyPattern: vitest takes nothing but a pattern there
beforeAll(({}, { file }) => {
  const path = relative(join(packageRoot, '__test__'), file.filepath).replace(/\.test\.ts$/, '');
  here = differences().filter((difference) => difference.file === path);
  const tests = testNames(file.tasks);
  const stale = here.filter((difference) => !tests.some((test) => names(difference, test)));
  if (stale.length > 0)
    throw new Error(`no test of ${path} is called ${stale.map(({ name }) => `«${name}»`).join(', ')}`);
});

beforeEach(({ task, skip }) => {
  const difference = here.find((one) => names(one, nameOf(task)));
  if (difference) skip(difference.why);
});

import { bash, OutputStore } from 'agent-bash';
import { expect, test } from 'vitest';
import { version } from '../../package.json';

test('the keys of internal parts have the version, so that two versions in one process do not meet', () => {
  const keys = [bash, new OutputStore()].flatMap((owner) => Object.getOwnPropertySymbols(owner));
  expect(keys.map(({ description }) => description)).toEqual([
    `agent-bash@${version}/inner`,
    `agent-bash@${version}/output-store`,
  ]);
});

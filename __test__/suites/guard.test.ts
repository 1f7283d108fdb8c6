import { describe, expect, test } from 'vitest';
import { callsOf, instructionsOf } from '../../bench/guard/count.mjs';
import { judge, updated } from '../../bench/guard/judge.mjs';

describe('the guard of speed', () => {
  const figures = {
    reading: { instructions: 1000, bytes: 100 },
    starting: { calls: 100, tolerance: 0.2, why: 'races' },
  };

  test.each([
    ['the same cost', { instructions: 1000, bytes: 100 }, []],
    ['a cost within the tolerance', { instructions: 1049, bytes: 96 }, []],
    [
      'more instructions',
      { instructions: 1060, bytes: 100 },
      ['reading: instructions +6.0 %: find out why, and mend it'],
    ],
    [
      'more memory',
      { instructions: 1000, bytes: 110 },
      ['reading: bytes of memory +10.0 %: find out why, and mend it'],
    ],
    [
      'fewer instructions',
      { instructions: 900, bytes: 100 },
      ['reading: instructions -10.0 %: hold that with `--update`'],
    ],
  ])('judges %s', (_, cost, wrong) => {
    expect(judge(figures, { reading: cost }, ['reading']).wrong).toEqual(wrong);
  });

  test('holds a path to its own tolerance', () => {
    const wrong = (calls: number) => judge(figures, { starting: { calls } }, ['starting']).wrong.length;
    expect([wrong(119), wrong(121), wrong(81), wrong(79)]).toEqual([0, 1, 0, 1]);
  });

  test('names a path that has no figure', () => {
    const { wrong } = judge(figures, { other: { instructions: 1 } }, ['other']);
    expect(wrong).toEqual(['other: instructions have no figure: `npm run bench:guard -- --update` writes it']);
  });

  test('keeps the tolerance of a path in an update', () => {
    expect(updated(figures, { starting: { calls: 50 } })).toEqual({
      reading: { instructions: 1000, bytes: 100 },
      starting: { calls: 50, tolerance: 0.2, why: 'races' },
    });
  });

  test('counts the instructions of a file of code where they were spent', () => {
    const text = [
      'events: Ir',
      'ob=(1) /usr/bin/node',
      'fn=(1) main',
      '10 5',
      'cob=(2) /srv/addon.node',
      'cfn=(2) start',
      'calls=1 20',
      '11 700',
      '+1 6',
      '',
      'ob=(2)',
      'fn=(2)',
      '20 700',
    ].join('\n');
    expect(instructionsOf(text)).toEqual({ node: 11, 'addon.node': 700 });
  });

  test('counts the calls of helpers, and not those of the host, its threads and the programs of commands', () => {
    const thread = 'clone3({flags=CLONE_VM|CLONE_THREAD} => {parent_tid=[11]}, 88) = 11';
    const texts = new Map([
      ['10', `execve("/usr/bin/node", ["node"], 0x1) = 0\n${thread}\nread(3) = 1\n`],
      ['11', 'futex(0x1) = 0\nfutex(0x1) = 0\n'],
      ['12', 'close(1) = 0\nexecve("/srv/agent-bash-supervisor", ["agent-bash-supervisor"], 0x1) = 0\n'],
      ['13', 'read(3) = 1\nread(3) = 0\nclose(3) = 0\n'],
      ['14', 'close(3) = 0\nexecve("/usr/bin/bash", ["bash"], 0x1) = 0\nread(0) = 0\n'],
    ]);
    expect(callsOf(texts)).toBe(5);
  });
});

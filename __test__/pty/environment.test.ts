import { describe, expect, test } from 'vitest';
import { hostEnv, variables } from '../support/index.ts';
import { ran } from './support.ts';

const env = async (options = {}) =>
  variables((await ran('stty -opost; env -0', { sanitize: false, truncate: { keep: 'tail' }, ...options })).stdout);

describe('the environment in a terminal', () => {
  test('is that of an interactive user', async () => {
    hostEnv({
      CI: 'true',
      NO_COLOR: '1',
      TERM: 'dumb',
      PAGER: 'cat',
      GIT_EDITOR: 'true',
      EDITOR: 'nano',
      TMUX: '/tmp/x,1,0',
      LINES: '9',
    });
    const found = await env();
    expect(found).toMatchObject({ TERM: 'xterm-256color', AGENT_BASH: '1', EDITOR: 'nano' });
    for (const name of [
      'CI',
      'NO_COLOR',
      'PAGER',
      'GIT_PAGER',
      'GIT_EDITOR',
      'VISUAL',
      'TMUX',
      'LINES',
      'COLUMNS',
      'GIT_TERMINAL_PROMPT',
      'SSH_ASKPASS',
      'DEBIAN_FRONTEND',
      'PIP_NO_INPUT',
    ]) {
      expect([name, found[name]]).toEqual([name, undefined]);
    }
  });

  test('is what the caller says, before anything else', async () => {
    const found = await env({ env: { TERM: 'vt100', NO_COLOR: '1', CI: '1' } });
    expect(found).toMatchObject({ TERM: 'vt100', NO_COLOR: '1', CI: '1' });
  });

  test('withholds secrets as ever', async () => {
    hostEnv({ SOME_TOKEN: 'x', OPENAI_API_KEY: 'y' });
    const found = await env();
    expect([found.SOME_TOKEN, found.OPENAI_API_KEY]).toEqual([undefined, undefined]);
    expect((await env({ inheritEnv: 'none' })).TERM).toBe('xterm-256color');
  });
});

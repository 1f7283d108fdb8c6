import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, hostEnv, rejection } from '../support/index.ts';
import { home, keptIn, WITHOUT, withSnapshot } from './support.ts';

/** As Debian ships them. */
const GUARDS = 'case $- in *i*) ;; *) return;; esac\n[ -z "$PS1" ] && return\n';
const PROFILE = 'if [ -n "$BASH_VERSION" ]; then if [ -f "$HOME/.bashrc" ]; then . "$HOME/.bashrc"; fi; fi\n';

describe('what a command has of the user', () => {
  test.each([[true], [false]])('aliases, functions, options and PATH, warm: %s', async (warm) => {
    const path = home({
      '.bashrc': `${GUARDS}alias ll='echo LL'\nhi() { echo "hi $1"; }\nshopt -s globstar; set -o noclobber\nPATH="$HOME/bin:$PATH"\n`,
    });
    for (let round = 0; round < 3; round++) {
      const { stdout, stderr, notes } = await withSnapshot(
        'll a; hi you; shopt globstar; set -o | grep noclobber; echo "$PATH"',
        { warm },
      );
      expect(stdout.split('\n').map((line) => line.split(/\s+/).join(' '))).toEqual([
        'LL a',
        'hi you',
        'globstar on',
        'noclobber on',
        `${path}/bin:${process.env.PATH}`,
        '',
      ]);
      expect({ stderr, notes }).toEqual({ stderr: '', notes: [] });
    }
  });

  test('nothing of it without the option', async () => {
    home({ '.bashrc': "alias ll='echo LL'\n" });
    expect((await withSnapshot('ll')).stdout).toBe('LL\n');
    expect((await bash('ll')).exitCode).toBe(127);
  });

  test('tools that are loaded when they are first called, as nvm and pyenv are', async () => {
    const path = home({
      '.bashrc': `export NVM_DIR="$HOME/.nvm"\nnode() { unset -f node; . "$HOME/.nvm/nvm.sh"; node "$@"; }\nexport PYENV_ROOT="$HOME/.pyenv"\nPATH="$PYENV_ROOT/shims:$PATH"\n`,
      '.nvm/nvm.sh': 'node() { echo "node of nvm: $*"; }\n',
      '.pyenv/shims/python-of-mine': '#!/bin/sh\necho shim\n',
    });
    chmodSync(join(path, '.pyenv/shims/python-of-mine'), 0o755);
    expect((await withSnapshot('node a b; node c; python-of-mine')).stdout).toBe(
      'node of nvm: a b\nnode of nvm: c\nshim\n',
    );
  });

  test('login file and ~/.bashrc, each once, whichever reads the other', async () => {
    const own = { '.bashrc': "echo bashrc >>~/read; alias a='echo A'\n" };
    const cases = [
      { ...own, '.profile': `${PROFILE}echo profile >>~/read; alias b='echo B'\n` },
      { ...own, '.bash_profile': "echo profile >>~/read; alias b='echo B'\n", '.profile': 'echo never >>~/read\n' },
    ];
    for (const files of cases) {
      const path = home(files);
      expect((await withSnapshot('a; b')).stdout).toBe('A\nB\n');
      expect(readFileSync(join(path, 'read'), 'utf8').trim().split('\n').sort()).toEqual(['bashrc', 'profile']);
    }
  });

  test('a PATH that is set anew comes first and hides nothing', async () => {
    home({ '.bashrc': 'PATH=/opt/mine:/usr/bin\n' });
    const { stdout } = await withSnapshot('echo "$PATH"');
    const others = (process.env.PATH ?? '').split(':').filter((one) => one !== '' && one !== '/usr/bin');
    expect(stdout.trim()).toBe(['/opt/mine', '/usr/bin', ...new Set(others)].join(':'));
  });

  test('the PATH of `env` is that of the command', async () => {
    home({ '.bashrc': "PATH=/opt/mine:$PATH\nalias a='echo A'\n" });
    expect((await withSnapshot('a; echo "$PATH"', { env: { PATH: '/usr/bin:/bin' } })).stdout).toBe(
      'A\n/usr/bin:/bin\n',
    );
  });

  test('its directory is the HOME of `env`', async () => {
    home({ '.bashrc': "alias a='echo host'\n" });
    const own = folder();
    writeFileSync(join(own, '.bashrc'), "alias a='echo own'\n");
    expect((await withSnapshot('a', { env: { HOME: own } })).stdout).toBe('own\n');
    expect((await withSnapshot('a')).stdout).toBe('host\n');
  });

  test('the command ends as it does without: codes, $-, $0, $_, line numbers, -e and traps', async () => {
    home({ '.bashrc': "set -euE\nset -o pipefail\ntrap 'echo trapped' EXIT ERR DEBUG\nalias a='echo A'\n" });
    const { stdout, stderr, exitCode } = await withSnapshot(
      'echo "$0 $_ $-"; false\necho $LINENO; trap -p; nope; exit 7',
    );
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: 'bash bash hBc\n2\n',
      stderr: 'bash: line 2: nope: command not found\n',
      exitCode: 7,
    });
  });

  test('an rc file by its path, and that alone', async () => {
    const path = home({ '.bashrc': "alias a='echo A'\n", 'team.sh': "alias t='echo T'\n" });
    const { stdout, exitCode } = await bash('t; a', { snapshot: join(path, 'team.sh') });
    expect({ stdout, exitCode }).toEqual({ stdout: 'T\n', exitCode: 127 });
  });

  test.each([['/nowhere/at/all.sh'], ['/tmp']])('%s: ERR_BASH_INVALID_ARG', async (snapshot) => {
    const error = await rejection(() => bash('true', { snapshot }));
    expect({ code: error.code, named: error.message.includes(snapshot) }).toEqual({
      code: 'ERR_BASH_INVALID_ARG',
      named: true,
    });
  });

  test('another shell has none, with a note', async () => {
    home({ '.bashrc': "alias a='echo A'\n" });
    const { stdout, notes } = await withSnapshot('echo on', { shell: 'sh' });
    expect({ stdout, notes }).toEqual({
      stdout: 'on\n',
      notes: [`${WITHOUT}only bash can read it, and the shell is sh`],
    });
  });

  test('a user without rc files has nothing to take over', async () => {
    home({});
    expect(await withSnapshot('echo on')).toMatchObject({ stdout: 'on\n', notes: [] });
  });
});

describe('secrets are kept out', () => {
  const TOKEN = `ghp_${'a1'.repeat(18)}`;

  test('of the command, and of the file kept on disk', async () => {
    const path = home({
      '.bashrc': `export DB_PASSWORD=hunter-22 PLAIN=x\nalias db="mysql -p$DB_PASSWORD"\ncall() { curl -H 'x: ${TOKEN}'; }\ndeploy() { API_KEY=abcdefgh123 true; }\nfine() { echo "Authorization: $MY_TOKEN"; }\n`,
    });
    const { stdout } = await withSnapshot('fine; echo "[$DB_PASSWORD$PLAIN]"; type -t db call deploy');
    expect(stdout).toBe('Authorization: \n[]\n');
    const cache = join(path, '.cache/agent-bash');
    const kept = keptIn(dirname(cache)).map((name) => readFileSync(join(cache, name), 'utf8'));
    expect(kept.join('')).toContain('fine ()');
    for (const secret of ['hunter-22', TOKEN, 'abcdefgh123']) expect(kept.join('')).not.toContain(secret);
  });

  test('of the rc files themselves', async () => {
    hostEnv({ MY_API_TOKEN: 'abcdefgh' });
    const path = home({ '.bashrc': 'echo "[$MY_API_TOKEN$GIVEN]" >~/seen\n' });
    await withSnapshot('true', { inheritEnv: 'all', env: { GIVEN: 'x' } });
    expect(readFileSync(join(path, 'seen'), 'utf8')).toBe('[]\n');
  });
});

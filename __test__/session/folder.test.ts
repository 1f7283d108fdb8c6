import { mkdirSync, renameSync, rmdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, reaching, rejection } from '../support/index.ts';
import { inTurn, session, WAYS } from './support.ts';

describe.each(WAYS)('the directory of a session, %s', (_, way) => {
  test('is that of the host at first, and is in each result', async () => {
    const one = session(way);
    expect(one.cwd).toBe(process.cwd());
    const running = one.run('cd /usr');
    expect((await running).cwd).toBe('/usr');
    expect(one.cwd).toBe('/usr');
    expect((await one.run('cd bin/.. && cd ./lib')).cwd).toBe('/usr/lib');
    expect((await one.run('cd ..; cd nosuch 2>/dev/null')).cwd).toBe('/usr');
    expect(await one.run('pwd')).toMatchObject({ stdout: '/usr\n', cwd: '/usr', notes: [] });
  });

  test('is called as the shell calls it, through links', async () => {
    const at = folder();
    mkdirSync(join(at, 'real'));
    symlinkSync('real', join(at, 'link'));
    const one = session({ ...way, cwd: at });
    expect((await one.run('cd link')).cwd).toBe(join(at, 'link'));
    expect((await one.run('pwd; pwd -P; cd ..; pwd')).stdout).toBe(`${at}/link\n${at}/real\n${at}\n`);
    expect((await one.run('cd -P link')).cwd).toBe(join(at, 'real'));
  });

  test('with odd names', async () => {
    const at = folder();
    const one = session({ ...way, cwd: at });
    for (const name of ['a b', 'new\nline', 'end\n', 'quo\'te"', '$HOME', '-x', 'é🎉', '*', ' ', '\\', '~', '(']) {
      mkdirSync(join(at, name));
      const { cwd } = await one
        .run(`cd -- ${JSON.stringify(at)}; cd -- ./*; x=1`, { cwd: at, env: { GLOBIGNORE: '' } })
        .then(() => one.run('cd -- "$N"; pushd / >/dev/null; popd >/dev/null', { cwd: at, env: { N: name } }));
      expect(cwd).toBe(join(at, name));
      expect((await one.run('pwd')).stdout).toBe(`${join(at, name)}\n`);
    }
  });

  test('gone: the next command is in the first one, with a note; then without', async () => {
    const [first, parent] = [folder(), folder()];
    const at = join(parent, 'work');
    mkdirSync(at);
    const one = session({ ...way, cwd: first, ...reaching(parent) });
    await one.run(`x=1; cd ${at}`);
    rmdirSync(at);
    const result = await one.run('pwd; echo $x');
    expect(result).toMatchObject({ exitCode: 0, stdout: `${first}\n1\n`, cwd: first });
    expect(result.notes.length).toBe(1);
    expect(result.notes[0]).toContain(at);
    expect(result.notes[0]).toContain(first);
    expect((await one.run('pwd; echo $x')).notes).toEqual([]);
  });

  test('removed by its own command', async () => {
    const first = folder();
    const one = session({ ...way, cwd: first });
    for (let n = 0; n < 5; n++) {
      await one.run('mkdir -p sub/deep; cd sub/deep');
      expect((await one.run('rm -rf "$PWD"; x=kept', { safety: 'off' })).exitCode).toBe(0);
      const result = await one.run('pwd; echo $x');
      expect([result.stdout, result.notes.length]).toEqual([`${first}\nkept\n`, 1]);
    }
  });

  test('removed and made again while nothing runs', async () => {
    const parent = folder();
    const at = join(parent, 'work');
    mkdirSync(at);
    const one = session({ ...way, ...reaching(parent) });
    await one.run(`cd ${at}`);
    rmdirSync(at);
    mkdirSync(at);
    expect((await one.run('>new; ls; pwd')).stdout).toBe(`new\n${at}\n`);
    expect((await bash('ls', { cwd: at })).stdout).toBe('new\n');
  });

  test('a link that leads elsewhere by now', async () => {
    const [at, one_, two] = [folder(), folder(), folder()];
    symlinkSync(one_, join(at, 'link'));
    const one = session({ ...way, ...reaching(at, one_, two) });
    await one.run(`cd ${at}/link`);
    rmSync(join(at, 'link'));
    symlinkSync(two, join(at, 'link'));
    expect((await one.run('pwd; pwd -P')).stdout).toBe(`${at}/link\n${two}\n`);
  });

  test('moved: the name counts', async () => {
    const [first, at] = [folder(), folder()];
    mkdirSync(join(at, 'a'));
    const one = session({ ...way, cwd: first, ...reaching(at) });
    await one.run(`cd ${at}/a`);
    renameSync(join(at, 'a'), join(at, 'b'));
    const result = await one.run('pwd');
    expect([result.stdout, result.notes.length]).toEqual([`${first}\n`, 1]);
  });

  test('the first one is gone, too: the error that names it; made again it goes on', async () => {
    const first = join(folder(), 'first');
    mkdirSync(first);
    const one = session({ ...way, cwd: first });
    await one.run('x=1; mkdir sub; cd sub');
    rmSync(first, { recursive: true });
    const error = await rejection(() => one.run('echo hi'));
    expect(error.code).toBe('ERR_BASH_CWD_NOT_FOUND');
    expect(error.message).toBe(`Working directory does not exist: ${first}`);
    expect((await rejection(() => one.run('echo hi'))).code).toBe('ERR_BASH_CWD_NOT_FOUND');
    mkdirSync(first);
    expect((await one.run('pwd; echo $x')).stdout).toBe(`${first}\n1\n`);
  });

  test('`cwd` of one run: where it starts, relative ones from where the session is', async () => {
    const one = session({ ...way, cwd: '/usr' });
    expect(await one.run('pwd', { cwd: 'lib' })).toMatchObject({ stdout: '/usr/lib\n' });
    const at = one.cwd;
    expect((await one.run('pwd')).stdout).toBe(`${at}\n`);
    expect(await one.run('cd ..; pwd', { cwd: '/etc/.' })).toMatchObject({ stdout: '/\n', cwd: '/' });
    expect((await rejection(() => one.run('pwd', { cwd: '/nowhere' }))).code).toBe('ERR_BASH_CWD_NOT_FOUND');
    expect((await rejection(() => one.run('pwd', { cwd: '/etc/passwd' }))).code).toBe('ERR_BASH_CWD_NOT_DIRECTORY');
    expect((await one.run('pwd')).stdout).toBe('/\n');
  });

  test('the session begins in a missing directory: the error of its runs', async () => {
    const one = session({ ...way, cwd: '/nowhere/at/all' });
    expect((await rejection(() => one.run('echo'))).code).toBe('ERR_BASH_CWD_NOT_FOUND');
    expect((await one.run('pwd', { cwd: '/usr' })).stdout).toBe('/usr\n');
  });

  test('the stack of directories, with one that is gone', async () => {
    const at = folder();
    for (const name of ['a', 'b', 'c c']) mkdirSync(join(at, name));
    const one = session({ ...way, cwd: at });
    await inTurn(one, 'pushd a >/dev/null', 'pushd ../b >/dev/null', 'pushd "../c c" >/dev/null');
    expect((await one.run('dirs -l -p')).stdout).toBe(`${at}/c c\n${at}/b\n${at}/a\n${at}\n`);
    rmdirSync(join(at, 'b'));
    expect(
      (await one.run('dirs -l -p; popd >/dev/null 2>&1; echo $?; popd -n >/dev/null; popd >/dev/null; pwd')).stdout,
    ).toContain(`${at}/c c\n${at}/b\n${at}/a\n${at}\n1\n`);
  });
});

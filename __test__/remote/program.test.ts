import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADDON, addressOf, folder, packageRoot } from '../support/index.ts';

const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
const MACHINE = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const FILE = `agent-bash-host.${MACHINE}.gz`;
const INSTALL = `npm install agent-bash-host@${version}`;

/** Connects to the address in its argument, runs a command there, and prints what came of it. */
const MAIN = `import { bash, connect } from 'agent-bash';
try {
  const target = await connect(JSON.parse(process.argv[2]));
  const { stdout } = await bash('echo hi', { target });
  console.log(JSON.stringify({ stdout, sent: target.info.program.sent }));
  await target.close();
} catch ({ code, reason, message }) {
  console.log(JSON.stringify({ code, reason, message }));
}`;

const described = (content: Buffer) => ({
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
});

/** A directory with the packed program of this build. */
const packed = folder(afterAll);
let program: Buffer;
let coded: Buffer;

beforeAll(() => {
  program = readFileSync(join(packageRoot, 'agent-bash-host'));
  coded = gzipSync(program, { level: constants.Z_BEST_SPEED });
  writeFileSync(join(packed, FILE), coded);
});

interface Made {
  /** The machine in the list of the main package. */
  machine?: string;
  /** The version of the package with the program; `null`: it is not installed. */
  host?: string | null;
  /** Where that package is. Default: in the project. */
  in?: string;
}

/** Makes a project with the package as npm installs it. Returns its directory. */
function project({ machine = MACHINE, host = version, in: place }: Made = {}): string {
  const made = folder();
  const main = join(made, 'node_modules', 'agent-bash');
  cpSync(join(packageRoot, 'dist'), join(main, 'dist'), { recursive: true });
  cpSync(join(packageRoot, 'package.json'), join(main, 'package.json'));
  const forms = [{ coding: 'gzip', file: FILE, ...described(coded) }];
  writeFileSync(join(main, 'host-programs.json'), JSON.stringify([{ machine, ...described(program), forms }]));
  writeFileSync(join(made, 'main.mjs'), MAIN);
  if (host === null) return made;
  const installed = join(place ?? made, 'node_modules', 'agent-bash-host');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), JSON.stringify({ name: 'agent-bash-host', version: host }));
  symlinkSync(join(packed, FILE), join(installed, FILE));
  return made;
}

/** Runs a project's program in a directory, against a target with this home. */
async function connected(made: string, home = folder(), cwd = made): Promise<object> {
  const args = [join(made, 'main.mjs'), JSON.stringify({ ...addressOf(home), name: 'there' })];
  const env = { ...process.env, AGENT_BASH_ADDON: ADDON, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env });
  return JSON.parse(stdout);
}

/** The error of a connection without a program to send. */
const without = (why: string) => ({
  code: 'ERR_BASH_TARGET',
  reason: 'no-program',
  message: `there cannot be reached, and nothing was started: no program for Linux ${MACHINE}: ${why}`,
});

describe('the package agent-bash-host', () => {
  test('brings the program for targets', async () => {
    const home = folder();
    expect(await connected(project(), home)).toEqual({ stdout: 'hi\n', sent: true });
    // A program that is there needs no package here.
    expect(await connected(project({ host: null }), home)).toEqual({ stdout: 'hi\n', sent: false });
  });

  test('is found in the project that works with a package elsewhere', async () => {
    const working = folder();
    expect(await connected(project({ in: working }), folder(), working)).toMatchObject({ sent: true });
  });

  test('is named with its version where it is missing', async () => {
    expect(await connected(project({ host: null }))).toEqual(without(`agent-bash-host is not installed: ${INSTALL}`));
  });

  test('is refused in another version', async () => {
    const made = project({ host: '0.0.1' });
    const found = join(made, 'node_modules/agent-bash-host');
    expect(await connected(made)).toEqual(
      without(`agent-bash-host 0.0.1 in ${found} does not fit agent-bash ${version}: ${INSTALL}`),
    );
  });

  test('is refused with a file that does not fit its hash', async () => {
    const made = project({ in: folder() });
    const found = join(made, 'node_modules/agent-bash-host');
    mkdirSync(found);
    writeFileSync(join(found, 'package.json'), JSON.stringify({ name: 'agent-bash-host', version }));
    const damaged = Buffer.from(coded);
    const middle = damaged.length >> 1;
    damaged.writeUInt8(damaged.readUInt8(middle) ^ 1, middle);
    for (const content of [damaged, coded.subarray(1)]) {
      writeFileSync(join(found, FILE), content);
      const why = `${join(found, FILE)} is missing or not the file of agent-bash ${version}`;
      expect(await connected(made)).toEqual(without(`${why}: ${INSTALL}`));
    }
  });

  test('may lack the program for a machine', async () => {
    const made = project({ machine: MACHINE === 'x86_64' ? 'aarch64' : 'x86_64' });
    expect(await connected(made)).toEqual(without(`agent-bash-host ${version} has no program for it`));
  });

  test('is of no use to a build without the list of the main package', async () => {
    const made = project();
    rmSync(join(made, 'node_modules/agent-bash/host-programs.json'));
    expect(await connected(made)).toMatchObject({
      reason: 'no-program',
      message: expect.stringContaining(
        'without host-programs.json, the list of its host programs: use the npm packages',
      ),
    });
  });
});

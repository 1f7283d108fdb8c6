/**
 * `npm run pack`: the tarballs of the main package, of this machine's platform package, and of the program for targets,
 * as they are published, in a new temporary directory. It builds the optimized addon if that is missing or stale. The
 * last lines printed are the paths of the tarballs, the main package's last.
 *
 * `npm run pack -- OUT [ARTIFACTS]`: into the directory OUT. With ARTIFACTS it packs all platforms and takes their
 * binaries from ARTIFACTS/<platform>/: in a release they come from the machines that built them. Without, the program
 * for targets is that of this machine alone.
 */
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { addon, here, hostList, hostMachines, hostProgram, manifest, platforms, supervisor } from './platform.mjs';
import { Failed, main, npm, root, run } from './process.mjs';
import { setUp } from './setup.mjs';

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** The name of a platform's package. */
const packageOf = (platform) => `${manifest().name}-${platform}`;

/**
 * The addresses of the sources, which npm's provenance compares, of their page and of its issues. Only the release
 * workflow knows them.
 */
const addresses = () => {
  const name = process.env.GITHUB_REPOSITORY;
  if (!name) return {};
  const page = `https://github.com/${name}`;
  return {
    repository: { type: 'git', url: `git+${page}.git` },
    homepage: `${page}#readme`,
    bugs: { url: `${page}/issues` },
  };
};

/**
 * Lays out the main package: the paths of `files`, the list of programs for targets, and a package.json with the
 * platform packages and without development parts.
 */
function layMain(folder, programs) {
  const { scripts, devDependencies, napi, ...published } = manifest();
  // npm itself leaves out what begins with an exclamation mark.
  for (const path of published.files.filter((path) => !path.startsWith('!') && path !== hostList)) {
    if (!existsSync(join(root, path))) throw new Failed(`${path} is in package.json's "files" and does not exist`);
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  writeFileSync(join(folder, hostList), json(programs));
  // Bundled packages let an installation use nothing but our own tarballs.
  for (const name of published.bundleDependencies) {
    cpSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  }
  // The checked-in manifest lacks them: `npm ci` would look for them in the lock before they are published.
  published.optionalDependencies = Object.fromEntries(
    platforms().map((platform) => [packageOf(platform), published.version]),
  );
  published.typesVersions = typesVersions(published.exports);
  writeFileSync(join(folder, 'package.json'), json({ ...published, ...addresses() }));
}

/**
 * The entries' types for a TypeScript that knows no `exports`: resolution `node10`, the default for CommonJS before
 * version 6.
 */
function typesVersions(exports) {
  const entries = Object.entries(exports).filter(([path, target]) => path !== '.' && typeof target !== 'string');
  return {
    '*': Object.fromEntries(entries.map(([path, target]) => [path.slice(2), [(target.require ?? target).types]])),
  };
}

/** Lays out a package of npm/ with its licences. */
function layDeclared(folder, directory, name) {
  const source = join(root, 'npm', directory);
  const declared = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  if (declared.name !== name || declared.version !== manifest().version) {
    throw new Failed(
      `npm/${directory} is ${declared.name} ${declared.version}: \`npm run platforms\` brings it up to date`,
    );
  }
  cpSync(source, folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), json({ ...declared, ...addresses() }));
  for (const licence of ['LICENSE', 'LICENSE.third-party.txt']) cpSync(join(root, licence), join(folder, licence));
}

function copyBuilt(from, folder, name) {
  if (!existsSync(from)) throw new Failed(`${from} is not there: build it first`);
  cpSync(from, join(folder, name));
}

/** Lays out a platform package: npm/<platform>/, the two binaries, and their licences. */
function layPlatform(folder, platform, from) {
  layDeclared(folder, platform, packageOf(platform));
  for (const file of [addon(platform), supervisor]) copyBuilt(join(from, file), folder, file);
  chmodSync(join(folder, addon(platform)), 0o644);
  // A transfer between machines may lose the executable bit, which would be an EACCES for the user.
  chmodSync(join(folder, supervisor), 0o755);
}

/**
 * Lays out the package of the program for targets, with its forms for each machine. `from` names the directory of
 * the program for a processor. Resolves to the list for the main package.
 */
async function layHost(folder, machines, from) {
  layDeclared(folder, hostProgram, hostProgram);
  const list = [];
  for (const [arch, machine] of machines) {
    const name = `${hostProgram}.${machine}`;
    copyBuilt(join(from(arch), hostProgram), folder, name);
    const file = join(folder, name);
    const program = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(program, { level: 9 }));
    // The dictionary of -9 is larger than the program, and would be memory there.
    await run('xz', ['--lzma2=preset=9e,dict=16MiB', '--keep', file]);
    rmSync(file);
    const forms = [
      { coding: 'xz', file: `${name}.xz` },
      { coding: 'gzip', file: `${name}.gz` },
    ];
    list.push({
      machine,
      ...described(program),
      forms: forms.map((form) => ({ ...form, ...described(readFileSync(join(folder, form.file))) })),
    });
  }
  return list;
}

const described = (content) => ({
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
});

async function pack(folder, out) {
  const args = ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', out];
  const { stdout } = await run(npm, args, { output: 'keep', cwd: folder });
  return join(out, JSON.parse(stdout)[0].filename);
}

await main(async () => {
  const [target, artifacts] = process.argv.slice(2);
  if (!artifacts) await setUp({ full: true });
  const out = target ? resolve(target) : mkdtempSync(join(tmpdir(), 'agent-bash-pack-'));
  mkdirSync(out, { recursive: true });
  const staging = mkdtempSync(join(tmpdir(), 'agent-bash-staging-'));
  try {
    const lay = async (name, act) => {
      const folder = join(staging, name);
      mkdirSync(folder);
      await act(folder);
      return folder;
    };
    const from = (platform) => (artifacts ? resolve(artifacts, platform) : root);
    const packed = artifacts ? platforms() : [here];
    const machines = Object.entries(hostMachines).filter(
      ([arch]) => artifacts || (process.platform === 'linux' && arch === process.arch),
    );
    const folders = [];
    for (const platform of packed) {
      folders.push(await lay(platform, (folder) => layPlatform(folder, platform, from(platform))));
    }
    let programs = [];
    if (machines.length > 0) {
      folders.push(
        await lay(hostProgram, async (folder) => {
          programs = await layHost(folder, machines, (arch) => from(`linux-${arch}-musl`));
        }),
      );
    }
    if (!artifacts) {
      console.error(`programs for targets: ${programs.map(({ machine }) => machine).join(', ') || 'none'}`);
    }
    folders.push(await lay('main', (folder) => layMain(folder, programs)));
    for (const folder of folders) console.log(await pack(folder, out));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
});

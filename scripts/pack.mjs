/**
 * `npm run pack`: the tarballs of the main package and of this machine's platform package, as they are published, in a
 * new temporary directory. It builds the optimized addon if that is missing or stale. The last lines printed are the
 * paths of the tarballs, the main package's last.
 *
 * `npm run pack -- OUT [ARTIFACTS]`: into the directory OUT. With ARTIFACTS it packs all platforms and takes their two
 * binaries from ARTIFACTS/<platform>/: in a release they come from the machines that built them.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { addon, here, manifest, platforms, supervisor } from './platform.mjs';
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
 * Lays out the main package: the paths of `files`, and a package.json with the platform packages and without
 * development parts.
 */
function layMain(folder) {
  const { scripts, devDependencies, napi, ...published } = manifest();
  // npm itself leaves out what begins with an exclamation mark.
  for (const path of published.files.filter((path) => !path.startsWith('!'))) {
    if (!existsSync(join(root, path))) throw new Failed(`${path} is in package.json's "files" and does not exist`);
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
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

/** Lays out a platform package: npm/<platform>/, the two binaries, and their licences. */
function layPlatform(folder, platform, from) {
  const source = join(root, 'npm', platform);
  const declared = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  if (declared.name !== packageOf(platform) || declared.version !== manifest().version) {
    throw new Failed(
      `npm/${platform} is ${declared.name} ${declared.version}: \`npm run platforms\` brings it up to date`,
    );
  }
  cpSync(source, folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), json({ ...declared, ...addresses() }));
  for (const licence of ['LICENSE', 'LICENSE.third-party.txt']) cpSync(join(root, licence), join(folder, licence));
  for (const file of [addon(platform), supervisor]) {
    if (!existsSync(join(from, file))) throw new Failed(`${join(from, file)} is not there: build it first`);
    cpSync(join(from, file), join(folder, file));
  }
  chmodSync(join(folder, addon(platform)), 0o644);
  // A transfer between machines may lose the executable bit, which would be an EACCES for the user.
  chmodSync(join(folder, supervisor), 0o755);
}

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
    const lay = (name, act) => {
      const folder = join(staging, name);
      mkdirSync(folder);
      act(folder);
      return folder;
    };
    const folders = (artifacts ? platforms() : [here]).map((platform) =>
      lay(platform, (folder) => layPlatform(folder, platform, artifacts ? resolve(artifacts, platform) : root)),
    );
    folders.push(lay('main', layMain));
    for (const folder of folders) console.log(await pack(folder, out));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
});

/**
 * `npm run release:tag -- [NEXT]`: makes the version of package.json a release. It dates CHANGELOG.md, commits and
 * tags; then it opens the version NEXT, by default the next minor one, everywhere that a version stands, in a second
 * commit. It pushes nothing. It refuses a work tree with changes, a tag that exists, and a CHANGELOG without this
 * version.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifest } from '../platform.mjs';
import { Failed, isMain, main, npm, root, run } from '../process.mjs';

const options = { output: 'keep' };

const git = async (...words) => (await run('git', words, options)).stdout.trim();

/** Replaces the one place where a text stands in a file. */
function replace(file, from, to) {
  const text = readFileSync(join(root, file), 'utf8');
  if (text.split(from).length !== 2) throw new Failed(`${file} has not one ${JSON.stringify(from)}`);
  writeFileSync(
    join(root, file),
    text.replace(from, () => to),
  );
}

/** The text of CHANGELOG.md that follows the heading of a version. */
export function notesOf(version, text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) {
  const [, ...sections] = text.split(/^## /m);
  const section = sections.find((one) => one.startsWith(`${version} `));
  if (!section) throw new Failed(`CHANGELOG.md has no version ${version}`);
  return section.slice(section.indexOf('\n')).trim();
}

/** The version after one: the next minor one. */
const after = (version) =>
  version.replace(/^(\d+)\.(\d+)\..*$/, (_, major, minor) => `${major}.${Number(minor) + 1}.0`);

/** Writes a version wherever one stands. */
async function setVersion(from, to) {
  await run(npm, ['version', to, '--no-git-tag-version', '--ignore-scripts'], options);
  replace('Cargo.toml', `version = "${from}"\n`, `version = "${to}"\n`);
  await run('cargo', ['update', '--workspace', '--offline'], options);
  await run(process.execPath, [join(root, 'scripts', 'platforms.mjs')], options);
}

/** Commits all changes. */
async function commit(subject) {
  await git('add', '--all');
  await git('commit', '--quiet', '--message', subject);
}

/** Tags the version of package.json, and opens the next one. */
async function tag(next) {
  const { version } = manifest();
  const following = next ?? after(version);
  if (!/^\d+\.\d+\.\d+$/.test(following)) throw new Failed(`${following} is no version: X.Y.Z`);
  if (await git('status', '--porcelain')) throw new Failed('the work tree has changes: commit them first');
  if (await git('tag', '--list', `v${version}`)) throw new Failed(`v${version} exists already`);
  if (!notesOf(version)) throw new Failed(`CHANGELOG.md says nothing of ${version}`);
  const before = await git('rev-parse', 'HEAD');
  try {
    await release(version, following);
  } catch (error) {
    // The work tree had no changes, so this takes back ours alone.
    await git('reset', '--quiet', '--hard', before);
    await run('git', ['tag', '--delete', `v${version}`], { ...options, allowFailure: true });
    throw error;
  }
  console.log(`v${version} is tagged, and ${following} begun. Push both: git push --follow-tags`);
}

/** Makes the two commits and the tag. */
async function release(version, following) {
  replace('CHANGELOG.md', `## ${version} (unreleased)\n`, `## ${version} (${new Date().toISOString().slice(0, 10)})\n`);
  await commit(`Release ${version}`);
  await git('tag', '--annotate', `v${version}`, '--message', `agent-bash ${version}`);
  replace('CHANGELOG.md', `## ${version} (`, `## ${following} (unreleased)\n\n## ${version} (`);
  await setVersion(version, following);
  await commit(`Begin ${following}`);
}

if (isMain(import.meta)) await main(() => tag(process.argv[2]));

/**
 * LICENSE.third-party.txt holds the notices of all third-party code in the published packages of all six targets.
 * `npm run licences` writes it, `npm run check` compares it. Its content depends on the versions in Cargo.lock and
 * package-lock.json, so it is the same on every machine.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manifest } from './platform.mjs';
import { Failed, isMain, main, root, run } from './process.mjs';

const FILE = join(root, 'LICENSE.third-party.txt');

const HEAD = `agent-bash holds code of others. The binaries of each platform are linked with the crates below, unchanged, and with the
standard library of Rust; those for musl, and the programs for targets, also with the C library musl. The main package brings the npm
packages below along. Where a work may be used under several licences, the one whose text stands here is used.

Written by \`npm run licences\`: do not edit.
`;

const mit = (copyright) => `${copyright}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH
THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Crates that say MIT and come without its text: by their authors, as their manifests name them. */
const WITHOUT_TEXT = new Set(['napi', 'napi-sys']);

/** Crates that come without a text, each with a crate of the same repository that has it. */
const TEXT_OF = new Map([['alloc-stdlib', 'alloc-no-stdlib']]);

/** Works that no lock file names. */
const BESIDE = [
  { name: 'the Rust standard library', text: mit('Copyright (c) The Rust Project Contributors') },
  {
    name: 'musl (in the binaries for musl, and in the programs for targets)',
    text: mit('Copyright © 2005-2020 Rich Felker, et al.'),
  },
];

/**
 * The package ids that are linked into a binary for a target: what the crate needs itself, without what runs in the
 * compiler.
 */
async function linkedFor(target) {
  const args = ['metadata', '--format-version', '1', '--locked', '--filter-platform', target];
  const { stdout } = await run('cargo', args, { output: 'keep' });
  const { packages, resolve } = JSON.parse(stdout);
  const byId = new Map(packages.map((one) => [one.id, one]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const linked = new Set();
  const visit = (id) => {
    if (linked.has(id) || byId.get(id).targets.some(({ kind }) => kind.includes('proc-macro'))) return;
    linked.add(id);
    for (const { pkg, dep_kinds } of nodes.get(id).deps) if (dep_kinds.some(({ kind }) => kind === null)) visit(pkg);
  };
  visit(resolve.root);
  // Those without a source are our own.
  return [...linked].map((id) => byId.get(id)).filter(({ source }) => source);
}

/** The text a crate is used under: MIT's where it is offered, else the only one there is. */
function textsOf(crate) {
  const folder = dirname(crate.manifest_path);
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying)/i.test(name));
  const best =
    files.find((name) => /mit/i.test(name)) ?? files.find((name) => /^licen[cs]e(-apache|\.\w+)?$/i.test(name));
  if (!best) {
    if (!WITHOUT_TEXT.has(crate.name)) throw new Failed(`${crate.name} ${crate.version} comes without a licence text`);
    return [mit(`Copyright (c) ${crate.authors.map((author) => author.replace(/ <.*/, '')).join(', ')}`)];
  }
  return [readFileSync(join(folder, best), 'utf8')];
}

/**
 * The npm packages that come along, each with its version: in node_modules of the tarball, or copied into dist by
 * the bundler.
 */
export function bundled() {
  const names = new Set(manifest().bundleDependencies);
  const dist = join(root, 'dist');
  for (const file of readdirSync(dist).filter((name) => /\.[cm]js$/.test(name))) {
    const text = readFileSync(join(dist, file), 'utf8');
    for (const [, name] of text.matchAll(/^\s*\/\/#region .*node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm)) names.add(name);
  }
  return [...names].sort().map((name) => {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
    return { name, version };
  });
}

/** These packages with their licences. */
const npmPackages = () =>
  bundled().map(({ name, version }) => {
    const folder = join(root, 'node_modules', name);
    const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    if (!licence) throw new Failed(`${name} comes along in the package, and without a licence text`);
    return { name: `${name} ${version} (npm)`, text: readFileSync(join(folder, licence), 'utf8') };
  });

/** The whole file. Works under the very same text share it. */
export async function thirdParty() {
  const crates = new Map();
  for (const target of manifest().napi.targets) {
    for (const crate of await linkedFor(target)) crates.set(crate.id, crate);
  }
  for (const crate of crates.values()) {
    const sibling = [...crates.values()].find(({ name }) => name === TEXT_OF.get(crate.name));
    if (sibling) crate.manifest_path = sibling.manifest_path;
  }
  const sorted = [...crates.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const works = [
    ...sorted.flatMap((crate) => textsOf(crate).map((text) => ({ name: `${crate.name} ${crate.version}`, text }))),
    ...BESIDE,
    ...npmPackages(),
  ];
  const groups = new Map();
  for (const { name, text } of works) {
    const key = text.replace(/\s+/g, ' ').trim();
    if (!groups.has(key)) groups.set(key, { names: [], text });
    groups.get(key).names.push(name);
  }
  const parts = [...groups.values()].map(({ names, text }) => {
    const lines = text
      .replace(/\r/g, '')
      .split('\n')
      .map((line) => line.trimEnd());
    return `${'='.repeat(100)}\n${names.join('\n')}\n${'-'.repeat(100)}\n\n${lines.join('\n').replace(/^\n+|\n+$/g, '')}\n`;
  });
  return [HEAD, ...parts].join('\n');
}

/** Throws where the checked-in file is not the one of the locks. */
export async function licencesAreUpToDate() {
  if (readFileSync(FILE, 'utf8') !== (await thirdParty())) {
    throw new Failed(
      'LICENSE.third-party.txt is stale: `npm run licences` writes it, commit it with the change of the dependencies',
    );
  }
}

if (isMain(import.meta)) await main(async () => writeFileSync(FILE, await thirdParty()));

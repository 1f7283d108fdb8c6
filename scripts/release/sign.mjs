/** Checksums and their signature, by ssh: who checks them needs nothing else, and the key is one that people have. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../process.mjs';
import { digestOf } from './packages.mjs';

const options = { output: 'keep', limitMs: 60_000 };

/** What a signature is for, and who signs. */
const [PURPOSE, SIGNER] = ['agent-bash-release', 'agent-bash'];

/** Writes `SHA256SUMS` of the files in directories of `place`. */
export function writeSums(place, directories) {
  const files = directories.flatMap((name) => readdirSync(join(place, name)).map((file) => join(name, file)));
  const lines = files.sort().map((file) => `${digestOf(join(place, file))}  ${file}\n`);
  writeFileSync(join(place, 'SHA256SUMS'), lines.join(''));
}

/**
 * Signs `SHA256SUMS` with an ssh key, or with one that is made for it, and writes `allowed_signers` to check it
 * with.
 */
export async function sign(place, given) {
  const made = join(place, 'key');
  for (const name of ['key', 'key.pub', 'SHA256SUMS.sig']) rmSync(join(place, name), { force: true });
  if (!given) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'a dry run', '-f', made], options);
  const key = given ?? made;
  await run('ssh-keygen', ['-Y', 'sign', '-f', key, '-n', PURPOSE, join(place, 'SHA256SUMS')], options);
  const text = existsSync(`${key}.pub`)
    ? readFileSync(`${key}.pub`, 'utf8')
    : (await run('ssh-keygen', ['-y', '-f', key], options)).stdout;
  writeFileSync(join(place, 'allowed_signers'), `${SIGNER} namespaces="${PURPOSE}" ${text}`);
  rmSync(made, { force: true });
}

/** Fails unless the signature is that of an allowed signer, and each file is the one that was signed. */
export async function verify(place) {
  const words = ['-Y', 'verify', '-f', 'allowed_signers', '-I', SIGNER, '-n', PURPOSE, '-s', 'SHA256SUMS.sig'];
  const script = 'ssh-keygen "$@" <SHA256SUMS && sha256sum --check --quiet --strict SHA256SUMS';
  await run('bash', ['-euc', script, 'verify', ...words], { ...options, cwd: place });
}

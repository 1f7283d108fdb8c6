import type { NativeForm, NativeProgram } from '../../native.cjs';
import { version } from '../../package.json';
import { besidePackage, requires } from '../core/addon.ts';
import { dirname, join, readFileSync, statSync } from '../core/builtins.ts';

/** The program of a build, beside the package, and the npm package that has those of all machines. */
const HOST = 'agent-bash-host';
/** The programs of that package, which packing writes beside `dist`. */
const LIST = 'host-programs.json';
const INSTALL = `npm install ${HOST}@${version}`;

/** The machines of the processors, as `uname -m` names them. */
const MACHINES: Record<string, string> = { x64: 'x86_64', arm64: 'aarch64' };

/** A program in the list. */
interface Listed {
  machine: string;
  sha256: string;
  bytes: number;
  forms: { coding: NativeForm['coding']; file: string; bytes: number; sha256: string }[];
}

/** The programs for targets, and why there is none for another machine. */
interface Programs {
  programs: NativeProgram[];
  missing: string;
}

/**
 * Finds the programs that run commands on targets: the one of a build, and those of the npm package. Its files have to
 * fit the list that the main package has. Without the package, the programs of the list are only known by their hash.
 */
export function programs(): Programs {
  const built = builtProgram();
  const list = besidePackage(LIST);
  if (list === null) {
    const why = `agent-bash ${version} was built or bundled without ${LIST}, the list of its host programs`;
    return { programs: built, missing: `${why}: use the npm packages agent-bash and ${HOST} as they are` };
  }
  const listed = (JSON.parse(readFileSync(list, 'utf8')) as Listed[]).filter(
    ({ machine }) => machine !== built[0]?.machine,
  );
  const found = packaged(listed);
  const known = listed.map((program) => ({ ...program, forms: [] }));
  if (typeof found === 'string') return { programs: [...built, ...known], missing: `${found}: ${INSTALL}` };
  return { programs: [...built, ...found], missing: `${HOST} ${version} has no program for it` };
}

/** The program of a build, for machines like this one. */
function builtProgram(): NativeProgram[] {
  const path = besidePackage(HOST);
  const machine = MACHINES[process.arch];
  if (path === null || machine === undefined || process.platform !== 'linux') return [];
  const { bytes, sha256 } = digest(path);
  return [{ machine, sha256, bytes, forms: [{ coding: 'raw', bytes, path }] }];
}

/** The programs of the npm package with their files, or why they cannot be used. */
function packaged(listed: Listed[]): NativeProgram[] | string {
  let problem = `${HOST} is not installed`;
  for (const { folder, found } of packages()) {
    if (found !== version) {
      problem = `${HOST} ${found} in ${folder} does not fit agent-bash ${version}`;
      continue;
    }
    const damaged = listed.flatMap(({ forms }) => forms).find((form) => !fits(join(folder, form.file), form));
    if (damaged === undefined) {
      return listed.map(({ forms, ...program }) => ({
        ...program,
        forms: forms.map(({ coding, bytes, file }) => ({ coding, bytes, path: join(folder, file) })),
      }));
    }
    problem = `${join(folder, damaged.file)} is missing or not the file of agent-bash ${version}`;
  }
  return problem;
}

/**
 * The places of the npm package. The working project may be anybody's, which the hashes of the main package make
 * harmless.
 */
function* packages(): Generator<{ folder: string; found: string }> {
  for (const require of requires(() => join(process.cwd(), 'package.json'))) {
    try {
      const manifest = require.resolve(`${HOST}/package.json`);
      yield { folder: dirname(manifest), found: (require(manifest) as { version: string }).version };
    } catch {
      // It is not installed there.
    }
  }
}

function fits(path: string, { bytes, sha256 }: { bytes: number; sha256: string }): boolean {
  try {
    const found = digest(path);
    return found.bytes === bytes && found.sha256 === sha256;
  } catch {
    return false;
  }
}

const digests = new Map<string, { changed: number; bytes: number; sha256: string }>();

/** The length and SHA-256 of a file, which is read again once it has changed. */
function digest(path: string): { bytes: number; sha256: string } {
  const { mtimeMs: changed, size: bytes } = statSync(path);
  const known = digests.get(path);
  if (known?.changed === changed && known.bytes === bytes) return known;
  const { createHash } = process.getBuiltinModule('node:crypto');
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  digests.set(path, { changed, bytes, sha256 });
  return { bytes, sha256 };
}

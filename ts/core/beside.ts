import { version } from '../../package.json';
import { BashError } from '../errors.ts';
import { createRequire, isAbsolute, join } from './builtins.ts';

type Require = ReturnType<typeof createRequire>;

/**
 * Loads the platform's package for a bundle, which has no loader beside it. The package is searched from the bundle's
 * file, from the program that Node was started with, and from the working directory. Returns `null` if no package is
 * found. Throws if only another version is found, because addon and TypeScript layer must match.
 */
export function loadBesideBundle(): unknown {
  const others: string[] = [];
  for (const require of requires()) {
    for (const name of packageNames()) {
      const found = versionOf(require, name);
      if (found === version) return require(name);
      if (found !== null) others.push(`${name} ${found}`);
    }
  }
  if (others.length === 0) return null;
  throw new BashError(
    'ERR_BASH_SPAWN',
    `agent-bash ${version} was bundled, and its addon was found in another version only: ${[...new Set(others)].join(', ')}. ` +
      `Install version ${version} of that package where the bundle runs.`,
  );
}

/** Resolves packages from each place, and from an `agent-bash` there, beside which some package managers put them. */
function requires(): Require[] {
  return [bundleFile, () => process.argv[1], () => join(process.cwd(), 'bundle.js')].flatMap((place) => {
    const require = attempt(() => createRequire(place() as string));
    const nested = require && attempt(() => createRequire(require.resolve('agent-bash/package.json')));
    return [require, nested].filter((one) => one !== null);
  });
}

/** The names of this platform's packages, the likelier one first: a Linux may have either C library. */
function packageNames(): string[] {
  const { platform, arch } = process;
  if (platform !== 'linux') return [`agent-bash-${platform}-${arch}`];
  const names = [`agent-bash-linux-${arch}-gnu`, `agent-bash-linux-${arch}-musl`];
  const { header } = (attempt(() => process.report.getReport()) ?? {}) as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined && header !== undefined ? names.reverse() : names;
}

function versionOf(require: Require, name: string): string | null {
  return attempt(() => (require(`${name}/package.json`) as { version: string }).version);
}

/** Returns whether `__filename` is a file. In an ES module it does not exist, and with `node -e` it is `[eval]`. */
export function hasFileName(): boolean {
  return typeof __filename === 'string' && isAbsolute(__filename);
}

/** The file of the code that runs here. In an ES module that a bundler has made, only a stack has its name. */
function bundleFile(): string | null {
  if (hasFileName()) return __filename;
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, sites) => sites;
  try {
    const [site] = new Error().stack as unknown as NodeJS.CallSite[];
    return site?.getFileName() ?? null;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
  }
}

function attempt<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}

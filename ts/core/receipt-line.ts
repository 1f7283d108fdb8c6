import type { Change, GitChange, Port, Receipt } from '../../native.cjs';
import { foreignName } from './foreign.ts';

/** Names of one kind of change that the line gives at most, the length of one, and ports and repositories. */
const NAMED = 2;
const NAME_LENGTH = 60;
const PORTS = 3;
const REPOSITORIES = 2;
/** Characters of a commit id. */
const SHORT_ID = 7;

/**
 * Returns the changes in one line: `3 created, 1 modified (src/a.ts), 1 deleted (old.txt); port 3000 open`. `''` if
 * nothing changed.
 *
 * @param places directories that paths are shown relative to.
 * @param most the length of the line, in UTF-16 units. Names are left out before anything else.
 */
export function receiptLine(receipt: Receipt, places: readonly string[], most: number): string {
  const kinds = kindsOf(receipt, places);
  const more = otherChanges(receipt, places);
  if (kinds.length + more.length === 0) return '';
  if (receipt.state !== 'known') more.push('perhaps more');
  const line = (named: number) => {
    const changes = kinds.map(({ text, names }, index) => (index < named ? `${text}${names}` : text)).join(', ');
    return [changes, ...more].filter((part) => part !== '').join('; ');
  };
  for (let named = kinds.length; named >= 0; named--) {
    if (line(named).length <= most) return line(named);
  }
  return `${line(0).slice(0, most - 1)}…`;
}

/** The kinds of changes to files, each with its number and, if they are few, its names. */
function kindsOf(receipt: Receipt, places: readonly string[]): { text: string; names: string }[] {
  const { counts, created, modified, deleted, renamed } = receipt;
  const paths = (changes: readonly Change[]) => changes.map(({ path }) => shownPath(path, places));
  const moves = renamed.map(({ from, to }) => `${shownPath(from, places)} → ${shownPath(to, places)}`);
  const kinds: [count: number, word: string, names: string[]][] = [
    [counts.created, 'created', paths(created)],
    [counts.modified, 'modified', paths(modified)],
    [counts.deleted, 'deleted', paths(deleted)],
    [counts.renamed, 'renamed', moves],
  ];
  return kinds
    .filter(([count]) => count > 0)
    .map(([count, word, names]) => ({
      text: `${count} ${word}`,
      names: count <= NAMED && names.length === count ? ` (${names.join(', ')})` : '',
    }));
}

function otherChanges({ directories, ports, git }: Receipt, places: readonly string[]): string[] {
  return [
    ...(directories.length > 0 ? [`files in ${some(directories.map((path) => shownPath(path, places)))}`] : []),
    ...(ports.opened.length > 0 ? [`${portList(ports.opened)} open`] : []),
    ...(ports.closed.length > 0 ? [`${portList(ports.closed)} closed`] : []),
    ...repositoriesInWords(git, places),
  ];
}

/** Returns the changes in repositories, each in words, and the number of those that are left out. */
export function repositoriesInWords(git: readonly GitChange[], places: readonly string[]): string[] {
  return [
    ...git.slice(0, REPOSITORIES).flatMap((change) => gitInWords(change, places)),
    ...(git.length > REPOSITORIES ? [`${git.length - REPOSITORIES} more repositories`] : []),
  ];
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown;
}

function portList(ports: readonly Port[]): string {
  const numbers = [...new Set(ports.map(({ port }) => port))];
  if (numbers.length > PORTS) return `${numbers.length} ports`;
  return `${numbers.length === 1 ? 'port' : 'ports'} ${numbers.join(', ')}`;
}

/** Returns the changes in a repository: `git: branch main → dev, stash`. */
function gitInWords({ repository, head, branch, index, stash, state }: GitChange, places: readonly string[]) {
  const moved = branch[0] !== branch[1];
  const facts = [
    ...(moved ? [`branch ${name(branch[0])} → ${name(branch[1])}`] : []),
    ...(!moved && head[0] !== head[1] ? [`HEAD ${id(head[0])} → ${id(head[1])}`] : []),
    ...(index ? ['index'] : []),
    ...(stash ? ['stash'] : []),
    ...(state === null ? [] : [`${shownPath(state, [])} under way`]),
  ];
  const path = shownPath(repository, places);
  const where = path === '.' || places.some((place) => place.startsWith(`${repository}/`)) ? 'git' : `git in ${path}`;
  return facts.length === 0 ? [`${where} files`] : [`${where}: ${facts.join(', ')}`];
}

const name = (branch: string | null) => (branch === null ? 'detached' : shownPath(branch, []));
const id = (commit: string | null) => (commit === null ? 'none' : commit.slice(0, SHORT_ID));

/** Returns a path relative to the first place that contains it. */
export function shownPath(path: string, places: readonly string[]): string {
  const place = places.find((each) => path === each || path.startsWith(each === '/' ? each : `${each}/`));
  const below = place === undefined ? path : path === place ? '.' : path.slice(place === '/' ? 1 : place.length + 1);
  return foreignName(below, NAME_LENGTH);
}

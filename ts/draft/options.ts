import { CONFINE } from '../confine/options.ts';
import { type Check, type Checks, checkFields, invalid, oneOf, path, type, wholeNumber } from '../core/checks.ts';
import type {
  DraftChangesOptions,
  DraftCommitOptions,
  DraftDiffOptions,
  DraftOptions,
  DraftReadOptions,
  ListDraftsOptions,
} from './types.ts';

const LONGEST_NAME = 80;

const name: Check = (value, option) => {
  if (typeof value !== 'string' || value.length > LONGEST_NAME) {
    throw invalid(option, value, `a string of at most ${LONGEST_NAME} characters`);
  }
};

const confine: Check = Object.assign(
  (value: unknown, option: string) => {
    if (typeof value !== 'object')
      throw invalid(option, value, 'an object, since commands of a draft are always confined');
    CONFINE(value, option);
  },
  { fields: CONFINE.fields ?? {} },
);

const keep: Check = (value, option) => {
  if (value === 'process') return;
  if (typeof value !== 'object') throw invalid(option, value, "'process', or an object with the number of days");
  const { days } = Object(value) as { days?: unknown };
  if (typeof days !== 'number' || !(days > 0) || !Number.isFinite(days)) {
    throw invalid(`${option}.days`, days, 'a number above 0');
  }
};

const MOST_PORTS = 64;

const port: Check = (value, option) => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > 65_535) {
    throw invalid(option, value, 'a port from 1 to 65535');
  }
};

const expose: Check = (value, option) => {
  if (value === 'auto') return;
  if (!Array.isArray(value) || value.length > MOST_PORTS) {
    throw invalid(option, value, `'auto', or an array of at most ${MOST_PORTS} ports`);
  }
  for (const item of Array.from(value)) port(item, option);
};

// An empty list would name nothing, and mean everything.
const paths: Check = (value, option) => {
  if (!Array.isArray(value) || value.length === 0) throw invalid(option, value, 'an array of at least one path');
  for (const item of Array.from(value)) path(item, option);
};

const OPEN: Checks<DraftOptions> = {
  root: path,
  id: path,
  name,
  confine,
  expose,
  keep,
  maxBytes: wholeNumber(1),
  dir: path,
};
const LIST: Checks<ListDraftsOptions> = { root: path, dir: path };
const CHANGES: Checks<DraftChangesOptions> = { paths, list: wholeNumber(0) };
const DIFF: Checks<DraftDiffOptions> = { paths, context: wholeNumber(0), maxBytes: wholeNumber(1) };
const READ: Checks<DraftReadOptions> = { side: oneOf('draft', 'base') };
const COMMIT: Checks<DraftCommitOptions> = {
  paths,
  onConflict: oneOf('stop', 'skip', 'merge'),
  dryRun: type('boolean'),
};

export const checkOpenDraft = (options: unknown) => checkFields<DraftOptions>('openDraft', options, OPEN);
export const checkDrafts = (options: unknown) => checkFields<ListDraftsOptions>('drafts', options, LIST);
export const checkChanges = (options: unknown) => checkFields<DraftChangesOptions>('Draft.changes', options, CHANGES);
export const checkDiff = (options: unknown) => checkFields<DraftDiffOptions>('Draft.diff', options, DIFF);
export const checkRead = (options: unknown) => checkFields<DraftReadOptions>('Draft.read', options, READ);
export const checkCommit = (options: unknown) => checkFields<DraftCommitOptions>('Draft.commit', options, COMMIT);

/** Checks the path of a file. */
export const checkPath = (value: unknown) => path(value, 'path');
/** Checks a port. */
export const checkPort = (value: unknown) => port(value, 'port');
/** Checks the options of a fork. */
export const checkFork = (options: unknown) => checkFields<Pick<DraftOptions, 'name'>>('Draft.fork', options, { name });

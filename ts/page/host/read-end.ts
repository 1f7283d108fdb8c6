import type { BashUsage, ChangeCounts, Denial, DenialGrant, GitChange, SecretUse } from 'agent-bash';
import type { Changed, Ended, EndState } from './protocol.ts';
import {
  decimalOrNull,
  type Fields,
  fields,
  LAST_MS,
  list,
  NAME,
  number,
  numberOrNull,
  oneOf,
  text,
  textOrNull,
  texts,
} from './values.ts';

const ENDS: EndState[] = ['exited', 'signaled', 'timed-out', 'aborted', 'backgrounded', 'refused', 'lost'];

/** Returns an end of which only the state and the time are known. */
export function bareEnd(state: EndState, endedAt: number): Omit<Ended, 'key'> {
  const { key: _, ...end } = readEnd({ state, endedAt });
  return end;
}

/** Reads the end of a run. */
export function readEnd(given: Fields): Ended {
  return {
    key: text(given.key, NAME),
    state: oneOf(given.state, ENDS, 'lost'),
    exitCode: numberOrNull(given.exitCode),
    signal: textOrNull(given.signal, NAME),
    endedAt: number(given.endedAt, LAST_MS),
    cause: textOrNull(given.cause),
    limitMs: numberOrNull(given.limitMs),
    durationMs: decimalOrNull(given.durationMs),
    usage: given.usage ? usage(fields(given.usage)) : null,
    outputPath: textOrNull(given.outputPath),
    taskId: textOrNull(given.taskId),
    denials: list(given.denials, denial),
    denied: number(given.denied),
    secrets: list(given.secrets, secretUse),
    receipt: given.receipt ? counts(fields(given.receipt)) : null,
    receiptState: given.receipt ? oneOf(given.receiptState, ['known', 'partial', 'unknown'], 'unknown') : null,
    receiptWhy: textOrNull(given.receiptWhy),
    attribution: given.receipt ? oneOf(given.attribution, ['command', 'window'], 'window') : null,
    changes: Array.isArray(given.changes) ? list(given.changes, changed) : null,
    directories: texts(given.directories, 100),
    git: list(given.git, gitChange),
    undo: given.undo ? undo(fields(given.undo)) : null,
  };
}

function usage({ userMs, systemMs, maxRssBytes }: Fields): BashUsage {
  return {
    userMs: decimalOrNull(userMs) ?? 0,
    systemMs: decimalOrNull(systemMs) ?? 0,
    maxRssBytes: number(maxRssBytes),
  };
}

function counts({ created, modified, deleted, renamed }: Fields): ChangeCounts {
  return { created: number(created), modified: number(modified), deleted: number(deleted), renamed: number(renamed) };
}

function denial({ kind, target, program, count, grant }: Fields): Denial {
  return {
    kind: oneOf(kind, ['write', 'read', 'network', 'process', 'syscall'], 'syscall'),
    target: text(target),
    program: text(program),
    count: number(count),
    grant: grant ? grantOf(fields(grant)) : null,
  };
}

function secretUse({ name, host, method, path, count, status, refused }: Fields): SecretUse {
  return {
    name: text(name),
    host: text(host),
    method: text(method),
    path: text(path),
    count: number(count),
    status: numberOrNull(status),
    refused: textOrNull(refused),
  };
}

function grantOf({ write, network, expose }: Fields): DenialGrant | null {
  if (Array.isArray(write)) return { write: texts(write, 1) };
  if (network) return { network: { allow: texts(fields(network).allow, 1) } };
  return Array.isArray(expose) ? { expose: expose.slice(0, 1).map((port) => number(port)) } : null;
}

function changed({ kind, path, from, type, bytes, bytesBefore }: Fields): Changed {
  return {
    kind: oneOf(kind, ['created', 'modified', 'deleted', 'renamed'], 'modified'),
    path: text(path),
    ...(typeof from === 'string' && { from: text(from) }),
    type: textOrNull(type),
    bytes: numberOrNull(bytes),
    bytesBefore: numberOrNull(bytesBefore),
  };
}

function gitChange({ repository, head, branch, index, stash, state }: Fields): GitChange {
  const pair = (value: unknown): [string | null, string | null] => {
    const [before, after] = Array.isArray(value) ? value : [];
    return [textOrNull(before), textOrNull(after)];
  };
  return {
    repository: text(repository),
    head: pair(head),
    branch: pair(branch),
    index: index === true,
    stash: stash === true,
    state: state ? oneOf(state, ['merge', 'rebase', 'cherry-pick', 'revert', 'bisect'], 'merge') : null,
  };
}

function undo({ covers, notCovered, bytes }: Fields): Ended['undo'] {
  return { covers: oneOf(covers, ['all', 'part'], 'part'), notCovered: texts(notCovered, 100), bytes: number(bytes) };
}

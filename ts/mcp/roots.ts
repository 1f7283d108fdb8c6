import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../core/listener.ts';
import { visible } from '../core/visible.ts';
import type { ToolCall } from './server.ts';

/** Time a client may take to list its roots, in ms. */
const PATIENCE_MS = 5_000;
const FAILURE_LENGTH = 200;
const LOOKED_AT = 2_000;
/** Most roots that are checked. Each root that is not a directory gives a note. */
const MOST_ROOTS = 16;
/** Connections whose client did not answer. They are not asked again. */
const silent = new WeakSet<object>();

/** The directory in which a command starts. */
export interface Start {
  cwd: string;
  /** The reasons why it is not the client's first root. */
  notes: string[];
}

/**
 * Returns the client's first root that is a directory here, or else `fallback`. The client is asked for each command,
 * so that a change applies at once. A client without roots is not asked.
 */
export async function startFolder(call: ToolCall, fallback: string): Promise<Start> {
  const { server } = call.server;
  if (server.getClientCapabilities()?.roots === undefined) return { cwd: fallback, notes: [] };
  const uris = await rootsOf(call);
  if ('failure' in uris) {
    return {
      cwd: fallback,
      notes: [`the client did not name its roots (${uris.failure}): commands start in ${fallback}`],
    };
  }
  const notes: string[] = [];
  for (const { uri } of uris.roots.slice(0, MOST_ROOTS)) {
    const found = await folderOf(uri);
    if ('cwd' in found)
      return { cwd: found.cwd, notes: notes.map((note) => `${note}: commands start in ${found.cwd}`) };
    notes.push(found.failure);
  }
  return { cwd: fallback, notes: notes.map((note) => `${note}: commands start in ${fallback}`) };
}

async function rootsOf(call: ToolCall): Promise<{ roots: { uri: string }[] } | { failure: string }> {
  const { server } = call.server;
  const connection = server.transport ?? server;
  if (silent.has(connection)) return { failure: 'it has not answered before' };
  const asked = performance.now();
  try {
    // Over HTTP the question is sent on the stream of the call it belongs to.
    const options = { timeout: PATIENCE_MS, signal: call.signal, relatedRequestId: call.id };
    return await server.listRoots(undefined, options as never);
  } catch (error) {
    if (performance.now() - asked >= PATIENCE_MS && !call.signal.aborted) silent.add(connection);
    return { failure: oneLine(error) };
  }
}

async function folderOf(uri: string): Promise<{ cwd: string } | { failure: string }> {
  if (!uri.startsWith('file:')) return { failure: `the client's root ${oneLine(uri)} is no file URI` };
  try {
    const cwd = fileURLToPath(uri);
    if ((await stat(cwd)).isDirectory()) return { cwd };
    return { failure: `the client's root ${oneLine(cwd)} is not a directory` };
  } catch (error) {
    return { failure: `the client's root ${oneLine(uri)} cannot be used (${oneLine(error)})` };
  }
}

/** Returns the message of an error, or a root, on one line without control characters. The text is untrusted. */
function oneLine(words: unknown): string {
  const text = visible(messageOf(words).slice(0, LOOKED_AT)).replaceAll(/\s+/g, ' ').trim();
  return text.length > FAILURE_LENGTH ? `${text.slice(0, FAILURE_LENGTH - 1)}…` : text;
}

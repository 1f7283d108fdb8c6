import { isAbsolute, join, relative } from 'node:path';
import { type Analysis, type CommandUnit, decide } from 'agent-bash';
import { withoutLinks } from '../../core/paths.ts';
import { unitText } from '../../safety/unit-text.ts';
import type { Context } from './types.ts';

/** Asks OpenCode about a command. Rejects as OpenCode does. */
export async function askAbout(analysis: Analysis, description: string | undefined, context: Context): Promise<void> {
  const { command, cwd } = analysis;
  if (!isWithin(cwd, context)) {
    const outside = [join(cwd, '*')];
    await context.ask({ permission: 'external_directory', patterns: outside, always: outside, metadata: { cwd } });
  }
  await context.ask({
    permission: 'bash',
    patterns: patternsOf(analysis),
    always: grantsOf(analysis),
    metadata: { command, cwd, ...(description !== undefined && { description }) },
  });
}

/**
 * Returns whether a directory is one of the project, links followed. Outside of git, OpenCode's worktree is `/`.
 */
function isWithin(cwd: string, { directory, worktree }: Context): boolean {
  const roots = worktree === '/' ? [directory] : [directory, worktree];
  return roots.some((root) => {
    const way = relative(withoutLinks(root), withoutLinks(cwd));
    return !isAbsolute(way) && way.split(/[/\\]/)[0] !== '..';
  });
}

/** Returns the text of each simple command, with its wrapper and without, so that a rule for either applies. */
function patternsOf({ command, commands, complete }: Analysis): string[] {
  const texts = commands.flatMap((unit) => [unitText(unit), unitText({ ...unit, prefix: [], assignments: [] })]);
  const whole = complete && commands.length > 0 ? [] : [command];
  const bare = commands.filter(isBare).map(({ source }) => source);
  return [...new Set([...texts, ...bare, ...commands.flatMap(writesOf), ...whole])].filter(Boolean);
}

/**
 * Returns a pattern for each file that a command is redirected into: `> /srv/a`. What is granted to the words of a
 * command is not granted to the files that it writes.
 */
function writesOf({ redirects }: CommandUnit): string[] {
  return redirects
    .filter(({ op, path, target }) => op.includes('>') && (path !== null || !target.known) && path !== '/dev/null')
    .map(({ path, target }) => `> ${path ?? target.text}`);
}

/** Whether a command has no words: only assignments or redirects. */
function isBare({ argv }: CommandUnit): boolean {
  return argv.length === 0;
}

/**
 * Returns the patterns that an «always» grants. `*` and `?` are wildcards in OpenCode, so a rule that holds one is left
 * out, and rules about files are: OpenCode asks about commands only.
 */
function grantsOf(analysis: Analysis): string[] {
  return decide(analysis, { allow: [] })
    .suggestRules.filter((rule) => !/[*?]|^write:/.test(rule.replace(/:\*$/, '')))
    .map((rule) => rule.replace(/:\*$/, ' *'));
}

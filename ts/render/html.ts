import { settings, settle } from './check.ts';
import { classesOf } from './classes.ts';
import type { Run } from './style.ts';
import type { RenderInput, RenderOptions } from './types.ts';
import { viewOf } from './view.ts';

/**
 * Renders a run as HTML: one `<pre class="agent-bash …">` that contains one `<span>` per line, which contains one
 * `<span>` per style. The only attributes are classes of this package, so a page with a strict content security policy
 * can show it. `renderStyles()` returns the style sheet. The text equals the text of `renderText` with `columns:
 * Infinity` and `colour: false`.
 *
 * Pure. Throws `ERR_BASH_INVALID_ARG` for a wrong type.
 */
export function renderHtml(run: RenderInput, options: RenderOptions = {}): string {
  settle('renderHtml', run, options);
  const given = settings(options);
  const { lines, status } = viewOf(run, given);
  const size = given.expanded ? 'expanded' : 'collapsed';
  const body = lines.map(
    ({ kind, runs }) => `<span class="${CLASS}-${kind}">${runs.map(markup(given.colour)).join('')}</span>`,
  );
  const root = [CLASS, `${CLASS}-${status.state}`, `${CLASS}-${status.mood}`, `${CLASS}-${size}`].join(' ');
  return `<pre class="${root}">${body.join('\n')}</pre>`;
}

/** The prefix of all classes. */
export const CLASS = 'agent-bash';

const markup =
  (colour: boolean) =>
  (run: Run): string => {
    const names = run.ours ? ['more'] : colour ? classesOf(run.style) : [];
    const text = escaped(run.text);
    if (names.length === 0) return text;
    return `<span class="${names.map((name) => `${CLASS}-${name}`).join(' ')}">${text}</span>`;
  };

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

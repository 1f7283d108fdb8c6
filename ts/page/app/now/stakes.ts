import { visible } from '../../../core/visible.ts';
import type { PageAsk, PageFinding } from '../../wire.ts';
import { h } from '../base/dom.ts';
import { capital } from '../base/words.ts';

/** How much an undo would revert, in words. */
export const COVERS = {
  full: 'An undo takes all of it back.',
  part: 'An undo takes a part of it back.',
  none: 'No undo.',
} as const;

/** Returns the reasons of a question that are not messages of its findings. */
export function otherReasons({ reasons, findings }: PageAsk): string[] {
  const known = new Set(findings.map(({ message }) => message));
  return reasons.filter((reason) => !known.has(reason));
}

/** Returns the message of a finding without its suggestion, which is shown separately. */
export function stakeOf({ message, suggestion }: PageFinding): string {
  const remedy = suggestion === '' ? -1 : message.indexOf(suggestion);
  const end = message.lastIndexOf('. ', remedy);
  return visible(capital(remedy > 0 && end > 0 ? message.slice(0, end + 1) : message));
}

/** Makes the number of a marked part. */
export function numberOf(index: number): HTMLElement {
  return h('span', { class: 'no' }, String(index + 1));
}

/** Makes the short list of what is at stake. */
export function stakesList(findings: readonly PageFinding[], others: readonly string[] = []): HTMLElement {
  const items = findings.map((finding, index) => h('li', {}, numberOf(index), h('span', {}, stakeOf(finding))));
  const rest = others.map((reason) =>
    h('li', {}, h('span', { class: 'no no-none' }, '·'), h('span', {}, visible(capital(reason)))),
  );
  return h('ul', { class: 'why' }, ...items, ...rest);
}

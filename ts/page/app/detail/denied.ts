import type { Denial, DenialGrant } from 'agent-bash';
import { visible } from '../../../core/visible.ts';
import type { PageEnded } from '../../wire.ts';
import { h } from '../base/dom.ts';
import { count } from '../base/format.ts';

const KINDS = { write: 'Write', read: 'Read', network: 'Network', process: 'Process', syscall: 'System call' } as const;

/** Makes the part that lists what the confinement of a run denied; `null` if it denied nothing. */
export function deniedPart({ denials, denied }: PageEnded): HTMLElement | null {
  if (denied === 0) return null;
  const rest = denied - denials.reduce((sum, { count: number }) => sum + number, 0);
  const why = 'The confinement held. This is no fault of the project.';
  return h(
    'section',
    { class: 'part', 'aria-label': 'Denied' },
    h('div', { class: 'part-head' }, h('h2', {}, 'Denied'), h('p', {}, why)),
    h('ul', { class: 'grant' }, ...denials.map(item)),
    rest > 0 && h('p', { class: 'say' }, `And ${count(rest, 'more attempt')}.`),
  );
}

function item({ kind, target, program, count: number, grant }: Denial): HTMLElement {
  const times = number === 1 ? 'once' : `${number.toLocaleString('en')} times`;
  const by = h('span', { class: 'dim' }, ` by ${visible(program)}, ${times}`);
  const what = h('span', { class: 'what' }, `${KINDS[kind]}: `, h('code', {}, visible(target)), by);
  if (!grant) return h('li', {}, what, h('span', { class: 'dim' }, 'No option allows it.'));
  return h(
    'li',
    {},
    what,
    h('span', { class: 'dim' }, 'Allowed by ', h('code', {}, optionOf(grant)), ' in the options of the host.'),
  );
}

/** Returns the option of a confinement that allows something, as it is written in a program. */
function optionOf({ write, network, expose }: DenialGrant): string {
  const list = (values: readonly unknown[]) => `[${values.map((value) => visible(JSON.stringify(value))).join(', ')}]`;
  if (write) return `write: ${list(write)}`;
  return network ? `network: { allow: ${list(network.allow)} }` : `expose: ${list(expose ?? [])}`;
}

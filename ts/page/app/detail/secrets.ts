import type { SecretUse } from 'agent-bash';
import { visible } from '../../../core/visible.ts';
import type { PageEnded } from '../../wire.ts';
import { h } from '../base/dom.ts';

/** Makes the part that lists what the secrets of a run were used for; `null` if they were not used. */
export function secretsPart({ secrets }: PageEnded): HTMLElement | null {
  if (secrets.length === 0) return null;
  const why = 'The command saw stand-ins. The gate put the values into these requests.';
  return h(
    'section',
    { class: 'part', 'aria-label': 'Secrets' },
    h('div', { class: 'part-head' }, h('h2', {}, 'Secrets'), h('p', {}, why)),
    h('ul', { class: 'grant' }, ...secrets.map(item)),
  );
}

function item({ name, host, method, path, count, status, refused }: SecretUse): HTMLElement {
  const times = count === 1 ? 'once' : `${count.toLocaleString('en')} times`;
  const request = h('code', {}, visible(`${method} ${host}${path}`));
  const what = h('span', { class: 'what' }, `${visible(name)}: `, request, h('span', { class: 'dim' }, ` ${times}`));
  const answer = status === null ? 'No answer.' : `Answered with ${status}.`;
  return h('li', {}, what, h('span', { class: 'dim' }, refused === null ? answer : `Not put in: ${visible(refused)}.`));
}

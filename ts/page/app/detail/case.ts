import { visible } from '../../../core/visible.ts';
import type { PageAsk } from '../../wire.ts';
import { commandNodes } from '../base/command.ts';
import type { Context } from '../base/context.ts';
import { h } from '../base/dom.ts';
import { capital } from '../base/words.ts';
import { Decision } from '../now/decision.ts';
import { COVERS, numberOf, otherReasons, stakeOf } from '../now/stakes.ts';

/** A whole question: the command, what is at stake, what an undo would revert, and the answer. */
export class Case {
  readonly element: HTMLElement;
  readonly #decision: Decision | null;
  readonly #ask: PageAsk;

  constructor(context: Context, ask: PageAsk) {
    this.#ask = ask;
    const { store } = context;
    const agent = store.agentOf(ask) || 'A program';
    const parts = ask.findings.length;
    const hard = parts === 0 ? '' : parts === 1 ? ' Look at the marked part.' : ` Look at the ${parts} marked parts.`;
    const block = h('p', { class: 'block' });
    block.append(...commandNodes(ask, ask.findings));
    const body = h(
      'div',
      { class: 'case' },
      h('h2', {}, `${visible(agent)} wants to run this.${hard}`),
      block,
      ...stakes(ask),
    );
    this.#decision = store.welcome.control ? new Decision(context, ask, 'Reason, optional; the agent reads it') : null;
    const note = h('p', {}, 'It may be asked in the program of the agent, too. The first answer counts.');
    const decide = this.#decision && h('div', { class: 'decide' }, this.#decision.element, note);
    this.element = h('div', { class: 'whole' }, h('div', { class: 'scroll' }, body), decide);
  }

  /** Focuses Approve if an undo would revert everything, else Deny. */
  focus(): void {
    const { undo } = this.#ask;
    (undo === 'full' ? this.#decision?.approve : this.#decision?.deny)?.focus();
  }
}

function stakes(ask: PageAsk): Node[] {
  const items = ask.findings.map((finding, index) =>
    h(
      'li',
      {},
      numberOf(index),
      h('b', {}, stakeOf(finding)),
      h('span'),
      finding.suggestion !== '' &&
        h('span', { class: 'rule' }, 'Instead: ', h('code', {}, visible(finding.suggestion))),
    ),
  );
  const others = otherReasons(ask).map((reason) =>
    h('li', {}, h('span', { class: 'no no-none' }, '·'), h('b', {}, visible(capital(reason)))),
  );
  const title = h('h3', {}, 'What is at stake');
  const undo = ask.undo ? [h('h3', {}, 'Undo'), h('p', { class: `cover cover-${ask.undo}` }, COVERS[ask.undo])] : [];
  return [title, h('ol', { class: 'stakes' }, ...items, ...others), ...undo];
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Actions } from '../actions.ts';
import type { DraftDesk } from '../draft/draft-desk.ts';
import type { History } from '../history.ts';
import type { Streams } from '../stream/streams.ts';
import type { Assets } from '../types.ts';
import { type Fields, readFields } from './body.ts';
import { DOCUMENT } from './document.ts';
import { Refusal } from './guard.ts';
import { send, sendJson } from './reply.ts';
import type { Answer } from './server.ts';
import type { SignIn } from './sign-in.ts';

/** The parts of the page that routes use. */
export interface Parts {
  assets: Assets;
  signIn: SignIn;
  streams: Streams;
  history: History;
  actions: Actions;
  desk: DraftDesk;
  /** Whether commands can be stopped, answered and undone, and drafts committed and discarded. */
  control: boolean;
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  /** The query parameters of the target. */
  parameters: URLSearchParams;
}

interface Route {
  method: 'GET' | 'POST';
  /** Who may call: everyone, a tab that is signed in, or such a tab of a page with control. */
  access: 'open' | 'token' | 'control';
  answer(call: Call, parts: Parts): Promise<void> | void;
}

/** Returns the route of an action, which takes the fields of the body and answers with JSON. */
const action = (access: Route['access'], act: (fields: Fields, parts: Parts) => Promise<unknown> | unknown): Route => ({
  method: 'POST',
  access,
  async answer({ request, response }, parts) {
    sendJson(response, (await act(await readFields(request, response), parts)) ?? {});
  },
});

/** Returns the route of a query, which takes the parameters of the target and answers with JSON. */
const query = (answer: (parameters: URLSearchParams, parts: Parts) => Promise<unknown>): Route => ({
  method: 'GET',
  access: 'token',
  async answer({ response, parameters }, parts) {
    sendJson(response, await answer(parameters, parts));
  },
});

const file = (type: string, textOf: (assets: Assets) => string): Route => ({
  method: 'GET',
  access: 'open',
  answer: ({ response }, { assets }) => send(response, 200, `${type}; charset=utf-8`, textOf(assets)),
});

const ROUTES: Record<string, Route> = {
  '/': file('text/html', () => DOCUMENT),
  '/app.js': file('text/javascript', ({ script }) => script),
  // Browsers request an icon that no document names.
  '/favicon.ico': {
    method: 'GET',
    access: 'open',
    answer: ({ response }) => void response.writeHead(204).end(),
  },
  '/app.css': file('text/css', ({ style }) => style),
  '/api/sign-in': action('open', (fields, { signIn }) => ({ token: signIn.exchange(fields.text('code', 100)) })),
  '/api/events': { method: 'GET', access: 'token', answer: events },
  '/api/history': query((parameters, { history }) => history.list(parameters)),
  '/api/run': query((parameters, { history }) => history.details(textIn(parameters, 'run'))),
  '/api/forecast': query((parameters, { actions }) => actions.forecast(textIn(parameters, 'run'))),
  '/api/draft': query((parameters, { desk }) => desk.changes(textIn(parameters, 'draft'))),
  '/api/draft-file': query((parameters, { desk }) =>
    desk.file(textIn(parameters, 'draft'), textIn(parameters, 'path', 4_096)),
  ),
  '/api/follow': action('token', (fields, { streams }) => {
    const stream = streams.get(fields.text('stream'));
    if (!stream) throw new Refusal(409, 'gone', 'there is no such stream');
    stream.follow(fields.optional('run') ?? null);
  }),
  '/api/stop': action('control', (fields, { actions }) => actions.stop(fields.text('run'))),
  '/api/input': action('control', (fields, { actions }) =>
    actions.input(fields.text('run'), fields.text('text', 10_000)),
  ),
  '/api/answer': action('control', (fields, { actions }) =>
    actions.answer(fields.text('ask'), fields.flag('approved'), fields.optional('reason', 2_000)),
  ),
  '/api/undo': action('control', (fields, { actions }) => actions.undo(fields.text('run'))),
  '/api/commit': action('control', (fields, { desk }) =>
    desk.commit(fields.text('draft'), fields.texts('paths'), fields.flag('skip')),
  ),
  '/api/discard': action('control', (fields, { desk }) => desk.discard(fields.text('draft'))),
};

function events({ request, response }: Call, { streams }: Parts): void {
  response.setHeader('Content-Type', 'text/event-stream');
  const last = request.headers['last-event-id'];
  if (streams.open(response, typeof last === 'string' ? last : null)) response.flushHeaders();
  else throw new Refusal(429, 'busy', 'too many tabs show this page');
}

/** Returns a parameter of at most `most` characters. Throws `Refusal` if it is missing. */
function textIn(parameters: URLSearchParams, name: string, most = 1_000): string {
  const text = parameters.get(name);
  if (!text || text.length > most) throw new Refusal(400, 'invalid', `${name} is missing or too long`);
  return text;
}

/** Returns the function that answers requests whose origin was checked. */
export function answerWith(parts: Parts): Answer {
  return async (request, response, known) => {
    const [path = '', ...rest] = (request.url as string).split('?');
    const route = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
    if (!route) throw new Refusal(404, 'path', 'there is nothing at this path');
    if (route.method !== request.method) throw new Refusal(405, 'method', `this path takes ${route.method}`);
    if (route.access !== 'open') {
      parts.signIn.check(request.headers.authorization);
      known();
    }
    if (route.access === 'control' && !parts.control) {
      throw new Refusal(
        403,
        'control',
        'this page is read-only: `agent-bash ui --control` serves one that can stop, answer, undo and commit',
      );
    }
    await route.answer({ request, response, parameters: new URLSearchParams(rest.join('?')) }, parts);
  };
}

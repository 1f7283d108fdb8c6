/** The entry with the page. */
const PAGE = 'agent-bash/page';

/**
 * @typedef {object} Page
 * @property {string} url The address, with a code that signs in once.
 * @property {() => Promise<void>} close
 */

/**
 * Opens the page beside the agent, on which a person watches its commands and answers its questions.
 * @param {import('./transcript.mjs').Transcript} transcript
 * @returns {Promise<Page>}
 */
export async function openPage(transcript) {
  const { startPage } = /** @type {{ startPage(options: { control: boolean }): Promise<Page> }} */ (await import(PAGE));
  const page = await startPage({ control: true });
  transcript.fact('page', `${page.url} (open it in your browser)`);
  return page;
}

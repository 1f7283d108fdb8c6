import { createGateway } from 'ai6';
import { lookAround, repair } from './script.mjs';
import { scriptedModel } from './scripted-model.mjs';

/**
 * @typedef {object} Choice
 * @property {import('ai6').LanguageModel} model
 * @property {string} label Description for people.
 * @property {boolean} scripted Whether the model is the script.
 */

/**
 * Returns the model of the agent: one of the AI Gateway if the environment has its name and the key, else the script.
 * `AI_GATEWAY_BASE_URL` selects another gateway.
 * @param {object} options
 * @param {Record<string, string | undefined>} options.env
 * @param {boolean} options.ownTask Whether the task is the user's own, which the script cannot do.
 * @param {number} options.wordMs Delay of the script after each word.
 * @returns {Choice}
 */
export function chooseModel({ env, ownTask, wordMs }) {
  const modelId = env.AGENT_BASH_MODEL || env.AI_GATEWAY_MODEL;
  const apiKey = env.AI_GATEWAY_API_KEY;
  if (modelId && apiKey) {
    const gateway = createGateway({ apiKey, ...(env.AI_GATEWAY_BASE_URL && { baseURL: env.AI_GATEWAY_BASE_URL }) });
    return { model: gateway(modelId), label: `${modelId} through the AI Gateway`, scripted: false };
  }
  const missing = [!modelId && 'AGENT_BASH_MODEL', !apiKey && 'AI_GATEWAY_API_KEY'].filter(Boolean).join(' and ');
  return {
    model: scriptedModel(ownTask ? lookAround : repair, { wordMs }),
    label: `a script that comes with the example (${missing} not set)`,
    scripted: true,
  };
}

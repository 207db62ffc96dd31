// Checks the embedding model: configured, responding, and all entries embedded.
import { TYPED } from '../place.mjs'
import { callTool } from './ask.mjs'

/** Labels of the models, by their names in `/ready`. */
const PURPOSES = ['embeddings', 'summaries', 'reranking']

/** @param {string} part a name in `/ready` */
export const isModel = (part) => PURPOSES.includes(part)

const MODELS = 'docs/models.md lists what each model needs'

/** Returns the structured answer of a tool, or an error. */
async function answerOf(around, tool, args) {
  const { status, json } = await callTool(around, tool, args)
  const { result } = json ?? {}
  if (result === undefined) return { problem: json?.error?.message ?? `the server returned status ${status}` }
  const { structuredContent: content, isError } = result
  return isError ? { problem: content?.error?.message ?? 'it fails' } : { content }
}

/** @param {import('./command.mjs').Around} around @returns {Promise<import('./command.mjs').Finding[]>} */
export async function checkModel(around) {
  const name = 'model'
  const away = PURPOSES.flatMap((purpose) => {
    const part = around.parts?.[purpose]
    return part === undefined || part.ok ? [] : [`${purpose} (${part.backend}): ${part.problem ?? 'no answer'}`]
  })
  // Without the built-in model a server continues with "local", and retries the download.
  const isWithout = around.parts?.embeddings?.backend === 'builtin' && away.length === 1
  if (away.length > 0 && !isWithout) return [{ name, ok: false, detail: away.join('; '), todo: MODELS }]
  const { content, problem } = await answerOf(around, 'get_statistics', {})
  if (problem !== undefined) return [{ name, ok: false, detail: problem, todo: MODELS }]
  const { enabled, provider, model, dimensions, suggestion, waiting_count: waiting } = content.semantic_search
  if (!enabled)
    return [
      { name, ok: null, detail: 'none: memories are found by their words only', todo: 'docs/models.md lists models' },
    ]
  if (isWithout) {
    const { message: detail = away[0] } = content.semantic_search
    return [{ name, ok: null, detail, todo: `${TYPED.command} model pull downloads it now; ${MODELS}` }]
  }
  // It names the runtime too.
  const { backend = provider } = around.parts?.embeddings ?? {}
  const called = `${backend.replace(/^builtin, /, 'builtin ')}: ${model}, ${dimensions} numbers`
  const asked = await answerOf(around, 'semantic_search_context', { query: 'what was decided?', limit: 1 })
  if (asked.problem !== undefined) return [{ name, ok: false, detail: `${called}: ${asked.problem}`, todo: MODELS }]
  if (waiting > 0)
    return [
      {
        name,
        ok: null,
        detail: `${called}, responds; ${waiting} of ${content.total_entries} entries have no vectors yet`,
        todo: `the schedule makes them within minutes; after a change of the model, run: ${TYPED.command} reembed`,
      },
    ]
  if (suggestion !== undefined)
    return [
      { name, ok: null, detail: `${called}, responds; ${suggestion}`, todo: 'docs/models.md compares the models' },
    ]
  return [{ name, ok: true, detail: `${called}, answers` }]
}

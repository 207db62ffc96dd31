// LongMemEval: each question has a history of its own, of some 50 sessions (`_s`) or only the sessions that answer it (`_oracle`).
import { readFileSync } from 'node:fs'

/**
 * @param {string} path `longmemeval_s_cleaned.json` or `longmemeval_oracle.json`
 * @returns {import('../../retrieval/collection.mjs').Collection & { leftOut: Record<string, number> }} every turn is a document; a thread is
 *   the history of one question, whose answers are the turns marked `has_answer`
 */
export function readLongMemEval(path) {
  const samples = JSON.parse(readFileSync(path, 'utf8'))
  const answerable = samples.filter(({ question_id: id }) => !id.endsWith('_abs'))
  const parts = answerable.map((sample) => {
    const thread = sample.question_id
    const turns = sample.haystack_sessions.flatMap((session, at) =>
      session.map((turn, place) => ({ ...turn, id: `${thread}/${sample.haystack_session_ids[at]}/${place}` })),
    )
    const documents = turns.map(({ id, role, content }) => ({
      ...{ id, thread, text: content },
      source: role === 'user' ? 'user' : 'agent',
    }))
    const relevant = new Set(turns.filter((turn) => turn.has_answer === true).map(({ id }) => id))
    return { documents, query: { id: thread, thread, text: sample.question, split: sample.question_type, relevant } }
  })
  const queries = parts.map(({ query }) => query).filter(({ relevant }) => relevant.size > 0)
  return {
    name: 'longmemeval',
    documents: parts.flatMap(({ documents }) => documents).filter(({ text }) => text.trim() !== ''),
    queries,
    threaded: true,
    leftOut: { unanswerable: samples.length - answerable.length, 'no turn marked': answerable.length - queries.length },
  }
}

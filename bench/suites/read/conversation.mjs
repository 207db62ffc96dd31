// LoCoMo and REALTALK: long conversations of two people, and questions with the turns that answer them. Both have the same
// questions; the turns of one are in `conversation`, those of the other at the top level.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The papers' names of the kinds of questions; the fifth has no answer. */
const KINDS = { 1: 'multi-hop', 2: 'temporal', 3: 'open-domain', 4: 'single-hop' }

/** A question names its turns as `D8:6; D9:17`, now and then as `D:11:26` or within another word. */
const turnsNamed = (evidence) => [
  ...new Set((evidence ?? []).flatMap((text) => String(text).match(/D:?\d+:\d+/g) ?? []).map(canonical)),
]
const canonical = (id) => {
  const [session, turn] = id.replace(/^D:?/, '').split(':')
  return `D${Number(session)}:${Number(turn)}`
}

function words(turn) {
  const said = turn.text ?? turn.clean_text ?? ''
  const photo = turn.blip_caption === undefined ? '' : ` [shares ${turn.blip_caption}]`
  return `${turn.speaker}: ${said}${photo}`.trim()
}

function sessionsOf(conversation) {
  const names = Object.keys(conversation).filter((key) => /^session_\d+$/.test(key))
  return names
    .sort((a, b) => Number(a.slice(8)) - Number(b.slice(8)))
    .map((name) => conversation[name])
    .filter(Array.isArray)
}

/** @returns {{ documents: import('../../retrieval/collection.mjs').Document[], asked: any[], known: Set<string> }} */
function readOne(sample, name) {
  const turns = sessionsOf(sample.conversation ?? sample).flat()
  const first = turns[0]?.speaker
  /** @type {import('../../retrieval/collection.mjs').Document[]} */
  const documents = turns.map((turn) => ({
    id: `${name}/${canonical(turn.dia_id)}`,
    thread: name,
    source: turn.speaker === first ? 'user' : 'agent',
    text: words(turn),
  }))
  const known = new Set(documents.map(({ id }) => id))
  const asked = (sample.qa ?? []).map((question, at) => ({
    id: `${name}/q${at}`,
    thread: name,
    text: question.question,
    split: KINDS[question.category] ?? 'unanswerable',
    relevant: new Set(turnsNamed(question.evidence).map((id) => `${name}/${id}`)),
  }))
  return { documents, asked, known }
}

/**
 * @param {string} path a file (one sample, or a list of samples) or a folder of such files
 * @returns {import('../../retrieval/collection.mjs').Collection & { leftOut: Record<string, number> }} every turn is a document; questions
 *   without an answer, and those whose turns do not exist, are counted in `leftOut`
 */
export function readConversations(path) {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((file) => file.endsWith('.json'))
        .sort()
        .map((file) => join(path, file))
    : [path]
  const samples = files.flatMap((file) => {
    const read = JSON.parse(readFileSync(file, 'utf8'))
    const list = Array.isArray(read) ? read : [read]
    return list.map((sample, at) => ({ sample, name: sample.sample_id ?? sample.name?.toString() ?? `${file}-${at}` }))
  })
  const parts = samples.map(({ sample, name }, at) => readOne(sample, `${at}-${name}`))
  const asked = parts.flatMap(({ asked, known }) =>
    asked.map((query) => ({ ...query, isWhole: [...query.relevant].every((id) => known.has(id)) })),
  )
  const answerable = asked.filter(({ split }) => split !== 'unanswerable')
  const queries = answerable.filter(({ relevant, isWhole }) => relevant.size > 0 && isWhole)
  return {
    name: 'conversations',
    documents: parts.flatMap(({ documents }) => documents),
    queries,
    threaded: parts.length > 1,
    leftOut: { unanswerable: asked.length - answerable.length, 'evidence missing': answerable.length - queries.length },
  }
}

// BEAM: long chats of a person with an assistant, and questions of ten kinds with the messages that they need.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))

/** The ids are in lists, or in lists by name (`first_statement` …). */
function idsIn(value) {
  if (typeof value === 'number') return [value]
  if (value === null || typeof value !== 'object') return []
  return Object.values(value).flatMap(idsIn)
}

/** The generator appended the position of a message in its plan. */
const said = (content) => content.replace(/\s*->->[\s\d,]*$/, '')

function readChat(folder, name) {
  const cut = join(folder, 'chat_trunecated.json')
  const chat = read(existsSync(cut) ? cut : join(folder, 'chat.json'))
  const documents = chat
    .flatMap(({ turns }) => turns.flat())
    .map(({ id, role, content }) => ({
      id: `${name}/${id}`,
      thread: name,
      source: role === 'user' ? 'user' : 'agent',
      text: said(content),
    }))
  const kinds = Object.entries(read(join(folder, 'probing_questions', 'probing_questions.json')))
  const asked = kinds.flatMap(([kind, questions]) =>
    questions.map((question, at) => ({
      id: `${name}/${kind}${at}`,
      thread: name,
      text: question.question,
      split: kind.replaceAll('_', ' '),
      relevant: new Set(idsIn(question.source_chat_ids).map((id) => `${name}/${id}`)),
    })),
  )
  return { documents, asked }
}

/**
 * @param {string} path a folder of chats, such as `chats/100K` of its repository; what is cut to the length (`chat_trunecated.json`) is
 *   used where there is one
 * @returns {import('../../retrieval/collection.mjs').Collection & { leftOut: Record<string, number> }} every message is a document
 */
export function readBeam(path) {
  const names = readdirSync(path).filter((name) => existsSync(join(path, name, 'chat.json')))
  const parts = names.sort((a, b) => Number(a) - Number(b)).map((name) => readChat(join(path, name), `chat-${name}`))
  const documents = parts.flatMap((part) => part.documents)
  const known = new Set(documents.map(({ id }) => id))
  const asked = parts.flatMap((part) => part.asked)
  const named = asked.filter(({ relevant }) => relevant.size > 0)
  const queries = named.filter(({ relevant }) => [...relevant].every((id) => known.has(id)))
  return {
    name: 'beam',
    documents,
    queries,
    threaded: parts.length > 1,
    leftOut: { 'no message named': asked.length - named.length, 'evidence missing': named.length - queries.length },
  }
}

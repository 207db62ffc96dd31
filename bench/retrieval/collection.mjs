// Reads labelled collections: documents, questions, and the documents that answer each question.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} Document
 * @property {string} id
 * @property {string} thread
 * @property {'user' | 'agent'} source
 * @property {string} text
 *
 * @typedef {object} Query
 * @property {string} id
 * @property {string} thread
 * @property {string} text
 * @property {string} split
 * @property {ReadonlySet<string>} relevant ids of documents
 *
 * @typedef {object} Collection
 * @property {string} name
 * @property {readonly Document[]} documents
 * @property {readonly Query[]} queries those that some document answers
 * @property {boolean} threaded questions are asked within their thread, because there are several
 */

/**
 * @param {string} folder
 * @returns {string[]}
 */
export function collectionNames(folder) {
  if (!existsSync(folder)) throw new Error(`No folder ${folder}; name the labelled collections with --eval DIR`)
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.slice(0, -'.jsonl'.length))
  if (names.length === 0) throw new Error(`No .jsonl file in ${folder}`)
  return names.sort()
}

/**
 * @param {string} folder
 * @param {string} name
 * @returns {Collection}
 */
export function readCollection(folder, name) {
  const lines = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
  const relevant = new Map()
  for (const line of lines) {
    if (line.type !== 'qrel') continue
    relevant.set(line.query_id, new Set([...(relevant.get(line.query_id) ?? []), ...line.doc_ids]))
  }
  const documents = lines.filter(({ type }) => type === 'doc')
  const queries = lines
    .filter(({ type, id }) => type === 'query' && relevant.has(id))
    .map((query) => ({ ...query, relevant: relevant.get(query.id) }))
  return { name, documents, queries, threaded: new Set(documents.map(({ thread }) => thread)).size > 1 }
}

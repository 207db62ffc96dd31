// Copies entries of a filled store into organizations of another one, in SQL: a million entries in minutes instead of hours over MCP. Triggers and
// counters are the product's own, as are the terms of each organization; no other process writes to the files meanwhile.
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

const TERMS = 'src/adapters/sql/tables/search/scope-terms.ts'
const COLUMNS = ['scope', 'title', 'body', 'code', 'context', 'written']
const PART = 10_000

/** @param {string} state @returns {string} the one database of a state folder */
function databaseIn(state) {
  const folder = join(state, 'd1', 'miniflare-D1DatabaseObject')
  const names = readdirSync(folder).filter((name) => /^[0-9a-f]+\.sqlite$/.test(name))
  if (names.length !== 1) throw new Error(`${folder} holds ${names.length} databases; one is expected`)
  return join(folder, names[0])
}

/** @param {string} sources @param {string} folder for what is built */
async function productTerms(sources, folder) {
  const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')
  const outfile = join(folder, 'terms.mjs')
  await build({ entryPoints: [join(sources, TERMS)], bundle: true, format: 'esm', platform: 'node', outfile })
  return import(pathToFileURL(outfile).href)
}

/** @param {DatabaseSync} db @param {string} table @returns {string[]} columns that are not generated */
const storedColumns = (db, table) =>
  db
    .prepare('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0')
    .all(table)
    .map(({ name }) => String(name))

/**
 * @param {object} of
 * @param {string} of.from state folder of the filled store
 * @param {string} of.to state folder of a migrated one
 * @param {readonly { org: string, count: number }[]} of.copies number of first entries that each org gets
 * @param {string} of.sources of the product
 * @param {string} of.folder for what is built
 * @param {(org: string, count: number) => void} of.told
 * @returns {Promise<Map<string, number[]>>} ids of the entries of each org
 */
export async function multiply({ from, to, copies, sources, folder, told }) {
  const { entryScopeTerms, sampleTerm } = await productTerms(sources, folder)
  const db = new DatabaseSync(databaseIn(to))
  db.exec(`PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; PRAGMA temp_store = MEMORY;
    ATTACH '${databaseIn(from)}' AS filled;
    ATTACH '${join(from, 'words.sqlite')}' AS kept;
    CREATE TEMP TABLE originals AS SELECT row_number() OVER (ORDER BY id) AS n, id FROM filled.entries;
    CREATE UNIQUE INDEX temp.original_n ON originals (n)`)
  // Takes minutes of sorting, so it is cached next to the store.
  if (db.prepare("SELECT count(*) AS n FROM kept.sqlite_master WHERE name = 'words_of'").get()?.n === 0)
    db.exec(`BEGIN;
      CREATE TABLE kept.words (doc INTEGER, col TEXT, terms TEXT);
      INSERT INTO kept.words
        SELECT doc, col, group_concat(term, ' ' ORDER BY offset) AS terms FROM filled.entries_words GROUP BY doc, col;
      CREATE UNIQUE INDEX kept.words_of ON words (doc, col);
      COMMIT`)
  const own = db.prepare('SELECT DISTINCT org FROM filled.entries').all()
  if (own.length !== 1) throw new Error('The filled store holds more than one org')
  const template = String(own[0].org)

  /** Terms of an entry's scope as they are in another org: those that contain a place, and those that contain only the org. */
  db.function('scope_in', (org, terms, project, thread) => {
    const place = { reader: '', project, threadId: thread, layer: 2, captured: false }
    const [were, are] = [template, org].map((name) => entryScopeTerms(name, place))
    const [was, is] = [template, org].map((name) => sampleTerm(name).slice(1))
    return String(terms)
      .split(' ')
      .map((term) => (were.includes(term) ? are[were.indexOf(term)] : term.replace(was, is)))
      .join(' ')
  })
  const entries = storedColumns(db, 'entries')
  const vectors = storedColumns(db, 'entry_vectors').filter((name) => name !== 'id')
  const list = (names, as) => names.map((name) => as[name] ?? `e.${name}`).join(', ')
  const word = (column) => `(SELECT w.terms FROM kept.words w WHERE w.doc = e.id AND w.col = '${column}')`
  const originals = 'temp.originals o CROSS JOIN filled.entries e'
  const part = 'o.n > :after AND o.n <= :upTo'
  const statements = [
    `INSERT INTO entries (${entries}) SELECT ${list(entries, { id: ':base + o.n', org: ':org' })}
      FROM ${originals} ON e.id = o.id WHERE ${part} ORDER BY o.n`,
    `INSERT INTO entries_fts (rowid, ${COLUMNS})
      SELECT :base + o.n, scope_in(:org, ${word('scope')}, e.project, e.thread_id), ${COLUMNS.slice(1).map(word)}
      FROM ${originals} ON e.id = o.id WHERE ${part} ORDER BY o.n`,
    `INSERT INTO entry_vectors (${vectors}) SELECT ${list(vectors, { org: ':org', entry_id: ':base + o.n' })}
      FROM temp.originals o CROSS JOIN filled.entry_vectors e ON e.entry_id = o.id WHERE ${part} ORDER BY o.n`,
  ].map((sql) => db.prepare(sql))

  const ids = new Map()
  for (const { org, count } of copies) {
    const base = Number(db.prepare('SELECT coalesce(max(id), 0) AS top FROM entries').get()?.top)
    db.exec('BEGIN')
    db.prepare('INSERT INTO deferred_counts (org, above_id) VALUES (?, ?)').run(org, base)
    for (let after = 0; after < count; after += PART)
      for (const statement of statements)
        statement.run(named(String(statement.sourceSQL), { base, org, after, upTo: Math.min(after + PART, count) }))
    db.prepare('DELETE FROM deferred_counts WHERE org = ?').run(org)
    db.exec('COMMIT')
    ids.set(
      org,
      Array.from({ length: count }, (_, n) => base + n + 1),
    )
    told(org, count)
  }
  db.close()
  return ids
}

/** Those of the values that a statement names. @param {string} sql @param {Record<string, string | number>} values */
const named = (sql, values) => Object.fromEntries(Object.entries(values).filter(([name]) => sql.includes(`:${name}`)))

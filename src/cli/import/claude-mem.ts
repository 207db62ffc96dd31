// Reads claude-mem: observations, session summaries and, on request, prompts of its database (docs/import/claude-mem.md).
import type { JsonObject } from '../../domain/entry/metadata'
import { Collector, type Found } from './collector'
import { kindOf } from './kinds'
import type { Row } from './sqlite'
import { SqliteFile } from './sqlite'
import { objectIn, RowProblem, stringsIn, timeOfNumber } from './values'

export async function readClaudeMem(file: string, { prompts = false } = {}): Promise<Collector> {
  const collector = new Collector()
  await SqliteFile.read(file, (database) => {
    database.need('observations', 'claude-mem')
    const sessions = new Set<string>()
    const projects = new Map<string, string>()
    for (const row of database.hasTable('sdk_sessions') ? database.rows('sdk_sessions') : []) {
      const project = row.text('project')
      for (const name of ['memory_session_id', 'content_session_id'])
        if (row.value(name) !== null) sessions.add(row.shown(name))
      if (project !== null) projects.set(row.shown('content_session_id'), project)
    }
    const each = (table: string, name: string, read: (row: Row) => Omit<Found, 'where' | 'id'>) => {
      if (!database.hasTable(table)) return
      for (const row of database.rows(table)) {
        const where = `${table} id ${row.shown('id')}`
        collector.take(where, () => ({ id: `${name}:${row.shown('id')}`, ...read(row) }))
        if (row.has('memory_session_id') && !sessions.has(row.shown('memory_session_id')))
          collector.note(where, `is of the session ${row.shown('memory_session_id')}, which does not exist`)
      }
    }
    each('observations', 'observation', observationOf)
    each('session_summaries', 'summary', summaryOf)
    if (prompts) each('user_prompts', 'prompt', (row) => promptOf(row, projects))
    else if (database.hasTable('user_prompts'))
      for (const _ of database.rows('user_prompts')) collector.skip('prompts (--prompts imports them)')
  })
  return collector
}

/** Returns members of metadata without empty values. */
function some(members: Readonly<Record<string, JsonObject[string]>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  )
}

const projectOf = (row: Row): string | null =>
  (row.has('merged_into_project') ? row.text('merged_into_project') : null) ?? row.text('project')

function observationOf(row: Row): Omit<Found, 'where' | 'id'> {
  const narrative = row.text('narrative') ?? row.text('text')
  const facts = stringsIn(row.text('facts'), 'facts')
  // A fact that the narrative repeats in the same words is included once.
  const further = facts.filter((fact) => !(narrative ?? '').includes(fact)).map((fact) => `- ${fact}`)
  const lines = [...(narrative === null ? [] : [narrative]), ...further]
  const title = row.text('title')
  if (lines.length === 0 && title === null) throw new RowProblem('has neither narrative, text, facts nor title')
  const session = row.shown('memory_session_id')
  return {
    threadId: session,
    source: 'agent',
    text: lines.length === 0 ? (title ?? '') : lines.join('\n'),
    metadata: {
      ...(row.has('metadata') ? (objectIn(row.text('metadata'), 'metadata') ?? {}) : {}),
      ...kindOf(row.text('type')),
      ...some({
        title,
        subtitle: row.text('subtitle'),
        project: projectOf(row),
        files_read: stringsIn(row.text('files_read'), 'files_read'),
        files_modified: stringsIn(row.text('files_modified'), 'files_modified'),
      }),
    },
    tags: stringsIn(row.text('concepts'), 'concepts'),
    createdAt: timeOfNumber(row.value('created_at_epoch'), 'ms', 'created_at_epoch'),
  }
}

const HEADINGS = [
  ['request', 'Request'],
  ['investigated', 'Investigated'],
  ['learned', 'Learned'],
  ['completed', 'Completed'],
  ['next_steps', 'Next steps'],
  ['notes', 'Notes'],
] as const

function summaryOf(row: Row): Omit<Found, 'where' | 'id'> {
  const parts = HEADINGS.flatMap(([name, title]) => {
    const text = row.text(name)
    return text === null ? [] : [`${title}: ${text}`]
  })
  if (parts.length === 0) throw new RowProblem('says nothing')
  return {
    threadId: row.shown('memory_session_id'),
    source: 'agent',
    text: parts.join('\n'),
    metadata: {
      kind: 'session',
      ...some({
        title: row.text('request'),
        project: projectOf(row),
        files_read: stringsIn(row.text('files_read'), 'files_read'),
        files_edited: stringsIn(row.text('files_edited'), 'files_edited'),
      }),
    },
    createdAt: timeOfNumber(row.value('created_at_epoch'), 'ms', 'created_at_epoch'),
  }
}

function promptOf(row: Row, projects: ReadonlyMap<string, string>): Omit<Found, 'where' | 'id'> {
  const session = row.shown('content_session_id')
  return {
    threadId: session,
    source: 'user',
    text: row.text('prompt_text') ?? '',
    metadata: some({ project: projects.get(session) ?? null }),
    createdAt: timeOfNumber(row.value('created_at_epoch'), 'ms', 'created_at_epoch'),
  }
}

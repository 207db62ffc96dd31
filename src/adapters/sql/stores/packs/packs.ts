import { type SQL, sql } from 'drizzle-orm'
import type { Kind } from '../../../../domain/entry/kind'
import type { Metadata } from '../../../../domain/entry/metadata'
import { titleOf } from '../../../../domain/entry/title'
import { fromBase64 } from '../../../../domain/meaning/vector'
import type { Neighbour, PackEntry, PackLink, PackVector } from '../../../../domain/pack/candidate'
import type { Direction } from '../../../../domain/pack/pack'
import { compareText } from '../../../../domain/text'
import type { Clock } from '../../../../ports/clock'
import type { PackReads, PackSight } from '../../../../ports/packs'
import type { Row, SqlConnection } from '../../core/connection'
import { auditRepeatedStatements } from '../../tables/changes/audit-log'
import { oppositionStatement, relatedStatement, stretchesStatement } from '../../tables/packs/pack-finishing'
import { gatherStatement, HEAD } from '../../tables/packs/pack-gathering'
import {
  diaryStatement,
  inFlightStatement,
  inPack,
  ofKindStatement,
  type PackContext,
  recentStatement,
} from '../../tables/packs/pack-statements'

const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value))

type Head = [
  ...[id: number, kind: Kind, title: string | null, project: string | null, domain: string | null],
  ...[agent: string | null, status: string | null, diary: number, reader: string, pinned: number, weight: number],
  ...[expiresAt: number | null, version: number, createdAt: number, updatedAt: number, createdBy: string],
]

/** The columns of `HEAD`, packed or not. */
const headOf = (row: Row): Head =>
  (row.packed === undefined ? HEAD.map((name) => row[name]) : JSON.parse(row.packed as string)) as Head

/** @param text of entries that were read before, by their ids */
function toPackEntry(row: Row, text: ReadonlyMap<number, string | null>): PackEntry {
  const [id, kind, title, project, domain, agent, status, diary, reader, pinned, weight, ...more] = headOf(row)
  const [expiresAt, version, createdAt, updatedAt, createdBy] = more
  return {
    ...{ id: Number(id), kind, title, project, domain, agent, status, reader, createdBy },
    diary: Number(diary) === 1,
    pinned: Number(pinned) === 1,
    weight: Number(weight),
    confidence: numberOrNull(row.confidence),
    expiresAt: numberOrNull(expiresAt),
    version: Number(version),
    createdAt: Number(createdAt),
    updatedAt: Number(updatedAt),
    // Of hundreds of entries some dozens are shown.
    get tags() {
      return JSON.parse(row.tags as string) as string[]
    },
    get metadata() {
      return row.metadata === null ? null : (JSON.parse(row.metadata as string) as Metadata)
    },
    beginning: text.get(Number(id)) ?? (row.beginning as string),
    chars: Number(row.chars),
    superseded: Number(row.superseded) === 1,
  }
}

/** What `gatherStatement` groups beside the entry with this id. */
const vectorsOf = (row: Row, entryId: number): PackVector[] =>
  (JSON.parse(row.vectors as string) as [number, number, string][]).map(([start, length, data]) => ({
    ...{ entryId, start, length },
    vector: fromBase64(data),
  }))

const linksFrom = (row: Row, from: number): PackLink[] =>
  row.links === '[]'
    ? []
    : (JSON.parse(row.links as string) as [string, number][]).map(([relation, to]) => ({ from, relation, to }))

/** Of equals among links the first counts, so they stand in one order on every database. */
const byEnds = (a: PackLink, b: PackLink): number =>
  a.from - b.from || compareText(a.relation, b.relation) || a.to - b.to

const toVector = (row: Row): PackVector => ({
  entryId: Number(row.entry_id),
  start: Number(row.start),
  length: Number(row.length),
  vector: fromBase64(row.data as string),
})

const toLink = (row: Row): PackLink => ({
  from: Number(row.from_id),
  relation: row.relation as string,
  to: Number(row.to_id),
})

const toNeighbour = (row: Row): Neighbour => ({
  of: Number(row.of_id),
  id: Number(row.id),
  kind: row.kind as Kind,
  name: titleOf({ title: row.title as string | null, text: row.text as string }),
  relation: row.relation as string,
  direction: row.direction as Direction,
})

const idsOf = (rows: readonly Row[] | undefined): number[] => (rows ?? []).map(({ id }) => Number(id))

/** The rows of each statement; none of one that is not wanted. */
async function wanted(
  run: (statements: readonly SQL[]) => Promise<Row[][]>,
  statements: readonly (SQL | null)[],
): Promise<Row[][]> {
  const rows = await run(statements.filter((one) => one !== null))
  let next = 0
  return statements.map((one) => (one === null ? [] : (rows[next++] ?? [])))
}

/** What packs read, over any SQL connection. */
export function createSqlPacks(connection: SqlConnection, clock: Clock): PackReads {
  const { dialect } = connection
  const contextOf = (sight: PackSight): PackContext => ({ dialect, sight, now: clock.now() })
  return {
    async standing(sight, request) {
      const context = contextOf(sight)
      const [inFlight, diary, recent, ofKind] = await wanted(connection.read, [
        inFlightStatement(context, request),
        diaryStatement(context, request.diary),
        recentStatement(context, request),
        ofKindStatement(context, request),
      ])
      return { inFlight: idsOf(inFlight), diary: idsOf(diary), recent: idsOf(recent), ofKind: idsOf(ofKind) }
    },

    async eligible(sight, model, limit) {
      const { projects } = sight.scope
      if (projects === null) return null
      const context = contextOf(sight)
      const rows = (where: ReturnType<typeof sql>) => sql`
        SELECT v.id FROM entries e ${dialect.follow('entry_vectors', 'v', sql`v.entry_id = e.id`)}
        WHERE v.model = ${model} AND ${inPack({ ...context, sight: { ...sight, diaryOf: null } })} AND ${where}`
      const named = dialect.among(sql`${JSON.stringify(projects)}`)
      const [found = []] = await connection.read([
        sql`WITH few AS MATERIALIZED (
            SELECT * FROM (
              ${rows(sql`e.project ${named}`)} UNION ALL ${rows(sql`e.project IS NULL`)}
            ) AS every LIMIT ${limit + 1}
          ), total AS (SELECT count(*) AS n FROM few)
          SELECT v.entry_id, v.start, v.length, v.data
          FROM few ${dialect.follow('entry_vectors', 'v', sql`v.id = few.id`)}
          WHERE (SELECT n FROM total) <= ${limit}
          UNION ALL SELECT NULL, NULL, NULL, NULL FROM total WHERE n > ${limit}`,
      ])
      return found[0]?.data === null ? null : found.map(toVector)
    },

    async gather(sight, request) {
      const [rows = []] = await connection.read([gatherStatement(contextOf(sight), request)])
      const texts = new Map(request.ids.map(({ id, text }) => [id, text]))
      const entries = rows.map((row) => toPackEntry(row, texts))
      const idOf = (place: number): number => (entries[place] as PackEntry).id
      const there = new Set(entries.map(({ id }) => id))
      return {
        entries,
        vectors: rows.flatMap((row, i) => vectorsOf(row, idOf(i))),
        // What a search found a moment ago may be deleted by now.
        links: rows
          .flatMap((row, i) => linksFrom(row, idOf(i)))
          .filter(({ to }) => there.has(to))
          .sort(byEnds),
      }
    },

    async finish(caller, sight, request) {
      const context = contextOf(sight)
      const audit = auditRepeatedStatements(dialect, caller.org, context.now, {
        ...caller,
        ids: request.ids,
        allowed: true,
        detail: request.detail,
      })
      const [stretches, opposed, related] = await wanted(
        (statements) => connection.batch(statements, { org: caller.org }),
        [
          stretchesStatement(context, request),
          oppositionStatement(context, request),
          relatedStatement(context, request),
          ...audit,
        ],
      )
      const oppositions = (opposed ?? []).map(toLink)
      return {
        stretches: new Map(
          (stretches ?? []).map((row) => [Number(row.id), { start: Number(row.start), text: row.text as string }]),
        ),
        neighbours: (related ?? []).map(toNeighbour),
        supersedes: oppositions.filter(({ relation }) => relation === 'supersedes'),
        contradicts: oppositions.filter(({ relation }) => relation === 'contradicts'),
      }
    },
  }
}

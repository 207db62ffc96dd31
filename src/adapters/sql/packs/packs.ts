import { sql } from 'drizzle-orm'
import type { Kind } from '../../../domain/entry/kind'
import type { Metadata } from '../../../domain/entry/metadata'
import { titleOf } from '../../../domain/entry/title'
import { fromBase64 } from '../../../domain/meaning/vector'
import type { Neighbour, PackEntry, PackLink, PackVector } from '../../../domain/pack/candidate'
import type { Direction } from '../../../domain/pack/pack'
import type { Clock } from '../../../ports/clock'
import type { PackReads, PackSight } from '../../../ports/packs'
import type { Row, SqlConnection } from '../connection'
import { auditStatement } from '../identity/audit-log'
import { oppositionStatement, relatedStatements, stretchesStatement } from './pack-finishing'
import { gatherStatements } from './pack-gathering'
import {
  diaryStatement,
  inFlightStatement,
  ofKindStatements,
  type PackContext,
  recentStatement,
  visible,
} from './pack-statements'

const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value))

const toPackEntry = (row: Row): PackEntry => ({
  id: Number(row.id),
  kind: row.kind as Kind,
  title: row.title as string | null,
  project: row.project as string | null,
  domain: row.domain as string | null,
  agent: row.agent as string | null,
  status: row.status as string | null,
  diary: Number(row.diary) === 1,
  reader: row.reader as string,
  pinned: Number(row.pinned) === 1,
  weight: Number(row.weight),
  confidence: numberOrNull(row.confidence),
  expiresAt: numberOrNull(row.expires_at),
  version: Number(row.version),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
  createdBy: row.created_by as string,
  tags: JSON.parse(row.tags as string) as string[],
  metadata: row.metadata === null ? null : (JSON.parse(row.metadata as string) as Metadata),
  beginning: row.beginning as string,
  chars: Number(row.chars),
  superseded: Number(row.superseded) === 1,
})

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

/** What packs read, over any SQL connection. */
export function createSqlPacks(connection: SqlConnection, clock: Clock): PackReads {
  const { dialect } = connection
  const contextOf = (sight: PackSight): PackContext => ({ dialect, sight, now: clock.now() })
  return {
    async standing(sight, request) {
      const context = contextOf(sight)
      const [inFlight, diary, recent, ofKind] = await connection.read([
        inFlightStatement(context, request),
        diaryStatement(context, request.diary),
        recentStatement(context, request),
        ...ofKindStatements(context, request),
      ])
      return { inFlight: idsOf(inFlight), diary: idsOf(diary), recent: idsOf(recent), ofKind: idsOf(ofKind) }
    },

    async eligible(sight, model, limit) {
      const { projects } = sight.scope
      if (projects === null) return null
      const context = contextOf(sight)
      const rows = (where: ReturnType<typeof sql>) => sql`
        SELECT v.id FROM entries e ${dialect.follow('entry_vectors', 'v', sql`v.entry_id = e.id`)}
        WHERE v.model = ${model} AND ${visible({ ...context, sight: { ...sight, diaryOf: null } })} AND ${where}`
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
      const statements = gatherStatements(contextOf(sight), request)
      const [entries = [], ...others] = await connection.read(statements)
      const vectors = request.model === null ? [] : (others.shift() ?? [])
      return {
        entries: entries.map(toPackEntry),
        vectors: vectors.map(toVector),
        links: (others[0] ?? []).map(toLink),
      }
    },

    async finish(caller, sight, request) {
      const context = contextOf(sight)
      const related = relatedStatements(context, request)
      const audit = auditStatement(caller.org, context.now, {
        ...caller,
        ids: request.ids,
        allowed: true,
        detail: request.detail,
      })
      const rows = await connection.batch(
        [stretchesStatement(context, request), oppositionStatement(context, request), ...related, audit],
        { org: caller.org },
      )
      const oppositions = (rows[1] ?? []).map(toLink)
      return {
        stretches: new Map(
          (rows[0] ?? []).map((row) => [Number(row.id), { start: Number(row.start), text: row.text as string }]),
        ),
        neighbours: rows
          .slice(2, 2 + related.length)
          .flat()
          .map(toNeighbour),
        supersedes: oppositions.filter(({ relation }) => relation === 'supersedes'),
        contradicts: oppositions.filter(({ relation }) => relation === 'contradicts'),
      }
    },
  }
}

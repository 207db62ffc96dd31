// Records the statements that a call sends to PostgreSQL, through a listening connection, and the rows that a recorded
// statement reads when it runs again with larger tables and other planner statistics.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Client } from 'pg'
import { type Statement, StatementGroup } from '../../src/adapters/postgres/connection'

/** The statements of one transaction, including its start and end. */
export type Group = readonly Statement[]

export interface Recorder {
  /** The same database through the recorder. */
  readonly url: string
  /** Messages since the last call, after all sessions have ended. */
  take(): Promise<Group[]>
  stop(): Promise<void>
}

/** A zero-terminated string at an offset, and the offset after it. */
function word(bytes: Buffer, from: number): [string, number] {
  const end = bytes.indexOf(0, from)
  return [bytes.toString('utf8', from, end), end + 1]
}

/** The values of a Bind message, which are text; our statements have no names. */
function boundValues(body: Buffer): (string | null)[] {
  let at = word(body, word(body, 0)[1])[1]
  at += 2 + 2 * body.readUInt16BE(at)
  const count = body.readUInt16BE(at)
  at += 2
  return Array.from({ length: count }, () => {
    const length = body.readInt32BE(at)
    at += 4 + Math.max(0, length)
    return length < 0 ? null : body.toString('utf8', at - length, at)
  })
}

/** Records a session: the statement groups of its client, and its end. */
function listen(heard: (group: Group) => void, ended: () => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  let started = false
  let text = ''
  let group: Statement[] = []
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      // The first message has no type letter before its length.
      const head = started ? 1 : 0
      if (rest.length < head + 4) return
      const size = head + rest.readInt32BE(head)
      if (rest.length < size) return
      const [kind, body] = [String.fromCharCode(rest[0] as number), rest.subarray(head + 4, size)]
      rest = rest.subarray(size)
      if (!started) {
        started = body.readInt32BE(0) >> 16 === 3
        continue
      }
      if (kind === 'X') ended()
      if (kind === 'P') text = word(body, word(body, 0)[1])[0]
      if (kind === 'B') group.push({ text, values: boundValues(body) })
      if (kind !== 'S' || group.length === 0) continue
      heard(group)
      group = []
    }
  }
}

export async function startRecorder(url: string): Promise<Recorder> {
  const to = new URL(url)
  let groups: Group[] = []
  const open = new Map<Socket, Promise<void>>()
  const server = createServer((client) => {
    const database = connect(Number(to.port), to.hostname)
    const { promise, resolve: end } = Promise.withResolvers<void>()
    const hear = listen((group) => groups.push(group), end)
    open.set(client, promise)
    client.on('data', hear)
    client.pipe(database).pipe(client)
    for (const socket of [client, database])
      socket
        .on('error', () => {})
        .on('close', () => {
          client.destroy()
          database.destroy()
          end()
          open.delete(client)
        })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = new URL(url)
  own.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: own.href,
    async take() {
      await Promise.all(open.values())
      const taken = groups
      groups = []
      return taken
    },
    async stop() {
      for (const socket of open.keys()) socket.destroy()
      server.close()
    },
  }
}

/** Rows that a statement has read. */
export interface Reading {
  readonly text: string
  /** Rows of tables and of indexes. */
  readonly rows: number
  /** How often a large table was read completely. */
  readonly walks: number
}

const LARGE_TABLES =
  'entries entries_fts entry_tags entry_vectors entry_versions thread_counters changes links patterns layer_counters'

/** Rows that the session has read through its statements and their triggers; reset between transactions. */
const SO_FAR: Statement = {
  text: `SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(oid)
        + CASE WHEN relkind = 'r' THEN pg_stat_get_xact_tuples_fetched(oid) ELSE 0 END), 0)::bigint AS rows,
      coalesce(sum(pg_stat_get_xact_numscans(oid))
        FILTER (WHERE relkind = 'r' AND relname = ANY (string_to_array($1, ' '))), 0)::bigint AS walks
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')`,
  values: [LARGE_TABLES],
}

/** Runs the statements of a group again in one transaction, and returns the rows that each has read. */
export async function replay(client: Client, group: Group): Promise<Reading[]> {
  // No message may come before BEGIN or after COMMIT.
  const [opening, closing] = group.at(-1)?.text === 'COMMIT' ? [1, -1] : [0, group.length]
  const own = group.slice(opening, closing)
  const counted = [SO_FAR, ...own.flatMap((statement) => [statement, SO_FAR])]
  const running = new StatementGroup([...group.slice(0, opening), ...counted, ...group.slice(closing)])
  client.query(running)
  const rows = await running.rows
  const soFar = (i: number) => rows[opening + 2 * i]?.[0] as { rows: number; walks: number }
  return own.map(({ text }, i) => ({
    text,
    rows: soFar(i + 1).rows - soFar(i).rows,
    walks: soFar(i + 1).walks - soFar(i).walks,
  }))
}

import { afterAll, beforeAll } from 'vitest'
import { ADMIN_TOKEN, keyOfNewOrg, startTeam, type Team } from '../../support/access'
import type { CallResult, Connect, TestClient } from '../../support/clients'
import { DATABASE } from '../../support/database'
import { type MortalServer, mortalServer } from '../../support/mortal'
import { startPlace } from '../../support/places'
import type { ServerWithSql } from '../../support/server'
import { POSTGRES } from '../../support/server-postgres'

/** The databases that the suite is played against, and what callers see of them. */
export interface Backend {
  readonly database: string
  readonly vectors: string
  readonly fullText: string
  readonly start: (vars: Record<string, string>) => Promise<ServerWithSql>
  /** A server that is killed and started again, in open mode. */
  readonly mortal: () => Promise<MortalServer>
}

const D1: Backend = {
  ...{ database: 'sqlite', vectors: 'object', fullText: 'fts5' },
  start: startPlace,
  mortal: () => mortalServer(),
}

const OF_PROJECT = DATABASE === 'd1' ? D1 : POSTGRES
let current = OF_PROJECT

/** Plays the suites of a test file against another backend than the database of its project. Call it before them. */
export function playAgainst(backend: Backend): void {
  current = backend
  // Files of a process share this module.
  afterAll(() => {
    current = OF_PROJECT
  })
}

export const backend = (): Backend => current

/** An org and a client of its own for a suite; the members are there once the suite runs. */
export interface Session {
  server: ServerWithSql
  /** An admin's of the suite's org. */
  key: string
  keyId: string
  client: TestClient
  /** A further client with this key. */
  connect(path: string): Promise<TestClient>
  /** Calls a tool that must succeed; its structured content. */
  ok(name: string, args?: Record<string, unknown>): Promise<CallResult['data']>
  /** Calls a tool that must fail; the error result. */
  fail(name: string, args?: Record<string, unknown>): Promise<CallResult>
  /** Stores a text; its id. */
  store(text: string, args?: Record<string, unknown>): Promise<number>
}

/** One key plays most of a suite, on a fast machine within a minute. */
const UNLIMITED = { RATE_LIMIT_PER_MINUTE: '0', MAX_CONCURRENT_REQUESTS: '0' }

interface SharedServer {
  start(): Promise<ServerWithSql>
  /** Called by each suite that is over. */
  leave(): Promise<void>
}

interface Shared {
  /** That are not over. */
  suites: number
  running?: Promise<ServerWithSql> | undefined
}

/** The servers of this process, by database and configuration: a start takes longer than most suites. */
const servers = new Map<Backend, Map<string, Shared>>()

/**
 * The server that suites with one configuration share. It stops after the last of them in a file; that of no special
 * configuration, which nearly every file asks for, ends with the process.
 */
function shareServer(vars: Record<string, string>): SharedServer {
  const [backend, name] = [current, JSON.stringify(vars)]
  const shared = servers.get(backend)?.get(name) ?? ({ suites: 0 } as Shared)
  servers.set(backend, (servers.get(backend) ?? new Map()).set(name, shared))
  shared.suites++
  return {
    start: () => (shared.running ??= backend.start({ ...UNLIMITED, ADMIN_TOKEN, ...vars })),
    async leave() {
      if (--shared.suites > 0 || Object.keys(vars).length === 0) return
      const { running } = shared
      shared.running = undefined
      await running?.then(({ stop }) => stop())
    },
  }
}

/** @param vars configuration of the suite's server; suites with the same one share a server, each in its own organization */
export function useSession(connect: Connect, vars: Record<string, string> = {}): Session {
  const session = {} as Session
  const shared = shareServer(vars)
  beforeAll(async () => {
    session.server = await shared.start()
    const { id, key } = await keyOfNewOrg(session.server.url)
    Object.assign(session, { key, keyId: id })
    session.client = await session.connect('/mcp')
  })
  afterAll(async () => {
    await session.client?.close()
    await shared.leave()
  })
  session.connect = (path) => connect(new URL(path, session.server.url), session.key)
  session.ok = async (name, args) => {
    const result = await session.client.call(name, args)
    if (result.isError) throw new Error(`${name} failed: ${result.text}`)
    return result.data
  }
  session.fail = async (name, args) => {
    const result = await session.client.call(name, args)
    if (!result.isError) throw new Error(`${name} should fail, but answered ${result.text}`)
    return result
  }
  session.store = async (text, args = {}) =>
    (await session.ok('store_context', { thread_id: unique(), source: 'user', text, ...args })).context_id
  return session
}

/** The shared server with the default configuration, for tests that need no key and no separate store. It ends with the process. */
export const sharedOpen = (): Promise<ServerWithSql> => shareServer({}).start()

/** The servers of this process that ask for keys. */
const teams = new Map<Backend, Promise<Team>>()

/** The server that all suites with keys and default settings share, each in its own organizations. It ends with the process. */
export function sharedTeam(): Promise<Team> {
  const team = teams.get(current) ?? startTeam(UNLIMITED, current.start)
  teams.set(current, team)
  return team
}

let counter = 0
/** A name that no other test uses. */
export const unique = (prefix = 'thread'): string => `${prefix}-${process.pid}-${++counter}`

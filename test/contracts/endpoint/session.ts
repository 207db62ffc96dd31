import { afterAll, beforeAll } from 'vitest'
import type { CallResult, Connect, TestClient } from '../../support/clients'
import { type MortalServer, mortalServer } from '../../support/mortal'
import { type ServerWithSql, startServer } from '../../support/server'

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
  start: (vars) => startServer(vars),
  mortal: () => mortalServer(),
}

let current = D1

/** Says, before any suite of a test file is set up, what it is played against; without it, that is D1. */
export function playAgainst(backend: Backend): void {
  current = backend
}

export const backend = (): Backend => current

/** One server and one client for a suite; the members are there once the suite runs. */
export interface Session {
  server: ServerWithSql
  client: TestClient
  /** Calls a tool that must succeed; its structured content. */
  ok(name: string, args?: Record<string, unknown>): Promise<CallResult['data']>
  /** Calls a tool that must fail; the error result. */
  fail(name: string, args?: Record<string, unknown>): Promise<CallResult>
  /** Stores a text; its id. */
  store(text: string, args?: Record<string, unknown>): Promise<number>
}

export function useSession(connect: Connect, vars: Record<string, string> = {}): Session {
  const session = {} as Session
  beforeAll(async () => {
    session.server = await current.start(vars)
    session.client = await connect(session.server.url)
  })
  afterAll(async () => {
    await session.client?.close()
    await session.server?.stop()
  })
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

let counter = 0
/** A name that no other test uses. */
export const unique = (prefix = 'thread'): string => `${prefix}-${process.pid}-${++counter}`

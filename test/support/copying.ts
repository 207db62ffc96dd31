import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { Client } from 'pg'
import { ROOT } from './build'
import { CLIENTS, type Connect, type TestClient } from './clients'
import { base64, pngBytes } from './scope'

/** Runs the command `copy` as a user does, and fills a store with every property of entries. */

export interface Run {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The command as a user runs it; killed when it has printed the text `until`. */
export function copy(
  args: readonly string[],
  { until, env = {} }: { until?: RegExp; env?: Record<string, string> } = {},
): Promise<Run> {
  return new Promise((resolve) => {
    const script = join(ROOT, 'src', 'cli', 'commonplace.mjs')
    // A group of its own, so that the Worker is killed with it.
    const child = spawn(process.execPath, [script, 'copy', ...args], {
      env: { ...process.env, ...env },
      detached: true,
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      if (until?.test(out) && child.exitCode === null) process.kill(-(child.pid as number), 'SIGKILL')
    })
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
    child.once('close', (code) => resolve({ code, out, err }))
  })
}

export const connect = CLIENTS['SDK v2, revision 2026-07-28'] as Connect
export const hashOf = ({ out }: Run): string[] => /^hash +(\w+) +(\w+)$/m.exec(out)?.slice(1) ?? []

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Tables that a copy fills with properties of entries. */
export const FILLED = ['entries', 'entries_fts', 'entry_tags', 'entry_vectors', 'entry_versions', 'thread_counters']

export const LONG = 'a long text that goes\n'.repeat(2000).trim()

/** Stores several hundred entries with every property, some of them changed and the last one deleted. */
export async function fill(client: TestClient): Promise<number> {
  let last = 0
  for (let batch = 0; batch < 4; batch++) {
    const entries = Array.from({ length: 100 }, (_, i) => ({
      thread_id: `thread ${i % 7}`,
      source: i % 2 === 0 ? 'user' : 'agent',
      text: `Note ${batch}-${i} on the Zürich rollout 東京 ${i === 42 ? 'with a heliotrope marker' : ''}`,
      tags: [`tag ${i % 5}`, 'all'],
      metadata: {
        status: 'open',
        rank: i / 8,
        nested: { z: [1, null, 'x'], a: true },
        ...(last > 0 && { references: { context_ids: [last - i] } }),
      },
    }))
    const { data } = await client.call('store_context_batch', { entries })
    last = data.results.at(-1).context_id
  }
  const image = { data: base64(pngBytes('copied')), mime_type: 'image/png' }
  await client.call('store_context', {
    thread_id: 'pictures',
    source: 'user',
    text: 'a picture\n'.repeat(2000),
    images: [image],
  })
  await client.call('update_context', {
    context_id: 3,
    text: 'A changed heliotrope note',
    metadata_patch: { status: null, rank: 99 },
  })
  const { data } = await client.call('store_context', { thread_id: 'gone', source: 'user', text: 'to be deleted' })
  const long = await client.call('store_context', { thread_id: 'gone', source: 'user', text: LONG })
  await client.call('delete_context', { context_ids: [7, data.context_id, long.data.context_id] })
  return long.data.context_id
}

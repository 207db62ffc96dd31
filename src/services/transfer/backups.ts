import { invalidInput, notFound, Problem } from '../../domain/errors'
import type { Scope } from '../../domain/identity/scope'
import { scheduler, VOLUME_UNITS } from '../../domain/scheduler'
import { sha256Hex } from '../../domain/text'
import { DAY_MS, type Millis } from '../../domain/time'
import { joined } from '../../domain/transfer/lines'
import type { TextSeal } from '../../domain/transfer/seal'
import { readVolumes } from '../../domain/transfer/volume-reader'
import type { BackupObject, BackupStore } from '../../ports/backup-store'
import type { Clock } from '../../ports/clock'
import type { ImageStore } from '../../ports/image-store'
import type { ImportStore } from '../../ports/import-store'
import type { StepResult } from '../maintenance/schedule'
import type { ExportOrg } from './export-org'

const SUFFIX = '.ndjson.gz'

export const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text)
/** Returns the scope of a backup: all entries of the organization, with any owner. */
const organizationScope = (org: string): Scope => ({ org, projects: null, owner: null, isWhole: true })

export const folderOf = (org: string): string => `${encodeURIComponent(org)}/`
export const keyOf = (org: string, day: string, volume: number | string): string =>
  `${folderOf(org)}${day}/${volume}${SUFFIX}`
export const nameOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1)

/** Bytes that are written to a stream at once. */
const PIECE = 65_536

async function through(
  bytes: Uint8Array,
  { readable, writable }: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const write = async () => {
    const writer = writable.getWriter()
    for (let at = 0; at < bytes.length; at += PIECE) {
      await writer.write(bytes.subarray(at, at + PIECE))
      await scheduler.tick(PIECE / VOLUME_UNITS)
    }
    await writer.close()
  }
  const [passed] = await Promise.all([new Response(readable).arrayBuffer(), write()])
  return new Uint8Array(passed)
}

export const packed = (bytes: Uint8Array): Promise<Uint8Array> => through(bytes, new CompressionStream('gzip'))
export const unpacked = (gzip: Uint8Array): Promise<Uint8Array> => through(gzip, new DecompressionStream('gzip'))

/** Lists all objects below a prefix, page by page. */
export async function* pagesOf(store: BackupStore, prefix: string): AsyncGenerator<readonly BackupObject[]> {
  for (let cursor: string | null = null, more = true; more; ) {
    const page: Awaited<ReturnType<BackupStore['list']>> = await store.list(prefix, cursor)
    yield page.objects
    cursor = page.cursor
    more = cursor !== null
  }
}

async function* objectsOf(store: BackupStore, prefix: string): AsyncGenerator<BackupObject> {
  for await (const page of pagesOf(store, prefix)) yield* page
}

/** Deletes all objects below a prefix. */
export async function forget(store: BackupStore, prefix: string): Promise<void> {
  for (;;) {
    const { objects, cursor } = await store.list(prefix, null)
    await store.delete(objects.map(({ key }) => key))
    if (cursor === null) return
  }
}

/** Retention of backups: days by their name, images by how long they have been unused. */
interface Retention {
  readonly store: BackupStore
  readonly imports: Pick<ImportStore, 'imagesInUse'>
  readonly clock: Clock
  /** Days that backups are retained. */
  readonly keep: number
}

/** Images that one purge may change. */
const CHANGES_AT_ONCE = 100

/** Deletes expired days, and images that have been unused for as long. */
export async function purge({ store, imports, clock, keep }: Retention, org: string): Promise<void> {
  const oldest = new Date(clock.now() - keep * DAY_MS).toISOString().slice(0, 10)
  for (const day of await store.folders(folderOf(org)))
    if (isDay(day) && day <= oldest) await forget(store, `${folderOf(org)}${day}/`)
  const marks = new Map<string, number>()
  for await (const { key, notes } of objectsOf(store, `${folderOf(org)}unused/`))
    marks.set(nameOf(key), Number(notes.since))
  const longest = keep * DAY_MS
  let changes = 0
  for await (const page of pagesOf(store, `${folderOf(org)}images/`)) {
    const hashes = page.map(({ key }) => nameOf(key))
    const { seen } = await imports.imagesInUse(organizationScope(org), hashes)
    for (const hash of hashes) {
      const since = marks.get(hash)
      const unusedFor = since === undefined ? null : clock.now() - since
      const next = judged(unusedFor, seen.has(hash), longest)
      if (next === 'stay' || changes++ >= CHANGES_AT_ONCE) continue
      const mark = `${folderOf(org)}unused/${hash}`
      if (next === 'mark') await store.put(mark, new Uint8Array(), { since: String(clock.now()) })
      else await store.delete(next === 'unmark' ? [mark] : [`${folderOf(org)}images/${hash}`, mark])
    }
  }
}

/**
 * Decides about an image.
 *
 * An unused image is marked with the time, until it is used again; it is deleted after the retention.
 */
function judged(unusedFor: number | null, isUsed: boolean, longest: number): 'stay' | 'mark' | 'unmark' | 'delete' {
  if (isUsed) return unusedFor === null ? 'stay' : 'unmark'
  if (unusedFor === null) return 'mark'
  return unusedFor > longest ? 'delete' : 'stay'
}

/** Progress of the backup of one organization. */
interface BackupState {
  readonly org: string
  readonly day: string
  /** Position where the export continues; null at its start. */
  readonly from: string | null
  readonly volume: number
  /** Present after the volume is written: how many of its images, in the order of their hashes, are in the bucket. */
  readonly images?: { readonly looked: number; readonly next: string | null }
}

const beginning = (org: string, day: string): BackupState => ({ org, day, from: null, volume: 1 })

/** Progress of the daily backup of all organizations. */
interface RoundState extends BackupState {
  /** Organizations whose backup failed today, to try again after the others. */
  readonly failed?: readonly string[]
  /** Whether the backup of this organization failed before. */
  readonly isRetry?: boolean
}

interface CompleteBackup {
  readonly org: string
  readonly day: string
  readonly at: string
  readonly volumes: readonly {
    readonly volume: number
    readonly sha256: string
    readonly bytes: number
    readonly entries: number
    readonly content: string
  }[]
}

/** The backups of an organization that are in the bucket. */
export interface StoredBackups {
  /** The newest complete one, without its images, which all days share; null for none. */
  readonly last: { readonly day: string; readonly at: Millis; readonly bytes: number; readonly volumes: number } | null
  /** Complete days. */
  readonly days: number
  /** Bytes of all volumes. */
  readonly bytes: number
  readonly drill: RestoreDrill | null
}

/** The rehearsal of a restore. */
export interface RestoreDrill {
  /** The day of the backup that was restored. */
  readonly day: string
  /** ISO 8601. */
  readonly at: string
  readonly passed: boolean
  /** The reason for a failure. */
  readonly problem: string | null
}

const DRILL = 'drill.json'
/** Prefix of the names of days, which no other object of an organization has. */
const DAYS = '2'

const parsed = <T>(bytes: Uint8Array): T => JSON.parse(new TextDecoder().decode(bytes))

/** Name of the credential that owns these exports. */
const KEEPER = 'backup'
const NONE = 'This server has no bucket for backups. Add a BACKUP_BUCKET binding under [[r2_buckets]] to wrangler.toml'

/** Images of one step. Each needs two requests to the bucket and one to the store. */
const IMAGES_AT_ONCE = 60

export type Backups = ReturnType<typeof createBackups>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createBackups(dependencies: {
  /** Null without a bucket. */
  readonly store: BackupStore | null
  readonly exports: ExportOrg
  readonly images: Pick<ImageStore, 'get'>
  readonly imports: Pick<ImportStore, 'imagesInUse'>
  readonly orgs: () => Promise<readonly string[]>
  readonly places: () => Promise<TextSeal>
  readonly clock: Clock
  /** Days that backups are retained. */
  readonly keep: number
}) {
  const { exports, images, imports, orgs, clock, keep } = dependencies
  const today = () => new Date(clock.now()).toISOString().slice(0, 10)

  function bucket(): BackupStore {
    if (dependencies.store === null) throw new Problem('unsupported', NONE)
    return dependencies.store
  }

  /**
   * Copies the images of a volume that the bucket lacks, as many as a step may.
   *
   * @param from number of images processed before, in the order of their hashes
   * @returns the number processed now; null if all are
   */
  async function keepImages(org: string, volume: Uint8Array, from: number): Promise<number | null> {
    const hashes = new Set<string>()
    const bytes = async function* () {
      yield volume
    }
    for await (const { record, bytes: line } of readVolumes(bytes(), 1)) {
      await scheduler.tick(line.length / VOLUME_UNITS)
      if (record.record === 'entry' || record.record === 'version')
        for (const { sha256 } of record.images ?? []) hashes.add(sha256)
    }
    const till = from + IMAGES_AT_ONCE
    for (const hash of [...hashes].sort().slice(from, till)) {
      const key = `${folderOf(org)}images/${hash}`
      if (await bucket().has(key)) continue
      const image = await images.get(organizationScope(org), hash)
      if (image !== null) await bucket().put(key, image)
    }
    return till < hashes.size ? till : null
  }

  async function complete({ org, day }: BackupState): Promise<void> {
    const store = bucket()
    const volumes: CompleteBackup['volumes'][number][] = []
    for await (const { key, size, notes } of objectsOf(store, `${folderOf(org)}${day}/`)) {
      const name = nameOf(key)
      const volume = Number(name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : 0)
      if (!(volume > 0)) continue
      const { sha256 = '', content = '', entries = '0' } = notes
      volumes.push({ volume, sha256, bytes: size, entries: Number(entries), content })
    }
    volumes.sort((a, b) => a.volume - b.volume)
    const complete: CompleteBackup = { org, day, at: new Date(clock.now()).toISOString(), volumes }
    const text = new TextEncoder().encode(`${JSON.stringify(complete, null, 1)}\n`)
    await store.put(`${folderOf(org)}${day}/complete.json`, text)
  }

  /** Writes the next volume. @returns its uncompressed bytes, and where its export continues */
  async function write({ org, day, from, volume }: BackupState): Promise<{ bytes: Uint8Array; next: string | null }> {
    const scope = organizationScope(org)
    const request = { project: null, after: null, history: true, vectors: false, images: false }
    const going =
      from === null ? await exports.begin(scope, KEEPER, request) : await exports.resume(scope, KEEPER, from)
    // Volumes of an earlier attempt on this day would be counted otherwise.
    if (from === null) await forget(bucket(), `${folderOf(org)}${day}/`)
    const parts: Uint8Array[] = []
    let ended: { next: string | null; content: string; entries: number } | null = null
    for await (const part of exports.parts(scope, going, { limit: 1_000, volumes: 1 })) {
      if ('bytes' in part) parts.push(part.bytes)
      else ended = part
    }
    if (ended === null) throw new Error('an export ends with a complete volume')
    const bytes = joined(parts)
    const gzip = await packed(bytes)
    const notes = { sha256: await sha256Hex(gzip), content: ended.content, entries: String(ended.entries) }
    await bucket().put(keyOf(org, day, volume), gzip, notes)
    return { bytes, next: ended.next }
  }

  /** Reads a volume that was written before. */
  async function written({ org, day, volume }: BackupState): Promise<Uint8Array> {
    const gzip = await bucket().get(keyOf(org, day, volume))
    if (gzip === null) throw invalidInput('A volume of this backup was deleted. Start again without from')
    return unpacked(gzip)
  }

  /** Runs a step of a backup: a volume, or some of its images. @returns the remaining work; null if it is complete */
  async function step(state: BackupState): Promise<BackupState | null> {
    const { org, day, volume, images: begun } = state
    const { bytes, next } = begun === undefined ? await write(state) : { bytes: await written(state), next: begun.next }
    const looked = await keepImages(org, bytes, begun?.looked ?? 0)
    if (looked !== null) return { ...state, images: { looked, next } }
    if (next !== null) return { org, day, from: next, volume: volume + 1 }
    await complete(state)
    await purge({ store: bucket(), imports, clock, keep }, org)
    return null
  }

  /**
   * Runs a step of the daily backup.
   *
   * @returns the remaining work, null if every organization has a backup; and why an organization failed again
   */
  async function advance(
    state: RoundState,
    all: readonly string[],
  ): Promise<{ readonly rest: RoundState | null; readonly problem?: string }> {
    const { failed = [], isRetry = false, ...own } = state
    let problem: string | undefined
    try {
      const rest = await step(own)
      if (rest !== null) return { rest: { ...rest, failed, isRetry } }
    } catch (error) {
      const isFresh = own.from === null && own.images === undefined
      // An expired export starts from scratch.
      if (!isFresh && error instanceof Problem && error.code === 'invalid_input')
        return { rest: { ...beginning(own.org, own.day), failed, isRetry } }
      problem = error instanceof Error ? error.message : String(error)
    }
    const waiting = problem === undefined ? failed : [...failed, own.org]
    const following = isRetry ? undefined : all.find((org) => org > own.org)
    if (following !== undefined) return { rest: { ...beginning(following, own.day), failed: waiting } }
    const [first, ...others] = waiting.filter((org) => all.includes(org))
    if (first === undefined) return { rest: null }
    // One that fails alone continues with the volume that failed.
    const next = isRetry && first === own.org ? own : beginning(first, own.day)
    const rest = { ...next, failed: others, isRetry: true }
    return isRetry && problem !== undefined ? { rest, problem } : { rest }
  }

  async function lastDrill(org: string): Promise<RestoreDrill | null> {
    const bytes = await bucket().get(`${folderOf(org)}${DRILL}`)
    return bytes === null ? null : parsed(bytes)
  }

  return {
    lastDrill,
    isBound: dependencies.store !== null,

    /**
     * Writes one volume of a backup.
     *
     * @param from the sealed state that the last call returned
     * @returns the sealed remaining work; null if it is complete
     */
    async goOn(org: string, from: string | null): Promise<string | null> {
      bucket()
      const seal = await dependencies.places()
      const text = from === null ? null : await seal.open(org, from)
      if (from !== null && text === null)
        throw invalidInput('from is not the value of next in the last answer. Start again without from')
      const left = await step(text === null ? beginning(org, today()) : JSON.parse(text))
      return left === null ? null : seal.seal(org, JSON.stringify(left))
    },

    /**
     * Writes one volume of the daily backup of all organizations.
     *
     * An organization that fails is tried again after the others, in turn with others that failed, until the next day begins.
     *
     * @param cursor of the batch before
     * @returns `problem`: what made the backup of an organization fail when it was tried again
     */
    async round(cursor: string | null): Promise<StepResult> {
      if (dependencies.store === null) return { done: 0, next: null }
      const all = [...(await orgs())].sort()
      const left: RoundState | null = cursor === null ? null : JSON.parse(cursor)
      const isOld = left?.isRetry === true && left.day !== today()
      const [first] = all
      if (first === undefined) return { done: 0, next: null }
      const { rest, problem } = await advance(left === null || isOld ? beginning(first, today()) : left, all)
      const next = rest === null ? null : JSON.stringify(rest)
      return { done: 1, next, ...(problem === undefined ? {} : { problem }) }
    },

    /** Lists complete backups, newest first. */
    async list(org: string): Promise<readonly CompleteBackup[]> {
      const days = (await bucket().folders(folderOf(org))).filter(isDay).sort().reverse()
      const complete = await Promise.all(days.map((day) => bucket().get(`${folderOf(org)}${day}/complete.json`)))
      return complete.flatMap((bytes) => (bytes === null ? [] : [parsed<CompleteBackup>(bytes)]))
    },

    /** Returns a summary of the backups of an organization: a list of its objects, and one small object. */
    async stored(org: string): Promise<StoredBackups> {
      const store = bucket()
      const found = new Map<string, { bytes: number; volumes: number; at: Millis | null }>()
      for await (const { key, size, uploadedAt } of objectsOf(store, `${folderOf(org)}${DAYS}`)) {
        const [, day = '', name = ''] = key.split('/')
        const one = found.get(day) ?? { bytes: 0, volumes: 0, at: null }
        if (name === 'complete.json') found.set(day, { ...one, at: uploadedAt })
        else found.set(day, { ...one, bytes: one.bytes + size, volumes: one.volumes + 1 })
      }
      const complete = [...found].flatMap(([day, { at, ...rest }]) => (at === null ? [] : [{ day, at, ...rest }]))
      return {
        ...{ last: complete.at(-1) ?? null, days: complete.length },
        bytes: complete.reduce((sum, { bytes }) => sum + bytes, 0),
        drill: await lastDrill(org),
      }
    },

    /** Records the result of the last restore drill, next to the backups. */
    async noteDrill(org: string, drill: Omit<RestoreDrill, 'at'>): Promise<RestoreDrill> {
      const noted = { ...drill, at: new Date(clock.now()).toISOString() }
      await bucket().put(`${folderOf(org)}${DRILL}`, new TextEncoder().encode(`${JSON.stringify(noted)}\n`))
      return noted
    },

    /** Opens a volume as gzip. @throws Problem not_found */
    async open(org: string, day: string, volume: string): Promise<ReadableStream<Uint8Array>> {
      const isNamed = isDay(day) && /^\d{1,9}$/.test(volume)
      const stream = isNamed ? await bucket().open(keyOf(org, day, volume)) : null
      if (stream === null) throw notFound('No such backup volume')
      return stream
    },

    /** Returns the bytes of an image in the backups. */
    image: async (org: string, hash: string): Promise<Uint8Array | null> =>
      dependencies.store === null ? null : dependencies.store.get(`${folderOf(org)}images/${hash}`),
  }
}

import type { Entry } from '../../../domain/entry/entry'
import { notFound } from '../../../domain/errors'
import type { Version } from '../../../domain/history/version'
import type { Scope } from '../../../domain/identity/scope'
import { scheduler } from '../../../domain/scheduler'
import type { Window } from '../../../domain/search/window'
import type { History, VersionPage } from '../../../ports/history'

/** Reads earlier versions of entries (history contract §3). */
export interface ReadHistory {
  /** Lists versions of an entry. @throws Problem not_found, equally for unknown, invisible and expired entries */
  versions(scope: Scope, id: number, window: Window, withDiffs: boolean): Promise<DiffedPage>
  /** Returns an entry at a version. @throws Problem not_found, as `versions` */
  state(scope: Scope, id: number, version: number): Promise<Entry>
}

export interface DiffedPage extends Omit<VersionPage, 'versions'> {
  readonly versions: readonly (Version & { readonly diff?: string })[]
}

/** Bytes of texts that one call compares. */
const MAX_BYTES = 4_000_000
const NOT_COMPARED = '(not compared: too much text for one call; request fewer versions)'

const unknown = (id: number) => notFound(`Entry ${id} has no such history`)

export function createReadHistory({ history }: { readonly history: History }): ReadHistory {
  /** Computes diffs of the versions whose text changed, against the version before. */
  async function diffs(scope: Scope, id: number, versions: readonly Version[], before: Map<number, number>) {
    const { textDiff } = await import('../../../domain/history/diff')
    const changed = versions.filter(({ version, changed }) => changed?.includes('text') && before.has(version))
    const wanted = changed.flatMap(({ version }) => [version, before.get(version) as number])
    const texts = await history.texts(scope, id, [...new Set(wanted)], MAX_BYTES)
    const made = new Map<number, string>()
    for (const { version } of changed) {
      const earlier = before.get(version) as number
      const [old, text] = [texts.get(earlier), texts.get(version)]
      if (old === undefined || text === undefined) made.set(version, NOT_COMPARED)
      else {
        made.set(version, textDiff({ version: earlier, text: old }, { version, text }))
        await scheduler.tick(old.length + text.length)
      }
    }
    return made
  }

  return {
    async versions(scope, id, window, withDiffs) {
      // Reads one more version to compare the last one with.
      const page = await history.versions(scope, id, { ...window, limit: window.limit + 1 })
      if (page === null) throw unknown(id)
      const versions = page.versions.slice(0, window.limit)
      if (!withDiffs) return { ...page, versions }
      const before = new Map(page.versions.slice(1).map(({ version }, i) => [page.versions[i]?.version ?? 0, version]))
      const made = await diffs(scope, id, versions, before)
      return {
        ...page,
        versions: versions.map((one) => ({
          ...one,
          ...(made.has(one.version) ? { diff: made.get(one.version) } : {}),
        })),
      } as DiffedPage
    },

    async state(scope, id, version) {
      const entry = await history.state(scope, id, version)
      if (entry === null) throw unknown(id)
      return entry
    },
  }
}

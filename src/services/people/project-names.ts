// Which projects do the names of a call mean?
import { type Attachment, PendingNames } from '../../domain/identity/project-attachment'
import {
  type KnownNames,
  type NamedPlace,
  namesOfPlace,
  type ResolvedProject,
  resolveName,
  resolvePlace,
} from '../../domain/identity/project-resolution'
import type { Principal, Scope } from '../../domain/identity/scope'
import type { ProjectDirectory } from '../../ports/project-directory'

/** What isolates remember of directories; each entry belongs to one version of the directory of one org. */
export type NamesCache = Map<string, KnownNames>

const MOST_CACHED = 500
/** Names of one call that are resolved; a batch has a hundred items. */
const MOST_NAMES = 200

/** The names of one call, resolved by one version of the directory. */
export class CallNames {
  constructor(
    private readonly scope: Pick<Scope, 'projects'>,
    private readonly known: KnownNames | null,
    private readonly given: ReadonlySet<string>,
  ) {}

  /** The project that a name of the call means; null where the key does not reach it, or nobody asked for the name. */
  of(name: string): ResolvedProject | null {
    return this.known === null || !this.given.has(name) ? null : resolveName(this.scope, name, this.known)
  }

  private get resolved(): ResolvedProject[] {
    return [...this.given].flatMap((name) => this.of(name) ?? [])
  }

  /** What a write of the call gives to the directory. Of two names with one form, the first. */
  get pending(): PendingNames | null {
    if (this.known === null) return null
    const all = this.resolved.flatMap(({ attachments }) => attachments)
    const first = new Map<string, Attachment>()
    for (const one of all) if (!first.has(one.name.normal)) first.set(one.name.normal, one)
    return first.size === 0 ? null : new PendingNames(this.known.version, [...first.values()])
  }

  /** The scope of the call, with the keys of projects that were merged. */
  within<S extends Scope>(scope: S): S {
    const merged = this.resolved.filter(({ homes }) => homes.length > 1)
    return merged.length === 0 ? scope : { ...scope, merged: new Map(merged.map(({ key, homes }) => [key, homes])) }
  }

  /** What the answer of a write says of the names that it gave. */
  get warnings(): string[] {
    return this.resolved.flatMap(({ key, attachments, candidates }) => [
      ...attachments
        .filter(({ isTold }) => isTold)
        .map(
          ({ name }) =>
            `"${name.normal}" is a name of project ${key} from now on; use that key. An admin can take the name off: ` +
            `commonplace projects split ${JSON.stringify(name.normal)}`,
        ),
      ...(candidates.length > 1
        ? [`"${key}" is a project of its own: several projects end in it (${candidates.join(', ')}); name one of them`]
        : []),
    ])
  }
}

const NOTHING = (scope: Scope) => new CallNames(scope, null, new Set())

export type ResolveNames = ReturnType<typeof createResolveNames>

export function createResolveNames({
  directory,
  cache,
}: {
  readonly directory: Pick<ProjectDirectory, 'known'>
  readonly cache: NamesCache
}) {
  const keyOf = (scope: Scope, version: number, names: readonly string[]): string =>
    JSON.stringify([scope.org, version, scope.projects, names])

  /** One round trip; none where the version of the directory is known, and the same names were asked for since it is the newest. */
  async function known(scope: Principal | Scope, names: readonly string[], isFresh: boolean): Promise<KnownNames> {
    const sorted = [...new Set(names)].toSorted()
    const version = 'directory' in scope && !isFresh ? scope.directory : undefined
    const cached = version === undefined ? undefined : cache.get(keyOf(scope, version, sorted))
    if (cached !== undefined) return cached
    const read = await directory.known(scope, sorted)
    cache.set(keyOf(scope, read.version, sorted), read)
    for (const oldest of cache.keys()) {
      if (cache.size <= MOST_CACHED) break
      cache.delete(oldest)
    }
    return read
  }

  return {
    /** @param isFresh whether the directory is read in any case */
    async names(scope: Principal | Scope, given: Iterable<string>, isFresh = false): Promise<CallNames> {
      const names = new Set([...new Set(given)].slice(0, MOST_NAMES))
      if (names.size === 0) return NOTHING(scope)
      return new CallNames(scope, await known(scope, [...names], isFresh), names)
    },

    /** The project that one name means to a reader; null where the key does not reach it. */
    async project<S extends Principal | Scope>(scope: S, given: string): Promise<{ scope: S; project: string | null }> {
      const names = await this.names(scope, [given])
      return { scope: names.within(scope), project: names.of(given)?.key ?? null }
    },

    /** The project of the place of a hook; null for none, or one that the key does not reach. */
    async place(scope: Principal, place: NamedPlace, isFresh = false) {
      const names = namesOfPlace(place)
      if (names.length === 0) return null
      const read = await known(scope, names, isFresh)
      const found = resolvePlace(scope, place, read)
      return found === null ? null : { ...found, version: read.version }
    },
  }
}

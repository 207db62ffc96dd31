import { unavailable } from '../../domain/errors'
import { type Attachment, PendingNames } from '../../domain/identity/project-attachment'
import {
  type KnownNames,
  type NamedPlace,
  NamesChanged,
  namesOfPlace,
  type ResolvedProject,
  resolveName,
  resolvePlace,
  withAttached,
} from '../../domain/identity/project-resolution'
import type { Principal, Scope } from '../../domain/identity/scope'
import { unstorable } from '../../domain/text'
import type { ProjectAdmin, ProjectDirectory } from '../../ports/project-directory'

/** Names that an isolate has resolved, for one version of an organization's directory. */
export type NamesCache = Map<string, KnownNames>

const MOST_CACHED = 500
/** Maximum characters of a name. Longer names, and ones that a database cannot store, are refused later. */
const LONGEST = 1_000
const isReadable = (name: string): boolean => name.length <= LONGEST && unstorable(name) === null
/** Names that one batch adds. */
const GIVEN_AT_ONCE = 100
/** Attempts to resolve names that change in between. */
const TRIES = 5
/** Projects that a warning names. */
const MOST_TOLD = 5
/** Names of one call that are resolved; a batch has a hundred items. */
const MOST_NAMES = 200

/** The names of one call, resolved by one version of the directory. */
export class CallNames {
  private readonly byName = new Map<string, ResolvedProject>()

  /** Resolves names one after the other, so that two new names of one call cannot both create the same project. */
  constructor(
    scope: Pick<Scope, 'projects'>,
    private readonly known: KnownNames | null,
    given: ReadonlySet<string>,
  ) {
    let sofar = known
    for (const name of sofar === null ? [] : given) {
      const found = resolveName(scope, name, sofar as KnownNames)
      if (found === null) continue
      this.byName.set(name, found)
      sofar = withAttached(sofar as KnownNames, found.attachments)
    }
  }

  /** Returns the project of a name in the call; null if the key has no access. */
  of(name: string): ResolvedProject | null {
    return this.byName.get(name) ?? null
  }

  private get resolved(): ResolvedProject[] {
    return [...this.byName.values()]
  }

  /** Returns the names that a write of the call adds; the first of names with one normal form. */
  get pending(): PendingNames | null {
    if (this.known === null) return null
    const all = this.resolved.flatMap(({ attachments }) => attachments)
    const first = new Map<string, Attachment>()
    for (const one of all) if (!first.has(one.name.normal)) first.set(one.name.normal, one)
    return first.size === 0 ? null : new PendingNames(this.known.version, [...first.values()])
  }

  /** Returns the scope of the call, extended by the keys of merged projects. */
  within<S extends Scope>(scope: S): S {
    const merged = this.resolved.filter(({ homes }) => homes.length > 1)
    return merged.length === 0 ? scope : { ...scope, merged: new Map(merged.map(({ key, homes }) => [key, homes])) }
  }

  /** Returns warnings about the names that a write adds. */
  get warnings(): string[] {
    return this.resolved.flatMap(({ key, attachments, candidates }) => [
      ...attachments
        .filter(({ isTold }) => isTold)
        .map(
          ({ name }) =>
            `"${name.normal}" is now a name of project ${key}; use that key. An admin can detach the name: ` +
            `commonplace projects split ${JSON.stringify(name.normal)}`,
        ),
      ...(candidates.length === 0
        ? []
        : [
            `"${key}" is a new project, separate from ${candidates.slice(0, MOST_TOLD).join(', ')} with the same last name. If you mean ` +
              `one of these, use its name; an admin can join two: commonplace projects merge ${JSON.stringify(key)} --into PROJECT`,
          ]),
    ])
  }
}

/** Projects of places, resolved one after the other. */
export interface ResolvedPlaces {
  readonly version: number
  readonly found: readonly (ResolvedProject | null)[]
}

/** The names of a call without projects. */
export const NO_NAMES = new CallNames({ projects: null }, null, new Set())

export type ResolveNames = ReturnType<typeof createResolveNames>

export function createResolveNames({
  directory,
  cache,
}: {
  readonly directory: Pick<ProjectDirectory, 'known' | 'attach'>
  readonly cache: NamesCache
}) {
  const keyOf = (scope: Scope, version: number, names: readonly string[]): string =>
    JSON.stringify([scope.org, version, scope.projects, names])

  /**
   * Resolves names. Takes one round trip; none for names that this isolate resolved with the current version of the directory.
   */
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
    /** Resolves the names of a call. @param isFresh whether to read the directory in any case */
    async names(scope: Principal | Scope, given: Iterable<string>, isFresh = false): Promise<CallNames> {
      const names = new Set([...new Set(given)].filter(isReadable).slice(0, MOST_NAMES))
      if (names.size === 0) return NO_NAMES
      return new CallNames(scope, await known(scope, [...names], isFresh), names)
    },

    /**
     * Resolves names and adds new ones, for a request that writes no entry with them. Repeats if the directory changed in
     * between.
     *
     * @throws Problem unavailable if it changes again and again
     */
    async given(scope: Principal | Scope, by: ProjectAdmin, given: Iterable<string>): Promise<CallNames> {
      for (let attempt = 1; ; attempt++) {
        const names = await this.names(scope, given, attempt > 1)
        const { pending } = names
        if (pending === null) return names
        try {
          await directory.attach(by, pending)
          return names
        } catch (error) {
          if (!(error instanceof NamesChanged)) throw error
          if (attempt === TRIES) throw unavailable('Project names are being changed; try again')
        }
      }
    },

    /** Resolves each name independently of the others. */
    async each(scope: Scope, given: Iterable<string>): Promise<ReadonlyMap<string, ResolvedProject>> {
      const names = [...new Set(given)].filter(isReadable)
      const found = new Map<string, ResolvedProject>()
      for (let from = 0; from < names.length; from += MOST_NAMES) {
        const some = names.slice(from, from + MOST_NAMES)
        const read = await known(scope, some, true)
        for (const name of some) {
          const project = resolveName(scope, name, read)
          if (project !== null) found.set(name, project)
        }
      }
      return found
    },

    /** Adds the names of an import, whatever was added in between. */
    async give(by: ProjectAdmin & Scope, attachments: readonly Attachment[]): Promise<void> {
      for (let from = 0; from < attachments.length; from += GIVEN_AT_ONCE)
        for (let attempt = 1; ; attempt++) {
          const { version } = await directory.known(by, [])
          try {
            await directory.attach(by, new PendingNames(version, attachments.slice(from, from + GIVEN_AT_ONCE)))
            break
          } catch (error) {
            if (!(error instanceof NamesChanged)) throw error
            if (attempt === TRIES) throw unavailable('Project names are being changed; try again')
          }
        }
    },

    /** Returns the projects of places where hooks run; null for none, or for one without access. */
    async places(scope: Principal, places: readonly NamedPlace[], isFresh = false): Promise<ResolvedPlaces> {
      const names = places.flatMap(namesOfPlace)
      if (names.length === 0) return { version: 0, found: places.map(() => null) }
      const read = await known(scope, names, isFresh)
      let sofar = read
      const found = places.map((place) => {
        const project = resolvePlace(scope, place, sofar)
        sofar = withAttached(sofar, project?.attachments ?? [])
        return project
      })
      return { version: read.version, found }
    },
  }
}

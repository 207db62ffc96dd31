import { normalizeProject } from './project'
import type { Attachment, NameKind, ProjectName } from './project-attachment'
import { readProjectName } from './project-names'
import type { Scope } from './scope'

/** Resolves a project name to a project (fabric contract §1): pure rules over rows of the project directory. */

/** One name of a project in the project directory. */
export interface NameRow {
  /** The normalized form, which is compared. */
  readonly name: string
  readonly kind: NameKind
  readonly segment: string
  /** The key that a project with only this name would have. */
  readonly spelling: string
  /** The key under which entries with this name are stored. Narrowed keys list projects by it. */
  readonly home: string
  /** The current key of the project: the key that `home` was merged into, else `home`. */
  readonly project: string
  /**
   * True for a name that a narrowed key attached. It applies to narrowed keys only, until a key of the full
   * organization uses it.
   */
  readonly isNarrow: boolean
}

/** The part of the directory that concerns the names of a call. */
export interface KnownNames {
  /** All names of each project that the names can mean, as far as the scope reaches. */
  readonly rows: readonly NameRow[]
  /** Names, as sent, under which entries or code are stored although no row names them. */
  readonly unnamed: ReadonlySet<string>
  /** Display names by project. */
  readonly titles: ReadonlyMap<string, string>
  /** Increases with each change of the organization's directory. */
  readonly version: number
}

export interface ResolvedProject {
  /** The key of the project. */
  readonly key: string
  /** The keys under which its entries are stored, as far as the scope reaches; several after a merge. */
  readonly homes: readonly string[]
  /** Names that the write adds to the directory. */
  readonly attachments: readonly Attachment[]
  /**
   * Projects with the same last segment that the name does not resolve to: the name is ambiguous, or already belongs to
   * a remote or folder.
   */
  readonly candidates: readonly string[]
}

/** The directory after names are attached, for further names of the same call. */
export function withAttached(known: KnownNames, attachments: readonly Attachment[]): KnownNames {
  if (attachments.length === 0) return known
  const projectOf = (home: string): string => known.rows.find((row) => row.home === home)?.project ?? home
  const rows = attachments.map(({ name: { normal, kind, segment, key }, home, isNarrow }) => ({
    ...{ name: normal, kind, segment, spelling: key, home, project: projectOf(home), isNarrow },
  }))
  return { ...known, rows: [...known.rows, ...rows] }
}

/** Folders recorded per project: enough for a team, and a limit where each build has its own folder. */
const MOST_FOLDERS = 100

type Reach = Pick<Scope, 'projects'>

/** The rows that apply to a scope. A project of a narrowed key without rows gets a row with its own key as the name. */
function rowsFor({ projects }: Reach, { rows }: KnownNames): readonly NameRow[] {
  if (projects === null) return rows.filter(({ isNarrow }) => !isNarrow)
  const open = rows.filter(({ home }) => projects.includes(home))
  const named = new Set(open.map(({ home }) => home))
  return [...open, ...projects.filter((home) => !named.has(home)).flatMap(rowOf)]
}

function rowOf(home: string): NameRow[] {
  const name = readProjectName(home)
  if (name === null) return []
  const { normal, kind, segment } = name
  return [{ name: normal, kind, segment, spelling: home, home, project: home, isNarrow: false }]
}

const byProject = (rows: readonly NameRow[]) => Map.groupBy(rows, ({ project }) => project)

/** The key of a project and the keys under which its entries are stored, for a scope. */
function projectAt(reach: Reach, rows: readonly NameRow[], at: NameRow, attachments: readonly Attachment[] = []) {
  const homes = [...new Set([at.home, ...rows.filter((row) => row.project === at.project).map(({ home }) => home)])]
  // A narrowed key that does not reach the merged project's key keeps using its own key.
  const isOpen = reach.projects === null || reach.projects.includes(at.project)
  const key = isOpen ? at.project : at.home
  return { key, homes: homes.includes(key) ? homes : [key, ...homes], attachments, candidates: [] }
}

const alone = (key: string, attachments: readonly Attachment[], candidates: readonly string[] = []) => ({
  ...{ key, homes: [key], attachments, candidates },
})

/**
 * The project that a new name is attached to; several where a short name equals the last segment of several projects.
 */
function attachableTo(name: ProjectName, rows: readonly NameRow[]): readonly NameRow[] {
  if (name.segment === '' || name.kind === 'other') return []
  const groups = byProject(rows)
  const ofGroup = (row: NameRow) => groups.get(row.project) as NameRow[]
  const one = (found: readonly NameRow[]) => [...new Map(found.map((row) => [row.project, row])).values()]
  if (name.kind === 'short')
    return one(rows.filter(({ segment, kind }) => segment === name.segment && kind !== 'other'))
  const barred: readonly NameKind[] = name.kind === 'remote' ? ['remote'] : ['remote', 'folder']
  return one(
    rows.filter(
      (row) =>
        row.kind === 'short' && row.name === name.segment && ofGroup(row).every(({ kind }) => !barred.includes(kind)),
    ),
  )
}

/**
 * Resolves a name to a project. A known name resolves to its project. A new short name resolves to the one visible
 * project whose last segment it equals. A new remote or folder resolves to the project with that short name, if it has
 * none yet. Any other name is a project of its own.
 * @returns null where a narrowed key names a project that it does not reach
 */
export function resolveName(reach: Reach, given: string, known: KnownNames): ResolvedProject | null {
  const name = readProjectName(given)
  return name === null ? null : resolve(reach, name, normalizeProject(given) as string, known)
}

/** @param asSent the name as it was spelled, under which earlier releases stored entries */
function resolve(reach: Reach, name: ProjectName, asSent: string, known: KnownNames): ResolvedProject | null {
  const rows = rowsFor(reach, known)
  const exact = rows.find(({ home }) => home === asSent)
  if (exact !== undefined) return projectAt(reach, rows, exact)
  const isNarrow = reach.projects !== null
  const itself = (key: string): Attachment[] => [{ name, home: key, isNew: true, isNarrow: false, isTold: false }]
  // Entries stored under exactly this spelling remain a project of their own.
  if (!isNarrow && known.unnamed.has(asSent)) return alone(asSent, itself(asSent))
  const found = rows.filter((row) => row.name === name.normal)
  const own = found.find(({ home }) => readProjectName(home)?.normal === name.normal) ?? found[0]
  if (own !== undefined) return projectAt(reach, rows, own)
  const candidates = attachableTo(name, rows)
  const [only] = candidates
  if (only !== undefined && candidates.length === 1)
    return projectAt(reach, rows, only, [{ name, home: only.home, isNew: false, isNarrow, isTold: true }])
  if (isNarrow) return null
  const alike = name.segment === '' ? [] : rows.filter(({ segment }) => segment === name.segment)
  return alone(name.key, itself(name.key), [...new Set(alike.map(({ project }) => project))])
}

/** The location of a hook: its project name from the repository, its remote and its folder. */
export interface NamedPlace {
  readonly project: string | null
  /** In normal form. */
  readonly remote: string | null
  /** Absolute. */
  readonly folder: string | null
}

/** Names whose rows `resolvePlace` needs. */
export const namesOfPlace = ({ project, remote, folder }: NamedPlace): string[] =>
  project !== null ? [project] : [remote, folder].filter((name) => name !== null)

const nameOfRemote = (remote: string): ProjectName => {
  const segment = remote.slice(remote.lastIndexOf('/') + 1)
  return { kind: 'remote', normal: remote, segment, key: remote }
}

/**
 * Resolves the location of a hook to a project: by its remote, else by its folder. A folder that arrives with a remote
 * becomes a name of that remote's project. A remote that arrives with a known folder becomes a name of the folder's
 * project if that has no remote yet.
 * @returns null for a location without a name, or a project that a narrowed key does not reach
 */
export function resolvePlace(reach: Reach, place: NamedPlace, known: KnownNames): ResolvedProject | null {
  if (place.project !== null) return resolveName(reach, place.project, known)
  const folder = place.folder === null ? null : readProjectName(place.folder)
  if (place.remote === null) return folder === null ? null : ofFolder(reach, folder, known)
  const remote = nameOfRemote(place.remote)
  const rows = rowsFor(reach, known)
  const isNarrow = reach.projects !== null
  const ofRemote = rows.find(({ name }) => name === remote.normal)
  const atFolder = folder === null ? undefined : rows.find(({ name }) => name === folder.normal)
  const continues =
    ofRemote === undefined &&
    atFolder !== undefined &&
    rows.every((row) => row.project !== atFolder.project || row.kind !== 'remote')
  const found = continues
    ? projectAt(reach, rows, atFolder, [{ name: remote, home: atFolder.home, isNew: false, isNarrow, isTold: true }])
    : resolve(reach, remote, place.remote, known)
  if (found === null || folder === null || folder.kind !== 'folder' || atFolder !== undefined) return found
  const home = found.attachments[0]?.home ?? ofRemote?.home ?? found.key
  const folders = rows.filter((row) => row.home === home && row.kind === 'folder').length
  if (folders >= MOST_FOLDERS) return found
  const added: Attachment = { name: folder, home, isNew: false, isNarrow, isTold: false }
  return { ...found, attachments: [...found.attachments, added] }
}

/**
 * Resolves a folder without a remote. A new project uses the folder's last segment as its key, unless another project
 * ends in it.
 */
function ofFolder(reach: Reach, folder: ProjectName, known: KnownNames): ResolvedProject | null {
  const found = resolveName(reach, folder.key, known)
  const [first] = found?.attachments ?? []
  if (found === null || first?.isNew !== true || folder.segment === '') return found
  const short = readProjectName(lastPart(folder.key))
  const rows = rowsFor(reach, known)
  if (short === null || short.kind !== 'short' || known.unnamed.has(short.key)) return found
  if (rows.some(({ segment }) => segment === short.segment)) return found
  const added = { home: short.key, isNarrow: false, isTold: false }
  return alone(short.key, [
    { ...added, name: short, isNew: true },
    { ...added, name: folder, isNew: false },
  ])
}

const lastPart = (folder: string): string =>
  folder
    .replaceAll('\\', '/')
    .split('/')
    .findLast((part) => part !== '') ?? ''

/**
 * The project directory changed between resolving a name and the write that attaches it. The caller retries the call.
 */
export class NamesChanged extends Error {
  constructor() {
    super('the names of projects changed while a call that names one was under way')
    this.name = 'NamesChanged'
  }
}

import { invalidInput, notFound, Problem } from '../../domain/errors'
import { checkName } from '../../domain/identity/identity'
import type { Attachment } from '../../domain/identity/project-attachment'
import { readProjectName } from '../../domain/identity/project-names'
import { type NameRow, resolveName } from '../../domain/identity/project-resolution'
import type { Principal, Scope } from '../../domain/identity/scope'
import { mayAct } from '../../domain/identity/scope'
import type {
  DirectoryChange,
  ListedProject,
  ProjectAdmin,
  ProjectChange,
  ProjectDirectory,
} from '../../ports/project-directory'
import { withRetries } from '../outcome'

/** Projects that are probably the same, with the reason and the merge that an administrator may confirm. */
export interface LikelyFork {
  readonly reason: 'same name in other case' | 'same remote in another form' | 'same last segment' | 'same folder'
  readonly projects: readonly Pick<ListedProject, 'key' | 'name' | 'entries'>[]
  /** The project to merge into: the one with a remote, else the one with the most entries. */
  readonly into: string
}

export type { ListedProject, ProjectAdmin, ProjectChange } from '../../ports/project-directory'

export type Projects = ReturnType<typeof createProjects>

/** Removes folders of other owners, because a folder reveals an account name. */
const withoutFolders = (project: ListedProject, owner: string | null): ListedProject => ({
  ...project,
  aliases: project.aliases.filter((alias) => alias.kind !== 'folder' || alias.owner === owner),
})

/** Maximum characters of a name. */
const LONGEST = 1_000

const refuse = (message: string): Problem => invalidInput(message)

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createProjects({ directory }: { readonly directory: ProjectDirectory }) {
  const whole = (org: string): Scope => ({ org, projects: null, owner: null })

  /** Finds the rows and the project of a name; never a project that the name would only be attached to. */
  async function find(org: string, given: unknown, field: string) {
    if (typeof given !== 'string' || given.length > LONGEST) throw refuse(`${field} must be the name of a project`)
    const name = readProjectName(given)
    if (name === null) throw refuse(`${field} must be the name of a project, and is blank`)
    const known = await directory.known(whole(org), [given])
    const found = resolveName(whole(org), given, known)
    if (found === null || found.attachments.some(({ isNew }) => !isNew)) throw noSuchProject(given)
    const [added] = found.attachments
    // A project with entries and without names is known by its key; any other name is unknown.
    if (added !== undefined && !known.unnamed.has(found.key)) throw noSuchProject(given)
    return { name, known, project: found.key, homes: found.homes }
  }

  const noSuchProject = (given: string) =>
    notFound(`No project is named ${given}. List projects with: commonplace projects list`)

  const change = (by: ProjectAdmin, plan: () => Promise<{ version: number; change: DirectoryChange }>) =>
    withRetries(async () => {
      const { version, change: planned } = await plan()
      const number = await directory.change(by, version, planned)
      const { change: undone, ...detail } = planned.detail
      return { ...detail, ...(undone === undefined ? {} : { undone }), change: number }
    })

  const named = (key: string): Attachment[] => {
    const name = readProjectName(key)
    return name === null ? [] : [{ name, home: key, isNew: true, isNarrow: false, isTold: false }]
  }

  /** Plans the undo of a change. @throws Problem conflict if its result has changed since */
  async function reversed(by: ProjectAdmin, { seq, action, detail }: ProjectChange) {
    const { project, name, from, homes = [], was, is } = detail
    const known = await directory.known(whole(by.org), [project, ...(from === undefined ? [] : [from])])
    const changed = () =>
      new Problem('conflict', `Change ${seq} cannot be undone: a later change depends on it; undo that first`, {
        retryable: false,
      })
    const projectOf = (home: string) => known.rows.find((row) => row.home === home)?.project ?? home
    const done = (more: Partial<DirectoryChange>) => ({
      version: known.version,
      change: { action: 'undo' as const, undoes: seq, detail: { project, change: seq }, ...more },
    })
    if (action === 'attach' && name !== undefined) {
      const { to: _, ...taken } = splitOff(known.rows, name, project, changed)
      return done(taken)
    }
    if (action === 'rename' && was !== undefined && is !== undefined) {
      if ((known.titles.get(project) ?? project) !== is) throw changed()
      const dropped = name === undefined ? [] : [{ name, home: project }]
      return done({ title: { project, name: was }, dropped })
    }
    if (action === 'merge' && from !== undefined) {
      if (homes.some((home) => projectOf(home) !== project)) throw changed()
      return done({ merged: homes.map((home) => ({ home, into: home === from ? null : from })) })
    }
    if (action === 'split' && from !== undefined) {
      if (homes.some((home) => projectOf(home) !== home) || projectOf(from) !== from) throw changed()
      return done({ merged: homes.map((home) => ({ home, into: from })) })
    }
    throw refuse(`Change ${seq} cannot be undone: only attach, rename, merge and split can`)
  }

  /** Moves a name from its project to a separate one. */
  function splitOff(rows: readonly NameRow[], name: string, home: string, missing: () => Problem) {
    const row = rows.find((one) => one.name === name && one.home === home)
    if (row === undefined) throw missing()
    const to = row.spelling
    const isThere = rows.some((one) => one.name === name && one.home === to)
    return { to, ...(isThere ? { dropped: [{ name, home }] } : { moved: [{ name, from: home, to }] }) }
  }

  return {
    /**
     * Lists the projects that a caller may name, by key, with the entries that it can see. Takes one round trip.
     *
     * @example
     * await services.projects.list(principal)
     * // [{ key: 'github.com/acme/ferry', name: 'Ferry', aliases: [...], entries: 12, … }]
     */
    async list(principal: Principal): Promise<ListedProject[]> {
      const isAdmin = mayAct(principal.role, 'admin')
      const projects = await directory.list(principal, isAdmin && principal.projects === null)
      return isAdmin ? projects : projects.map((project) => withoutFolders(project, principal.owner))
    },

    /** Lists every project of an organization for its administrators, limited to the scope. */
    all: (scope: Scope): Promise<ListedProject[]> => directory.list(scope, scope.projects === null),

    changes: (org: string, request: { before: number | null; limit: number }): Promise<ProjectChange[]> =>
      directory.changes(org, request.before, request.limit),

    /** Changes the display name of a project. The name also becomes one of its names if no project has it. */
    rename: (by: ProjectAdmin, given: { project?: unknown; name?: unknown }) => {
      const is = checkName(given.name, 'name')
      return change(by, async () => {
        const { project } = await find(by.org, given.project, 'project')
        const known = await directory.known(whole(by.org), [project, is])
        const was = known.titles.get(project) ?? project
        const name = readProjectName(is)
        const isFree =
          name?.kind === 'short' && !known.unnamed.has(is) && !known.rows.some((row) => row.name === name.normal)
        const alias = isFree ? { name, home: project, isNew: false, isNarrow: false, isTold: false } : null
        return {
          version: known.version,
          change: {
            action: 'rename',
            detail: { project, was, is, ...(alias === null ? {} : { name: alias.name.normal }) },
            title: { project, name: is },
            ...(alias === null ? {} : { named: [alias] }),
          },
        }
      })
    },

    /** Lets every name of one project refer to another. Entries keep their keys, so history and the feed do not change. */
    merge: (by: ProjectAdmin, given: { from?: unknown; into?: unknown }) =>
      change(by, async () => {
        const from = await find(by.org, given.from, 'from')
        const into = await find(by.org, given.into, 'into')
        if (from.project === into.project)
          throw refuse(`${String(given.from)} and ${String(given.into)} are already one project: ${into.project}`)
        if (from.known.version !== into.known.version) throw new Problem('conflict', 'Projects changed; try again')
        const homes = [...from.homes]
        return {
          version: into.known.version,
          change: {
            action: 'merge',
            detail: { project: into.project, from: from.project, homes },
            merged: homes.map((home) => ({ home, into: into.project })),
            named: [from.project, into.project].flatMap(named),
          },
        }
      }),

    /** Separates a merged key with its entries, or a name, from a project. Entries stored under the other key stay there. */
    split: (by: ProjectAdmin, given: { name?: unknown }) =>
      change(by, async () => {
        const { name, known, project } = await find(by.org, given.name, 'name')
        const asSent = String(given.name).trim()
        const row =
          known.rows.find(({ home }) => home === asSent) ??
          known.rows.find(({ name: one, isNarrow }) => one === name.normal && !isNarrow)
        if (row === undefined) throw noSuchProject(asSent)
        const isKey = row.home === asSent || readProjectName(row.home)?.normal === name.normal
        if (isKey && row.home === project)
          throw refuse(
            `${asSent} is the key of its project; split another name of it, or a project that was merged into it`,
          )
        const own = { action: 'split' as const }
        if (isKey) {
          const detail = { project: row.home, from: project, homes: [row.home] }
          return { version: known.version, change: { ...own, detail, merged: [{ home: row.home, into: null }] } }
        }
        const { to, ...taken } = splitOff(known.rows, name.normal, row.home, () => noSuchProject(asSent))
        const detail = { project: to, from: project, name: name.normal, homes: [to] }
        return { version: known.version, change: { ...own, detail, ...taken } }
      }),

    /** Undoes an attachment, a rename, a merge or a split. */
    undo: (by: ProjectAdmin, given: { change?: unknown }) =>
      change(by, async () => {
        const seq = Number(given.change)
        if (!Number.isSafeInteger(seq) || seq < 1) throw refuse('change must be the number of a project change')
        const [found] = await directory.changes(by.org, seq + 1, 1)
        if (found?.seq !== seq) throw notFound(`No project change has the number ${seq}`)
        if (found.undoneBy !== null)
          throw new Problem('conflict', `Change ${seq} was undone by change ${found.undoneBy}`, { retryable: false })
        return reversed(by, found)
      }),

    /** Lists projects that are probably the same. The server never merges projects automatically. */
    likelyForks: async (projects: readonly ListedProject[]): Promise<LikelyFork[]> => likelyForks(projects),

    async forked(scope: Scope): Promise<LikelyFork[]> {
      return likelyForks(await directory.list(scope, true))
    },
  }
}

function likelyForks(projects: readonly ListedProject[]): LikelyFork[] {
  const found = new Map<string, LikelyFork>()
  const group = (reason: LikelyFork['reason'], keyOf: (project: ListedProject) => readonly string[]) => {
    const by = new Map<string, ListedProject[]>()
    for (const project of projects)
      for (const key of new Set(keyOf(project))) by.set(key, [...(by.get(key) ?? []), project])
    for (const alike of by.values()) {
      const id = JSON.stringify(alike.map(({ key }) => key).toSorted())
      if (alike.length > 1 && !found.has(id))
        found.set(id, { reason, projects: alike.map(shown), into: keeperOf(alike) })
    }
  }
  const formsOf = ({ homes }: ListedProject) => homes.flatMap((home) => readProjectName(home) ?? [])
  const namesOf = (project: ListedProject, kind: string) => [
    ...formsOf(project)
      .filter((form) => form.kind === kind)
      .map(({ normal }) => normal),
    ...project.aliases.filter((alias) => alias.kind === kind).map(({ name }) => name),
  ]
  const lastOf = (name: string) => name.slice(name.lastIndexOf('/') + 1)
  group('same remote in another form', (project) => namesOf(project, 'remote'))
  group('same folder', (project) => namesOf(project, 'folder'))
  group('same name in other case', (project) => namesOf(project, 'short'))
  group('same last segment', (project) =>
    [...formsOf(project).map(({ normal }) => normal), ...project.aliases.map(({ name }) => name)].map(lastOf),
  )
  return [...found.values()]
}

const shown = ({ key, name, entries }: ListedProject) => ({ key, name, entries })

function keeperOf(projects: readonly ListedProject[]): string {
  const hasRemote = ({ aliases, homes }: ListedProject): boolean =>
    aliases.some(({ kind }) => kind === 'remote') || homes.some((home) => readProjectName(home)?.kind === 'remote')
  const sorted = projects.toSorted(
    (a, b) => Number(hasRemote(b)) - Number(hasRemote(a)) || b.entries - a.entries || (a.key < b.key ? -1 : 1),
  )
  return (sorted[0] as ListedProject).key
}

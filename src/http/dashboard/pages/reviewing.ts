import { type Reviewed, readChangeId, toChangeId } from '../../../domain/capture/review'
import { readId } from '../../../domain/entry/link'
import { invalidInput, Problem } from '../../../domain/errors'
import type { Caller } from '../../../domain/identity/scope'
import { requireRole } from '../../auth'
import { callerOf } from '../call'
import { seeOther } from '../page'
import { entryAt } from '../parts/addresses'
import { sent, type Visit } from '../visit'

/** Handles the forms of a review. The address lists the changes that can be undone, newest last, and each form passes them on. */
const MOST_UNDONE = 20

/** Calls the service of a review as the API does. @throws Problem forbidden for a reader, which is logged */
export async function reviewing<T>(visit: Visit, action: string, step: (caller: Caller) => Promise<T>): Promise<T> {
  const caller: Caller = { ...callerOf(visit, action), tool: null }
  try {
    requireRole(caller, 'writer')
    return await step(caller)
  } catch (error) {
    if (error instanceof Problem && error.code === 'forbidden')
      await visit.services.administration.note(caller, false, { denied: 1 })
    throw error
  }
}

interface Outcome {
  readonly done: string
  /** The memory that was created or kept. */
  readonly made: number | null
  /** The changes that can be undone now. */
  readonly changes: readonly string[]
}

/** Redirects to the review, which shows the next session. */
function onwards(visit: Visit, { done, made, changes }: Outcome): Response {
  const query = new URLSearchParams({ done, ...(made === null ? {} : { made: String(made) }) })
  // After an undo, the review starts with that session again.
  for (const name of ['project', 'client', ...(done === 'undo' ? [] : ['after'])]) {
    const value = sent(visit, name)
    if (value !== null) query.set(name, value)
  }
  for (const change of changes.slice(-MOST_UNDONE)) query.append('change', change)
  visit.services.afterwards(visit.services.maintenance.work())
  return seeOther(`/review?${query}`)
}

const changesOf = ({ form }: Visit): string[] => form.getAll('change')

const withNew = (visit: Visit, reviewed: Reviewed): string[] => [...changesOf(visit), toChangeId(reviewed)]

/** Reads the session of a form, at the version that was shown. @throws Problem invalid_input */
function seen(visit: Visit): { readonly id: number; readonly version: number } {
  const [id, version] = [readId(sent(visit, 'id')), readId(sent(visit, 'version'))]
  if (id === null || version === null) throw invalidInput('The form does not name an entry; reload the page')
  return { id, version }
}

/** Entries that a form names, each with the version that was seen: `<id>-<version>`. */
export const pairs = ({ form }: Visit, name: string) =>
  form.getAll(name).flatMap((value) => {
    const [, id, version] = /^(\d{1,15})-(\d{1,15})$/.exec(value) ?? []
    return id === undefined || version === undefined ? [] : [[Number(id), Number(version)] as const]
  })

export async function keep(visit: Visit): Promise<Response> {
  const { id, version } = seen(visit)
  const { reviewed } = await reviewing(visit, 'captured.keep', (caller) =>
    visit.services.capture.review.keep(caller, id, {
      kind: sent(visit, 'other-kind') ?? sent(visit, 'kind') ?? undefined,
      title: sent(visit, 'title') ?? undefined,
      expectedVersion: version,
    }),
  )
  return onwards(visit, { done: 'keep', made: id, changes: withNew(visit, reviewed) })
}

/** Approves a version of a memory, from the review or from the page of the memory. */
export async function approve(visit: Visit): Promise<Response> {
  const { id, version } = seen(visit)
  await reviewing(visit, 'memory.approve', (caller) => visit.services.capture.review.approve(caller, id, version))
  if (sent(visit, 'back') === 'entry') return seeOther(`${entryAt(id)}?done=approved`)
  return onwards(visit, { done: 'approve', made: id, changes: changesOf(visit) })
}

export async function drop(visit: Visit): Promise<Response> {
  const { id, version } = seen(visit)
  const reviewed = await reviewing(visit, 'captured.drop', (caller) =>
    visit.services.capture.review.drop(caller, [id], { [String(id)]: version }),
  )
  return onwards(visit, { done: 'drop', made: null, changes: withNew(visit, reviewed) })
}

export async function merge(visit: Visit): Promise<Response> {
  const { id, version } = seen(visit)
  const all = [[id, version] as const, ...pairs(visit, 'with')]
  const made = await reviewing(visit, 'captured.merge', (caller) =>
    visit.services.capture.review.merge(caller, {
      ids: [...new Set(all.map(([one]) => one))],
      kind: sent(visit, 'merged-kind') ?? 'note',
      title: sent(visit, 'merged-title') ?? '',
      content: sent(visit, 'content') ?? undefined,
      expectedVersions: Object.fromEntries(all),
    }),
  )
  return onwards(visit, { done: 'merge', made: made.id, changes: withNew(visit, made.reviewed) })
}

/** Approves or drops the sessions and proposals that are ticked in the list. */
export async function several(visit: Visit): Promise<Response> {
  const picked = new Map(pairs(visit, 'pick'))
  const ids = [...picked.keys()]
  if (ids.length === 0) throw invalidInput('Tick at least one session of the list, then choose Approve or Drop')
  const versions = Object.fromEntries(picked)
  const { review } = visit.services.capture
  const isDrop = sent(visit, 'do') === 'drop'
  const reviewed = isDrop
    ? await reviewing(visit, 'captured.drop', (caller) => review.drop(caller, ids, versions))
    : await reviewing(visit, 'captured.keep', (caller) => review.keepAll(caller, ids, versions))
  return onwards(visit, { done: isDrop ? 'drop' : 'keep', made: null, changes: withNew(visit, reviewed) })
}

/** Takes the newest of these back. */
export async function undo(visit: Visit): Promise<Response> {
  const changes = changesOf(visit)
  const last = changes.pop()
  const reviewed = readChangeId(last)
  await reviewing(visit, 'captured.undo', (caller) => visit.services.capture.review.undo(caller, reviewed))
  return onwards(visit, { done: 'undo', made: null, changes })
}

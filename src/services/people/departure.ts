import { invalidInput, notFound } from '../../domain/errors'
import type { AuditRow } from '../../domain/identity/audit'
import { isUsable } from '../../domain/identity/identity'
import { isNothing, type PersonalData } from '../../domain/identity/person'
import type { Caller } from '../../domain/identity/scope'
import type { Clock } from '../../ports/clock'
import type { IdentityStore } from '../../ports/identity-store'
import type { Ids } from '../../ports/ids'
import type { PeopleStore, PersonRecord } from '../../ports/people'
import type { DeleteEntries } from '../writing/entries/delete-entries'
import type { Administration, Administrator } from './administration'

/** Entries that one call erases. */
const ERASED_TOGETHER = 100
/** Audit rows in the record of a person. */
const MOST_ACTIONS = 10_000

/** The end of the private data of a person who leaves: another owner gets it, or it is erased. */
export type Farewell = { readonly to: string } | 'erase'

/** The result of one call. */
export interface LeftPart {
  /** The data that remained before the call in a dry run, and after it otherwise. */
  readonly remaining: PersonalData
  /** Whether nothing remains. */
  readonly isDone: boolean
}

/** Lets a person leave, and returns what is stored of a person. */
export type Departure = ReturnType<typeof createDeparture>

export function createDeparture({
  administration,
  people,
  store,
  deleteEntries,
  clock,
  ids,
}: {
  readonly administration: Pick<Administration, 'wholeActor'>
  readonly people: PeopleStore
  readonly store: Pick<IdentityStore, 'owners' | 'keys'>
  readonly deleteEntries: Pick<DeleteEntries, 'erase'>
  readonly clock: Clock
  readonly ids: Ids
}) {
  /** Returns the administrator of the complete organization. @throws Problem not_found for an unknown person */
  async function enter(by: Administrator, org: string, owner: string): Promise<Caller> {
    const actor = await administration.wholeActor(by, org)
    if (!(await store.owners(org)).includes(owner))
      throw notFound(`No such person in this organization: ${JSON.stringify(owner)}. \`keys list\` shows the owners`)
    return { ...actor, changeId: ids.next() }
  }

  /** @throws Problem invalid_input unless another person with a valid key has this name */
  async function checkHeir(org: string, owner: string, to: string): Promise<void> {
    if (to === owner) throw invalidInput('to must be another person')
    const now = clock.now()
    if (!(await store.keys(org)).some((key) => key.owner === to && isUsable(key, now)))
      throw invalidInput(`to must be a person with a valid key: ${JSON.stringify(to)} has none`)
  }

  /** Erases a bounded part of the private data: entries with their versions first, then private versions of shared entries. */
  async function erase(caller: Caller, owner: string): Promise<void> {
    await people.eraseTraces(caller, owner)
    const owned = await people.privateIds(caller, owner, ERASED_TOGETHER)
    if (owned.length > 0) await deleteEntries.erase({ ...caller, owner, projects: null }, { ids: owned })
    else await people.eraseVersions(caller, owner)
  }

  return {
    /**
     * Revokes the keys of a person, and hands over or erases a bounded part of the private entries, diary pages, captured sessions and
     * retained versions. Repeat the call until `isDone`; a call that failed is repeated the same way. Shared entries stay.
     *
     * Private data stays private: only the other owner gets it.
     *
     * @param dryRun counts only
     * @throws Problem not_found for an unknown person, forbidden for a narrowed key, invalid_input for oneself or an heir without a key
     */
    async leave(by: Administrator, org: string, owner: string, farewell: Farewell, dryRun: boolean): Promise<LeftPart> {
      const caller = await enter(by, org, owner)
      if (by.kind === 'key' && by.caller.owner === owner)
        throw invalidInput(
          'This key belongs to the person who leaves: use a key of another administrator, or ADMIN_TOKEN',
        )
      if (farewell !== 'erase') await checkHeir(org, owner, farewell.to)
      // A request that a key began before it was revoked may still write: only a call that finds no valid key is the last one.
      const isRevoked = dryRun || (await people.count(org, owner)).keys === 0
      if (!dryRun) {
        if (farewell === 'erase') await erase(caller, owner)
        else await people.handOver(caller, owner, farewell.to)
      }
      const remaining = await people.count(org, owner)
      return { remaining, isDone: isRevoked && isNothing(remaining) }
    },

    /**
     * Returns what is stored of a person outside of entries: keys, sessions, visits, and the audit rows of their keys, the first 10,000.
     *
     * @throws Problem as `leave`
     */
    async record(
      by: Administrator,
      org: string,
      owner: string,
    ): Promise<PersonRecord & { readonly actions: readonly AuditRow[]; readonly caller: Caller }> {
      const caller = await enter(by, org, owner)
      const [record, actions] = await Promise.all([
        people.record(org, owner),
        people.actions(org, owner, 0, MOST_ACTIONS),
      ])
      return { ...record, actions, caller }
    },

    /** Returns the administrator as a reader of everything that a person may read, for an export. @throws Problem as `leave` */
    async reader(by: Administrator, org: string, owner: string): Promise<Caller> {
      return { ...(await enter(by, org, owner)), owner }
    },
  }
}

import { notFound, Problem } from '../../domain/errors'
import type { AuditEvent, AuditRow } from '../../domain/identity/audit'
import {
  type ApiKey,
  addressInUse,
  alreadyExists,
  checkName,
  checkOrgId,
  checkOwner,
  checkProjectId,
  EXPIRY_WARNING_MS,
  expiresSoon,
  isWithin,
  newOwner,
  type Org,
  type Project,
  withDescendants,
} from '../../domain/identity/identity'
import { checkExpiry, checkGrace, checkKeyDraft, formatKey, KEY_BYTES, type KeyDraft } from '../../domain/identity/key'
import {
  changeLimits,
  hasLimits,
  type KeyLimits,
  type KeyLimitsDraft,
  lowerLimits,
  NO_KEY_LIMITS,
} from '../../domain/identity/key-limits'
import { readProjectName } from '../../domain/identity/project-names'
import type { Actor, Scope } from '../../domain/identity/scope'
import { sha256Hex, unstorable } from '../../domain/text'
import { DAY_MS, HOUR_MS } from '../../domain/time'
import type { AuditLog, NewestAudit } from '../../ports/audit-log'
import type { Clock } from '../../ports/clock'
import type { IdentityStore } from '../../ports/identity-store'
import { withRetries } from '../outcome'
import type { ResolveNames } from './project-names'

/** An administrator: the holder of ADMIN_TOKEN, who belongs to no organization, or an admin key. */
export type Administrator =
  | { readonly kind: 'operator'; readonly action: string }
  | { readonly kind: 'key'; readonly caller: Actor }

interface Dependencies {
  /** Resolves project names for keys and new projects. */
  readonly names: Pick<ResolveNames, 'names' | 'given'>
  readonly store: IdentityStore
  readonly audit: AuditLog
  readonly clock: Clock
}

/** Manages organizations, projects, keys and the audit log, within the reach of the administrator's credential. */
export type Administration = ReturnType<typeof createAdministration>

const OPERATOR = 'admin-token'
const LOCAL_ORG = 'local'
const MOST_EXPIRING = 1_000

/** Limits in a row of the audit log. */
const limitDetail = ({ requestsPerMinute, entriesPerDay }: KeyLimits) => ({
  rate_limit: requestsPerMinute ?? 'none',
  max_entries: entriesPerDay ?? 'none',
})

/** The same error for an organization of others and for one that never existed. */
const noSuchOrg = () => notFound('No such organization for this credential')

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createAdministration({ names, store, audit, clock }: Dependencies) {
  const scopeOf = (by: Administrator, org: string) =>
    by.kind === 'key' ? by.caller : { org, projects: null, owner: null }
  const boundsOf = (by: Administrator) => (by.kind === 'key' ? by.caller.projects : null)
  const actorOf = (by: Administrator) =>
    by.kind === 'key'
      ? { keyId: by.caller.keyId, agent: by.caller.agent, action: by.caller.action, tool: null }
      : { keyId: OPERATOR, agent: null, action: by.action, tool: null }
  const eventOf = (by: Administrator, detail: AuditEvent['detail']): AuditEvent => ({
    ...actorOf(by),
    ids: [],
    allowed: true,
    detail,
  })

  /** Checks access to an organization. @throws Problem not_found unless the credential reaches it */
  async function enter(by: Administrator, org: string): Promise<void> {
    if (by.kind === 'key') {
      if (by.caller.org !== org) throw noSuchOrg()
      // The organization of open mode is created with its first object.
    } else if (unstorable(org) !== null || (await store.orgs([org])).length === 0) throw noSuchOrg()
  }

  /** Returns the expiry of a new key: never later than that of the key that creates it. */
  async function endFor(by: Administrator, asked: number | null): Promise<number | null> {
    const maker = by.kind === 'key' ? await store.keyById(by.caller.keyId) : null
    const bound = maker?.expiresAt ?? null
    return bound === null || (asked !== null && asked < bound) ? asked : bound
  }

  /** Returns the limits for a key that this administrator makes: never above those of its own key. */
  function limitsFor(by: Administrator, asked: KeyLimits = NO_KEY_LIMITS): { readonly limits?: KeyLimits } {
    const limits = lowerLimits(asked, (by.kind === 'key' ? by.caller.limits : undefined) ?? NO_KEY_LIMITS)
    return hasLimits(limits) ? { limits } : {}
  }

  /** Keys that a limited key makes count together with it. */
  const countedWith = (by: Administrator): { readonly countedAs?: string } =>
    by.kind === 'key' && by.caller.limits !== undefined ? { countedAs: by.caller.limits.countedAs } : {}

  const visibleKeys = async (by: Administrator, org: string): Promise<ApiKey[]> =>
    (await store.keys(org)).filter((key) => isWithin(key.projects, boundsOf(by)))

  /** Returns the project keys that a new key may access. New names become projects, so that no other key can claim them later. */
  async function reached(by: Administrator, org: string, given: readonly string[] | null): Promise<string[] | null> {
    if (given === null) return null
    const found = await names.given(scopeOf(by, org), { org, owner: null, ...actorOf(by) }, given)
    return [...new Set(given.flatMap((name) => found.of(name)?.homes ?? [name]))]
  }

  /**
   * Checks that an address leads to one owner of an organization: the holder of a new key would else take over the sign-in of another
   * person.
   *
   * @throws Problem conflict
   */
  async function requireFreeAddress(org: string, owner: string, email: string | undefined): Promise<void> {
    if (email === undefined) return
    const holder = (await store.keysByEmail(email)).find((key) => key.org === org)
    if (holder !== undefined && holder.owner !== owner) throw addressInUse()
  }

  async function newKey(): Promise<{ id: string; text: string; hash: string }> {
    const text = formatKey(crypto.getRandomValues(new Uint8Array(KEY_BYTES)))
    const id = `key_${crypto.randomUUID().replaceAll('-', '').slice(0, 20)}`
    return { id, text, hash: await sha256Hex(text) }
  }

  return {
    /**
     * Returns the actor of an export or import: an admin key acts within its reach, the operator on the complete organization.
     *
     * @throws Problem not_found unless the credential reaches the organization
     */
    async actor(by: Administrator, org: string): Promise<Actor> {
      await enter(by, org)
      if (by.kind === 'key') return by.caller
      return { org, projects: null, owner: null, isWhole: true, role: 'admin', ...actorOf(by) }
    },

    /**
     * Returns the administrator of all projects of an organization.
     *
     * @throws Problem not_found unless the credential reaches the organization, forbidden for a narrowed key
     */
    async wholeActor(by: Administrator, org: string): Promise<Actor> {
      await enter(by, org)
      if (by.kind === 'operator') return { org, projects: null, owner: null, role: 'admin', ...actorOf(by) }
      if (by.caller.projects !== null)
        throw new Problem('forbidden', `${by.caller.action} needs a key for the complete organization`)
      return by.caller
    },

    /** Creates an organization. @throws Problem forbidden unless called by the operator, conflict if the ID exists */
    async createOrg(by: Administrator, draft: { id?: unknown; name?: unknown }): Promise<Org> {
      if (by.kind !== 'operator') throw new Problem('forbidden', 'Only ADMIN_TOKEN creates organizations')
      const id = checkOrgId(draft.id)
      if (id === LOCAL_ORG) throw alreadyExists('Organization', id)
      const org = { id, name: checkName(draft.name ?? id, 'name'), createdAt: clock.now() }
      await store.createOrg(org, eventOf(by, {}))
      return org
    },

    async orgs(by: Administrator): Promise<Org[]> {
      if (by.kind === 'operator') return store.orgs()
      const { org } = by.caller
      const found = await store.orgs([org])
      return found.length > 0 ? found : [{ id: org, name: org, createdAt: null }]
    },

    async createProject(by: Administrator, org: string, draft: { id?: unknown; name?: unknown }): Promise<Project> {
      await enter(by, org)
      const given = checkProjectId(draft.id)
      const found = (await names.names(scopeOf(by, org), [given])).of(given)
      // An administrator's project is separate, even if others have the same last name segment.
      const isNew = found === null || found.attachments.length > 0
      const id = isNew ? (readProjectName(given)?.key ?? given) : given
      if (!isWithin([id], boundsOf(by))) throw new Problem('forbidden', `Project access denied: ${id}`)
      if (!isNew && found.key !== id) throw alreadyExists('Project', found.key)
      // An ID may be longer than a display name.
      const name = draft.name === undefined || draft.name === null ? id : checkName(draft.name, 'name')
      const project = { id, name, createdAt: clock.now() }
      await store.createProject(org, project, eventOf(by, {}))
      return project
    },

    /** Returns the scope of an administrator in an organization. @throws Problem not_found unless the credential reaches it */
    async reach(by: Administrator, org: string): Promise<Scope> {
      await enter(by, org)
      return scopeOf(by, org)
    },

    /**
     * Creates a key, which expires no later than the key that creates it. Without an owner it gets a new one.
     *
     * A narrowed administrator creates keys only for its own projects and owner.
     *
     * @returns the key and its text, which is shown only once
     */
    async createKey(by: Administrator, org: string, draft: KeyDraft): Promise<{ key: ApiKey; text: string }> {
      await enter(by, org)
      const now = clock.now()
      const drafted = checkKeyDraft(draft, now)
      const checked = { ...drafted, projects: await reached(by, org, drafted.projects) }
      const bounds = boundsOf(by)
      if (!isWithin(checked.projects, bounds))
        throw new Problem('forbidden', `projects must be a subset of those of this key: ${bounds?.join(', ')}`)
      if (bounds !== null && checked.owner !== null && by.kind === 'key' && checked.owner !== by.caller.owner)
        throw new Problem(
          'forbidden',
          'owner must be the owner of this key, or empty: keys cannot read private entries of others',
        )
      const { id, text, hash } = await newKey()
      const expiresAt = await endFor(by, checked.expiresAt)
      const made = { id, org, createdAt: now, createdBy: actorOf(by).keyId, revokedAt: null, lastUsedAt: null }
      // Concurrent calls for two keys of one name get their owners one after the other.
      const key = await withRetries(async () => {
        const taken = await store.owners(org)
        const owner = checked.owner === null ? newOwner(checked.name, taken) : checkOwner(checked.owner, taken)
        await requireFreeAddress(org, owner, checked.email)
        const isNew = checked.owner === null
        const whose = taken.includes(owner) ? 'joined' : 'new'
        const next: ApiKey = {
          ...checked,
          ...made,
          expiresAt,
          owner,
          ...limitsFor(by, checked.limits),
          ...countedWith(by),
        }
        const detail = { key: id, role: next.role, owner: whose, ...(next.limits ? limitDetail(next.limits) : {}) }
        await store.createKey(next, hash, eventOf(by, detail), isNew)
        return next
      })
      return { key, text }
    },

    async keys(by: Administrator, org: string): Promise<ApiKey[]> {
      await enter(by, org)
      return visibleKeys(by, org)
    },

    /**
     * Revokes a key. Revoking twice is not an error.
     *
     * @param children whether to revoke the keys created with it too, recursively
     * @returns the key, and the IDs of all keys revoked now
     * @throws Problem not_found
     */
    async revokeKey(
      by: Administrator,
      org: string,
      id: string,
      children = false,
    ): Promise<{ key: ApiKey; revoked: string[] }> {
      await enter(by, org)
      const keys = await visibleKeys(by, org)
      const key = keys.find((one) => one.id === id)
      if (key === undefined) throw notFound('No such key for this credential')
      const family = children ? withDescendants(key, keys) : [key]
      const revoked = family.filter((one) => one.revokedAt === null).map((one) => one.id)
      if (revoked.length === 0) return { key, revoked }
      const at = clock.now()
      const others = revoked.filter((one) => one !== id).length
      const detail = { key: id, ...(others > 0 ? { children: others } : {}) }
      await store.revokeKeys(org, revoked, at, eventOf(by, detail))
      return { key: { ...key, revokedAt: key.revokedAt ?? at }, revoked }
    },

    /**
     * Creates a key with the name, role, projects, agent, owner and limits of another one, which is revoked at once or expires after a grace
     * period. OAuth grants and keys made with the old key stay with it.
     *
     * @returns the new key and its text, which is shown only once, and the old key as it is now
     * @throws Problem not_found, forbidden for a key of another owner unless the administrator is one of all projects, conflict for a
     * revoked key
     */
    async rotateKey(
      by: Administrator,
      org: string,
      id: string,
      draft: { readonly grace_hours?: unknown; readonly expires_at?: unknown },
    ): Promise<{ key: ApiKey; text: string; replaced: ApiKey }> {
      await enter(by, org)
      const old = (await visibleKeys(by, org)).find((one) => one.id === id)
      if (old === undefined) throw notFound('No such key for this credential')
      if (boundsOf(by) !== null && by.kind === 'key' && old.owner !== by.caller.owner)
        throw new Problem('forbidden', 'A key for some projects rotates keys of its own owner only')
      // An ended key can be rotated, and its address may have another holder since.
      await requireFreeAddress(org, old.owner, old.email)
      const now = clock.now()
      const endsAt = now + checkGrace(draft.grace_hours)
      const asked = checkExpiry(draft.expires_at, now)
      // Without a date the new key lives as long as the old one did.
      const usual = old.expiresAt === null ? null : now + Math.max(old.expiresAt - old.createdAt, DAY_MS)
      const { id: newId, text, hash } = await newKey()
      const made = { id: newId, createdAt: now, createdBy: actorOf(by).keyId, revokedAt: null, lastUsedAt: null }
      const counts = { ...limitsFor(by, old.limits), countedAs: old.countedAs ?? old.id }
      const key: ApiKey = { ...old, ...made, ...counts, expiresAt: await endFor(by, asked ?? usual) }
      const detail = { key: id, by: newId, grace_hours: (endsAt - now) / HOUR_MS }
      if (!(await store.replaceKey(id, endsAt, key, hash, eventOf(by, detail))))
        throw new Problem('conflict', 'This key is revoked already: rotate the key that replaced it, or create one', {
          retryable: false,
        })
      const replaced = (await visibleKeys(by, org)).find((one) => one.id === id) ?? old
      return { key, text, replaced }
    },

    /** Sets whether sessions of a key are captured. @throws Problem not_found for an unknown or revoked key */
    async setCaptures(by: Administrator, org: string, id: string, captures: boolean): Promise<void> {
      await enter(by, org)
      const missing = () => notFound('No such key for this credential')
      if (!(await visibleKeys(by, org)).some((key) => key.id === id)) throw missing()
      const event = eventOf(by, { key: id, capture: captures ? 'on' : 'off' })
      if (!(await store.setCaptures(org, id, captures, event))) throw missing()
    },

    /**
     * Sets limits of a key. An absent member of the draft changes nothing.
     *
     * @throws Problem not_found for an unknown or revoked key, forbidden for a limit above that of the administrator's own key
     */
    async limitKey(by: Administrator, org: string, id: string, draft: KeyLimitsDraft): Promise<ApiKey> {
      await enter(by, org)
      const missing = () => notFound('No such key for this credential')
      const key = (await visibleKeys(by, org)).find((one) => one.id === id)
      if (key === undefined) throw missing()
      const limits = changeLimits(key.limits ?? NO_KEY_LIMITS, draft)
      const most = lowerLimits(limits, limitsFor(by).limits ?? NO_KEY_LIMITS)
      if (most.requestsPerMinute !== limits.requestsPerMinute || most.entriesPerDay !== limits.entriesPerDay)
        throw new Problem(
          'forbidden',
          'This key has limits of its own, and gives no key a higher one: use a key without limits, or ADMIN_TOKEN',
        )
      if (!(await store.setLimits(org, id, limits, eventOf(by, { key: id, ...limitDetail(limits) })))) throw missing()
      const { limits: _, ...rest } = key
      return hasLimits(limits) ? { ...rest, limits } : rest
    },

    /** Returns keys that have stored most of their quota today, within the reach of the administrator. */
    async keysNearQuota(by: Administrator & { readonly kind: 'key' }): Promise<ApiKey[]> {
      return (await store.keysNearQuota(by.caller.org)).filter((key) => isWithin(key.projects, boundsOf(by)))
    },

    /** Returns keys that end within two weeks, of all organizations for ADMIN_TOKEN; at most a thousand. */
    async expiringKeys(by: Administrator): Promise<ApiKey[]> {
      const now = clock.now()
      if (by.kind === 'operator') return store.expiringKeys(now, now + EXPIRY_WARNING_MS, MOST_EXPIRING)
      return (await visibleKeys(by, by.caller.org)).filter((key) => expiresSoon(key, now))
    },

    /** Lists events after a cursor. A narrowed administrator reads events of the keys that it administers. */
    async auditPage(
      by: Administrator,
      org: string,
      request: { after: number; limit: number },
    ): Promise<{ events: AuditRow[]; next: number | null }> {
      await enter(by, org)
      const keys = boundsOf(by) === null ? {} : { keys: (await visibleKeys(by, org)).map(({ id }) => id) }
      const rows = await audit.page(org, { ...request, limit: request.limit + 1, ...keys })
      const events = rows.slice(0, request.limit)
      return { events, next: rows.length > events.length ? (events.at(-1)?.seq ?? null) : null }
    },

    /** Lists events newest first, with filters; `older` continues after the checked events. */
    async auditNewest(
      by: Administrator,
      org: string,
      request: Omit<NewestAudit, 'keys'> & { readonly key: string | null },
    ): Promise<{ events: AuditRow[]; older: number | null }> {
      await enter(by, org)
      const { key, ...rest } = request
      const own = boundsOf(by) === null ? null : (await visibleKeys(by, org)).map(({ id }) => id)
      const keys = key === null ? own : own === null || own.includes(key) ? [key] : []
      const { rows, scannedDownTo } = await audit.newest(org, { ...rest, ...(keys === null ? {} : { keys }) })
      return { events: rows, older: scannedDownTo }
    },

    /** Writes an event that has no batch of its own, such as a denial, to the audit log of the caller's organization. */
    async note(caller: Actor, allowed: boolean, detail: AuditEvent['detail'], ids: readonly number[] = []) {
      const { keyId, agent, action, tool } = caller
      const event = { keyId, agent, action, tool, ids, allowed, detail }
      await (allowed ? audit.record(caller.org, event) : audit.recordRepeated(caller.org, event))
    },
  }
}

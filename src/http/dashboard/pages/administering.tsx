import { Problem } from '../../../domain/errors'
import type { Administrator } from '../../../services/people/administration'
import { requireRole } from '../../auth'
import { Choice } from '../parts/form'
import { administratorFor, queryParameter, sent, type Visit } from '../visit'

/** Finds the organization that is administered: an admin key has its own; the holder of ADMIN_TOKEN names it in the address or form. */
export interface Administering {
  readonly by: Administrator
  /** Null while the holder of ADMIN_TOKEN has not named one. */
  readonly org: string | null
}

/**
 * @param action name for the audit log
 * @throws Problem forbidden for a key of another role, which is logged
 */
export async function administering(visit: Visit, action: string): Promise<Administering> {
  const by = administratorFor(visit, action)
  if (by.kind === 'operator') return { by, org: sent(visit, 'org') ?? queryParameter(visit, 'org') }
  try {
    requireRole(by.caller, 'admin')
  } catch (error) {
    await visit.services.administration.note(by.caller, false, { denied: 1 })
    throw error
  }
  return { by, org: by.caller.org }
}

/** The same where an organization is required. @throws Problem invalid_input if none is named */
export async function administeringOne(visit: Visit, action: string): Promise<{ by: Administrator; org: string }> {
  const { by, org } = await administering(visit, action)
  if (org === null) throw new Problem('invalid_input', 'Choose an organization first')
  return { by, org }
}

interface OrgChoiceProps {
  readonly action: string
  readonly orgs: readonly string[]
  readonly org: string | null
  /** The name of a choice of all; absent for none. */
  readonly all?: string
}

/** Lets the holder of ADMIN_TOKEN choose an organization. */
export const OrgChoice = ({ action, orgs, org, all }: OrgChoiceProps) => (
  <form method="get" action={action} class="bar-form">
    <Choice
      name="org"
      label="Organization"
      value={org}
      options={[...(all === undefined ? [] : [['', all] as const]), ...orgs.map((id) => [id, id] as const)]}
    />
    <button type="submit">Show</button>
  </form>
)

/** The hidden field of a form that names the shown organization. */
export const OrgField = ({ by, org }: { by: Administrator; org: string }) =>
  by.kind === 'operator' ? <input type="hidden" name="org" value={org} /> : null

/** Organizations that the holder of ADMIN_TOKEN may choose from; none for a key. */
export const orgsFor = async (visit: Visit, by: Administrator): Promise<string[]> =>
  by.kind === 'operator' ? (await visit.services.administration.orgs(by)).map(({ id }) => id) : []

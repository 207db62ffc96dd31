import { invalidInput } from '../domain/errors'
import type { Actor } from '../domain/identity/scope'
import { MAX_VOLUME_ENTRIES } from '../domain/transfer/records'
import type { Services } from '../services/services'
import type { ExportRequest } from '../services/transfer/export-org'
import { namedProjectOrNone } from './named-project'
import { checkNames, type Query } from './query-names'

/** Parses the query parameters of an export or import. */

const EXPORT_PARAMETERS = ['project', 'after', 'history', 'vectors', 'images', 'limit', 'from']

export function readFlag(query: Query, name: string, usual: boolean): boolean {
  const value = query[name]
  if (value === undefined || value === '') return usual
  if (value === 'true') return true
  if (value === 'false') return false
  throw invalidInput(`${name} must be true or false`)
}

export async function readExport(
  services: Pick<Services, 'names'>,
  actor: Actor,
  query: Query,
): Promise<{ by: Actor; request: ExportRequest; from: string | null; limit: number }> {
  checkNames(query, EXPORT_PARAMETERS, 'an export')
  const given = (name: string) => (query[name] === undefined || query[name] === '' ? null : query[name])
  const limit = given('limit')
  const entries = limit === null ? MAX_VOLUME_ENTRIES : /^\d{1,6}$/.test(limit) ? Number(limit) : 0
  if (entries < 1 || entries > MAX_VOLUME_ENTRIES)
    throw invalidInput(`limit must be a whole number from 1 to ${MAX_VOLUME_ENTRIES}: entries a volume`)
  const { scope: by, project } = await namedProjectOrNone(services, actor, given('project'))
  return {
    by,
    request: {
      project,
      after: given('after'),
      history: readFlag(query, 'history', false),
      vectors: readFlag(query, 'vectors', false),
      images: readFlag(query, 'images', true),
    },
    from: given('from'),
    limit: entries,
  }
}

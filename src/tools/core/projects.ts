import * as z from 'zod'
import { formatSecond } from '../../domain/time'
import { defineTool } from '../define-tool'
import { listOf, output, part, strings } from '../fields'
import { core } from './family'
import { DEFAULT_ANSWER, lean } from './vocabulary'

/** Other names of a project that a list shows. */
const ALIASES = 5

export const projects = defineTool({
  family: core,
  name: 'projects',
  title: 'Projects',
  description: 'List projects with memory counts and last use.',
  example: {},
  promise: 'CORE-26',
  budget: { tokens: 60, trips: 2, reads: [80, 80], writes: 0 },
  input: z.strictObject({ query: z.string().optional().meta({ description: 'Part of a name' }) }),
  output: output({
    projects: listOf(
      part('Project', { project: z.string(), memories: z.int(), aliases: strings('Name') }),
      'Last used first',
    ),
    more: z.int(),
  }),
  async handler({ services, principal }, { query = '' }) {
    const wanted = query.trim().toLowerCase()
    const all = (await services.projects.list(principal))
      .map(({ key, name, aliases, entries, lastUse }) => ({
        ...{ project: key, name: name === key ? null : name, memories: entries, lastUse },
        aliases: aliases.map((alias) => alias.name).filter((alias) => alias !== key),
      }))
      .filter(({ project, name, aliases }) =>
        [project, name ?? '', ...aliases].some((one) => one.toLowerCase().includes(wanted)),
      )
      .sort((a, b) => (b.lastUse ?? 0) - (a.lastUse ?? 0))
    let left = DEFAULT_ANSWER - 200
    const shown: Record<string, unknown>[] = []
    for (const { project, name, memories, lastUse, aliases } of all) {
      const last = lastUse === null ? null : formatSecond(lastUse)
      const one = { project, memories, ...lean({ name, last_used: last, aliases: aliases.slice(0, ALIASES) }) }
      left -= JSON.stringify(one).length + 1
      if (left < 0) break
      shown.push(one)
    }
    return { projects: shown, ...lean({ more: all.length > shown.length ? all.length - shown.length : null }) }
  },
})

import { expect, it } from 'vitest'
import type { HookEvent } from '../../src/domain/capture/request'
import { withoutOwnName } from '../../src/domain/pack/own-name'
import { createAnalyzer } from '../../src/domain/search/analysis'
import type { CaptureStore } from '../../src/ports/capture'
import { createRecallForHooks } from '../../src/services/capture/recall-for-hooks'
import type { Recall } from '../../src/services/searching/memories/recall'

const analyzer = createAnalyzer('english')
const read = (goal: string, project: string | null) =>
  withoutOwnName(goal, project, analyzer).replace(/\s+/g, ' ').trim()

it.each([
  ['lantern: compress archives', 'lantern', 'compress archives'],
  ['compress archives of Lantern', '/home/dev/projects/lantern', 'compress archives of'],
  ["compress lantern's archives", 'C:\\work\\lantern\\', 'compress archives'],
  ['compress archives of web shop and WEB-SHOP', 'web-shop', 'compress archives of and'],
  ['архивы проекта фонарь сжимать', 'фонарь', 'архивы проекта сжимать'],
])('takes the name of its own project out of "%s" in %s', (goal, project, rest) => {
  expect(read(goal, project)).toBe(rest)
})

it.each([
  ['compress lanterns', 'lantern'],
  ['compress archives of lantern', 'orchard'],
  ['compress archives of lantern', null],
  ['compress archives', '/'],
  ['what do we know about lantern?', 'lantern'],
  ['the plan for lantern', 'lantern'],
])('leaves "%s" in %s as it is', (goal, project) => {
  expect(read(goal, project)).toBe(goal)
})

it('is taken out of a prompt for which hooks recall, as a lead-in is', async () => {
  const queries: string[] = []
  const page: Recall['page'] = async (_scope, { query }) => {
    queries.push(query)
    return { results: [], omitted: [], total: 0, below: null } as unknown as Awaited<ReturnType<Recall['page']>>
  }
  const { atPrompt } = createRecallForHooks({ store: {} as CaptureStore, recall: { page }, analyzer })
  const place = { project: 'github.com/acme/ferry' } as HookEvent['place']
  await atPrompt(
    { org: 'acme', projects: null, owner: null },
    'ferry: please oil the lamp',
    { place } as HookEvent,
    null,
  )
  expect(queries).toEqual(['oil the lamp'])
})

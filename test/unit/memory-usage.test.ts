import { expect, it } from 'vitest'
import { MOST_SESSIONS, type SessionUse, USE } from '../../src/domain/capture/usage'
import { DAY_MS } from '../../src/domain/time'
import { createMemoryUsage } from '../../src/services/capture/memory-usage'

const NOW = 200 * DAY_MS
const scope = { org: 'acme', owner: 'ada', projects: null }
const usageAfter = (sessions: number) =>
  createMemoryUsage({
    clock: { now: () => NOW },
    store: {
      uses: async () =>
        Array.from(
          { length: sessions },
          (_, i): SessionUse => ({ session: `codex:${i}`, at: NOW, memories: [[1, USE.opened]] }),
        ),
      firstUse: async () => 0,
      named: async () => [],
      unused: async () => [{ id: 2 }],
    } as never,
  }).week(scope)

it('[CAPTURE-87] proposes no memory as unused where older sessions were not read', async () => {
  expect((await usageAfter(MOST_SESSIONS - 1)).unused).toHaveLength(1)
  expect((await usageAfter(MOST_SESSIONS)).unused).toEqual([])
})

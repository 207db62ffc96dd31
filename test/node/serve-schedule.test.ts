import type { Miniflare } from 'miniflare'
import { expect, it, vi } from 'vitest'
import { startSchedule } from '../../scripts/serve/schedule.mjs'

it('runs every schedule at the start of npm start, and the frequent one again every five minutes', async () => {
  vi.useFakeTimers()
  try {
    const ran: string[] = []
    const scheduled = async ({ cron }: { cron: string }) => void ran.push(cron)
    startSchedule({ getWorker: async () => ({ scheduled }) } as unknown as Miniflare, ['*/5 * * * *', '7 3 * * *'])
    await vi.advanceTimersByTimeAsync(0)
    expect(ran).toEqual(['*/5 * * * *', '7 3 * * *'])
    await vi.advanceTimersByTimeAsync(5 * 60_000)
    expect(ran.slice(2)).toEqual(['*/5 * * * *'])
  } finally {
    vi.useRealTimers()
  }
})

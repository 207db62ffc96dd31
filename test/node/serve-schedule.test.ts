import { expect, it, vi } from 'vitest'
import { startSchedule } from '../../scripts/serve/schedule.mjs'

it('runs every schedule at the start of npm start, the frequent one again after a minute and every five minutes', async () => {
  vi.useFakeTimers()
  try {
    const ran: string[] = []
    startSchedule(async (cron) => void ran.push(cron), ['*/5 * * * *', '7 3 * * *'])
    await vi.advanceTimersByTimeAsync(0)
    expect(ran).toEqual(['*/5 * * * *', '7 3 * * *'])
    // Sessions whose writer died with the server before are due after a minute.
    await vi.advanceTimersByTimeAsync(65_000)
    expect(ran.slice(2)).toEqual(['*/5 * * * *'])
    await vi.advanceTimersByTimeAsync(5 * 60_000 - 65_000)
    expect(ran.slice(3)).toEqual(['*/5 * * * *'])
  } finally {
    vi.useRealTimers()
  }
})

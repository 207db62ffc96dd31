// Runs the Worker's schedule on this machine with timers; on Cloudflare, wrangler.toml has the schedule.
/** The same as in src/index.ts. */
const TOKEN_HEADER = 'x-schedule-token'
const FIVE_MINUTES = 5 * 60_000
const RUNS_A_DAY = 24 * 12
/** A little longer than CLAIM_MS of src/domain/capture/hook-event.ts. */
const CLAIM_OVER = 65_000

/**
 * Runs the Worker's scheduled handler by a request with a token of this start. Not by `getWorker().scheduled`: Miniflare resolves members of
 * its proxies in a synchronous call, during which the output of workerd is not read, and workerd waits for its reader once it has printed
 * much: a deadlock.
 *
 * @param {import('miniflare').Miniflare} server
 * @param {string} token SCHEDULE_TOKEN of the Worker
 * @param {string} cron
 */
export async function requestCron(server, token, cron) {
  const answer = await server.dispatchFetch('http://localhost/', { headers: { [TOKEN_HEADER]: token, 'x-cron': cron } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`The schedule ${cron} failed: ${text.slice(0, 200)}`)
}

/**
 * Runs the frequent schedule at once, since the previous server may have been killed, and every five minutes; the
 * daily ones with the first run and every 24 hours: a server on a laptop seldom runs through a night.
 *
 * @param {(cron: string) => Promise<unknown>} runCron
 * @param {readonly string[]} crons of wrangler's configuration; the first is the frequent one
 * @param {() => Promise<boolean>} [mayRun] whether it can run now; else the next run does the work
 * @returns {(cron?: string) => Promise<void>} runs the frequent schedule once more, or another one; runs never overlap
 */
export function startSchedule(runCron, [frequent, ...daily], mayRun = async () => true) {
  let runs = 0
  /** @type {Promise<unknown>} */
  let last = Promise.resolve()

  /** @param {readonly string[]} crons */
  function inTurn(crons) {
    const next = last.then(async () => {
      if (!(await mayRun())) return
      for (const cron of crons) await runCron(cron)
    })
    last = next.catch(() => {})
    return next
  }

  const once = async (cron = frequent) => {
    if (cron !== undefined) await inTurn([cron])
  }
  if (frequent === undefined) return once
  // The Worker logs errors.
  const attempt = () => void inTurn(runs++ % RUNS_A_DAY === 0 ? [frequent, ...daily] : [frequent]).catch(() => {})
  attempt()
  // A session whose writer was killed with the previous server counts as being written for a minute.
  setTimeout(attempt, CLAIM_OVER).unref()
  setInterval(attempt, FIVE_MINUTES).unref()
  return once
}

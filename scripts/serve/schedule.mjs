// Who finishes here what requests left to be done? On Cloudflare the schedule of wrangler.toml; on this machine these timers.
/** As src/index.ts reads it. */
const TOKEN_HEADER = 'x-schedule-token'
const FIVE_MINUTES = 5 * 60_000
const RUNS_A_DAY = 24 * 12
/** A little longer than CLAIM_MS of src/domain/capture/times.ts. */
const CLAIM_OVER = 65_000

/**
 * Runs the Worker's scheduled handler by a request with a token of this start. Not by `getWorker().scheduled`: Miniflare resolves members of
 * its proxies in a synchronous call, during which the output of workerd is not read, and workerd waits for its reader once it has printed
 * much: then neither goes on.
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
 * Runs the frequent schedule at once, since the server before may have died in the middle of something, and every five minutes; the
 * daily ones with the first run and every day after it: a server on a laptop seldom lives through a night.
 *
 * @param {(cron: string) => Promise<unknown>} runCron
 * @param {readonly string[]} crons of wrangler's configuration; the first is the frequent one
 * @param {() => Promise<boolean>} [mayRun] whether anything can be done now; else the next run does it
 * @returns {(cron?: string) => Promise<void>} one more run of the frequent schedule, or of another; runs never overlap
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
  // What fails is told by the Worker's log.
  const attempt = () => void inTurn(runs++ % RUNS_A_DAY === 0 ? [frequent, ...daily] : [frequent]).catch(() => {})
  attempt()
  // A session whose writer died with the server before counts as being written for a minute.
  setTimeout(attempt, CLAIM_OVER).unref()
  setInterval(attempt, FIVE_MINUTES).unref()
  return once
}

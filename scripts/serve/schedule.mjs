// Who finishes here what requests left to be done? On Cloudflare the schedule of wrangler.toml; on this machine these timers.
const FIVE_MINUTES = 5 * 60_000
const RUNS_A_DAY = 24 * 12

/**
 * Runs the frequent schedule at once, since the server before may have died in the middle of something, and every five minutes; the
 * daily ones with the first run and every day after it: a server on a laptop seldom lives through a night.
 *
 * @param {import('miniflare').Miniflare} server
 * @param {readonly string[]} crons of wrangler's configuration; the first is the frequent one
 * @param {() => Promise<boolean>} [mayRun] whether anything can be done now; else the next run does it
 * @returns {(cron?: string) => Promise<void>} one more run of the frequent schedule, or of another; runs never overlap
 */
export function startSchedule(server, [frequent, ...daily], mayRun = async () => true) {
  let runs = 0
  /** @type {Promise<unknown>} */
  let last = Promise.resolve()

  /** @param {readonly string[]} crons */
  function inTurn(crons) {
    const next = last.then(async () => {
      if (!(await mayRun())) return
      const worker = await server.getWorker()
      for (const cron of crons) await worker.scheduled({ cron })
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
  setInterval(attempt, FIVE_MINUTES).unref()
  return once
}

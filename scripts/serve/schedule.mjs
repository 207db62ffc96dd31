// Who finishes here what requests left to be done? On Cloudflare the schedule of wrangler.toml; on this machine these timers.
const FIVE_MINUTES = 5 * 60_000
const RUNS_A_DAY = 24 * 12
/** A little longer than CLAIM_MS of src/domain/capture/times.ts. */
const CLAIM_OVER = 65_000

/**
 * Runs the frequent schedule at once, since the server before may have died in the middle of something, and every five minutes; the
 * daily ones with the first run and every day after it: a server on a laptop seldom lives through a night.
 *
 * @param {import('miniflare').Miniflare} server
 * @param {readonly string[]} crons of wrangler's configuration; the first is the frequent one
 * @param {() => Promise<boolean>} [mayRun] whether anything can be done now; else the next run does it
 */
export function startSchedule(server, [frequent, ...daily], mayRun = async () => true) {
  if (frequent === undefined) return
  let runs = 0
  async function run() {
    if (!(await mayRun())) return
    const worker = await server.getWorker()
    const crons = runs++ % RUNS_A_DAY === 0 ? [frequent, ...daily] : [frequent]
    for (const cron of crons) await worker.scheduled({ cron })
  }
  // What fails is told by the Worker's log.
  const attempt = () => void run().catch(() => {})
  attempt()
  // A session whose writer died with the server before counts as being written for a minute.
  setTimeout(attempt, CLAIM_OVER).unref()
  setInterval(attempt, FIVE_MINUTES).unref()
}

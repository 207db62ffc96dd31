// `node bench/faults/crash.mjs`: checks that every acknowledged write exists exactly once after the server is killed at random moments.
// See ../README.md.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { letPass } from '../support/folders.mjs'
import { circumstances, writeSection } from '../support/results.mjs'
import { crashAgainAndAgain, startServer } from './crashes.mjs'

const { values } = parseArgs({
  options: {
    crashes: { type: 'string', default: '20' },
    writers: { type: 'string', default: '4' },
    seed: { type: 'string', default: '20261122' },
    port: { type: 'string', default: '18780' },
    postgres: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})

const where = circumstances()
const state = mkdtempSync(join(tmpdir(), 'commonplace-crash-'))
// A database may run as another user, who needs access to this folder.
letPass(state)
try {
  const result = await crashAgainAndAgain({
    start: () =>
      startServer({
        port: Number(values.port),
        state,
        script: values.postgres ? 'dev-postgres.mjs' : 'start.mjs',
        env: { COMMONPLACE_POSTGRES_DATA: join(state, 'postgres') },
      }),
    crashes: Number(values.crashes),
    writers: Number(values.writers),
    seed: Number(values.seed),
    log: console.log,
  })
  const database = values.postgres ? 'PostgreSQL' : 'D1'
  const report = `## Crashes, ${database}

${where}; \`${values.postgres ? 'npm run dev:postgres' : 'npm start'}\`, killed with everything it had started, ${values.writers} writers, seed ${values.seed}.

| crashes | acknowledged writes | writes without an answer | entries at the end | lost, doubled or changed | seconds |
|---|---|---|---|---|---|
| ${result.crashes} | ${result.acknowledged} | ${result.unanswered} | ${result.entries} | ${result.wrong.length} | ${result.seconds} |`
  if (values.write) writeSection(`crashes-${values.postgres ? 'postgres' : 'd1'}`, report)
  console.log(report)
  for (const line of result.wrong) console.error(line)
  process.exitCode = result.wrong.length === 0 ? 0 : 1
} finally {
  rmSync(state, { recursive: true, force: true })
}

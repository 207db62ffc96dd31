import { type BackupRun, isBackupLate, nextBackupAt } from '../../../domain/transfer/backup-age'
import type { Administrator } from '../../../services/people/administration'
import { BACKUP_ROUNDS } from '../../../services/transfer/backup-step'
import type { RestoreDrill, StoredBackups } from '../../../services/transfer/backups'
import { type Page, seeOther } from '../page'
import { Copyable, Name, Note, Pages, Time } from '../parts/common'
import { PostForm } from '../parts/form'
import { Head } from '../parts/table-head'
import { Toast } from '../parts/toast'
import { bytes, count, plural, withQuery } from '../parts/words'
import { queryNumber, queryParameter, sent, type Visit } from '../visit'
import { administering, administeringOne, OrgField } from './administering'

/** The daily backups in the bucket, and the last rehearsal of a restore. */

/** Organizations of one page; each needs two requests to the bucket. */
const ON_PAGE = 50
const LAST = 1_000_000

interface Listed {
  readonly org: string
  readonly stored: StoredBackups
}

const Drill = ({ drill, now }: { drill: RestoreDrill | null; now: number }) => {
  if (drill === null) return <span class="soft">never rehearsed</span>
  const { passed, problem, at, day } = drill
  return (
    <>
      <span class={passed ? 'state' : 'state off'}>{passed ? 'passed' : <strong>failed</strong>}</span>{' '}
      <span class="soft">
        <Time at={Date.parse(at)} now={now} />, backup of {day}
      </span>
      {problem === null ? null : (
        <>
          <br />
          <Name>{problem}</Name>
        </>
      )}
    </>
  )
}

interface RowProps {
  readonly visit: Visit
  readonly by: Administrator
  readonly of: Listed
}

const Row = ({ visit, by, of: { org, stored } }: RowProps) => {
  const { last, days, drill } = stored
  const now = visit.services.now()
  return (
    <tr>
      <th scope="row">
        <Name>{org}</Name>
      </th>
      <td data-label="Last backup">{last === null ? 'none' : <Time at={last.at} now={now} />}</td>
      <td class="num" data-label="Size">
        {last === null ? '–' : bytes(last.bytes)}
      </td>
      <td class="num" data-label="Kept">
        {count(days)} <span class="soft">({bytes(stored.bytes)})</span>
      </td>
      <td data-label="Restore drill">
        <Drill drill={drill} now={now} />
      </td>
      <td class="num">
        <PostForm action="/backups" token={visit.formToken}>
          <OrgField by={by} org={org} />
          <button type="submit" class="small">
            Back up now<span class="hidden"> {org}</span>
          </button>
        </PostForm>
      </td>
    </tr>
  )
}

const COLUMNS = [
  { name: 'Organization' },
  { name: 'Last backup' },
  { name: 'Size', isNumber: true },
  { name: 'Kept', isNumber: true },
  { name: 'Restore drill' },
  { name: 'Actions', isHidden: true },
]

/** When the schedule made the last backup of all organizations, and when it makes the next. */
const Run = ({ visit, run }: { visit: Visit; run: BackupRun }) => {
  const now = visit.services.now()
  const next = nextBackupAt(run, now)
  const { finishedAt, failures, lastError } = run
  // It can be about any organization.
  const seesError = lastError !== null && (visit.credential.kind === 'operator' || visit.config.authMode === 'open')
  return (
    <section class="card">
      <h2>Daily backup</h2>
      <p class="line">
        <span>Last complete</span>
        <span class="soft">{finishedAt === null ? 'none' : <Time at={finishedAt} now={now} />}</span>
      </p>
      <p class="line">
        <span>Next</span>
        <span class="soft">
          {run.isRunning ? 'in progress' : next === now ? 'due now' : <Time at={next} now={now} hours />}
        </span>
      </p>
      <p class="line">
        <span>Kept for</span>
        <span class="soft">{plural(visit.config.backupKeep, 'day')} (BACKUP_KEEP)</span>
      </p>
      {failures === 0 ? null : (
        <p class="hint">
          {plural(failures, 'failure')} since the last success
          {seesError ? (
            <>
              : <Name>{lastError}</Name>
            </>
          ) : (
            '.'
          )}
        </p>
      )}
    </section>
  )
}

/** How to rehearse a restore. */
const Rehearse = ({ visit, org, day }: { visit: Visit; org: string; day: string }) => (
  <section class="card">
    <h2>Rehearse a restore</h2>
    <p>
      Restore a backup into an empty server that has the same ADMIN_TOKEN as this one. The command compares the content
      and records the result here.
    </p>
    <div class="more">
      <Copyable
        label="Restore drill"
        text={[
          `commonplace backup --to ./backups --org ${org} \\`,
          `  --url ${visit.url.origin}`,
          `commonplace restore ${day} --org ${org} --from ./backups \\`,
          '  --url https://empty.example.com \\',
          `  --report ${visit.url.origin}`,
        ].join('\n')}
      />
    </div>
  </section>
)

/** Reports a backup that was made now; a large one goes on with each submit. */
function Done({ visit, by }: { visit: Visit; by: Administrator }) {
  const [done, from, org] = [
    queryParameter(visit, 'done'),
    queryParameter(visit, 'from'),
    queryParameter(visit, 'for') ?? '',
  ]
  if (done === 'made') return <Toast>The backup is complete.</Toast>
  if (done !== 'part' || from === null) return null
  return (
    <Note>
      <span>
        The backup of <Name>{org}</Name> is not complete yet.
      </span>
      <PostForm action="/backups" token={visit.formToken}>
        <OrgField by={by} org={org} />
        <input type="hidden" name="from" value={from} />
        <button type="submit" class="small">
          Continue
        </button>
      </PostForm>
    </Note>
  )
}

const Unbound = ({ visit, org }: { visit: Visit; org: string }) => (
  <section class="card">
    <h2>No bucket for backups is bound</h2>
    <p>
      {visit.config.authMode === 'open' ? (
        'This server makes no backups on its own. Write one into a folder:'
      ) : (
        <>
          Uncomment <code>BACKUP_BUCKET</code> in <code>wrangler.toml</code> and run <code>npm run deploy</code>: the
          schedule then backs up each organization daily. Until then, write a backup into a folder:
        </>
      )}
    </p>
    <div class="more">
      <Copyable label="Backup into a folder" text={`commonplace backup --to ./backups --org ${org}`} />
    </div>
  </section>
)

/** @throws Problem forbidden for a key that does not reach all projects */
async function listed(visit: Visit, by: Administrator, named: string | null) {
  const { administration, transfer } = visit.services
  if (named !== null) await administration.wholeActor(by, named)
  const all = named === null ? (await administration.orgs(by)).map(({ id }) => id).sort() : [named]
  const offset = queryNumber(visit, 'offset', 0, LAST)
  const shown = transfer.backups.isBound ? all.slice(offset, offset + ON_PAGE) : []
  const [run, rows] = await Promise.all([
    transfer.backupRun(),
    Promise.all(shown.map(async (org): Promise<Listed> => ({ org, stored: await transfer.backups.stored(org) }))),
  ])
  return { run, rows, offset, total: all.length, first: all[0] ?? 'ORG' }
}

export async function backups(visit: Visit): Promise<Page> {
  const { by, org } = await administering(visit, 'backups.list')
  const { run, rows, offset, total, first } = await listed(visit, by, org)
  const now = visit.services.now()
  const { isBound } = visit.services.transfer.backups
  return {
    title: 'Backups',
    at: '/backups',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Backups</h1>
          <p>Each organization is written to the bucket once a day (UTC), with its history. Images are stored once.</p>
        </div>
        <Done visit={visit} by={by} />
        {isBound && isBackupLate(run, now) ? (
          <Note bad>The daily backup is late: see the log of the server.</Note>
        ) : null}
        {isBound ? (
          <>
            <section class="card scroll records stacked" id="list" tabindex={0} aria-label="Backups">
              <table>
                <Head url={visit.url} columns={COLUMNS} sort="" />
                <tbody>
                  {rows.map((of) => (
                    <Row visit={visit} by={by} of={of} />
                  ))}
                </tbody>
              </table>
            </section>
            <Pages url={visit.url} offset={offset} shown={rows.length} total={total} size={ON_PAGE} />
            <div class="grid">
              <Run visit={visit} run={run} />
              {visit.config.authMode === 'open' ? null : (
                <Rehearse visit={visit} org={first} day={new Date(now).toISOString().slice(0, 10)} />
              )}
            </div>
          </>
        ) : (
          <Unbound visit={visit} org={first} />
        )}
      </div>
    ),
  }
}

/** Writes a part of a new backup, and the rest with each repetition. */
export async function makeBackup(visit: Visit): Promise<Response> {
  const { by, org } = await administeringOne(visit, 'backups.make')
  const { administration, transfer } = visit.services
  const actor = await administration.wholeActor(by, org)
  let from = sent(visit, 'from')
  for (let step = 0; step < BACKUP_ROUNDS; step++) {
    from = await transfer.backups.goOn(org, from)
    if (from === null) break
  }
  await administration.note(actor, true, {})
  if (from === null) return seeOther('/backups?done=made')
  return seeOther(withQuery('/backups', { done: 'part', for: org, from }))
}

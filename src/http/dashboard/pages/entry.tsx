import type { Child } from 'hono/jsx'
import { citationsOf, placeOf } from '../../../domain/entry/citation'
import type { Entry } from '../../../domain/entry/entry'
import { readId } from '../../../domain/entry/link'
import { own } from '../../../domain/entry/metadata'
import { titleOf } from '../../../domain/entry/title'
import { notFound, Problem } from '../../../domain/errors'
import { differingWords } from '../../../domain/history/word-diff'
import { mayChange } from '../../../domain/identity/scope'
import { jsonText } from '../../../domain/json/write'
import type { LinkedEntry, LinkGraph } from '../../../domain/statistics'
import type { Millis } from '../../../domain/time'
import { addressesAgent } from '../../../domain/trust/agent-directed'
import { attempt } from '../../../services/outcome'
import type { DiffedPage } from '../../../services/searching/history/read-history'
import type { Page } from '../page'
import {
  By,
  EntryLink,
  Facts,
  Images,
  KindLabel,
  Name,
  Note,
  Pages,
  ProjectLink,
  Tags,
  ThreadLink,
  Time,
} from '../parts/common'
import { PostForm } from '../parts/form'
import { Markdown, Verbatim } from '../parts/markdown'
import { Toast } from '../parts/toast'
import { entryAt, plain, plural, samePage, withQuery } from '../parts/words'
import { principalOf, queryNumber, queryParameter, type Visit } from '../visit'
import { ChangedList, type ChangedValues, readChangedValues } from './entry-changes'
import { InlineDetails, InlineText } from './entry-form'
import { Graph } from './entry-graph'
import { Used } from './usage'

/** Shows the metadata and links of a memory. */
const LAYERS = { 1: 'working', 2: 'project', 3: 'semantic' } as const

const statusOf = ({ metadata }: Entry): string => {
  const status = own(metadata, 'status')
  return typeof status === 'string' ? plain(status) : ''
}

/** Formats JSON for people, with all digits of its numbers. */
export function prettyJson(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return jsonText(value)
  const within = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const members = Array.isArray(value)
    ? value.map((one) => prettyJson(one, within))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${prettyJson(one, within)}`)
  if (members.length === 0) return `${open}${close}`
  return `${open}\n${within}${members.join(`,\n${within}`)}\n${indent}${close}`
}

const Fact = ({ name, children }: { name: string; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

export const About = ({ entry, now, children }: { entry: Entry; now: Millis; children?: Child }) => (
  <aside class="card" aria-label="About this memory">
    <h2>About</h2>
    {children}
    <dl class="facts-list">
      <Fact name="Thread">
        <ThreadLink id={entry.threadId} />
      </Fact>
      {entry.project === null ? null : (
        <Fact name="Project">
          <ProjectLink project={entry.project} />
        </Fact>
      )}
      {statusOf(entry) === '' ? null : <Fact name="Status">{statusOf(entry)}</Fact>}
      <Fact name="Readers">{entry.reader === '' ? 'everyone with access to its project' : 'only its owner'}</Fact>
      <Fact name="Author">{entry.source === 'user' ? 'a person' : 'an agent'}</Fact>
      {entry.agent === null ? null : (
        <Fact name="Agent">
          <a class="quiet" href={withQuery('/activity', { agent: entry.agent })}>
            <Name>{entry.agent}</Name>
          </a>
        </Fact>
      )}
      <Fact name="Layer">{LAYERS[entry.layer]}</Fact>
      <Fact name="Stored">
        <Time at={entry.createdAt} now={now} hours />
      </Fact>
      <Fact name="Changed">
        <Time at={entry.updatedAt} now={now} hours />, version {entry.version}
        {entry.changedAgent === null ? null : (
          <>
            {' '}
            by <Name>{entry.changedAgent}</Name>
          </>
        )}
      </Fact>
      {entry.owner === null ? null : (
        <Fact name="Owner">
          <Name>{entry.owner}</Name>
        </Fact>
      )}
      {entry.importedFrom === null ? null : (
        <Fact name="Imported, created by">
          <Name>{entry.importedFrom}</Name>
        </Fact>
      )}
      <Fact name="Id">{entry.id}</Fact>
    </dl>
    {entry.metadata === null || Object.keys(entry.metadata).length === 0 ? null : (
      <details class="more">
        <summary>Metadata</summary>
        <pre tabindex={0}>{prettyJson(entry.metadata)}</pre>
      </details>
    )}
  </aside>
)

/** A stored date; a text that is none is shown as it is stored. */
const FoundAt = ({ text, now }: { text: string; now: Millis }) => {
  const at = Date.parse(text)
  return Number.isNaN(at) ? <>{text}</> : <Time at={at} now={now} />
}

/** The lines of files that the memory is about, and whether they have changed since. */
const Citations = ({ entry, now }: { entry: Entry; now: Millis }) => {
  const citations = citationsOf(entry.metadata)
  return citations.length === 0 ? null : (
    <section class="card" id="sources">
      <h2>{plural(citations.length, 'source')}</h2>
      <ul class="sources">
        {citations.map((citation) => (
          <li>
            <code>{placeOf(citation)}</code>
            <span class={citation.changed_at === undefined ? 'soft' : 'warn'}>
              {citation.changed_at === undefined ? (
                citation.hash === undefined ? (
                  'not checked yet'
                ) : (
                  'unchanged'
                )
              ) : (
                <>
                  changed, found <FoundAt text={citation.changed_at} now={now} />
                </>
              )}
              {citation.commit === undefined ? null : <> · commit {citation.commit.slice(0, 7)}</>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Labels of relations that lead to this memory. */
const INCOMING: Readonly<Record<string, string>> = {
  supersedes: 'replaced by',
  contradicts: 'contradicted by',
  references: 'referred to by',
  depends_on: 'needed by',
}
const OUTGOING: Readonly<Record<string, string>> = { supersedes: 'replaces', references: 'refers to' }

/** The label of a relation as seen from this memory. */
const relation = ({ relation: name, direction }: LinkedEntry): string =>
  direction === 'outgoing' ? (OUTGOING[name] ?? plain(name)) : (INCOMING[name] ?? `${plain(name)}, from`)

interface LinksProps {
  readonly id: number
  readonly links: readonly LinkedEntry[]
  readonly graph: LinkGraph
}

export const Links = ({ id, links, graph }: LinksProps) =>
  links.length === 0 ? null : (
    <section class="card" id="links">
      <h2>{plural(links.length, 'link')}</h2>
      <Graph id={id} graph={graph} />
      <table class="links">
        <thead class="hidden">
          <tr>
            <th scope="col">Relation</th>
            <th scope="col">Memory</th>
            <th scope="col">Kind</th>
          </tr>
        </thead>
        <tbody>
          {links.map((link) => (
            <tr>
              <td class="soft">{relation(link)}</td>
              <td>
                <EntryLink entry={link} />
              </td>
              <td class="num">
                <KindLabel kind={link.kind} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )

/** Finds the memory that an address names. */

/** The same answer for an unknown id, a memory that the key cannot see, and one that is no longer retained. */
export const noEntry = () => notFound('This memory does not exist, or this key cannot see it.')

/** @throws Problem not_found unless the address contains an id */
export function idOf({ url }: Visit): number {
  const id = readId(url.pathname.split('/')[2])
  if (id === null) throw noEntry()
  return id
}

/** A deleted memory that can be restored, with its version. */
interface Deleted {
  readonly deletedAt: number
}

export const isDeleted = (entry: Entry | Deleted): entry is Deleted => 'deletedAt' in entry

/** Returns the memory that a person wants to change. @throws Problem not_found, or forbidden if the key may only read it */
export async function changeable(visit: Visit): Promise<Entry | Deleted> {
  const principal = principalOf(visit)
  const id = idOf(visit)
  const [entry] = await visit.services.entries.read(principal, [id])
  if (entry === undefined) {
    const seen = await attempt(() => visit.services.readHistory.versions(principal, id, { limit: 1, offset: 0 }, false))
    if (seen.ok && seen.value.deleted) return { deletedAt: seen.value.currentVersion }
    throw noEntry()
  }
  if (!mayChange(principal, entry)) throw new Problem('forbidden', 'This key can read this memory but not change it.')
  return entry
}

/** Renders a unified diff of two texts, line by line, and highlights the differences within a replaced line. */
type LineKind = 'place' | 'add' | 'cut'

const kindOf = (line: string): LineKind | undefined =>
  line.startsWith('@@') ? 'place' : line.startsWith('+') ? 'add' : line.startsWith('-') ? 'cut' : undefined

/** Header lines and the note about a missing line break at the end, which the page does not show. */
const isBeside = (line: string, i: number): boolean => (i < 2 && /^(---|\+\+\+) /.test(line)) || line.startsWith('\\ ')

/** The header of a hunk, for people. */
const hunkTitle = (line: string): string => `Line ${/\+(\d+)/.exec(line)?.[1] ?? ''}`

/** Limit of a line that is compared by words, in code units. */
const COMPARED = 5_000

/** Pairs removed and added lines where equally many follow each other. */
function partners(kinds: readonly (LineKind | undefined)[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  const runFrom = (from: number, kind: LineKind): number => {
    let to = from
    while (kinds[to] === kind) to++
    return to - from
  }
  for (let i = 0; i < kinds.length; ) {
    const cut = runFrom(i, 'cut')
    const added = runFrom(i + cut, 'add')
    if (cut === added)
      for (let j = i; j < i + cut; j++) {
        found.set(j, j + cut)
        found.set(j + cut, j)
      }
    i += Math.max(1, cut + added)
  }
  return found
}

/** A line with its sign, and the words that its pair does not have. */
function Differing({ line, other }: { line: string; other: string | undefined }) {
  if (other === undefined || line.length > COMPARED || other.length > COMPARED) return <>{line}</>
  const isAdded = line.startsWith('+')
  const [before, after] = isAdded ? [other, line] : [line, other]
  const words = differingWords(before.slice(1), after.slice(1))
  if (words === null) return <>{line}</>
  return (
    <>
      {line.slice(0, 1)}
      {(isAdded ? words.after : words.before).map(({ text, differs }) => (differs ? <b>{text}</b> : text))}
    </>
  )
}

export const Diff = ({ text }: { text: string }) => {
  const all = text.split('\n')
  const lines = all.filter((line, i) => !isBeside(line, i) && !(i === all.length - 1 && line === ''))
  const kinds = lines.map(kindOf)
  const others = partners(kinds)
  return (
    <pre class="diff" tabindex={0}>
      {lines.map((line, i) => {
        const other = others.get(i)
        return (
          <span class={kinds[i]}>
            {kinds[i] === 'place' ? (
              hunkTitle(line)
            ) : line === '' ? (
              ' '
            ) : (
              <Differing line={line} other={other === undefined ? undefined : lines[other]} />
            )}
          </span>
        )
      })}
    </pre>
  )
}

/** Shows the versions of a memory, newest first, with a diff of each change. */
type Version = DiffedPage['versions'][number]

interface VersionsProps {
  readonly id: number
  readonly history: DiffedPage
  /** The form token for restoring a version; null where that is not offered. */
  readonly token: string | null
  readonly now: Millis
  readonly visit: Visit
  readonly values: ChangedValues
}

const ACTIONS = { stored: 'stored', updated: 'changed', deleted: 'deleted', restored: 'restored' } as const

function One({ of, id, history, token, now, values }: Omit<VersionsProps, 'visit'> & { of: Version }) {
  const isOld = of.version !== history.currentVersion && of.action !== 'deleted'
  return (
    <li class="version">
      <div>
        <Facts>
          <strong>Version {of.version}</strong>
          <span>
            {ACTIONS[of.action]} by <Name>{of.agent ?? of.keyId}</Name>
          </span>
          <Time at={of.at} now={now} hours />
          {of.changed === null || of.changed.length === 0 ? null : <span>{of.changed.join(', ')}</span>}
        </Facts>
        {isOld ? (
          <span class="actions">
            <a href={`${entryAt(id)}/versions/${of.version}`}>See it</a>
            {token === null ? null : (
              <PostForm action={`${entryAt(id)}/restore`} token={token}>
                <input type="hidden" name="version" value={String(of.version)} />
                <input type="hidden" name="expected" value={String(history.currentVersion)} />
                <button type="submit" class="small">
                  Restore
                </button>
              </PostForm>
            )}
          </span>
        ) : null}
      </div>
      <ChangedList of={values.get(of.version) ?? []} />
      {of.diff === undefined || of.diff === '' ? null : <Diff text={of.diff} />}
    </li>
  )
}

export const Versions = ({ visit, ...props }: VersionsProps) => {
  const { versions, total } = props.history
  return (
    <section class="card">
      <h2>History</h2>
      <ol>
        {versions.map((version) => (
          <One of={version} {...props} />
        ))}
      </ol>
      <Pages
        url={visit.url}
        offset={Number(visit.url.searchParams.get('offset') ?? 0) || 0}
        shown={versions.length}
        total={total}
        size={20}
      />
    </section>
  )
}

/** Shows a text as Markdown, or exactly as stored. */
export const StoredText = ({ visit, text }: { visit: Visit; text: string }) => {
  const isPlain = queryParameter(visit, 'as') === 'text'
  return (
    <div class="text-of more">
      {isPlain ? <Verbatim text={text} /> : <Markdown text={text} />}
      <p class="hint">
        <a class="quiet" href={samePage(visit.url, { as: isPlain ? null : 'text' })}>
          {isPlain ? 'Show as Markdown' : 'Show as stored'}
        </a>
      </p>
    </div>
  )
}

/** Shows one memory with its text, metadata, links and history. */
const LINKS = 100
const VERSIONS = 20
/** Direct neighbors in the graph. */
const NEAR = 8
const DEEPEST = 1_000_000

async function look(visit: Visit, id: number) {
  const { services } = visit
  const principal = principalOf(visit)
  const window = { limit: VERSIONS, offset: queryNumber(visit, 'offset', 0, DEEPEST) }
  const [entries, links, graph, versions, use] = await Promise.all([
    services.entries.read(principal, [id]),
    services.overview.links(principal, id, LINKS),
    services.overview.graph(principal, id, NEAR),
    attempt(() => services.readHistory.versions(principal, id, window, true)),
    services.capture.usage.of(principal, id),
  ])
  const history = versions.ok ? versions.value : null
  const values = history === null ? new Map() : await readChangedValues(services.readHistory, principal, id, history)
  return { entry: entries[0], links, graph, history, values, offset: window.offset, use }
}

/** Reports the last action, with its undo. */
function Done({ visit, entry: { id, version }, may }: { visit: Visit; entry: Entry; may: boolean }) {
  const done = queryParameter(visit, 'done')
  const from = queryParameter(visit, 'from')
  if (done === 'changed')
    return (
      <Toast>
        <span>Your changes are stored.</span>
        {may && from === String(version - 1) && visit.config.history.days > 0 ? (
          <PostForm action={`${entryAt(id)}/restore`} token={visit.formToken}>
            <input type="hidden" name="version" value={from} />
            <input type="hidden" name="expected" value={String(version)} />
            <button type="submit" class="small">
              Undo
            </button>
          </PostForm>
        ) : null}
      </Toast>
    )
  if (done === 'approved') return <Toast>You have approved this version. Packs and hooks include it.</Toast>
  if (done === 'restored') return <Toast>The memory was restored.</Toast>
  if (done !== 'stored') return null
  return <Toast>Memory {id} is stored. Agents can now find it.</Toast>
}

/** Shows whether a person has approved the memory, where approval matters, and the form to approve it. */
function Approval({ visit, entry, may }: { visit: Visit; entry: Entry; may: boolean }) {
  const addresses = addressesAgent(entry)
  const isLimited = visit.config.packTrust === 'approved'
  const isProcedure = entry.kind === 'procedure'
  if (!addresses && !isLimited && !isProcedure) return null
  if (entry.approved) return <Note>A person has approved this version.</Note>
  return (
    <Note bad={addresses}>
      {addresses ? 'This text addresses an agent. ' : ''}
      {isLimited || addresses
        ? `${isLimited ? 'Packs and hooks' : 'Hooks'} leave it out until a person approves it. `
        : ''}
      {isProcedure ? 'An approved procedure is also served as a skill.' : ''}
      {may ? (
        <PostForm action="/review/approve" token={visit.formToken}>
          <input type="hidden" name="id" value={String(entry.id)} />
          <input type="hidden" name="version" value={String(entry.version)} />
          <input type="hidden" name="back" value="entry" />
          <button type="submit" class="small">
            Approve
          </button>
        </PostForm>
      ) : null}
    </Note>
  )
}

function Shown({ visit, entry, seen }: { visit: Visit; entry: Entry; seen: Awaited<ReturnType<typeof look>> }) {
  const { services, formToken } = visit
  const now = services.now()
  const may = mayChange(principalOf(visit), entry)
  return (
    <>
      <Done visit={visit} entry={entry} may={may} />
      <div class="head" data-edit={may ? `${entryAt(entry.id)}/edit` : undefined}>
        <h1>
          <Name>{titleOf(entry) || `Memory ${entry.id}`}</Name>
        </h1>
        {may ? (
          <div class="actions">
            <a class="button" href={`${entryAt(entry.id)}/edit`}>
              Edit
            </a>
            <a class="button bad" href={`${entryAt(entry.id)}/delete`}>
              Delete
            </a>
          </div>
        ) : null}
      </div>
      <div class="columns">
        <div>
          <article class="card">
            <Facts>
              <KindLabel kind={entry.kind} />
              <By entry={entry} />
              <Time at={entry.createdAt} now={now} />
              {entry.archived ? <span>archived: not in lists</span> : null}
              {entry.reader === '' ? null : <span>private</span>}
              <Used use={seen.use} now={now} />
            </Facts>
            <Approval visit={visit} entry={entry} may={may} />
            <StoredText visit={visit} text={entry.text} />
            {may ? <InlineText entry={entry} token={formToken} /> : null}
            <div class="more">
              <Images of={entry} />
            </div>
            <div class="more">
              <Tags tags={entry.tags} />
            </div>
          </article>
          {entry.summary === '' ? null : (
            <section class="card">
              <h2>Summary</h2>
              <p>{entry.summary}</p>
            </section>
          )}
          <Citations entry={entry} now={now} />
          <Links id={entry.id} links={seen.links} graph={seen.graph} />
          {seen.history === null ? null : (
            <Versions
              id={entry.id}
              history={seen.history}
              values={seen.values}
              token={may ? formToken : null}
              now={now}
              visit={visit}
            />
          )}
        </div>
        <div class="beside">
          <About entry={entry} now={now}>
            {may ? <InlineDetails entry={entry} token={formToken} /> : null}
          </About>
        </div>
      </div>
    </>
  )
}

interface EraseProps {
  readonly id: number
  readonly versions: number | null
  readonly token: string
  /** Whether the form was sent without the box ticked. */
  readonly isUnsure: boolean
}

/** Asks before a memory is erased, and names what is lost. */
export const EraseForm = ({ id, versions, token, isUnsure }: EraseProps) => (
  <PostForm action={`${entryAt(id)}/erase`} token={token} class="stack-form more">
    <ul class="bullets">
      <li>
        The server removes its text, {versions === null ? 'its versions' : plural(versions, 'version')}, its links and
        its images that no other memory has.
      </li>
      <li>You cannot restore it. The audit log keeps only its ID.</li>
      <li>Backups and exports that were made before still contain it.</li>
    </ul>
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          name="sure"
          value="yes"
          required
          aria-invalid={isUnsure ? 'true' : undefined}
          aria-describedby={isUnsure ? 'sure-error' : undefined}
        />
        Erase memory {id} for good
      </label>
      {isUnsure ? (
        <p class="error" id="sure-error">
          Tick the box to erase the memory.
        </p>
      ) : null}
    </div>
    <p class="actions">
      <button type="submit" class="bad">
        Erase for good
      </button>
    </p>
  </PostForm>
)

interface GoneProps {
  readonly visit: Visit
  readonly id: number
  readonly history: DiffedPage
  readonly values: ChangedValues
}

/** Shows a deleted memory, as long as it can be restored. */
function Gone({ visit, id, history, values }: GoneProps) {
  const change = queryParameter(visit, 'change')
  const may = visit.credential.kind === 'principal' && visit.credential.principal.role !== 'reader'
  // Right after the deletion its undo is a toast; later the page states what this is.
  const Told = change === null ? Note : Toast
  return (
    <>
      <Told>
        <span>{change === null ? 'This memory was deleted.' : `Memory ${id} is deleted.`}</span>
        {may ? (
          <PostForm action={`${entryAt(id)}/restore`} token={visit.formToken}>
            {change === null ? null : <input type="hidden" name="change" value={change} />}
            <button type="submit" class="small">
              {change === null ? 'Restore' : 'Undo'}
            </button>
          </PostForm>
        ) : null}
      </Told>
      <div class="head">
        <h1>Deleted memory {id}</h1>
        <p>
          <a href="/deleted">All deleted memories</a>
        </p>
      </div>
      <Versions id={id} history={history} values={values} token={null} now={visit.services.now()} visit={visit} />
      {may ? (
        <details class="card">
          <summary>Erase for good</summary>
          <EraseForm id={id} versions={history.total} token={visit.formToken} isUnsure={false} />
        </details>
      ) : null}
    </>
  )
}

export async function entry(visit: Visit): Promise<Page> {
  const id = idOf(visit)
  const seen = await look(visit, id)
  if (seen.entry !== undefined)
    return { title: titleOf(seen.entry), body: <Shown visit={visit} entry={seen.entry} seen={seen} /> }
  if (seen.history?.deleted !== true) throw noEntry()
  return {
    title: `Deleted memory ${id}`,
    body: <Gone visit={visit} id={id} history={seen.history} values={seen.values} />,
  }
}

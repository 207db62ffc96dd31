import type { Child } from 'hono/jsx'
import type { Entry } from '../../../domain/entry/entry'
import { jsonText } from '../../../domain/json/write'
import type { LinkedEntry } from '../../../domain/report'
import type { Millis } from '../../../domain/time'
import { EntryLink, Kind, Name, ProjectLink, ThreadLink, Time } from '../parts/common'
import { plain, plural } from '../parts/words'

/** Shows the metadata and links of a memory. */
const LAYERS = { 1: 'working', 2: 'project', 3: 'semantic' } as const

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

export const About = ({ entry, now }: { entry: Entry; now: Millis }) => (
  <aside class="card" aria-label="About this memory">
    <h2>About</h2>
    <dl class="facts-list">
      <Fact name="Thread">
        <ThreadLink id={entry.threadId} />
      </Fact>
      {entry.project === null ? null : (
        <Fact name="Project">
          <ProjectLink project={entry.project} />
        </Fact>
      )}
      <Fact name="Said by">{entry.source === 'user' ? 'a person' : 'an agent'}</Fact>
      {entry.agent === null ? null : (
        <Fact name="Agent">
          <Name>{entry.agent}</Name>
        </Fact>
      )}
      <Fact name="Layer">{LAYERS[entry.layer]}</Fact>
      <Fact name="Stored">
        <Time at={entry.createdAt} now={now} />
      </Fact>
      <Fact name="Changed">
        <Time at={entry.updatedAt} now={now} />, version {entry.version}
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

/** The label of a relation as seen from this memory. */
function relation({ relation: name, direction }: LinkedEntry): string {
  if (direction === 'outgoing') return plain(name)
  return name === 'supersedes' ? 'superseded by' : name === 'contradicts' ? 'contradicted by' : `${plain(name)}, from`
}

export const Links = ({ links }: { links: readonly LinkedEntry[] }) =>
  links.length === 0 ? null : (
    <section class="card">
      <h2>{plural(links.length, 'link')}</h2>
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
                <Kind kind={link.kind} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )

import type { Child } from 'hono/jsx'
import type { Entry } from '../../../domain/entry/entry'
import { titleOf } from '../../../domain/entry/title'
import type { Millis } from '../../../domain/time'
import { ago, count, day, entryAt, exact, minute, plain, samePage, threadAt, withQuery } from './words'

/** Parts that many pages share. Stored data is inserted as text, which JSX escapes. */

/**
 * A relative time with the exact instant as its title; with `hours` the day and the minute. The script shows both in the reader's zone.
 */
export const Time = ({ at, now, hours = false }: { at: number; now: Millis; hours?: boolean }) => {
  const shown = hours ? minute(at, now) : ago(at, now)
  const unit = hours ? 'minute' : shown === day(at, now) ? 'day' : undefined
  return (
    <time datetime={new Date(at).toISOString()} title={exact(at)} data-local={unit}>
      {shown}
    </time>
  )
}

export const KindLabel = ({ kind }: { kind: string }) => <span class={`kind kind-${kind}`}>{plain(kind)}</span>

/** Text of unknown direction and length, isolated so that it does not reorder or overlap its neighbors. */
export const Name = ({ children }: { children: Child }) => <bdi class="name">{children}</bdi>

export const EntryLink = ({ entry }: { entry: Pick<Entry, 'id' | 'title' | 'text'> }) => (
  <a href={entryAt(entry.id)}>
    <Name>{titleOf(entry) || `Memory ${entry.id}`}</Name>
  </a>
)

export const ThreadLink = ({ id }: { id: string }) => (
  <a class="quiet" href={threadAt(id)}>
    <Name>{id}</Name>
  </a>
)

/** Allows line breaks after the slashes of a project path. */
export const ProjectLink = ({ project }: { project: string }) => (
  <a class="quiet" href={withQuery('/search', { project })}>
    <Name>
      {project.split('/').map((part, i) => (
        <>
          {i === 0 ? null : ['/', <wbr />]}
          {part}
        </>
      ))}
    </Name>
  </a>
)

export const Tags = ({ tags }: { tags: readonly string[] }) =>
  tags.length === 0 ? null : (
    <ul class="tags" aria-label="Tags">
      {tags.map((tag) => (
        <li>
          <a href={withQuery('/search', { tag })}>
            <Name>{tag}</Name>
          </a>
        </li>
      ))}
    </ul>
  )

/** Thumbnails that link to the full images. */
export const Images = ({ of: { id, images } }: { of: Pick<Entry, 'id' | 'images'> }) =>
  images.length === 0 ? null : (
    <ul class="images" aria-label="Images">
      {images.map(({ hash, mimeType }, i) => (
        <li>
          <a href={`/images/${hash}`}>
            <img
              src={`/images/${hash}`}
              alt={`${i + 1} of memory ${id} (${mimeType})`}
              loading="lazy"
              width="160"
              height="120"
            />
          </a>
        </li>
      ))}
    </ul>
  )

/** The author of a memory, in a list of facts. */
export const By = ({ entry }: { entry: Pick<Entry, 'agent' | 'source'> }) => (
  <span class="by">{entry.agent === null ? entry.source : <Name>{entry.agent}</Name>}</span>
)

export const Facts = ({ children }: { children: Child }) => <div class="facts">{children}</div>

/** The message of an empty list, with what to do next. */
export const Nothing = ({ title, children }: { title: string; children?: Child }) => (
  <div class="nothing">
    <p class="nothing-title">{title}</p>
    {children}
  </div>
)

/** A message at the top of a page. */
export const Note = ({ children, bad = false }: { children: Child; bad?: boolean }) => (
  <div class={bad ? 'note bad' : 'note'} role={bad ? 'alert' : 'status'}>
    {children}
  </div>
)

/** Links to the previous and next page of a list that is paged by offset. */
export function Pages({ url, offset, shown, total, size, isRanked = false, isCut = false }: PagesProps) {
  if (offset === 0 && shown >= total) return null
  const newer = offset > 0 ? samePage(url, { offset: Math.max(0, offset - size) || null }) : null
  const older = offset + shown < total ? samePage(url, { offset: offset + size }) : null
  return (
    <nav class="pages" aria-label="Pages of this list">
      {newer === null ? (
        <span />
      ) : (
        <a class="button" href={newer} rel="prev">
          {isRanked ? 'Better' : 'Newer'}
        </a>
      )}
      <span class="soft">
        {shown === 0
          ? 'nothing here'
          : `${count(offset + 1)}–${count(offset + shown)} of ${count(total)}${isCut ? '+' : ''}`}
      </span>
      {older === null ? (
        <span />
      ) : (
        <a class="button" href={older} rel="next">
          {isRanked ? 'Further' : 'Older'}
        </a>
      )}
    </nav>
  )
}
interface PagesProps {
  readonly url: URL
  readonly offset: number
  readonly shown: number
  readonly total: number
  readonly size: number
  readonly isRanked?: boolean
  /** Whether there are more than `total`. */
  readonly isCut?: boolean
}

/** Text with a copy button, which the script adds. */
export const Copyable = ({ text, label }: { text: string; label: string }) => (
  <section class="copyable" aria-label={label}>
    <pre data-copy tabindex={0}>
      {text}
    </pre>
  </section>
)

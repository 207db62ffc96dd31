import { cosineAt } from '../../../domain/meaning/vector'
import { truncate } from '../../../domain/text'
import type { Millis } from '../../../domain/time'
import { By, EntryLink, Facts, Images, Kind, ProjectLink, Tags, ThreadLink, Time } from '../parts/common'
import { score } from '../parts/words'
import type { FoundEntry } from './searching'

/** Shows one result with its ranks and scores, the same as agents get. */
const SHOWN = 300

/** Renders a text with its hits, which the highlighter puts between marks; everything else is text. */
const Highlighted = ({ text }: { text: string }) => (
  <>
    {text.split(/(<mark>.*?<\/mark>)/s).map((part) => {
      const hit = /^<mark>(.*)<\/mark>$/s.exec(part)?.[1]
      return hit === undefined ? part : <mark>{hit}</mark>
    })}
  </>
)

function Why({ of: found }: { of: FoundEntry }) {
  const {
    ftsRank = null,
    ftsScore = null,
    semanticRank = null,
    distance = null,
    fused = null,
    rerankScore = null,
  } = found
  const cosine = distance === null ? null : cosineAt(distance)
  const reasons = [
    ...(ftsScore === null ? [] : [['Words', `${ftsRank === null ? '' : `rank ${ftsRank}, `}score ${score(ftsScore)}`]]),
    ...(cosine === null
      ? []
      : [['Meaning', `${semanticRank === null ? '' : `rank ${semanticRank}, `}similarity ${score(cosine)}`]]),
    ...(fused === null ? [] : [['Together', score(fused)]]),
    ...(rerankScore === null ? [] : [['Reranked', score(rerankScore)]]),
  ]
  if (reasons.length === 0) return null
  return (
    <p class="why">
      {reasons.map(([name, value]) => (
        <span>
          <b>{name}</b> {value}
        </span>
      ))}
    </p>
  )
}

export const Result = ({ of: found, now }: { of: FoundEntry; now: Millis }) => {
  const { entry, highlighted = null } = found
  return (
    <li>
      <p class="title">
        <EntryLink entry={entry} />
        <Time at={entry.createdAt} now={now} />
      </p>
      <p class="excerpt">
        {highlighted === null ? truncate(entry.text, SHOWN).text : <Highlighted text={highlighted} />}
      </p>
      <Facts>
        <Kind kind={entry.kind} />
        <By entry={entry} />
        {entry.project === null ? null : <ProjectLink project={entry.project} />}
        <ThreadLink id={entry.threadId} />
        <Tags tags={entry.tags} />
      </Facts>
      <Why of={found} />
      <Images of={entry} />
    </li>
  )
}

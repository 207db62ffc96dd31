// The entries of the load bench: the same for the same seed, size and position, computed on demand.
import { random } from '../support/numbers.mjs'
import { createVocabulary, drawByRank } from './words.mjs'

const SEED = 20_261_101
const THREADS = 400
const PROJECTS = 8
const TAGS = 60
const STATUSES = ['done', 'done', 'done', 'open', 'open', 'in_progress', 'in_progress', 'review', 'closed', 'closed']
const TECHNOLOGIES = ['typescript', 'sqlite', 'postgres', 'workers', 'react', 'docker', 'python', 'terraform']

/** Each probe marks this many entries, spread evenly over the table. */
export const PROBE_MATCHES = 100

/** Values that only probes have. */
export const PROBE = {
  thread: 'probe/thread',
  tag: 'probe-tag',
  status: 'on_hold',
  priority: 5,
  ticket: 'PROBE-1',
  words: ['quillfeather', 'marlstone'],
}

/** Places of the two common words that the phrase probe puts next to each other. */
const PHRASE_RANKS = [130, 170]

const vocabulary = createVocabulary(SEED)
const drawThread = drawByRank(THREADS, 8)
const drawTag = drawByRank(TAGS, 3)

export const PHRASE = PHRASE_RANKS.map(vocabulary.at).join(' ')
export const COMMON_TAG = 'area-0'

/** Common words that carry content, for queries; another set for each n. */
export function commonWords(n, count) {
  const next = random(SEED + 7919 * (n + 1))
  return Array.from({ length: count }, () => vocabulary.at(150 + Math.floor(next() * 350)))
}

/** Returns the probe of an entry, if any: each has one position in every hundredth of the table. */
export function probeOf(index, size) {
  if (index >= size) return null
  const kinds = ['thread', 'tag', 'status', 'ticket', 'words', 'phrase']
  return kinds[index % (size / PROBE_MATCHES)] ?? null
}

function sentence(next, topic) {
  const length = 6 + Math.floor(next() * 13)
  const words = Array.from({ length }, () => {
    const own = next() < 0.12
    return vocabulary.at(own ? topic + Math.floor(next() * 40) : vocabulary.draw(next()))
  })
  const first = words[0]
  return `${first[0].toUpperCase()}${first.slice(1)} ${words.slice(1).join(' ')}.`
}

/** 200–1,500 characters; most are short, as memories are. */
function textOf(next, topic, probe) {
  const wanted = 200 + Math.floor(1250 * next() ** 2)
  const sentences = []
  if (probe === 'words') sentences.push(`The ${PROBE.words.join(' met the ')} again.`)
  if (probe === 'phrase') sentences.push(`We saw ${PHRASE} there.`)
  let length = sentences.join(' ').length
  while (length < wanted) {
    const one = sentence(next, topic)
    sentences.push(one)
    length += one.length + 1
  }
  return sentences.join(' ').slice(0, 1500)
}

/**
 * The arguments of `store_context` for one entry of a table of this size; places from `size` on carry no probe.
 *
 * @param {number} index
 * @param {number} size a multiple of 100, at least 1,000
 */
export function entryAt(index, size) {
  const next = random(Math.imul(index + 1, 2_654_435_761) ^ SEED)
  const probe = probeOf(index, size)
  const thread = drawThread(next())
  const topic = 1000 + 60 * thread
  const pick = (list) => list[Math.floor(next() * list.length)]
  const tags = Array.from({ length: Math.floor(next() * 4) }, () => `area-${drawTag(next())}`)
  return {
    thread_id: probe === 'thread' ? PROBE.thread : `project-${thread % PROJECTS}/session-${thread}`,
    source: next() < 0.4 ? 'user' : 'agent',
    text: textOf(next, topic, probe),
    tags: probe === 'tag' ? [...tags, PROBE.tag] : tags,
    metadata: {
      title: sentence(next, topic).slice(0, 60),
      status: probe === 'status' ? PROBE.status : pick(STATUSES),
      priority: probe === 'status' ? PROBE.priority : 1 + Math.floor(next() * 5),
      agent_name: `agent-${Math.floor(next() * 12)}`,
      project: `project-${thread % PROJECTS}`,
      task_name: `task-${thread}-${Math.floor(next() * 5)}`,
      technologies: [pick(TECHNOLOGIES), pick(TECHNOLOGIES)],
      ...(probe === 'ticket' ? { ticket: PROBE.ticket } : {}),
    },
  }
}

// Turns tasks into the entries that agents stored about them: conversations, decisions, gotchas, work in progress, and general rules.
import { TASKS } from './tasks.mjs'

/** @typedef {import('./tasks.mjs').Task} Task */
/**
 * @typedef {object} Planned an entry, and its time
 * @property {string} thread_id
 * @property {'user' | 'agent'} source
 * @property {string} text
 * @property {Record<string, unknown>} metadata
 * @property {string[]} tags
 * @property {number} hoursAgo
 * @property {{ data: string, mime_type: string }[]} [images]
 * @property {string} [supersedes] key of an entry that it replaces
 * @property {string} [about] key of an entry that it refers to
 * @property {string} [key]
 */

const AGENTS = /** @type {const} */ (['claude', 'codex', 'cursor', 'ci-bot'])
const HOURS = 42 * 24

/** @param {Task} task @param {number} i @returns {Planned[]} */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: texts of the demo in the order in which they are stored
function ofTask(task, i) {
  const { thread, project, area, ask, found, decision, gotcha, done } = task
  const first = AGENTS[i % 3]
  const second = AGENTS[(i + 1) % 3]
  // Tasks start one after the other; some of the last ones are still open.
  const begun = HOURS - (i * (HOURS + 10)) / TASKS.length
  const isDone = i < TASKS.length - 3
  let hours = begun
  /**
   * @param {number} later hours @param {'user' | 'agent'} source @param {string} kind @param {string} text
   * @param {Record<string, unknown>} metadata @param {string[]} tags
   * @returns {Planned}
   */
  const entry = (later, source, kind, text, metadata = {}, tags = []) => {
    hours = Math.max(0.2, hours - later)
    return {
      thread_id: thread,
      source,
      text,
      metadata: { project, kind, ...metadata },
      tags: [area, ...tags],
      hoursAgo: hours,
    }
  }
  /** @param {typeof AGENTS[number]} agent */
  const by = (agent) => ({ agent_name: agent })
  const entries = [
    { ...entry(0, 'user', 'episode', ask), key: `${thread}/ask` },
    entry(
      0.1,
      'agent',
      'note',
      `I look into it. First I reproduce it with ${project}, then I read what we know about ${area}.`,
      by(first),
    ),
    {
      ...entry(1.3, 'agent', 'note', found, { ...by(first), title: `What is behind ${thread.replaceAll('-', ' ')}` }, [
        'finding',
      ]),
      key: `${thread}/found`,
    },
    entry(
      0.4,
      'agent',
      'plan',
      `Plan for ${thread}:\n1. A test that fails for the reason found.\n2. ${decision[0]}.\n3. Measure before and after.\n4. Write down what surprised us.`,
      { ...by(first), title: `Plan for ${thread.replaceAll('-', ' ')}` },
    ),
    entry(
      2.1,
      'agent',
      'note',
      `Read the plan from my side. I have no objections; please keep in mind that ${project} is deployed on Tuesdays, so step 2 should be done by Monday noon.`,
      by(second),
    ),
    entry(0.3, 'user', 'episode', 'Agreed. Go on, and store what you decide so that the others know.'),
    {
      ...entry(3.5, 'agent', 'decision', decision[1], { ...by(first), title: decision[0], references: {} }),
      key: `${thread}/decision`,
      about: `${thread}/found`,
    },
    {
      ...entry(5.2, 'agent', 'gotcha', gotcha[1], { ...by(second), title: gotcha[0] }),
      key: `${thread}/gotcha`,
      about: `${thread}/decision`,
    },
    entry(
      1.1,
      'agent',
      'note',
      `The failing test is in place (${thread.replaceAll('-', '_')}.test.ts, 4 cases). It fails for the reason that was found, on both databases.`,
      by(first),
      ['tests'],
    ),
    {
      ...entry(
        6.4,
        'agent',
        'task',
        isDone
          ? done
          : `In progress: ${decision[0].toLowerCase()}. The change is on a branch, the measurement is still missing.`,
        {
          ...by(first),
          title: `Build: ${decision[0]}`,
          status: isDone ? 'done' : i % 2 === 0 ? 'doing' : 'review',
          priority: (i % 5) + 1,
          ...(isDone ? { learnings: gotcha[0] } : {}),
        },
      ),
      key: `${thread}/task`,
    },
  ]
  if (!isDone) return entries
  return [
    ...entries,
    entry(
      0.5,
      'agent',
      'verification',
      `CI run ${4100 + i * 37}: ${380 + i * 11} tests passed, 0 failed, 2 skipped. Bundle ${212 + i} KB. Deployed to staging by ${first}.`,
      { ...by('ci-bot'), title: `CI: ${thread}`, passed: 380 + i * 11, failed: 0 },
      ['ci'],
    ),
    entry(3.2, 'agent', 'summary', `${ask}\n\n${found}\n\nDecided: ${decision[0]}. ${done}`, {
      ...by(first),
      title: `Where ${thread.replaceAll('-', ' ')} ended`,
    }),
    entry(8, 'user', 'episode', 'Thank you. That is exactly what we needed.'),
  ]
}

/** @type {readonly [kind: string, title: string, text: string, agent: string][]} */
const RULES = [
  [
    'rule',
    'Deploy on Tuesdays, never without a way back',
    'Deployments go out on Tuesday morning, with a tested rollback. Nothing is deployed on Fridays, on holidays or while the harbour office is closed.',
    'claude',
  ],
  [
    'convention',
    'Instants are stored in UTC, with the zone of the port',
    'A time is an instant plus a zone name. Offsets are never stored. Show times in the zone of the port where the passenger is.',
    'codex',
  ],
  [
    'convention',
    'Money is whole cents with a currency',
    'No floats for money, anywhere. The currency table knows the number of decimals.',
    'codex',
  ],
  [
    'rule',
    'No customer data in logs, tests or screenshots',
    'Ids and hashes only. Test data come from the generator.',
    'claude',
  ],
  [
    'convention',
    'Error codes are a contract, error texts are not',
    'Clients compare codes. Texts explain what to do next and may change at any time.',
    'cursor',
  ],
  [
    'guide',
    'How we review',
    'Read the test first, then the change. Say what you would be afraid of in production. Two approvals for payments and for migrations.',
    'cursor',
  ],
  [
    'procedure',
    'When a crossing is cancelled',
    '1. Mark it in the operator tool. 2. Refund in full (regulation 1177/2010). 3. Offer the next two crossings. 4. Tell the call centre.',
    'claude',
  ],
  [
    'procedure',
    'Restore a backup',
    '1. Restore into a new database. 2. npm run db:verify. 3. scripts/replay-deletions. 4. Switch the connection. 5. Write down the time it took.',
    'codex',
  ],
  [
    'pattern',
    'Expand, fill, read, contract',
    'Schema changes take four releases at most and never lock a table that sells tickets.',
    'codex',
  ],
  [
    'guide',
    'Names of branches',
    'kind/what-changes, as in fix/double-bookings. The thread of the task has the same name.',
    'cursor',
  ],
  [
    'idea',
    'Sell the empty seats of the last hour',
    'A third of all late crossings leave half empty. A price that falls in the last hour could fill them; the operators would have to agree.',
    'claude',
  ],
  [
    'topic',
    'Ports and their codes',
    'We match by UN/LOCODE. 212 ports are known, 9 of them have a name that another one has too.',
    'codex',
  ],
]

/** Returns all entries, oldest first. @param {(name: string) => { data: string, mime_type: string }} picture @returns {Planned[]} */
export function plannedEntries(picture) {
  const rules = RULES.map(([kind, title, text, agent], i) => ({
    thread_id: 'how-we-work',
    source: /** @type {const} */ ('agent'),
    text,
    metadata: { kind, title, agent_name: agent, ...(i % 3 === 0 ? { pinned: true } : {}) },
    tags: ['how-we-work'],
    hoursAgo: HOURS - 8 - i * 40,
    key: `rule/${i}`,
  }))
  const later = {
    thread_id: 'how-we-work',
    source: /** @type {const} */ ('agent'),
    text: 'Deployments go out on Tuesday or Thursday morning, with a tested rollback. Fridays and holidays stay closed. Thursday was added because a fix should not wait for six days.',
    metadata: {
      kind: 'rule',
      title: 'Deploy on Tuesdays and Thursdays, never without a way back',
      agent_name: 'claude',
    },
    tags: ['how-we-work'],
    hoursAgo: 60,
    supersedes: 'rule/0',
  }
  const shown = (
    /** @type {string} */ thread,
    /** @type {string} */ name,
    /** @type {string} */ text,
    /** @type {string} */ project,
  ) => {
    const at = TASKS.findIndex((task) => task.thread === thread)
    return {
      thread_id: thread,
      source: /** @type {const} */ ('agent'),
      text,
      metadata: { project, kind: 'artifact', title: text.split('.')[0], agent_name: 'cursor' },
      tags: ['picture'],
      hoursAgo: Math.max(1, HOURS - (at * (HOURS + 10)) / TASKS.length - 14),
      images: [picture(name)],
    }
  }
  const pictures = [
    shown(
      'search-latency',
      'latency',
      'Search latency before and after. Friday evenings, p95 in milliseconds.',
      'ferry-api',
    ),
    shown('seat-map', 'deck', 'The deck as sections of buttons. Chosen seats are dark.', 'harbor-web'),
    shown('dark-mode', 'boarding', 'The boarding screen at night. Numbers are readable from two metres.', 'harbor-web'),
    shown(
      'crossing-delays',
      'delays',
      'Predicted against real delays in October. Two false alarms at the left.',
      'tide-data',
    ),
  ]
  return [...TASKS.flatMap(ofTask), ...rules, later, ...pictures].sort((a, b) => b.hoursAgo - a.hoursAgo)
}

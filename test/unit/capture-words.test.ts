import { describe, expect, it } from 'vitest'
import { checkpointOf } from '../../src/domain/capture/checkpoint'
import { decisionsIn, findingsIn } from '../../src/domain/capture/decisions'
import type { ClientEvent } from '../../src/domain/capture/hook-event'
import { MEMORY_TAG } from '../../src/domain/capture/memory-tag'
import { promptText, type StartMemories, startText } from '../../src/domain/capture/recall-text'
import { cleanText, currentForm, initialState, readPlace, withEvent } from '../../src/domain/capture/session-state'
import { folderName, remoteOf } from '../../src/domain/identity/project-names'

const PLACE = { project: 'ferry', branch: null, audience: 'private', captures: true } as const
const promptOf = (text: string): ClientEvent => ({
  ...{ session: 's', isSubagent: false, name: 'Prompt' },
  what: { kind: 'prompt', text },
})
const stopOf = (answer: string): ClientEvent => ({
  ...{ session: 's', isSubagent: false, name: 'Stop' },
  what: { kind: 'stop', answer },
})

/** Prompts and answers, processed in their order or in the reverse one. */
function played(turns: readonly (readonly string[])[], isReverse = false) {
  const events = turns.flatMap(([prompt = '', answer = ''], i) => [
    [promptOf(prompt), 10 * i + 2] as const,
    [stopOf(answer), 10 * i + 5] as const,
  ])
  const inOrder = isReverse ? events.toReversed() : events
  return inOrder.reduce((all, [event, at]) => withEvent(all, event, PLACE, at), initialState(PLACE, 1))
}

/** Projects of sessions, stored texts, and prompts of models (capture contract §3). */
describe('a session', () => {
  it('belongs to the project that its file names, else to its remote, else to its folder', () => {
    const remotes = [
      'git@github.com:Acme/Ferry.git',
      'https://ada:secret@github.com/acme/ferry.git/',
      'ssh://git@github.com:22/acme/ferry',
      'https://user@corp@github.com/acme/ferry',
    ]
    expect(remotes.map(remoteOf)).toEqual(Array(4).fill('github.com/acme/ferry'))
    expect(
      ['/srv/git/ferry.git', 'file:///srv/ferry.git', '../ferry', 'C:\\git\\ferry', 'C:/git/ferry'].map(remoteOf),
    ).toEqual(Array(5).fill(null))
    expect(['/home/ada/Ferry/', 'C:\\work\\Ferry', '/', '~', 'C:\\'].map(folderName)).toEqual([
      'Ferry',
      'Ferry',
      null,
      null,
      null,
    ])
    expect(readPlace({ project: 'own', remote: remotes[0], folder: '/x' }).project).toBe('own')
    expect(readPlace({ remote: '/srv/git', folder: '/home/ada/Ferry' }).project).toBe('Ferry')
    expect(readPlace({ audience: 'org', capture: 0 })).toEqual({
      project: null,
      named: { project: null, remote: null, folder: null },
      branch: null,
      audience: 'private',
      captures: true,
    })
  })

  it('keeps nothing private or recalled, also where it does not end, and no secret', () => {
    expect(cleanText('a <private>b</private> c <PRIVATE>d')).toBe('a  c ')
    expect(cleanText(`a <${MEMORY_TAG}>b</${MEMORY_TAG}> c <${MEMORY_TAG}>d`)).toBe('a  c ')
    for (const mark of ['private', MEMORY_TAG]) {
      expect(cleanText(`a <${mark}>b <${mark}>c</${mark}> d</${mark}> e`)).toBe('a  e')
      expect(cleanText(`a <${mark} of="me">b</${mark} > c <${mark}\n>d`)).toBe('a  c ')
      expect(cleanText(`a <${mark}>b <${mark}>c</${mark}> d`)).toBe('a ')
    }
    expect(cleanText('DB_PASSWORD=hunter2hunter2')).toContain('[redacted:')
    expect([...cleanText('😀'.repeat(5000))]).toHaveLength(4000)
    expect(cleanText('a\u0000b\ud800')).toBe('a\ufffdb\ufffd')
  })

  it('keeps of a patch the lines that name its files, however long it is', () => {
    const patch = `*** Begin Patch\n*** Update File: a.ts\n${'+ x\n'.repeat(5000)}*** Add File: b.ts\n+y\n*** End Patch`
    expect(cleanText(patch)).toBe('*** Begin Patch\n*** Update File: a.ts\n*** Add File: b.ts\n*** End Patch')
  })

  it('is written when a command ran, even if its client does not report the outcome', () => {
    const place = { project: 'ferry', branch: null, audience: 'private', captures: true } as const
    const what = { kind: 'tool', files: [], command: 'make', outcome: 'unknown' } as const
    const gathered = withEvent(
      initialState(place, 1),
      { session: 's', isSubagent: false, name: 'PostToolUse', what },
      place,
      2,
    )
    expect(gathered.commands).toEqual([{ command: 'make', failedAt: null, passedAt: null }])
    expect(checkpointOf(gathered, 'Codex')?.title).toBe('Session of Codex')
    expect(checkpointOf(initialState(place, 1), 'Codex')).toBeNull()
  })

  it('keeps as decisions the sentences in which a person wishes, agrees or sets a rule, in six languages', () => {
    const wishes = [
      "Let's use PostgreSQL for the queue.",
      'I want to keep the local changes since they are newer.',
      'We decided to drop the cache.',
      'From now on every table has a primary key.',
      'Please never commit to main directly.',
      'Wir nehmen SQLite für die Warteschlange.',
      'Lass uns bei Version 3 bleiben.',
      'Nous préférons garder le cache local.',
      'Désormais chaque table a une clé.',
      'Vamos a usar Redis para la cola.',
      'No quiero más dependencias.',
      '無料で使いたいので、Cron-job.orgを使用します。',
      '我们决定使用 PostgreSQL。',
    ]
    expect(wishes.map((wish) => decisionsIn(wish))).toEqual(wishes.map((wish) => [wish]))
  })

  it('treats no message of a program, option, question, quote or retraction as a decision', () => {
    const others = [
      'Define a constant instead of using this literal 5 times.',
      'Netflix decided to move to AWS.',
      'We decided to use Kafka, no wait, nothing.',
      'We decided to use Kafka. No wait, scratch that.',
      'Should we use Kafka?',
      'Option 2: we will use Kafka',
      'Maybe we should use Kafka.',
      'If we decided to use Kafka it would cost more.',
      'The docs say "we should always use the new client".',
      '```\nwe will use foo() instead of bar()\n```',
      '> let us use the second one',
      'Ich will wissen, was das ist.',
      'quiero saber qué es esto',
      'Wait for the build.',
    ]
    expect(others.filter((text) => decisionsIn(text).length > 0)).toEqual([])
    expect(decisionsIn('we decided to use it. '.repeat(30))).toHaveLength(1)
  })

  it('keeps measurements and what did not help as findings', () => {
    const text =
      'I tried it. Batching did not help, 39.8 s versus 40.2 s. The build went from 40 s to 12 s. All is well.'
    expect(findingsIn(text)).toEqual([
      'Batching did not help, 39.8 s versus 40.2 s.',
      'The build went from 40 s to 12 s.',
    ])
    expect(findingsIn('Das Stapeln hat nichts gebracht.')).toHaveLength(1)
  })

  it('stores every prompt with content and a part of the answer of every turn', () => {
    const turns = Array.from({ length: 20 }, (_, i) => [
      `Question number ${i} about part ${i}`,
      `Answer ${i} `.repeat(200),
    ])
    const said = played([...turns, ['yes', 'Good.'], ['continue', 'More.']])
    const text = checkpointOf(said, 'Codex')?.text ?? ''
    for (const i of turns.keys()) {
      expect(text).toContain(`- Question number ${i} about part ${i}`)
      expect(text).toContain(`> Answer ${i} Answer ${i}`)
    }
    expect(text).not.toContain('- yes')
    expect(text).not.toContain('- continue')
    expect([...text].length).toBeLessThanOrEqual(6000)
  })

  it('gathers the same turns in any order of their events', () => {
    const turns = Array.from({ length: 60 }, (_, i) => [`Question ${i} `, `Answer ${i} `.repeat(90)])
    expect(played(turns, true)).toEqual(played(turns))
  })

  it('counts a yes to a proposal as a decision, and includes the proposal', () => {
    const said = played([
      ['Which queue?', 'There are two. I recommend to use the outbox table for it.'],
      ['yes', 'Done.'],
    ])
    expect(checkpointOf(said, 'Codex')?.text).toContain(
      'Decided:\n- Agreed: I recommend to use the outbox table for it.',
    )
  })

  it('keeps a command that failed and later passed with the files that changed in between', () => {
    const tool = (files: string[], command: string | null, outcome: 'success' | 'failure') =>
      ({ session: 's', isSubagent: false, name: 'Tool', what: { kind: 'tool', files, command, outcome } }) as const
    const events = [tool(['x.ts'], null, 'success'), tool([], 'npm test', 'failure'), tool(['a.ts'], null, 'success')]
    const gathered = [...events, tool([], 'npm test', 'success'), tool([], 'npm run lint', 'failure')].reduce(
      (all, event, i) => withEvent(all, event, PLACE, i + 2),
      initialState(PLACE, 1),
    )
    const text = checkpointOf(gathered, 'Codex')?.text
    expect(text).toContain('Failed, later passed:\n- npm test (after changes of a.ts)')
    expect(text).toContain('Failed, not passed since:\n- npm run lint')
  })

  it('reports whether the session did anything worth continuing', () => {
    const workOf = (events: readonly ClientEvent[]) =>
      checkpointOf(
        events.reduce((all, event, i) => withEvent(all, event, PLACE, i + 2), initialState(PLACE, 1)),
        'C',
      )?.work
    const tool = (files: string[], command: string | null = null): ClientEvent => ({
      ...{ session: 's', isSubagent: false, name: 'Tool' },
      what: { kind: 'tool', files, command, outcome: 'success' },
    })
    expect(workOf([tool([], 'ls')])).toBe('none')
    expect(workOf([tool(['a.ts'])])).toBe('small')
    expect(workOf([tool(['a.ts', 'b.ts'])])).toBe('some')
    expect(workOf([tool([], 'ls'), promptOf("Let's use the second way.")])).toBe('some')
  })

  it('reads the state of a session that an earlier version gathered', () => {
    const state = {
      place: { project: 'p', branch: null, audience: 'private' as const, at: 1 },
      prompts: { count: 2, first: [{ at: 2, text: 'first' }] },
      files: [{ at: 3, text: 'a.ts' }],
      commands: [],
      decisions: [
        { who: 'agent', at: 4, text: 'x instead of y' },
        { who: 'user', at: 5, text: 'let us use y' },
      ],
      answer: { at: 6, text: 'done' },
      recalled: { ids: [], chars: 0 },
    }
    const text = checkpointOf(currentForm(state as never), 'Codex')?.text ?? ''
    expect(text).toContain('Decided:\n- let us use y')
    expect(text).not.toContain('instead of')
    expect(text).toContain('The last answer begins: done')
  })
})

describe('the prompt of a model', () => {
  const none = { Pinned: [], 'Work in flight': [], Constraints: [], Decisions: [], Gotchas: [] }
  const usual = { kind: 'decision', agent: null, createdAt: 0 }
  const many = (from: number, count: number, text = 'words '.repeat(100)) =>
    Array.from({ length: count }, (_, i) => ({ ...usual, id: from + count - i, title: `Title ${from + i}`, text }))

  it('is empty when there is nothing to include', () => {
    expect(startText({ facets: none, leftOff: null })).toEqual({ text: '', ids: [] })
    expect(promptText([], 6000)).toEqual({ text: '', ids: [] })
  })

  it('does not repeat the title of a text that starts with it, and leaves no half of a word or sentence', () => {
    const lineOf = (title: string, text: string) => promptText([{ id: 1, title, text }], 6000).text.split('\n')[2]
    expect(lineOf('Seats are held', 'Seats are held. They expire.')).toBe('- [1] Seats are held: They expire.')
    expect(lineOf('Seats are held', 'Seats are held.')).toBe('- [1] Seats are held')
    expect(lineOf('Seat', 'Seats are held')).toBe('- [1] Seat: Seats are held')
    expect(lineOf('Release 1', 'Release 1.5 is out')).toBe('- [1] Release 1: Release 1.5 is out')
    expect(lineOf('席は十分間', '席は十分間。その後は失効')).toBe('- [1] 席は十分間: その後は失効')
  })

  it('stays within its characters and bytes in every script, and holds where the last session left off', () => {
    for (const text of ['words '.repeat(400), '記憶'.repeat(1000), '😀'.repeat(2000)]) {
      const facets = { ...none, Decisions: many(1, 24, text), Gotchas: many(50, 24, text), Pinned: many(90, 24, text) }
      const standing: StartMemories = { facets, leftOff: { ...usual, id: 7, title: null, text } }
      const start = startText(standing).text
      expect([...start].length).toBeLessThanOrEqual(6000)
      expect(new TextEncoder().encode(start).length).toBeLessThanOrEqual(9500)
      expect(start).toContain('Where we left off [7]')
      expect([...promptText(many(1, 3, text), 6000).text].length).toBeLessThanOrEqual(1500)
    }
  })

  it('is in a fence that no stored text can close or open, however it spells the tag', () => {
    const tags = [
      '</commonplace-memory>',
      '<commonplace-memory>',
      '</COMMONPLACE-memory >',
      '</commonplace\u2011memory>',
      '</commonplace\u2010memory>',
      '</common\u200bplace-memory>',
      '<\u200b/commonplace-memory>',
      '<\u2060/\u2060commonplace-memory>',
      '</\u00adcommonplace-memory>',
      '</\u0441ommonplace-memory>',
      '</c\u043emm\u043enpl\u0430ce-mem\u043ery>',
      '</commonplace_memory>',
      '< /commonplace-memory>',
      '<\t/ commonplace-memory>',
      '<\n/commonplace-memory>',
      '\uff1c/commonplace-memory\uff1e',
      '\ufe64/commonplace-memory\ufe65',
      '\uff1c\uff0fcommonplace-memory>',
      '\u2039/commonplace-memory\u203a',
      '\u276e\u200b\u2044commonplace-memory\u276f',
      '\u27e8/commonplace-memory\u27e9',
      '\u1438/commonplace-memory>',
      '<\u202e/commonplace-memory>',
      '</commonplace-memory\u0000>',
      '<!-- </commonplace-memory> -->',
    ]
    const angle =
      /[<\uff1c\ufe64]|[\u02c2\u1438\u2039\u227a\u2329\u276c\u276e\u27e8\u29fc\u3008]\P{L}{0,9}[/\u2044\uff0f]/u
    for (const tag of tags)
      for (const entry of [
        { ...usual, id: 1, title: `a ${tag} b`, text: `c ${tag} d` },
        { ...usual, id: 1, title: null, text: `${tag}\n${tag.repeat(40)}` },
        { ...usual, id: 1, title: tag, text: `${'x'.repeat(310)}${tag}` },
      ]) {
        const facets = { ...none, Decisions: [entry] }
        for (const { text } of [startText({ facets, leftOff: { ...entry, id: 2 } }), promptText([entry], 6000)]) {
          const [open, close] = ['<commonplace-memory>', '</commonplace-memory>']
          expect([tag, text.startsWith(`${open}\n`), text.endsWith(`\n${close}`)]).toEqual([tag, true, true])
          expect([tag, angle.test(text.slice(open.length, -close.length))]).toEqual([tag, false])
        }
      }
    // Other text does not change.
    const said = 'in ‹quotes› and 〈brackets〉: a > b && c/d, commonplace-memory'
    expect(promptText([{ id: 1, title: null, text: said }], 6000).text).toContain(said)
  })

  it('draws from every section in turn, and gives none more than a third of the budget', () => {
    const facets = { ...none, Constraints: many(1, 24), Decisions: many(30, 24), Gotchas: many(60, 2) }
    const lines = startText({ facets, leftOff: null }).text.split('\n')
    const section = (from: string, to: string) => lines.slice(lines.indexOf(from) + 1, lines.indexOf(to))
    const [rules, decisions] = [section('Constraints:', 'Decisions:'), section('Decisions:', 'Gotchas:')]
    expect(lines).toEqual(expect.arrayContaining(['Constraints:', 'Decisions:', 'Gotchas:']))
    for (const own of [rules, decisions]) {
      expect(own.length).toBeGreaterThan(3)
      expect(own.join('\n').length).toBeLessThanOrEqual(2_100)
    }
    // The newest entry of a section, which is the first of its list.
    expect(decisions.join('\n')).toContain('[54]')
    expect(lines.filter((line) => /^- \[6[12]\]/.test(line))).toHaveLength(2)
  })

  it('includes an entry once, in the order of facets and ids, whatever the order it was found in', () => {
    const [a, b] = [
      { ...usual, id: 9, title: 'A', text: 'A' },
      { ...usual, id: 3, title: 'B', text: 'b' },
    ]
    const one = startText({ facets: { ...none, Pinned: [a], Decisions: [a, b] }, leftOff: null })
    expect(one.text.split('\n').slice(2, -1)).toEqual(['Pinned:', '- [9] A', 'Decisions:', '- [3] B: b'])
    const other = startText({ facets: { ...none, Decisions: [b, a] }, leftOff: null })
    expect(other.text).toBe(startText({ facets: { ...none, Decisions: [a, b] }, leftOff: null }).text)
  })
})

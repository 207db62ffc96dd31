import { type SQL, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSqlCurrentMemories } from '../../src/adapters/sql/stores/memories/current'
import type { Caller } from '../../src/domain/identity/scope'
import { OPENED } from '../../src/domain/recall/events/event'
import { type CurrentRequest, createGetCurrent } from '../../src/services/searching/memories/current'
import { freshPrincipal } from '../support/scope'
import { seeded } from '../support/seeded'
import { LEVELS, type RecallGround, recallWorld } from './recall-world'

const DAY = 86_400_000
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
const idsOf = (list: readonly { readonly id: number }[]): number[] => list.map(({ id }) => id)

type Legs = Pick<Parameters<typeof createGetCurrent>[0], 'words' | 'semantic'>

/** Memories shown to an agent now (fabric contract §5). */
export function currentContract(name: string, make: () => RecallGround): void {
  describe(`${name} knows what matters now`, () => {
    let ground: RecallGround
    let ada: Caller
    let world: ReturnType<typeof recallWorld>
    beforeEach(() => {
      ground = make()
      ada = freshPrincipal()
      behind = []
      world = recallWorld(ground, ada)
    })

    /** Work after answers. */
    let behind: (() => Promise<void>)[] = []
    const noted = () => Promise.all(behind.splice(0).map((work) => work()))

    const answer = (given: Partial<CurrentRequest> = {}, by = ada, legs: Partial<Legs> = {}) => {
      const { connection, clock } = ground
      const getCurrent = createGetCurrent({
        current: createSqlCurrentMemories(connection, clock, ground.index.nearby !== null),
        ...{ memories: world.memories, clock, levels: async () => LEVELS },
        ...{ words: world.words, semantic: world.semantic, ...legs },
        afterwards: (work) => void behind.push(work),
      })
      const nothing = { sessionId: null, currentFile: null, currentCommand: null, language: null, filePath: null }
      return getCurrent(by, { ...nothing, project: 'p', ...given })
    }
    const now = async (given: Partial<CurrentRequest> = {}, by = ada) => {
      const current = await answer(given, by)
      await noted()
      return current
    }
    const inProject = (more: object = {}) => ({ metadata: { projectPath: 'p', ...more } })
    const store = (content: string, more: object = {}, draft: object = {}) =>
      world.store(content, { ...inProject(more), ...draft })

    /** As the event of an opened file is stored. */
    const open = (path: string, more: object = {}) =>
      store(
        path,
        { fileContext: { path }, tags: [OPENED.tag, 'auto_capture'], source: 'system_auto', ...more },
        { type: 'scratchpad', layer: 1, ttl: OPENED.ttl },
      )

    it('[FABRIC-68] returns five empty lists if nothing is stored, for any open file or command', async () => {
      const nothing = { working: [], relevant: [], patterns: [], suggestions: [], ghostMessages: [] }
      expect(await now()).toEqual(nothing)
      expect(await now({ currentFile: 'src/a.ts', currentCommand: 'npm test', sessionId: 's' })).toEqual(nothing)
    })

    it('[FABRIC-71] orders relevant memories by file, name, command, session, freshness, kind and weight', async () => {
      // The strongest sign first; without any, the newest.
      const plain = await store('nothing of note')
      const session = await store('from here', { sessionId: 's' })
      const command = await store('we ran npm test --watch often')
      const named = await store('look into main.ts again')
      const file = await store('it is odd', { fileContext: { path: 'src/main.ts' } })
      const code = await store('it is even', { codeBlock: { code: 'x', language: 'ts', filePath: 'src/main.ts' } })
      const fix = await store('it was broken', {}, { type: 'bug_fix' })
      await store('elsewhere', { projectPath: 'q', fileContext: { path: 'src/main.ts' } })
      expect(idsOf((await now()).relevant)).toEqual([fix, code, file, named, command, session, plain])
      const first = async (count: number, given: Partial<CurrentRequest>) =>
        idsOf((await now(given)).relevant.slice(0, count)).sort((a, b) => a - b)
      expect(await first(3, { currentFile: 'src/main.ts' })).toEqual([named, file, code])
      expect(await first(2, { filePath: 'src/main.ts' })).toEqual([file, code])
      expect(await first(2, { currentCommand: 'npm test' })).toEqual([command, fix])
      expect(await first(1, { sessionId: 's' })).toEqual([session])
      // A weight multiplies.
      const heavy = await store('weighs much', { weight: 5 })
      ground.clock.advance(30 * DAY)
      expect(idsOf((await now()).relevant)[0]).toBe(heavy)
    })

    it('[FABRIC-72] shows the ten most relevant working memories of the project, until they expire', async () => {
      const ids: number[] = []
      for (const i of range(12)) ids.push(await store(`note ${i}`, {}, { layer: 1, ttl: 3_600 }))
      const named = ids[0] as number
      await world.store('of another', { layer: 1, metadata: { projectPath: 'q' } })
      expect(idsOf((await now()).working).sort((a, b) => a - b)).toEqual(ids.slice(2))
      const { working } = await now({ currentCommand: 'note 0' })
      expect([working[0]?.id, working.length]).toEqual([named, 10])
      ground.clock.advance(3_600_000)
      expect((await now()).working).toEqual([])
    })

    it('shows what expires up to the millisecond before it does, and not in the one in which it does', async () => {
      const brief = await store('a note', {}, { layer: 1, ttl: 60 })
      const dated = { expires_at: new Date(ground.clock.ms + 60_000).toISOString() }
      const decision = await store('we leave at noon', dated)
      const pattern = await store('how to leave', dated, { type: 'code_pattern' })
      const kept = await store('we stay')
      const shown = async () => {
        const { working, relevant, patterns } = await now({ currentCommand: 'leave a note' })
        return { working: idsOf(working), relevant: idsOf(relevant).sort((a, b) => a - b), patterns: idsOf(patterns) }
      }
      ground.clock.advance(60_000 - 3_000 - 1)
      expect(await shown()).toEqual({ working: [brief], relevant: [decision, kept], patterns: [pattern] })
      ground.clock.advance(1)
      expect(await shown()).toEqual({ working: [], relevant: [kept], patterns: [] })
    })

    it('[FABRIC-70] chooses relevant memories from the newest of layer 2, the most similar of both layers, and those about the open file', async () => {
      world.embedder.means('harbour', 1, 0, 0)
      world.embedder.means('quay', 0.9, Math.sqrt(1 - 0.81), 0)
      world.embedder.means('far', 0.2, Math.sqrt(1 - 0.04), 0)
      const old = await store('a quay by the sea')
      const near = await world.store('quay of all', { layer: 3 })
      await world.store('far away', { layer: 3 })
      const filed = await world.store('nothing alike', { layer: 3, metadata: { fileContext: { path: 'src/dock.ts' } } })
      for (const i of range(60)) await store(`filler ${i}`)
      ground.clock.advance(60 * DAY)
      const { relevant } = await now({ currentCommand: 'harbour' })
      expect(idsOf(relevant).slice(0, 2).sort()).toEqual([old, near].sort())
      expect(idsOf((await now({ currentFile: 'src/dock.ts' })).relevant)).toContain(filed)
      // By words too.
      const words = await store('the zeppelin lands')
      for (const i of range(60)) await store(`more ${i}`)
      expect(idsOf((await now({ currentCommand: 'zeppelin' })).relevant)[0]).toBe(words)
      expect(relevant).toHaveLength(10)
    })

    it('[FABRIC-70] finds similar memories of its project and of layer 3, even if others are more similar, and after moves and archiving', async () => {
      world.embedder.means('crowd', 0, 0, 0, 1)
      world.embedder.means('kindred', 0, 0, 0.2, 0.98)
      await world.crowd('q', 1_500)
      const codeBlock = { code: 'x', language: 'TypeScript' }
      const wide = await world.store('kindred of all', { layer: 3, metadata: { projectPath: 'r', codeBlock } })
      const theirs = await world.store('kindred of theirs', { metadata: { projectPath: 'q', codeBlock } })
      const shown = async (project = 'p') =>
        idsOf((await now({ currentCommand: 'crowd', project, language: 'ts' })).relevant).sort((a, b) => a - b)
      const places = async (id: number) =>
        (await ground.connection.batch([sql`SELECT layer, project FROM entry_vectors WHERE entry_id = ${id}`]))[0]
      // Whether or not the index has heard of it.
      const both = async (ids: readonly number[]) => {
        expect(await shown()).toEqual(ids)
        await world.settle()
        expect(await shown()).toEqual(ids)
      }
      await both([wide])
      await world.service.promote(ada, null, theirs, 3)
      await both([wide, theirs])
      await world.service.update(ada, null, wide, { metadata: { projectPath: 'q' } })
      await both([wide, theirs])
      expect([await places(wide), await places(theirs)]).toEqual([
        [{ layer: 3, project: 'q' }],
        [{ layer: 3, project: 'q' }],
      ])
      await ground.connection.batch([sql`UPDATE entries SET archived = 1 WHERE id = ${wide}`], { org: ada.org })
      expect(await places(wide)).toEqual([{ layer: null, project: 'q' }])
      await both([theirs])
      await world.service.update(ada, null, wide, { pinned: true })
      await both([wide, theirs])
      // Counts of vectors did not change meanwhile.
      const [counted, there] = await ground.connection.batch([
        sql`SELECT CAST(sum(entries) AS integer) AS entries, CAST(sum(vectors) AS integer) AS vectors
          FROM vector_counters WHERE org = ${ada.org}`,
        sql`SELECT CAST(count(DISTINCT entry_id) AS integer) AS entries, CAST(count(*) AS integer) AS vectors
          FROM entry_vectors WHERE org = ${ada.org}`,
      ])
      expect([counted, there]).toEqual([there, [{ entries: 1_502, vectors: 1_502 }]])
    })

    it('[FABRIC-72, FABRIC-165] filters patterns by language and by file, its folder or extension, for any spelling of its path', async () => {
      const block = (language: string, filePath?: string) => ({
        codeBlock: { code: `in ${language}`, language, filePath },
      })
      const pattern = (content: string, more: object) => store(content, more, { type: 'code_pattern' })
      const ts = await pattern('typed', { ...block('TypeScript', 'src/api/users.ts'), title: 'Typed users' })
      const py = await pattern('snake', block('python', 'tools/run.py'))
      const bare = await store(
        'say please',
        { fileContext: { path: 'src/api/index.js', language: 'js' } },
        { type: 'convention' },
      )
      await store('no pattern', block('typescript', 'src/api/users.ts'))
      const { patterns } = await now({ currentFile: 'src/api/users.ts' })
      expect(idsOf(patterns)).toEqual([ts, bare, py])
      expect(patterns[0]).toMatchObject({
        ...{ id: ts, name: 'Typed users', description: 'typed', code: 'in TypeScript', language: 'TypeScript' },
        ...{ usageCount: 1, lastUsedAt: expect.any(Number), relatedFiles: ['src/api/users.ts'] },
      })
      expect(patterns[1]).toMatchObject({ name: `Pattern ${bare}`, code: 'say please', language: 'js' })
      const of = async (given: Partial<CurrentRequest>) => idsOf((await now(given)).patterns).sort((a, b) => a - b)
      expect(await of({ language: 'typescript' })).toEqual([ts])
      expect(await of({ language: 'PYTHON' })).toEqual([py])
      expect(await of({ language: 'go' })).toEqual([])
      expect(await of({ filePath: 'src/api/other.rs' })).toEqual([ts, bare])
      expect(await of({ filePath: 'else/where.py' })).toEqual([py])
      expect(await of({ filePath: 'src/api/deeper/x.ts' })).toEqual([ts])
      expect(await of({ filePath: 'else/where.py', language: 'ts' })).toEqual([])
      expect(await of({ filePath: '/home/u/app/src/api/users.ts' })).toEqual([ts, bare])
      expect(await of({ filePath: '/home/u/app/src/api/new.go' })).toEqual([ts, bare])
      expect(await of({ filePath: 'src/api/users.tsx' })).toEqual([ts, bare])
      expect(await of({ filePath: 'users.tsx' })).toEqual([])
      // By use none comes first: the newest does.
      for (const _ of range(6)) await world.service.get(ada, 'p', py)
      expect(idsOf((await now()).patterns)).toEqual([bare, py, ts])
    })

    it('[FABRIC-71, FABRIC-165] orders by one score of file, name, place, session, freshness, weight and capture, and by id for equals', async () => {
      const random = seeded(20261122)
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
      const FILES = [null, 'src/api/a.ts', 'src/api/b.ts', 'src/b.py', 'b.ts', 'src/api/deep/Makefile']
      const TEXTS = ['see a.ts.', 'see xa.ts', 'see src/api/a.tsx', 'run npm test here', 'run npm tests', 'nothing']
      const made: { id: number; score: (moment: Partial<CurrentRequest>) => number; is: 'pattern' | 'decision' }[] = []
      const [folder, ending] = [
        (path: string) => path.slice(0, path.lastIndexOf('/') + 1),
        (path: string) => /\.([^./]+)$/.exec(path)?.[1] ?? '',
      ]
      const ages: SQL[] = []
      for (const i of range(90)) {
        const [weight, text, file, codeFile] = [pick([1, 3, 3, 5]), pick(TEXTS), pick(FILES), pick(FILES)]
        const [own, isCaptured, days] = [pick([true, false]), pick([true, false, false]), pick([0, 1, 10, 60])]
        const is = i % 2 === 0 ? 'pattern' : 'decision'
        const more = {
          weight,
          ...(own ? { sessionId: 's' } : {}),
          ...(isCaptured ? { source: 'system_auto' } : {}),
          ...(file === null ? {} : { fileContext: { path: file } }),
          ...(codeFile === null ? {} : { codeBlock: { code: 'x', language: 'text', filePath: codeFile } }),
        }
        const draft = { type: is === 'pattern' ? 'code_pattern' : 'decision', layer: i % 5 === 0 ? 3 : 2 }
        const id = await store(`${text} ${i}`, more, draft)
        const at = ground.clock.ms - days * DAY
        ages.push(sql`UPDATE entries SET updated_at = ${at} WHERE id = ${id}`)
        const score = ({
          currentFile = null,
          filePath = null,
          currentCommand = null,
          sessionId = null,
        }: Partial<CurrentRequest>) => {
          const [files, mine] = [
            [currentFile, filePath].filter((one) => one !== null),
            [file, codeFile].filter((one) => one !== null),
          ]
          const near = currentFile ?? filePath
          const isFile = mine.some((one) => files.includes(one))
          const isNamed =
            (text === 'see a.ts.' && files.includes('src/api/a.ts')) ||
            (text === 'run npm test here' && currentCommand === 'npm test')
          const place =
            near === null
              ? 0
              : mine.some((one) => folder(one) === folder(near))
                ? 1
                : mine.some((one) => ending(one) !== '' && ending(one) === ending(near))
                  ? 0.5
                  : 0
          const sum =
            0.6 * Number(isFile) + 0.4 * Number(isNamed) + 0.2 * place + 0.2 * Number(own && sessionId === 's')
          const fresh = 0.2 * Math.exp(-(ground.clock.ms - at) / DAY / 14)
          return (sum + fresh) * (1 + 0.1 * (weight - 3)) * (isCaptured ? 0.5 : 1)
        }
        made.push({ id, score, is })
      }
      await ground.connection.batch(ages, { org: ada.org })
      const expected = (moment: Partial<CurrentRequest>, is: 'pattern' | 'decision', most: number) =>
        made
          .filter((one) => one.is === is)
          .sort((a, b) => b.score(moment) - a.score(moment) || b.id - a.id)
          .slice(0, most)
          .map(({ id }) => id)
      const files = FILES.filter((path) => path !== null)
      const moments: Partial<CurrentRequest>[] = [
        ...[{}, { sessionId: 's' }, { currentCommand: 'npm test' }, ...files.map((path) => ({ currentFile: path }))],
        { currentFile: 'src/b.py', currentCommand: 'npm test', sessionId: 's' },
      ]
      const without = { words: null, semantic: null }
      for (const moment of moments) {
        const { patterns, relevant } = await answer(moment, ada, without)
        expect([moment, idsOf(relevant)]).toEqual([moment, expected(moment, 'decision', 10)])
        expect([moment, idsOf(patterns)]).toEqual([moment, expected(moment, 'pattern', 5)])
      }
      // An absolute path and a relative one are one file.
      const both = [{ currentFile: '/home/u/app/src/api/a.ts' }, { currentFile: 'src/api/a.ts' }]
      const [first, second] = await Promise.all(both.map((moment) => answer(moment, ada, without)))
      expect(idsOf(first?.relevant ?? [])).toEqual(idsOf(second?.relevant ?? [null as never]))
    })

    it('[FABRIC-42, FABRIC-165] shows memories of another home project only in the current language and if they are similar', async () => {
      world.embedder.means('lamp', 1, 0, 0)
      const layer = 3 as const
      const given = (projectPath: string, language: string | null, more: object = {}) => ({
        ...{ layer, type: 'convention' as const },
        metadata: { projectPath, ...(language === null ? {} : { fileContext: { path: 'x', language } }), ...more },
      })
      const own = await world.store('lamps of ours', given('p', null))
      const away = await world.store('a lamp in TypeScript', given('q', 'TypeScript'))
      const everywhere = await world.store('for all', given('q', null, { tags: ['universal'] }))
      await world.store('a lamp in Python', given('q', 'python'))
      await world.store('a lamp in nothing', given('q', null))
      await world.store('something else in TypeScript', given('q', 'ts'))
      const shown = async (moment: Partial<CurrentRequest>) => idsOf((await now(moment)).patterns).sort((a, b) => a - b)
      expect(await shown({ currentCommand: 'lamp', currentFile: 'src/a.ts' })).toEqual([own, away, everywhere])
      expect(await shown({ currentCommand: 'lamp' })).toEqual([own, everywhere])
      expect(await shown({ currentCommand: 'nothing', currentFile: 'src/a.ts' })).toEqual([own, everywhere])
      expect(await shown({ currentCommand: 'lamp', language: 'ts' })).toEqual([away])
    })

    it('[FABRIC-68] shows a memory in one list only', async () => {
      const pattern = await store('a pattern', {}, { type: 'code_pattern', layer: 2 })
      const decision = await store('a decision')
      const note = await store('a note', {}, { layer: 1 })
      const { working, patterns, relevant } = await now({ currentCommand: 'a note' })
      expect([idsOf(working), idsOf(patterns), idsOf(relevant)]).toEqual([[note], [pattern], [decision]])
    })

    it('[FABRIC-73] names the three files that were opened last, also repeatedly, after any number of notes, and no other', async () => {
      const message = async (project: string | null = 'p') =>
        (await now({ project })).ghostMessages.find(({ trigger }) => trigger === 'session_context')
      const told = async (project: string | null = 'p') => (await message(project))?.content
      await store('a thought', { fileContext: { path: 'src/never.ts' } }, { type: 'scratchpad', layer: 1 })
      expect(await told()).toBeUndefined()
      for (const path of ['one', 'two', 'three', 'four']) await open(path)
      const again = ground.clock.ms
      await open('one')
      expect(await message()).toMatchObject({ content: 'Opened lately: one, four, three' })
      expect((await message())?.at).toBeGreaterThanOrEqual(again)
      for (const n of range(21)) await store(`a note ${n}`, {}, { type: 'scratchpad', layer: 1, ttl: DAY / 1_000 })
      await open('elsewhere', { projectPath: 'q' })
      expect([await told(), await told('q'), await told(null)]).toEqual([
        'Opened lately: one, four, three',
        'Opened lately: elsewhere',
        'Opened lately: elsewhere, one, four',
      ])
      ground.clock.advance(OPENED.ttl * 1_000)
      expect(await told(null)).toBeUndefined()
    })

    it('[FABRIC-73] suggests and hints from the shown memories, in a fixed order, each by its type and its first words', async () => {
      const opened = ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts']
      for (const path of opened) await open(path)
      const one = await store('Use D1 for everything. It is there.')
      const two = await store('Ship on Tuesdays', { title: 'When to ship' })
      const fix = await store('The lock was held\nsince npm test ran twice', {}, { type: 'bug_fix' })
      const pattern = await store('a pattern', { title: 'Try again' }, { type: 'code_pattern', layer: 2 })
      for (const _ of range(4)) await world.service.get(ada, 'p', pattern)
      const certainty = async () => (await now()).suggestions.find(({ type }) => type === 'pattern')?.confidence
      expect([await certainty(), await certainty()]).toEqual([0.7, 0.7])
      for (const _ of range(2)) await world.service.get(ada, 'p', pattern)
      const { suggestions, ghostMessages, relevant } = await now({ currentCommand: 'npm test' })
      const day = new Date(ground.clock.ms).toISOString().slice(0, 10)
      const shown = {
        one: `Decision [${one}] of ${day}: Use D1 for everything.`,
        two: `Decision [${two}] of ${day}: When to ship`,
        fix: `Fix [${fix}] of ${day}: The lock was held`,
        pattern: `Pattern [${pattern}] of ${day}: Try again`,
      }
      expect(suggestions.map(({ type, confidence, sources, content }) => [type, confidence, sources, content])).toEqual(
        [
          ['memory', 0.8, [two], shown.two],
          ['memory', 0.8, [one], shown.one],
          ['pattern', 0.9, [pattern], shown.pattern],
          ['action', 0.75, [fix], shown.fix],
          ['action', 0.6, idsOf(relevant), '3 related memories to explore'],
        ],
      )
      expect(ghostMessages.map(({ trigger, content }) => [trigger, content])).toEqual([
        ['session_context', 'Opened lately: src/d.ts, src/c.ts, src/b.ts'],
        ['relevant_decision', shown.two],
        ['relevant_decision', shown.one],
        ['bug_fix_context', shown.fix],
        ['command_context', shown.fix],
      ])
      expect(new Set(suggestions.map(({ id }) => id)).size).toBe(5)
      for (const currentCommand of ['ls', 'npm run latest', 'npm run lint'])
        expect((await now({ currentCommand })).ghostMessages.map(({ trigger }) => trigger)).not.toContain(
          'command_context',
        )
    })

    it('[FABRIC-74] labels a captured error as an error, never as a fix, and names the fix of a failing command before its number of failures', async () => {
      const seen = { source: 'system_auto', count: 3, lastSeen: new Date(ground.clock.ms).toISOString() }
      const error = await store('ENOENT: no such file\nnpm test\nat main', seen, { type: 'bug_fix' })
      ground.clock.advance(6 * DAY + 60_000)
      const told = async () => {
        const { suggestions, ghostMessages } = await now({ currentCommand: 'npm test' })
        return [...suggestions, ...ghostMessages].map(({ content }) => content)
      }
      const known = `Error [${error}], seen 3 times, last 6 days ago: ENOENT: no such file`
      expect(await told()).toEqual([known, known, `npm test failed 3 times, last 6 days ago: error [${error}]`])
      const fix = await store('Create the file before npm test', {}, { type: 'bug_fix' })
      const day = new Date(ground.clock.ms).toISOString().slice(0, 10)
      expect(new Set(await told())).toEqual(new Set([`Fix [${fix}] of ${day}: Create the file before npm test`]))
    })

    it('[FABRIC-71] returns the same twice if nothing was stored between', async () => {
      for (const i of range(30))
        await store(
          `memory ${i} of lamps`,
          { weight: 1 + (i % 5) },
          { type: i % 4 === 0 ? 'code_pattern' : 'decision', layer: 1 + (i % 3) },
        )
      const moment = { currentFile: 'src/lamps.ts', currentCommand: 'lamps', sessionId: 's' }
      const [first, second] = [await now(moment), await now(moment)]
      for (const list of ['working', 'relevant'] as const) expect(idsOf(second[list])).toEqual(idsOf(first[list]))
      expect(new Set(idsOf(second.patterns))).toEqual(new Set(idsOf(first.patterns)))
    })

    it('[FABRIC-35] writes nothing for context_getCurrent, and returns long texts in full', async () => {
      const id = await store('a decision')
      const count = async (of: number) =>
        (await ground.connection.batch([sql`SELECT access_count, version FROM entries WHERE id = ${of}`]))[0]?.[0]
      await now()
      expect(await count(id)).toEqual({ access_count: 0, version: 1 })
      const long = `${'x '.repeat(15_000)}end`
      const whole = await store(long)
      const { relevant } = await now()
      expect(relevant.find((memory) => memory.id === whole)?.text).toBe(long)
    })

    // JSON writes six bytes for each.
    it.each([7_000, 14_000])(
      'brings along no value of over 2 MB, which D1 refuses, of %i control characters each',
      async (most) => {
        const tags = range(100).map((n) => `${n} `.padEnd(128, '"'))
        const drafts = [{ layer: 1 }, { type: 'decision' }, { type: 'convention', layer: 2 }] as const
        for (const draft of drafts)
          for (const n of range(12)) await store(`${n} ${'\u0001'.repeat(most)}`, n % 3 === 0 ? { tags } : {}, draft)
        const sizes: number[] = []
        const { connection } = ground
        const measured = async (statements: readonly SQL[]) => {
          const results = await connection.read(statements)
          for (const cell of results.flat().flatMap((row) => Object.values(row)))
            if (typeof cell === 'string') sizes.push(Buffer.byteLength(cell))
          return results
        }
        ground = { ...ground, connection: { ...connection, read: measured } }
        const { working, relevant, patterns } = await now()
        expect([working.length, relevant.length, patterns.length]).toEqual([10, 10, 5])
        expect(Math.max(...sizes)).toBeLessThan(2_000_000)
      },
    )

    it('[FABRIC-173] costs three round trips and one call of the embedder, and no more rows when projects grow', async () => {
      for (const i of range(5)) {
        await store(`note ${i}`, { fileContext: { path: 'src/a.ts' } }, { layer: 1 })
        await store(`a pattern ${i}`, {}, { type: 'code_pattern' })
        await store(`a decision ${i}`)
      }
      const moment = { currentFile: 'src/a.ts', currentCommand: 'npm test', sessionId: 's' }
      await world.settle()
      const measured = await world.cost(() => answer(moment))
      expect(measured.roundTrips).toBe(3)
      expect(measured.embedded).toBe(1)
      // By SQL: what the index of words has not merged yet costs all of its org a little.
      await ground.connection.batch(
        [
          sql`
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
            INSERT INTO entries (org, thread_id, source, layer, project, created_at, updated_at, created_by, text_hash,
              bytes, text_words, metadata, text)
            SELECT CAST(${ada.org} AS TEXT), 'project:q', 'agent', 1 + i % 2, 'q', CAST(${ground.clock.ms} AS bigint) + i,
              CAST(${ground.clock.ms} AS bigint) + i, 'key-1', 'h', 8, 2,
                '{"kind":"code_pattern","fileContext":{"path":"src/a.ts"}}', 'npm test' FROM n`,
        ],
        { org: ada.org },
      )
      expect((await world.cost(() => answer(moment))).rowsRead).toBeLessThanOrEqual(measured.rowsRead + 10)
      // Nor does the size of the project itself matter, except for the limited search of words and counts.
      const grown = async (more: number) => {
        await world.crowd('p', more)
        await world.settle()
        const cost = await world.cost(() => answer(moment))
        expect([cost.roundTrips <= 3, cost.embedded]).toEqual([true, 1])
        return cost.rowsRead
      }
      const thousands = await grown(2_000)
      // PostgreSQL does not report rows, and one growth shows the round trips.
      if (thousands > 0) expect(await grown(2_000)).toBeLessThanOrEqual(thousands + 10)
      await store('long '.repeat(5_000))
      await world.settle()
      expect((await world.cost(() => answer(moment))).roundTrips).toBe(3)
    })

    it('makes no further round trip where the index of vectors lags far behind', async () => {
      world.embedder.means('harbour', 1, 0, 0)
      world.embedder.means('quay', 0.9, Math.sqrt(1 - 0.81), 0)
      await store('what the index has heard of')
      await world.settle()
      const near = await store('a quay by the sea')
      await world.crowd('p', 300)
      let shown: number[] = []
      const { roundTrips } = await world.cost(async () => {
        shown = idsOf((await answer({ currentCommand: 'harbour' })).relevant)
      })
      expect(shown).toContain(near)
      // D1 cannot compare vectors itself, so the index is updated and searched again.
      const told = ground.connection.dialect.similarity === null ? 2 : 0
      expect(roundTrips).toBeLessThanOrEqual(3 + told)
    })

    it('[FABRIC-68] shows a narrowed key its own projects and entries without a project', async () => {
      const own = await store('of this project')
      await world.store('of another', { metadata: { projectPath: 'q' } })
      const free = await world.store('of none')
      const all = (await now({ project: null }, { ...ada, projects: ['p'] })).relevant
      expect(idsOf(all).sort((a, b) => a - b)).toEqual([own, free])
      expect(idsOf((await now({ project: null })).relevant)).toHaveLength(3)
    })
  })
}

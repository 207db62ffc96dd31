import { describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { unique, useSession } from './session'

/** Recall over MCP (fabric contract §4). */
export function recallWireContract(connect: Connect): void {
  const session = useSession(connect)
  const { ok } = session
  const code = async (args: Record<string, unknown>) => (await session.fail('context_recall', args)).data.code
  const store = async (content: string, metadata: object = {}, args: object = {}): Promise<string> =>
    (await ok('context_store', { type: 'decision', content, metadata, ...args })).id
  const found = async (query: string, args: object = {}): Promise<string[]> =>
    (await ok('context_recall', { query, ...args })).results.map(({ memory }: { memory: { id: string } }) => memory.id)

  describe('recall on the wire', () => {
    it('[FABRIC-55] recalls lean memories with similarity, layer and matched retrievers, within a shared content budget', async () => {
      const projectPath = unique('project')
      const id = await store('the umbrella stands by the door', { projectPath, tags: ['hall'], title: 'Where it is' })
      const answer = await ok('context_recall', {
        ...{ query: 'umbrella door', sessionId: 's', limit: '500', threshold: '0.5', mode: 'keyword' },
        filter: JSON.stringify({ types: ['decision'], layers: [2], tags: ['HALL'], projectPath: `${projectPath}/` }),
      })
      expect(answer).toMatchObject({ total: 1, offset: 0, limit: 100, hasMore: false })
      const [{ memory, similarity, layer, matched }] = answer.results
      expect([layer, matched]).toEqual([2, 'keyword'])
      expect(similarity).toBe(1)
      const { tags: _, pinned, ...read } = (await ok('context_get', { memoryId: id })).memory
      expect(pinned).toBe(false)
      expect({ ...memory, accessCount: 1 }).toEqual({ ...read, metadata: { tags: ['hall'], title: 'Where it is' } })
      expect(Object.keys(answer).sort()).toEqual(['hasMore', 'limit', 'offset', 'results', 'total'])
      expect(await ok('context.recall', { query: 'umbrella door', offset: 1 })).toMatchObject({
        results: [],
        offset: 1,
      })
    })

    it('shows long memories around the match, within one budget for the page, and a default page in 2,000 tokens', async () => {
      const projectPath = unique('project')
      const filter = { projectPath }
      const long = `${'something else that is said here at length '.repeat(7_000)}umbrella ${'and more of it '.repeat(400)}` // prose-ignore
      const id = await store(long, {
        projectPath,
        title: 'x'.repeat(120),
        weight: 5,
        fileContext: { path: 'a.ts', language: 'ts' },
      })
      const alone = await ok('context_recall', { query: 'umbrella', mode: 'keyword', filter })
      expect(alone.results[0].memory).toMatchObject({
        ...{ id, truncated: true, length: [...long].length },
        metadata: { tags: [], title: 'x'.repeat(120), weight: 5, fileContext: { path: 'a.ts' } },
      })
      expect(alone.results[0].memory.content).toMatch(
        /^(?:something|else|that|is|said|here|at|length) .*umbrella .*(?:and|more|of|it)$/,
      )
      expect([...alone.results[0].memory.content].length).toBeLessThanOrEqual(2_000)
      const tags = Array.from({ length: 8 }, (_, i) => `subject-${i}`)
      const short = await store('an umbrella', { projectPath })
      for (let i = 0; i < 9; i++)
        await store(`umbrella ${i} ${'lies in the hall '.repeat(90)}`, {
          projectPath,
          tags,
          title: `${i} ${'y'.repeat(118)}`,
        })
      const page = await ok('context_recall', {
        query: 'umbrella',
        mode: 'keyword',
        filter: { ...filter, types: ['decision'] },
      })
      expect(page.results).toHaveLength(10)
      expect(JSON.stringify(page).length).toBeLessThanOrEqual(8_000)
      const contents = page.results.map(({ memory }: { memory: { content: string } }) => memory.content.length)
      expect(contents.reduce((sum: number, one: number) => sum + one, 0)).toBeLessThanOrEqual(4_500)
      const whole = page.results.find(({ memory }: { memory: { id: string } }) => memory.id === short)?.memory
      if (whole) expect([whole.content, whole.truncated]).toEqual(['an umbrella', undefined])
    })

    it('returns the most similar memories where none passes the threshold', async () => {
      const projectPath = unique('project')
      const id = await store('the umbrella stands by the door', { projectPath })
      const filter = { projectPath }
      const asked = { query: 'umbrella submarine lighthouse harbour', mode: 'keyword', threshold: 0.99, filter }
      const { results, below } = await ok('context_recall', asked)
      expect([results, below]).toEqual([
        [],
        { count: 1, best: [{ id, similarity: expect.any(Number), excerpt: 'the umbrella stands by the door' }] },
      ])
    })

    it('reports more memories than a retriever returns with totalCapped', async () => {
      const projectPath = unique('project')
      const entries = Array.from({ length: 201 }, (_, i) => ({
        ...{ thread_id: projectPath, source: 'agent', text: `lamp ${i}`, metadata: { project: projectPath } },
      }))
      const recalled = () => ok('context_recall', { query: 'lamp', mode: 'keyword', limit: 1, filter: { projectPath } })
      for (const from of [0, 100]) await ok('store_context_batch', { entries: entries.slice(from, from + 100) })
      const all = await recalled()
      expect([all.total, all.totalCapped, all.hasMore]).toEqual([200, undefined, true])
      await ok('store_context_batch', { entries: entries.slice(200) })
      expect(await recalled()).toMatchObject({ total: 200, totalCapped: true, hasMore: true })
    })

    it('[FABRIC-53] refuses an invalid query, threshold, mode or filter', async () => {
      for (const args of [
        {},
        { query: ' ' },
        { query: 'x'.repeat(10_001) },
        { query: 'x', threshold: 1.1 },
        { query: 'x', threshold: -0.1 },
        { query: 'x', limit: 0 },
        { query: 'x', offset: -1 },
        { query: 'x', mode: 'words' },
        { query: 'x', projectPath: ' ' },
        { query: 'x', sessionId: 's'.repeat(257) },
        { query: 'x', filter: { layers: [4] } },
        { query: 'x', filter: { types: ['nonsense'] } },
        { query: 'x', filter: { project: 'p' } },
        { query: 'x', filter: { projectPath: ' ' } },
        { query: 'x', filter: '{"types":' },
      ])
        expect([args, await code(args)]).toEqual([args, 'VALIDATION_ERROR'])
      expect(await found('zyzzyva quokkas', { filter: { types: [], layers: [], tags: [] } })).toEqual([])
    })

    it('reports an empty project when a search or list in it returns nothing', async () => {
      const [projectPath, other] = [unique('project'), unique('misspelt')]
      await store('pelicans nest on the pier', { projectPath })
      const unknown = [`Project ${other} has no memories in layers 1 and 2. Check the spelling of the project.`]
      const query = unique('zyzzyva')
      const recall = async (args: object) => (await ok('context_recall', { query, ...args })).warnings
      const list = async (args: Record<string, unknown>) => (await ok('context_list', args)).warnings
      for (const mode of ['hybrid', 'keyword', 'semantic'])
        expect([mode, await recall({ mode, projectPath: other })]).toEqual([mode, unknown])
      expect(await list({ projectPath: other })).toEqual(unknown)
      expect(await recall({ projectPath, mode: 'keyword' })).toBeUndefined()
      expect(await recall({ projectPath, filter: { tags: ['none'] } })).toBeUndefined()
      expect(await list({ projectPath, tags: ['none'] })).toBeUndefined()
      expect(await list({ projectPath: other, layer: 3, tags: ['none'] })).toBeUndefined()
    })

    it('[FABRIC-105] answers a summary with its id, count and text, and refuses invalid options', async () => {
      const projectPath = unique('project')
      const options = { targetTokens: 50 }
      expect(await ok('context_summarize', { options, projectPath })).toEqual({
        ...{ summaryId: '', summarizedCount: 0, summary: 'Nothing older than 30 days to summarize.', layer: 2 },
      })
      expect(
        await ok('context_summarize', { options: '{"targetTokens":"50"}', olderThanDays: 9, layer: 3 }),
      ).toMatchObject({ summary: 'Nothing older than 9 days to summarize.', layer: 3 })
      for (const args of [
        { options: {} },
        { options: { targetTokens: 49 } },
        { options: { targetTokens: 32_001 } },
        { options: { targetTokens: 50, focus: [] } },
        { options, layer: 1 },
        { options, olderThanDays: 0 },
      ])
        expect((await session.fail('context_summarize', args)).data.code).toBe('VALIDATION_ERROR')
    })

    it('names the memory that supersedes another, where it is recalled, read, listed, current or suggested', async () => {
      const projectPath = unique('project')
      const old = await store('pelicans nest on the pier', { projectPath })
      const pattern = await store('pelicans dive steeply', { projectPath }, { type: 'code_pattern', layer: 2 })
      const supersededBy = await store('no bird nests in the harbour', {
        projectPath,
        supersedes: [Number(old), Number(pattern)],
      })
      const recalled = await ok('context_recall', { query: 'where pelicans nest', projectPath, threshold: 0 })
      const ofOld = recalled.results.find(({ memory }: { memory: { id: string } }) => memory.id === old)
      expect(ofOld.memory).toMatchObject({ supersededBy })
      expect((await ok('context_get', { memoryId: old, projectPath })).memory).toMatchObject({ supersededBy })
      const { memories } = await ok('context_list', { projectPath })
      expect(memories.map((one: { supersededBy?: string }) => one.supersededBy)).toEqual([
        undefined,
        supersededBy,
        supersededBy,
      ])
      const { context } = await ok('context_getCurrent', { projectPath })
      const current = (list: string, id: string) => context[list].find((one: { id: string }) => one.id === id)
      expect([current('relevant', old), current('patterns', pattern)]).toMatchObject([
        { supersededBy },
        { supersededBy },
      ])
      expect(current('suggestions', `decision-${old}`).content).toMatch(
        new RegExp(`^Decision \\[${old}\\] of [\\d-]+, superseded by \\[${supersededBy}\\]: pelicans`),
      )
    })

    it('[FABRIC-68] answers five lists with lean memories and notes without a role, and ignores unknown arguments', async () => {
      const projectPath = unique('project')
      const none = { working: [], relevant: [], patterns: [], suggestions: [], ghostMessages: [] }
      expect(await ok('context_getCurrent', { projectPath: unique('empty') })).toMatchObject({
        context: { ...none, patterns: expect.any(Array), relevant: expect.any(Array) },
      })
      const decision = await store('we use tabs', { projectPath })
      const note = await store('open question', { projectPath }, { layer: 1 })
      const pattern = await store(
        'a pattern',
        { projectPath, codeBlock: { code: 'f()', language: 'ts' } },
        { type: 'code_pattern', layer: 2 },
      )
      const { context } = await ok('context_getCurrent', {
        ...{ projectPath, sessionId: 's', currentFile: 'src/a.ts', currentCommand: 'npm test', language: 'ts' },
      })
      const shown = (list: string, id: string) => context[list].find((one: { id: string }) => one.id === id)
      const { tags: _, pinned, ...read } = (await ok('context_get', { memoryId: decision })).memory
      expect(pinned).toBe(false)
      expect(shown('relevant', decision)).toEqual({ ...read, metadata: { tags: [] }, accessCount: 0 })
      expect(shown('working', note)).toMatchObject({ content: 'open question', expiresAt: expect.any(String) })
      expect(shown('patterns', pattern)).toMatchObject({ code: 'f()', language: 'ts', usageCount: 1, relatedFiles: [] })
      for (const list of Object.keys(none)) expect(context[list].length).toBeLessThanOrEqual(10)
      expect(context.ghostMessages.length).toBeGreaterThan(0)
      for (const { role } of context.ghostMessages) expect(role).toBe('note')
      // A leading project, backslashes and a scheme are not part of a path.
      const path = `${projectPath}\\src\\b.ts`
      const given = { path: `file://${projectPath}\\src\\b.ts` }
      const filed = await store('said of a file', { projectPath, fileContext: given, weight: 1 })
      expect((await ok('context_get', { memoryId: filed })).memory.metadata.fileContext).toEqual({ path: 'src/b.ts' })
      for (const currentFile of [path, `file://${projectPath}/src/b.ts`, './src/b.ts', '/home/u/app/src/b.ts']) {
        const now = (await ok('context_getCurrent', { projectPath, currentFile })).context
        expect([currentFile, now.relevant[0].id]).toEqual([currentFile, filed])
      }
      expect((await session.ok('context_getCurrent', { nonsense: 1 })).warnings).toEqual([
        'Ignored unknown arguments: "nonsense"',
      ])
      for (const args of [{ sessionId: 'x'.repeat(257) }, { projectPath: ' ' }])
        expect((await session.fail('context_getCurrent', args)).data.code).toBe('VALIDATION_ERROR')
    })

    it('returns what matters now in 2,500 tokens, whatever is stored', async () => {
      const projectPath = unique('project')
      const tags = Array.from({ length: 8 }, (_, i) => `subject-${i}`)
      const types = ['decision', 'bug_fix', 'code_pattern', 'scratchpad']
      for (let i = 0; i < 40; i++) {
        const metadata = { projectPath, tags, title: `${i} ${'y'.repeat(117)}`, source: 'user_explicit' }
        const layer = types[i % 4] === 'scratchpad' ? 1 : 2
        const content = `memory ${i} ${'says much '.repeat(i === 0 ? 30_000 : 30 * i)}`
        await store(content, metadata, { type: types[i % 4], layer })
      }
      const answer = await ok('context_getCurrent', {
        projectPath,
        currentFile: 'src/a.ts',
        currentCommand: 'npm test',
      })
      expect(JSON.stringify(answer).length).toBeLessThanOrEqual(10_000)
      const { working, relevant, patterns } = answer.context
      for (const list of [working, relevant, patterns]) expect(list.length).toBeGreaterThanOrEqual(3)
      const contents = [...working, ...relevant].map(({ content }) => content)
      const shown = [...contents, ...patterns.map(({ code }: { code: string }) => code)].map((text) => text.length)
      expect(shown.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(4_000)
      expect([working[0].truncated, working[0].length > working[0].content.length]).toEqual([true, true])
    })

    it('[FABRIC-17] finds by every word the entries that the threads tools stored with the same metadata, and vice versa, also after changes', async () => {
      const projectPath = unique('project')
      const here = await store('the zygote divides', {
        ...{ projectPath, tags: ['cell'], title: 'Morula' },
        ...{ codeBlock: { code: 'divide(blastomere)', language: 'ts' }, fileContext: { path: 'src/gastrula.ts' } },
      })
      const filter = { projectPath }
      for (const word of ['zygote', 'morula', 'blastomere', 'gastrula'])
        expect([word, await found(word, { mode: 'keyword', filter })]).toEqual([word, [here]])
      const [entry] = (await ok('fts_search_context', { query: 'zygote', tags: ['cell'] })).results
      expect(entry).toMatchObject({ id: Number(here), tags: ['cell'], metadata: { title: 'Morula' } })
      // Written by the threads tools with the same metadata, and changed by them.
      const metadata = {
        ...{ project: projectPath, title: 'Trophoblast', kind: 'decision' },
        ...{ codeBlock: { code: 'implant(embryo)', language: 'ts' }, fileContext: { path: 'src/amnion.ts' } },
      }
      const there = String(await session.store('the placenta forms', { metadata, tags: ['cell'] }))
      for (const word of ['placenta', 'trophoblast', 'embryo', 'amnion'])
        expect([word, await found(word, { filter: { ...filter, types: ['decision'], tags: ['cell'] } })]).toEqual([
          word,
          [there],
        ])
      const metadata_patch = { codeBlock: { code: 'implant(yolk)' } }
      await ok('update_context', { context_id: there, metadata_patch })
      expect([await found('embryo', { filter }), await found('yolk', { filter })]).toEqual([[], [there]])
      await ok('context_update', { memoryId: here, metadata: { fileContext: null } })
      expect([await found('gastrula', { filter }), await found('blastomere', { filter })]).toEqual([[], [here]])
    })
  })
}

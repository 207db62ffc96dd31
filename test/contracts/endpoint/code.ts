import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Connect } from '../../support/clients'
import { AUTH, PLAIN, SAMPLE, TOKENS } from '../../support/code-files'
import { type Session, unique, useSession } from './session'

// biome-ignore lint/suspicious/noExplicitAny: answers are untyped
type Json = any

/** The index of code over HTTP and MCP (fabric contract §9). */
export function codeContract(connect: Connect): void {
  const session = useSession(connect)
  const { search, put, request } = speaking(session)

  /** A project of its own with the sample files. */
  async function sample(files: readonly object[] = SAMPLE): Promise<string> {
    const project = unique('project')
    const { body } = await put(project, { files })
    expect(body.stored).toBe(files.length)
    return project
  }

  describe('uploads of code', () => {
    it('[FABRIC-118] stores files, recognizes unchanged ones by their hash, replaces changed ones completely and removes deleted ones', async () => {
      const project = await sample()
      expect((await put(project, { files: SAMPLE })).body).toMatchObject({
        stored: 0,
        unchanged: 4,
        deleted: 0,
        skipped: [],
      })
      const changed = { path: 'src/auth.ts', content: AUTH.replaceAll('AuthService', 'LoginService') }
      const answer = await put(project, { files: [changed, SAMPLE[1]], deleted: ['docs/notes.txt', 'never/was.ts'] })
      expect(answer.body).toMatchObject({ stored: 1, unchanged: 1, deleted: 1, indexStatus: { totalFiles: 3 } })
      expect((await search('AuthService', { mode: 'symbol', projectPath: project })).total).toBe(0)
      expect((await search('LoginService', { mode: 'symbol', projectPath: project })).total).toBe(1)
    })

    it('[FABRIC-124] skips binary, too large and misplaced files with the reason', async () => {
      const project = unique('project')
      const files = [
        { path: 'a.bin', content: 'x\u0000y' },
        { path: 'big.ts', content: 'x'.repeat(1_048_577) },
        { path: '../up.ts', content: 'a' },
        { path: '/elsewhere/a.ts', content: 'a' },
        { path: 'a.ts', content: `${'x'.repeat(9000)}\u0000` },
        { path: 'limit.ts', content: `//${'x'.repeat(1_048_574)}` },
        // No program, and deeper than a stack of calls.
        { path: 'Deep.java', content: 'a<'.repeat(100_000) },
      ]
      const { body } = await put(project, { files })
      expect([body.stored, body.skipped.map(({ path }: Json) => path)]).toEqual([
        2,
        ['a.bin', 'big.ts', '../up.ts', '/elsewhere/a.ts', 'a.ts'],
      ])
      expect(body.skipped.map(({ reason }: Json) => reason)).toEqual([
        'binary',
        'larger than 1048576 bytes',
        'the path contains ".."',
        expect.stringContaining('not inside the project'),
        'the content contains the character U+0000',
      ])
    })

    it('reports a path that occurs twice in one call as skipped, and uses its last file', async () => {
      const project = unique('project')
      const files = ['first', 'second', 'third'].map((name) => ({ path: 'a.ts', content: `export const ${name} = 1` }))
      const { body } = await put(project, { files })
      const skipped = { path: 'a.ts', reason: 'the path occurs again in this call, and the last of its files is used' }
      expect(body).toMatchObject({ stored: 1, skipped: [skipped, skipped] })
      const { results } = await search('third', { mode: 'symbol', projectPath: project })
      expect(results).toMatchObject([{ symbol: { name: 'third' } }])
    })

    it('[FABRIC-122] removes a leading project path', async () => {
      const project = `/home/ada/${unique('app')}`
      await put(`${project}/`, { files: [{ path: `${project}/src/./a.ts`, content: 'export const cutOff = 1' }] })
      const { results } = await search('cutOff', { mode: 'symbol', projectPath: project })
      expect(results).toMatchObject([{ filePath: 'src/a.ts' }])
      const windows = `C:\\work\\${unique('app')}`
      await put(windows, { files: [{ path: `${windows}\\src\\b.ts`, content: 'export const cutOff = 1' }] })
      expect((await search('cutOff', { mode: 'symbol', projectPath: windows })).results[0].filePath).toBe('src/b.ts')
    })

    it('[FABRIC-123] refuses more than 200 files a call, and malformed bodies with the problem', async () => {
      const refused = async (body: unknown): Promise<string> => {
        const answer = await put('limits', body)
        return `${answer.status} ${answer.body.error.message}`
      }
      const file = { path: 'a.ts', content: '' }
      expect(await refused({ files: Array.from({ length: 201 }, () => file) })).toMatch(/^413 files has 201 items/)
      expect(await refused({ files: [{ path: 'a.ts' }] })).toBe('400 files[0].content must be a string')
      expect(await refused({ files: [{ ...file, mode: 1 }] })).toMatch(/^400 Unknown member "mode" in files\[0\]/)
      expect(await refused({ files: 'a.ts' })).toMatch(/^400 files must be a list/)
      expect(await refused({ deleted: [1] })).toBe('400 deleted must be a list of paths')
      expect(await refused({ paths: [] })).toMatch(/^400 Unknown member "paths"/)
      expect((await put('p'.repeat(241), { files: [] })).body.error.message).toContain('longer than 240')
    })

    it('[FABRIC-119] lists paths with hashes and empties a project', async () => {
      const project = await sample()
      const { body } = await request(project, 'GET')
      expect(body.files.map(({ path }: Json) => path)).toEqual(SAMPLE.map(({ path }) => path).sort())
      const sha256 = createHash('sha256').update(PLAIN).digest('hex')
      expect(body.files).toContainEqual({ path: 'docs/notes.txt', sha256 })
      expect((await request(project, 'DELETE')).body).toEqual({ deleted: 4 })
      expect((await request(project, 'GET')).body).toEqual({ files: [] })
      for (const mode of ['symbol', 'text', 'semantic'])
        expect((await search('verifyToken', { mode, projectPath: project })).total).toBe(0)
    })

    it('[FABRIC-99, FABRIC-167] removes secrets from code before anything is stored and keeps the number of lines', async () => {
      const key = `AKIA${'ABCDEFGH23456789'}`
      const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIB\nAAAA\n-----END RSA PRIVATE KEY-----'
      const content = `const id = '${key}'\nconst pem = \`${pem}\`\nexport function afterSecret() {}\n`
      const project = await sample([{ path: 'src/keys.ts', content }])
      const { results } = await search('const', { projectPath: project, threshold: 0 })
      expect(results[0].chunk.content).toBe(
        "const id = '[redacted:aws]'\nconst pem = `[redacted:private-key]\n\n\n`\nexport function afterSecret() {}",
      )
      expect((await search(key, { mode: 'text', projectPath: project })).total).toBe(0)
      const found = await search('afterSecret', { mode: 'symbol', projectPath: project })
      expect(found.results[0].symbol).toMatchObject({ lineStart: 6, lineEnd: 6 })
      expect((await put(project, { files: [{ path: 'src/keys.ts', content }] })).body.unchanged).toBe(1)
    })
  })

  describe('searches of code', () => {
    it('[FABRIC-116] reports how complete and fresh the index is, and for a project without code the projects that have some', async () => {
      const project = await sample()
      const missing = unique('none')
      const none = await search('x', { mode: 'symbol', projectPath: missing })
      expect(none.warnings[0]).toMatch(new RegExp(`^project ${missing} has no code; these have: .*${project}`))
      expect(none).toEqual({
        warnings: [expect.any(String)],
        results: [],
        indexStatus: { totalFiles: 0, totalSymbols: 0, lastIndexed: null, isStale: true, pending: 0 },
        total: 0,
      })
      const { indexStatus } = await search('x', { mode: 'symbol', projectPath: project })
      expect(indexStatus).toMatchObject({ totalFiles: 4, isStale: false, pending: 0 })
      expect(indexStatus.totalSymbols).toBe(12)
      expect(indexStatus.lastIndexed).toMatch(/^\d{4}-.*\.\d{3}Z$/)
    })

    it('[FABRIC-125] finds symbols by five kinds of similarity of their names', async () => {
      const projectPath = await sample()
      const best = async (query: string) => {
        const { results } = await search(query, { mode: 'symbol', projectPath })
        return [results[0]?.symbol.name, results[0]?.symbol.score]
      }
      expect(await best('AuthService')).toEqual(['AuthService', 1])
      expect(await best('authservice')).toEqual(['AuthService', 0.95])
      expect(await best('AUTHSER')).toEqual(['AuthService', 0.85])
      expect(await best('serv auth')).toEqual(['AuthService', 0.75])
      expect(await best('user auth')).toEqual(['authenticate_user', 0.75])
      expect(await best('ervic')).toEqual(['AuthService', 0.6])
      expect(await best('find_u')).toEqual(['find_user', 0.85])
      // Neither is a placeholder.
      expect(await best('find%user')).toEqual(['find_user', 0.75])
      expect(await best('%')).toEqual([undefined, undefined])
      expect(await best('f_n')).toEqual([undefined, undefined])
    })

    it('[FABRIC-125] orders symbols by score, kind, path and line', async () => {
      const projectPath = await sample()
      const names = async (args: object) =>
        (await search('auth', { mode: 'symbol', projectPath, ...args })).results.map(({ symbol }: Json) => symbol.name)
      expect(await names({})).toEqual(['AuthService', 'AuthPlugin', 'AuthState', 'authenticate_user', 'authLimit'])
      expect(await names({ limit: 2 })).toEqual(['AuthService', 'AuthPlugin'])
      expect(await names({ symbolKind: 'const' })).toEqual(['authLimit'])
    })

    it('[FABRIC-131] shows a symbol with signature, its own lines and its comment', async () => {
      const projectPath = await sample()
      const { results, total } = await search('AuthService', { mode: 'symbol', projectPath, symbolKind: 'class' })
      expect([total, results]).toEqual([
        1,
        [
          {
            filePath: 'src/auth.ts',
            language: 'typescript',
            symbol: {
              name: 'AuthService',
              kind: 'class',
              signature: 'export class AuthService {',
              lineStart: 6,
              lineEnd: 13,
              docComment: 'Handles authentication and token management.',
              score: 1,
            },
          },
        ],
      ])
      const python = await search('User', { mode: 'symbol', projectPath, language: 'py' })
      expect(python.results[0].symbol).toMatchObject({
        signature: 'class User:',
        lineStart: 10,
        lineEnd: 14,
        docComment: 'A person who signs in.',
      })
    })

    it('[FABRIC-125] finds a literal part of a line in any case, the same case first, and shows the matching lines', async () => {
      const projectPath = await sample()
      const { results, total } = await search('verifyToken', { mode: 'text', projectPath })
      expect(total).toBe(3)
      expect(results.map(({ filePath, chunk }: Json) => [filePath, chunk.matchLines])).toEqual([
        ['docs/notes.txt', [1]],
        ['src/auth.ts', [10]],
        ['src/lib/tokens.ts', [2]],
      ])
      const content = '1: one line that names verifyToken'
      expect(results[0].chunk).toEqual({ lineStart: 1, lineEnd: 2, content, matchLines: [1] })
      expect((await search('=> {', { mode: 'text', projectPath })).total).toBe(1)
      expect((await search('a%', { mode: 'text', projectPath })).total).toBe(0)
      // Too short for the index of runs.
      expect((await search('5', { mode: 'text', projectPath })).results[0].filePath).toBe('app/users.py')
      // A line ends a text.
      expect(
        (await search('verifyToken\nand', { mode: 'text', projectPath })).results.map((hit: Json) => hit.filePath),
      ).toEqual(['docs/notes.txt'])
      const [over] = (await search('VERIFYTOKEN\nand', { mode: 'text', projectPath })).results
      expect(over.chunk).toMatchObject({ matchLines: [1, 2], content: expect.stringMatching(/^1: .*\n2: and/) })
    })

    it('finds a text of several lines wherever a file is cut, and shows it once', async () => {
      const lines = Array.from({ length: 120 }, (_, i) => `Line ${i + 1};`)
      await put('seams', { files: [{ path: 'long.txt', content: lines.join('\n') }] })
      const found = async (text: string) => {
        const { results, warnings } = await search(text, { mode: 'text', projectPath: 'seams' })
        return { lines: results.map(({ chunk }: Json) => chunk.matchLines), warnings }
      }
      for (const [first, last] of [
        [90, 91],
        [99, 100],
        [100, 101],
        [101, 102],
        [95, 104],
      ] as const) {
        const matched = lines.slice(first - 1, last).map((_, i) => first + i)
        expect(await found(lines.slice(first - 1, last).join('\n'))).toEqual({ lines: [matched] })
      }
      expect(await found('100;\nline 101')).toEqual({ lines: [[100, 101]] })
      expect(await found('100;\n')).toEqual({ lines: [[100]] })
      expect(await found('\nLine 101')).toEqual({ lines: [[101]] })
      expect((await found('Line 100;\nLine 102;')).warnings).toEqual([expect.stringMatching(/^no line contains/)])
    })

    it('finds a text of several lines whichever of the two ways its lines end in', async () => {
      const content = ['first();', 'second();', 'third();', '']
      const ends = { 'unix.ts': '\n', 'windows.ts': '\r\n' }
      await put('ends', { files: Object.entries(ends).map(([path, end]) => ({ path, content: content.join(end) })) })
      for (const end of Object.values(ends)) {
        const { results } = await search(`second();${end}third`, { mode: 'text', projectPath: 'ends' })
        expect(results.map(({ filePath, chunk }: Json) => [filePath, chunk.matchLines, chunk.content])).toEqual(
          Object.keys(ends).map((path) => [path, [2, 3], '2: second();\n3: third();']),
        )
      }
    })

    it('[FABRIC-125] finds all words within one chunk if no line holds the complete text, and reports it', async () => {
      const projectPath = await sample()
      const { results } = await search('capitals length', { mode: 'text', projectPath })
      expect(results.map(({ filePath, chunk }: Json) => [filePath, chunk.matchLines])).toEqual([
        ['src/lib/tokens.ts', [2, 3]],
      ])
      expect((await search('capitals greet', { mode: 'text', projectPath })).total).toBe(0)
      const { warnings } = await search('capitals length', { mode: 'text', projectPath })
      expect(warnings).toEqual(['no line contains this text; these chunks contain all of its words'])
    })

    it('[FABRIC-125] finds chunks by meaning above the threshold, best first', async () => {
      const projectPath = await sample()
      const { results, warnings } = await search('handles authentication and token management', { projectPath })
      expect(results[0]).toMatchObject({ filePath: 'src/auth.ts', chunk: { lineStart: 1 } })
      const scores = results.map(({ chunk }: Json) => chunk.similarity)
      expect(scores).toEqual([...scores].sort((a, b) => b - a))
      for (const score of scores) expect(score).toBeGreaterThanOrEqual(0.5)
      expect(warnings).toEqual([expect.stringContaining('EMBEDDING_PROVIDER is local')])
      expect((await search('handles authentication', { projectPath, threshold: 1 })).results).toEqual([])
      expect((await search('quantum chromodynamics lattice', { projectPath })).total).toBe(0)
    })

    it('[FABRIC-114] returns content only on request, and the project only if none was named', async () => {
      const projectPath = await sample()
      const { results } = await search('verifyToken', { mode: 'text', projectPath, includeContent: false })
      expect(results[0]).toEqual({
        filePath: 'docs/notes.txt',
        language: 'text',
        chunk: { lineStart: 1, lineEnd: 2, matchLines: [1] },
      })
      const anywhere = await search('verifyToken', { mode: 'text', limit: 100 })
      expect(anywhere.results).toContainEqual(expect.objectContaining({ filePath: 'docs/notes.txt', projectPath }))
    })

    it('[FABRIC-22, FABRIC-170] answers within 2,500 tokens by default, in every mode, and cuts the longest contents to one length', async () => {
      const line = (i: number) => `  // ${'a long tale of tides and moorings '.repeat(3)}${i}`
      const files = Array.from({ length: 12 }, (_, i) => {
        const body = Array.from({ length: 30 }, (_, n) => line(n)).join('\n')
        return { path: `src/tide${i}.ts`, content: `/** ${body} */\nexport function moor${i}() {\n${body}\n}\n` }
      })
      const projectPath = await sample(files)
      for (const mode of ['semantic', 'text', 'symbol']) {
        const query = mode === 'symbol' ? 'moor' : 'tides and moorings'
        const answer = await search(query, { mode, projectPath, threshold: 0 })
        expect([mode, answer.results.length, JSON.stringify(answer).length <= 10_000]).toEqual([mode, 10, true])
      }
      const { results } = await search('tides and moorings', { projectPath, threshold: 0 })
      expect(results[0].chunk).toMatchObject({ truncated: true, length: expect.any(Number) })
    })

    it('[FABRIC-119, FABRIC-172] separates files of several roots of one project, names their roots, and lists and empties one root alone', async () => {
      const project = unique('project')
      const [web, api] = ['github.com/acme/web', 'github.com/acme/api']
      const file = (content: string) => ({ path: 'src/main.ts', content: `export const ${content} = 'harbour'\n` })
      await put(project, { root: web, files: [file('webMain')] })
      expect((await search('webMain', { mode: 'symbol', projectPath: project })).results[0]).not.toHaveProperty('root')
      await put(project, { root: ` ${api} `, files: [file('apiMain')] })
      expect((await put(project, { files: [file('ownMain')] })).body).toMatchObject({ stored: 1, unchanged: 0 })
      // One path of each root, in every mode.
      for (const [mode, query] of [
        ['symbol', 'Main'],
        ['text', 'harbour'],
        ['semantic', 'harbour'],
      ]) {
        const { results } = await search(query as string, { mode, projectPath: project, threshold: 0 })
        expect([mode, results.map(({ filePath, root }: Json) => `${root}:${filePath}`).sort()]).toEqual([
          mode,
          [':src/main.ts', `${api}:src/main.ts`, `${web}:src/main.ts`],
        ])
      }
      expect((await request(project, 'GET')).body.files.map(({ root }: Json) => root ?? '').sort()).toEqual([
        '',
        api,
        web,
      ])
      expect((await request(project, 'GET', `?root=${encodeURIComponent(api)}`)).body.files).toMatchObject([
        { root: api },
      ])
      expect((await request(project, 'GET', '?root=')).body.files).toHaveLength(1)
      expect((await put(project, { root: web, files: [], deleted: ['src/main.ts'] })).body.deleted).toBe(1)
      expect((await request(project, 'DELETE', `?root=${encodeURIComponent(api)}`)).body).toEqual({ deleted: 1 })
      expect((await request(project, 'GET')).body.files).toMatchObject([{ path: 'src/main.ts' }])
      const refused = await put(project, { root: 'x'.repeat(501), files: [] })
      expect([refused.status, refused.body.error.message]).toEqual([400, 'root has more than 500 bytes'])
    })

    it('[FABRIC-127] filters by language in any spelling and by file pattern before ranking', async () => {
      const projectPath = await sample()
      const paths = async (args: object) =>
        (await search('verifyToken', { mode: 'text', projectPath, ...args })).results.map(
          ({ filePath }: Json) => filePath,
        )
      expect(await paths({ language: 'TS' })).toEqual(['src/auth.ts', 'src/lib/tokens.ts'])
      expect(await paths({ filePattern: 'src/**/*.ts' })).toEqual(['src/auth.ts', 'src/lib/tokens.ts'])
      expect(await paths({ filePattern: 'src/*.ts' })).toEqual(['src/auth.ts'])
      expect(await paths({ filePattern: '*.{txt,md}' })).toEqual(['docs/notes.txt'])
      expect(await paths({ filePattern: 'SRC/**' })).toEqual([])
      for (const mode of ['symbol', 'semantic']) {
        const { results } = await search('verify', { mode, projectPath, filePattern: 'src/lib/**', threshold: 0 })
        expect(new Set(results.map(({ filePath }: Json) => filePath))).toEqual(new Set(['src/lib/tokens.ts']))
        const others = await search('user', { mode, projectPath, language: 'Python', threshold: 0 })
        expect(new Set(others.results.map(({ language }: Json) => language))).toEqual(new Set(['python']))
      }
      const refused = await session.fail('context_searchCode', { query: 'x', filePattern: '{a' })
      expect(refused.data.code).toBe('VALIDATION_ERROR')
    })

    it('suggests similar names for an unknown language, where nothing is found', async () => {
      const projectPath = await sample([...SAMPLE, { path: 'a.odd', content: 'oddly_named here', language: 'oddity' }])
      const told = async (language: string, query = 'nowhere to be found') =>
        (await search(query, { mode: 'text', language, projectPath })).warnings?.filter((text: string) =>
          /language/.test(text),
        )
      expect(await told('pythn')).toEqual(['no file extension belongs to the language "pythn"; similar: python'])
      expect((await told('kts'))[0]).toMatch(/similar: kotlin$/)
      expect((await told('esperanto'))[0]).toMatch(/known languages: typescript, javascript, .* and others$/)
      expect(await told('python')).toBeUndefined()
      expect(await told('oddity', 'oddly_named')).toBeUndefined()
    })

    it('[FABRIC-121, FABRIC-162] finds a changed file by its new text only', async () => {
      const project = await sample()
      const content = TOKENS.replaceAll('verify', 'inspect').replace('VERIFYTOKEN', 'new words about penguins')
      await put(project, { files: [{ path: 'src/lib/tokens.ts', content }] })
      const paths = async (query: string, mode: string) =>
        (await search(query, { mode, projectPath: project })).results.map(({ filePath }: Json) => filePath)
      expect(await paths('words about penguins', 'text')).toEqual(['src/lib/tokens.ts'])
      expect(await paths('new words about penguins', 'semantic')).toEqual(['src/lib/tokens.ts'])
      expect(await paths('inspect', 'symbol')).toEqual(['src/lib/tokens.ts'])
      expect(await paths('VERIFYTOKEN', 'text')).toEqual(['docs/notes.txt', 'src/auth.ts'])
    })

    it('[FABRIC-113] searches every open project if none is named', async () => {
      const name = unique('onlyHere').replaceAll('-', '')
      const projects = [unique('one'), unique('two')]
      for (const project of projects)
        await put(project, { files: [{ path: `${name}.ts`, content: `export const ${name} = 1` }] })
      for (const mode of ['symbol', 'text', 'semantic']) {
        // By meaning, the letters of a name are similar to code of other tests.
        const { results } = await search(name, { mode, limit: 100, filePattern: `${name}.ts` })
        expect(results.map((hit: Json) => hit.projectPath).sort()).toEqual(projects)
        const [first] = projects
        expect((await search(name, { mode, projectPath: first })).total).toBe(1)
      }
    })

    it('[FABRIC-5] answers failures as {error, code, details?} with the codes of the family', async () => {
      const failure = async (args: object) => (await session.fail('context_searchCode', { ...args })).data
      expect(await failure({ query: '  ' })).toEqual({
        error: 'query must not be blank',
        code: 'VALIDATION_ERROR',
        details: [{ path: 'query', message: expect.stringContaining('an example is') }],
      })
      for (const args of [{}, { query: 'x', mode: 'fuzzy' }, { query: 'x', limit: 0 }, { query: 'x', threshold: 2 }]) {
        const data = await failure(args)
        expect([typeof data.error, data.code]).toEqual(['string', 'VALIDATION_ERROR'])
      }
      const { text, data } = await session.fail('context_searchCode', { query: '' })
      expect(JSON.parse(text)).toEqual(data)
    })
  })
}

/** Bytes of code in the quota of an organization (platform contract §6). */
export function codeQuotaContract(connect: Connect): void {
  const session = useSession(connect, { MAX_BYTES_PER_ORG: '1200' })
  const { put } = speaking(session)

  it('counts code in the bytes of an org, refuses a call beyond the limit completely, and accepts a reduction', async () => {
    const file = (path: string, size: number) => ({ path, content: 'x'.repeat(size) })
    expect((await put('p', { files: [file('a.txt', 900)] })).status).toBe(200)
    const refused = await put('p', { files: [file('b.txt', 200)] })
    expect([refused.status, refused.body.error.message]).toEqual([413, expect.stringContaining('MAX_BYTES_PER_ORG')])
    expect((await put('p', { files: [file('a.txt', 100)] })).body).toMatchObject({
      stored: 1,
      indexStatus: { totalFiles: 1 },
    })
    expect((await put('p', { files: [file('b.txt', 200)] })).status).toBe(200)
  })
}

/** Requests of the upload routes, and searches that must succeed. */
export function speaking(session: Session) {
  async function request(project: string, method: string, query = '', body?: unknown) {
    const url = new URL(`/api/v1/code/${encodeURIComponent(project)}/files${query}`, session.server.url.href)
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${session.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Json }
  }
  return {
    request,
    put: (project: string, body: unknown) => request(project, 'PUT', '', body),
    search: (query: string, args: object = {}): Promise<Json> => session.ok('context_searchCode', { query, ...args }),
  }
}

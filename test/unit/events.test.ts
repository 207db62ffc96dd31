import { describe, expect, it } from 'vitest'
import type { Metadata } from '../../src/domain/entry/metadata'
import type { EventType } from '../../src/domain/recall/events/event'
import { errorLine, outcomeOf } from '../../src/domain/recall/events/outcomes'
import { patternOf, problemKey, sameProblem } from '../../src/domain/recall/failure-key'
import { IssueCollector } from '../../src/domain/validation'

const outcome = (type: EventType, payload: Metadata, wrong = new IssueCollector(), project: string | null = null) =>
  outcomeOf({ type, payload }, project, wrong)

/** The validation error of a payload; null for none. */
function refused(type: EventType, payload: Metadata): string | null {
  const wrong = new IssueCollector()
  outcome(type, payload, wrong)
  try {
    wrong.end()
    return null
  } catch (error) {
    return (error as Error).message
  }
}

describe('what an event leaves', () => {
  it('[FABRIC-93, FABRIC-167] recognizes a failed command by its exit code alone, and its reason by a line of its output', () => {
    const lines = (output: string, exitCode?: number) =>
      outcome('command_executed', { command: 'make', output, ...(exitCode === undefined ? {} : { exitCode }) })
    for (const output of ['2 failed', 'FATAL: out of memory', 'Traceback', 'exit code 1', ''])
      expect([output, lines(output).failure, lines(output, 0).failure]).toEqual([output, null, null])
    expect(lines('all good', 3).failure).toEqual({ line: 'all good', of: { command: 'make' } })
    expect(lines('', -1).failure).toEqual({ line: 'make', of: { command: 'make' } })
    expect(errorLine('\n> test\n  TypeError: x \nfailed')).toBe('TypeError: x')
    for (const line of [
      'a NullPointerException',
      'x FATAL',
      'panicked',
      'build failed',
      'cannot find it',
      'npm ERR! Errors',
    ])
      expect(errorLine(`start\n${line}\nend`)).toBe(line)
    expect([errorLine('\n fine \n done\n\n'), errorLine('')]).toEqual(['done', ''])
    for (const letter of ['0', 'e', '0 ', 'error', ' \n']) errorLine(letter.repeat(1_000_000 / letter.length))
  })

  it('[FABRIC-94] identifies a problem by its error line without numbers, and by its file or command', async () => {
    const same = [
      ['Timeout after 5000 ms at 0xDEADBEEF', 'timeout after 31 ms at 0xfe'],
      ['commit 4f2a91c failed', 'Commit 0a1b2c3d4e failed'],
      ['  listen EADDRINUSE :::3000', 'listen EADDRINUSE :::8080 '],
    ] as const
    for (const [a, b] of same) expect(patternOf(a)).toBe(patternOf(b))
    expect(patternOf('facade decade 12')).toBe('facade decade #')
    expect(patternOf('no such table: users')).not.toBe(patternOf('no such table: orders'))
    for (const run of ['a', '0', 'f0x', '0x', 'abcdef']) patternOf(run.repeat(300_000))
    const key = (line: string, file?: string) => problemKey({ line, of: file === undefined ? null : { file } })
    expect(await key('x 1', 'src/a.ts')).toBe(await key('X 2', '/home/u/app/src/a.ts'))
    expect(await key('x 1', 'src/a.ts')).not.toBe(await key('x 1', 'src/a.tsx'))
    const command = (command: string) => problemKey({ line: 'x', of: { command } })
    expect(await command('npm test 1')).not.toBe(await command('npm test 2'))
    const reported = [
      { id: 1, version: 1, path: 'lib/a.ts', count: 1 },
      { id: 2, version: 1, path: 'src\\a.ts', count: 4 },
    ]
    const of = (file: string) => sameProblem({ line: 'x', of: { file } }, '/home/u/app', reported)?.id
    expect([of('/home/u/app/src/a.ts'), of('/other/src/a.ts'), of('./lib/a.ts'), of('a.ts')]).toEqual([
      2,
      2,
      1,
      undefined,
    ])
  })

  it('[FABRIC-91, FABRIC-167] refuses an event whose required value is missing, blank or empty, and never writes "undefined"', () => {
    const needed: [EventType, string][] = [
      ...([
        ['file_opened', 'path'],
        ['command_executed', 'command'],
        ['error_occurred', 'error'],
        ['decision_made', 'decision'],
        ['pattern_detected', 'pattern'],
        ['user_feedback', 'feedback'],
      ] as [EventType, string][]),
    ]
    for (const [type, name] of needed) {
      for (const value of [undefined, null, '', ' \n', {}, []] as (Metadata[string] | undefined)[])
        expect(refused(type, value === undefined ? {} : { [name]: value })).toContain(`event.payload.${name}`)
      expect(refused(type, { [name]: 'x' })).toBeNull()
    }
    expect(refused('file_opened', { filePath: 'a.ts' })).toBeNull()
    expect(refused('command_executed', { exitCode: 1.5 })).toBe(
      'event.payload.command is missing or empty; event.payload.exitCode must be a whole number',
    )
    for (const type of ['session_start', 'session_end'] as const) expect(refused(type, {})).toBeNull()
    const all = JSON.stringify(
      [...needed, ['session_start', 'x'] as const].map(([type, name]) =>
        outcome(type, { [name]: { deep: 1 }, other: null }),
      ),
    )
    expect(all).not.toContain('undefined')
  })

  it('[FABRIC-16] treats all spellings of a file path as one, also in stored memories', () => {
    const project = '/home/ada/app'
    const left = (type: EventType, payload: Metadata) =>
      outcome(type, payload, new IssueCollector(), project).memories[0]
    for (const path of ['./src/a.ts', 'src/a.ts', `file://${project}/src/a.ts`, `${project}/src/a.ts`, 'src\\a.ts']) {
      expect(left('file_opened', { path, content: 'x' })).toEqual(
        left('file_opened', { path: 'src/a.ts', content: 'x' }),
      )
      const failed = left('error_occurred', { error: 'TypeError: x', file: path, line: 4 })
      expect(failed).toMatchObject({
        content: 'TypeError: x\nsrc/a.ts:4',
        metadata: { fileContext: { path: 'src/a.ts' } },
      })
      expect(left('pattern_detected', { pattern: 'p', file: path })).toMatchObject({
        metadata: { fileContext: { path: 'src/a.ts' } },
      })
    }
    expect(left('file_opened', { path: '/etc/hosts' })?.content).toBe('/etc/hosts')
    expect(left('file_opened', { path: './' })?.content).toBe('./')
  })

  it('[FABRIC-90] stores for each type of event the memories, layers, times to live, tags and actions that the page lists', () => {
    const memory = (type: EventType, payload: Metadata) => {
      const { memories, actions } = outcome(type, payload)
      return { ...memories[0], actions }
    }
    expect(memory('file_opened', { path: 'src/a.tsx', content: `${'🦊'.repeat(1001)}` })).toEqual({
      ...{ type: 'scratchpad', layer: 1, ttl: 3600, content: 'src/a.tsx', tags: ['file_opened'] },
      metadata: {
        fileContext: { path: 'src/a.tsx', language: 'typescript' },
        codeBlock: { code: '🦊'.repeat(1000), language: 'typescript', filePath: 'src/a.tsx' },
      },
      actions: ['stored_scratchpad'],
    })
    const { memories, actions } = outcome('command_executed', {
      command: 'npm test',
      output: `y\nerror: x\n${'z'.repeat(4500)}`,
      exitCode: '1',
    })
    expect(memories).toEqual([
      {
        ...{ type: 'scratchpad', layer: 1, ttl: 7200, tags: ['command_executed'], metadata: { exitCode: 1 } },
        content: `npm test\ny\nerror: x\n${'z'.repeat(489)}`,
      },
      {
        ...{ type: 'bug_fix', layer: 2, tags: ['error', 'command_failed'], metadata: { exitCode: 1 }, counts: true },
        content: `error: x\nnpm test\ny\nerror: x\n${'z'.repeat(3989)}`,
      },
    ])
    expect(actions).toEqual(['stored_command', 'stored_error_memory', 'searched_similar_errors'])
    expect(outcome('command_executed', { command: 'ls', output: 'a' })).toMatchObject({ actions: ['stored_command'] })
    expect(
      memory('error_occurred', { error: 'TypeError: x', file: 'a.py', line: 42, context: 'at night', stack: 's' }),
    ).toEqual({
      ...{
        type: 'bug_fix',
        layer: 2,
        content: 'TypeError: x\na.py:42\nat night',
        tags: ['error', 'bug_fix'],
        counts: true,
      },
      metadata: { fileContext: { path: 'a.py', lineStart: 42, language: 'python' }, stack: 's' },
      actions: ['stored_error_memory', 'searched_similar_errors'],
    })
    expect(memory('decision_made', { decision: 'Use Zod', rationale: 'one schema' })).toMatchObject({
      ...{ type: 'decision', layer: 2, content: 'Use Zod\none schema', tags: ['decision', 'architecture'] },
      actions: ['stored_decision'],
    })
    expect(memory('session_start', { model: 'opus', nested: { a: 1 } })).toMatchObject({
      ...{ type: 'scratchpad', layer: 1, ttl: 86_400, tags: ['session_start'], actions: ['initialized_session'] },
      content: 'Session started\nmodel: opus\nnested: {"a":1}',
    })
    expect(memory('session_end', {})).toMatchObject({
      ...{ type: 'scratchpad', layer: 1, ttl: 3600, content: 'Session ended', actions: ['session_closed'] },
    })
    expect(memory('pattern_detected', { pattern: 'Guard first', code: 'if (!x) return', file: 'b.go' })).toMatchObject({
      ...{ type: 'code_pattern', layer: 3, content: 'Guard first', tags: ['pattern', 'code_pattern'] },
      metadata: { codeBlock: { code: 'if (!x) return', language: 'go', filePath: 'b.go' } },
      actions: ['stored_pattern'],
    })
    expect(memory('user_feedback', { feedback: 'Shorter answers', rating: 0 })).toMatchObject({
      ...{ type: 'relationship', layer: 3, content: 'Shorter answers\nRating: 0', actions: ['stored_feedback'] },
      ...{ tags: ['feedback', 'user_preference'], metadata: { source: 'user_explicit' } },
    })
  })

  it('[FABRIC-99, FABRIC-167] removes secrets from every part of an event, also where a text is cut', () => {
    const token = `ghp_${'a1B2'.repeat(10)}`
    const hidden = '[redacted:github]'
    const types: [EventType, Metadata][] = [
      ['file_opened', { path: `a/${token}`, content: `${token}\n`, language: token }],
      ['command_executed', { command: `curl -H ${token}`, output: `error ${'x'.repeat(480)} ${token}`, exitCode: 1 }],
      ['error_occurred', { error: token, context: { header: token }, file: token, stack: token }],
      ['decision_made', { decision: token, rationale: [token] }],
      ['session_start', { [token]: token }],
      ['session_end', { last: token }],
      ['pattern_detected', { pattern: token, code: token, language: token, file: token }],
      ['user_feedback', { feedback: token, rating: token }],
    ]
    for (const [type, payload] of types) {
      const { file: _, ...left } = outcome(type, payload)
      const text = JSON.stringify(left)
      // No part of it remains where a text was cut.
      expect([type, text.includes('ghp_'), text.includes(hidden)]).toEqual([type, false, true])
    }
    const named = { DB_PASSWORD: 'Winter2026!xyz', token: 'abcdef1234567890', env: { API_TOKEN: 'two words 99' } }
    for (const type of ['session_start', 'session_end'] as const) {
      const { memories } = outcome(type, { model: 'opus', ...named, tokenCount: 12345678 })
      expect(memories[0]?.content.split('\n').slice(1)).toEqual([
        'model: opus',
        'DB_PASSWORD: [redacted:secret]',
        'token: [redacted:secret]',
        'env: {"API_TOKEN":"two words 99"}',
        'tokenCount: 12345678',
      ])
    }
  })
})

import { describe, expect, it } from 'vitest'
import type { Metadata } from '../../src/domain/entry/metadata'
import { Inspection } from '../../src/domain/flaws'
import type { EventType } from '../../src/domain/recall/events/event'
import { firstError, hasFailed } from '../../src/domain/recall/events/outcome'
import { outcomeOf } from '../../src/domain/recall/events/outcomes'
import { promise } from '../requirements/fabric'

const outcome = (type: EventType, payload: Metadata, wrong = new Inspection()) => outcomeOf({ type, payload }, wrong)

/** What is refused of a payload; null when nothing is. */
function refused(type: EventType, payload: Metadata): string | null {
  const wrong = new Inspection()
  outcome(type, payload, wrong)
  try {
    wrong.end()
    return null
  } catch (error) {
    return (error as Error).message
  }
}

describe('what an event leaves', () => {
  it(promise('f7-failed'), () => {
    const failing = [
      ...[
        'TypeError: x is not a function',
        'java.lang.NullPointerException',
        '2 failed',
        'FATAL: out of memory',
        'kernel panic',
      ],
      ...[
        'Traceback (most recent call last)',
        'sh: foo: command not found',
        'ended with exit code 255',
        'Exit code: 1',
      ],
      ...['non-zero exit status', 'open x: ENOENT', 'eacces', 'Compilation FAILED', '10 errors', '0 errors, 1 failed'],
      ...['errors: 01', 'found 1,0 errors'],
    ]
    for (const output of failing) expect([output, hasFailed(output, null)]).toEqual([output, true])
    const passing = [
      ...[
        '',
        'all good',
        '0 errors',
        'No errors found',
        '12 passed, 0 failed',
        '12 passed,0 failed',
        '0 failures',
        'Errors: 0, Failed: 0',
      ],
      ...['finished without errors', 'exit code 0', 'exit code 256', 'exit code 1000'],
    ]
    for (const output of passing) expect([output, hasFailed(output, null)]).toEqual([output, false])
    // A code that was given decides alone.
    expect([hasFailed('2 failed', 0), hasFailed('all good', 3), hasFailed('', -1)]).toEqual([false, true, true])
    expect(firstError('\n> test\nErrors: 0\n  TypeError: x \nfailed')).toBe('TypeError: x')
    expect([firstError('\n fine \n'), firstError('')]).toEqual(['fine', ''])
    for (const letter of ['0', 'e', '0 ', 'error', 'errors:', ' \n'])
      hasFailed(letter.repeat(1_000_000 / letter.length), null)
  })

  it(promise('f7-required'), () => {
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

  it(promise('f7-table'), () => {
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
      output: `e${'x'.repeat(4500)}`,
      exitCode: '1',
    })
    expect(memories).toEqual([
      {
        ...{ type: 'scratchpad', layer: 1, ttl: 7200, tags: ['command_executed'], metadata: { exitCode: 1 } },
        content: `npm test\ne${'x'.repeat(499)}`,
      },
      {
        ...{ type: 'bug_fix', layer: 2, tags: ['error', 'command_failed'], metadata: { exitCode: 1 } },
        content: `npm test\ne${'x'.repeat(3999)}`,
      },
    ])
    expect(actions).toEqual(['stored_command', 'stored_error_memory', 'searched_similar_errors'])
    expect(outcome('command_executed', { command: 'ls', output: 'a' })).toMatchObject({ actions: ['stored_command'] })
    expect(
      memory('error_occurred', { error: 'TypeError: x', file: 'a.py', line: 42, context: 'at night', stack: 's' }),
    ).toEqual({
      ...{ type: 'bug_fix', layer: 2, content: 'TypeError: x\na.py:42\nat night', tags: ['error', 'bug_fix'] },
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

  it(promise('f7-secrets'), () => {
    const token = `ghp_${'a1B2'.repeat(10)}`
    const hidden = '[redacted:github-token]'
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
      // Nothing of it is left either where a text was cut.
      expect([type, text.includes('ghp_'), text.includes(hidden)]).toEqual([type, false, true])
    }
  })
})

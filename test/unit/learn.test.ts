import { describe, expect, it } from 'vitest'
import { isSource, type LearnedProposal, MOST_PROPOSALS, proposeMemories } from '../../src/cli/learn/propose'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const propose = (path: string, text: string) => proposeMemories([{ path, text }], [], COMMIT)
const places = (proposals: readonly LearnedProposal[]) => proposals.map(({ citation }) => citation)
const ofCommit = (subject: string, body: string, paths = ['src/pool.ts']) =>
  proposeMemories([], [{ id: COMMIT, subject, body, paths }], COMMIT, paths)

describe('documents', () => {
  const RECORD =
    '# 4. Use SQLite for the queue\n\n## Status\n\nAccepted\n\n## Context\n\nWe need a queue that survives a restart of the machine.\n\n' +
    '## Decision\n\nWe store jobs in SQLite, in the data folder.\n\nOne process reads it at a time.\n'

  it('[OPERATE-100] proposes the decision of a record in its own words, cited by lines and commit', () => {
    const [proposal, ...others] = propose('docs/adr/0004-queue.md', RECORD)
    expect(others).toEqual([])
    expect(proposal).toMatchObject({
      kind: 'decision',
      title: 'Use SQLite for the queue',
      content: 'We store jobs in SQLite, in the data folder.\n\nOne process reads it at a time.',
      citation: 'docs/adr/0004-queue.md:13-15@0123456789ab',
      sources: [{ path: 'docs/adr/0004-queue.md', lines: '13-15', commit: COMMIT }],
    })
    expect(proposal?.sources[0]?.hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('[OPERATE-100] reads the section of a decision, not a title that says "decision record"', () => {
    const [proposal] = propose('docs/arch/adr-004.md', RECORD.replace('# 4. ', '# Decision record: '))
    expect(proposal).toMatchObject({ title: 'Use SQLite for the queue', citation: expect.stringContaining(':13-15@') })
  })

  it('[OPERATE-100] reads a record whose decision begins in bold, without a heading', () => {
    const text =
      '# 7: One queue\n\n**Context.** Jobs were lost at each restart.\n\n**Choice.** All jobs are rows of one table in SQLite.\n\n**Costs.** One writer.\n'
    expect(propose('docs/decisions/007-queue.md', text)).toMatchObject([
      {
        title: 'One queue',
        content: '**Choice.** All jobs are rows of one table in SQLite.\n\n**Costs.** One writer.',
      },
    ])
  })

  it('[OPERATE-100] describes a decision that only states `Accepted` by its design section', () => {
    const decision = RECORD.replace(
      /We store[\s\S]*/,
      'Accepted\n\n## Detailed design\n\nJobs are rows of a table in SQLite, in the data folder.\n',
    )
    expect(propose('docs/adr/0004-queue.md', decision)[0]?.content).toMatch(/^Jobs are rows/)
  })

  it('[OPERATE-100] leaves out records that were superseded or rejected, and templates', () => {
    expect(propose('docs/adr/0001-a.md', RECORD.replace('Accepted', 'Superseded by 7'))).toEqual([])
    expect(propose('docs/adr/0001-a.md', RECORD.replace('Accepted', 'Rejected'))).toEqual([])
    expect(propose('docs/adr/0001-a.md', RECORD.replace('We need', '**Superseded by [5](5.md).** We need'))).toEqual([])
    expect(propose('docs/adr/template.md', RECORD)).toEqual([])
  })

  it('[OPERATE-101] proposes rules of agents with their heading in the title, and neither thanks, links nor installation', () => {
    const rules =
      '# Agents\n\nWelcome! Thank you for your interest in this project, we are happy that you are here.\n\n## Migrations\n\n' +
      '- Never edit a migration that was released, because servers compare its hash at each start.\n\n' +
      '## Resources\n\n- [Docs](https://a.example/docs)\n- [Chat](https://a.example/chat)\n- [Blog](https://a.example/blog)\n\n' +
      '## Installation\n\nRun `npm install ferry` to install the newest version of the program on your machine.\n'
    const found = propose('AGENTS.md', rules)
    expect(found).toMatchObject([
      {
        kind: 'convention',
        title: expect.stringMatching(/^Migrations: Never edit a migration/),
        content: '- Never edit a migration that was released, because servers compare its hash at each start.',
        citation: 'AGENTS.md:7@0123456789ab',
      },
    ])
  })

  it('[OPERATE-101] keeps a list with its introduction, and a command with the sentence before it', () => {
    const text =
      '# Contributing\n\n## Pull requests\n\nPlease avoid:\n\n' +
      '- Force pushes after the review has begun, because reviewers lose their place in the changes.\n' +
      '- Changes of generated files by hand, which must be regenerated from their sources in `proto/`.\n\n' +
      '## Tests\n\nTests must not use the network. Run them with the proxy that refuses each call, otherwise CI fails:\n\n```\nnpm test -- --offline\n```\n'
    const contents = propose('CONTRIBUTING.md', text).map(({ content }) => content)
    expect(contents.find((one) => one.includes('Force pushes'))).toMatch(/^Please avoid:[\s\S]*generated files by hand/)
    expect(contents.find((one) => one.includes('network'))).toContain('npm test -- --offline')
  })

  it('[OPERATE-101] reads reStructuredText and callouts', () => {
    const rst =
      'Contributing\n============\n\nReleasing\n---------\n\n.. warning::\n    Releases must be prepared on Linux, because the examples of the docs run there.\n'
    expect(propose('CONTRIBUTING.rst', rst)).toMatchObject([
      {
        kind: 'gotcha',
        title: expect.stringMatching(/^Releasing: Releases must/),
        citation: 'CONTRIBUTING.rst:7-8@0123456789ab',
      },
    ])
    const markdown =
      '# Guide\n\n## Cache\n\n> [!WARNING]\n> Never share the cache between servers, because its keys contain no tenant and must not.\n'
    expect(propose('docs/development.md', markdown)).toMatchObject([{ kind: 'gotcha' }])
    const fenced = markdown.replace(/^> \[!WARNING\]\n> (.*)/m, '```{warning}\n$1\n```')
    expect(propose('docs/development.md', fenced)).toMatchObject([{ kind: 'gotcha' }])
    const hugo = markdown.replace(/^> \[!WARNING\]\n> (.*)/m, '{{% warning %}}\n$1\n{{% /warning %}}')
    expect(propose('docs/development.md', hugo)).toMatchObject([
      {
        kind: 'gotcha',
        title: expect.stringMatching(/^Cache: Never share/),
        citation: 'docs/development.md:5-7@0123456789ab',
      },
    ])
  })

  it('[OPERATE-101] proposes causes and lessons of a post-mortem', () => {
    const text =
      '# Outage\n\n## Root cause\n\nThe lease expired because the clock of the database was four minutes ahead of the workers.\n'
    expect(propose('docs/postmortems/2026-03.md', text)).toMatchObject([{ kind: 'gotcha' }])
  })

  it('reads documents of the project, not those of others, of tests, or announcements', () => {
    const read = ['AGENTS.md', '.cursor/rules/style.mdc', 'docs/a.md', 'packages/a/CHANGELOG.md', 'docs/adr/0001-a.md']
    const unread = [
      ...['src/a.ts', 'vendor/a/CONTRIBUTING.md', 'test/fixtures/AGENTS.md', 'docs/adr/README.md', 'docs/a.png'],
      ...['CODE_OF_CONDUCT.md', 'docs/announce/release-2.0.rst', 'src/changes.rs', 'docs/zh/guide.md'],
    ]
    expect([...read, ...unread].filter(isSource)).toEqual(read)
  })
})

describe('history', () => {
  const CAUSE =
    'The pool was exhausted because each request opened a second connection for `audit`, which no call closed. ' +
    'Under load the server then refused all logins, and the health check still reported that it was ready to serve.'

  it('[OPERATE-102] proposes a fix and a revert that give their reason in the words of the commit, and no others', () => {
    expect(ofCommit('fix: close connections of the audit log', CAUSE)).toMatchObject([
      {
        kind: 'gotcha',
        content: `fix: close connections of the audit log\n\n${CAUSE}`,
        citation: 'commit:0123456789ab',
        sources: [],
        commit: COMMIT,
      },
    ])
    expect(ofCommit('Revert "Use HTTP/3"', `This reverts commit abc123.\n\n${CAUSE}`)).toHaveLength(1)
    expect(ofCommit('Revert "Use HTTP/3"', 'This reverts commit abc123.')).toEqual([])
    expect(ofCommit('fix: close connections', 'This closes the connections of a pool after each request.')).toEqual([])
    expect(ofCommit('chore(deps): bump the pool', CAUSE)).toEqual([])
    expect(ofCommit('fix: close connections', CAUSE, ['README.md'])).toEqual([])
  })

  it('[OPERATE-102] leaves out commits whose files no longer exist', () => {
    const commits = [{ id: COMMIT, subject: 'fix: close connections', body: CAUSE, paths: ['src/gone.ts'] }]
    expect(proposeMemories([], commits, COMMIT, ['src/pool.ts'])).toEqual([])
  })

  it('[OPERATE-102] proposes a file that was fixed again and again, with the subjects of its fixes', () => {
    const fixes = ['a', 'b', 'c', 'd', 'e', 'f', '0'].map((letter) => ({
      ...{ id: letter.repeat(40), subject: `fix: the ${letter} of the parser`, body: '', paths: ['src/parser.ts'] },
    }))
    const [proposal] = proposeMemories([], fixes, COMMIT, ['src/parser.ts'])
    expect(proposal).toMatchObject({ title: 'src/parser.ts was fixed 7 times', citation: 'src/parser.ts@aaaaaaaaaaaa' })
    expect(proposal?.content.split('\n')).toHaveLength(6)
  })
})

describe('the choice of proposals', () => {
  const RULE = '- Never edit a migration that was released, because servers compare its hash at each start.\n'

  it('[OPERATE-103] redacts secrets and proposes a repeated text once, at most 50 in all', () => {
    const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
    const [proposal] = propose(
      'AGENTS.md',
      `- Always send the token ${token} with each call, otherwise the server refuses it.\n`,
    )
    expect(proposal?.content).toContain('[redacted')
    expect(proposal?.content).not.toContain(token)
    const twice = ['AGENTS.md', 'CONTRIBUTING.md'].map((path) => ({ path, text: `# Rules\n\n${RULE}` }))
    expect(proposeMemories(twice, [], COMMIT)).toHaveLength(1)
    const words = (n: number) =>
      ['alpha', 'beta', 'gamma', 'delta', 'eta', 'iota'].map((word) => `${word}${n}`).join(' ')
    const many = (path: string, at: number) => ({
      path,
      text: Array.from(
        { length: 60 },
        (_, i) =>
          `# ${words(i)}\n\n- Never use ${words(1000 * at + i)}, because ${words(1000 * at + i + 500)} must be free.\n`,
      ).join('\n'),
    })
    const paths = [
      'AGENTS.md',
      'CLAUDE.md',
      'CONTRIBUTING.md',
      'docs/dev/a.md',
      'docs/design.md',
      'docs/architecture.md',
    ]
    expect(proposeMemories(paths.map(many), [], COMMIT)).toHaveLength(MOST_PROPOSALS)
  })

  it('[OPERATE-104] identifies a proposal by its text, wherever lines before it move it', () => {
    const [before] = propose('AGENTS.md', `# Rules\n\n${RULE}`)
    const [after] = propose('CLAUDE.md', `# All rules\n\nSome text.\n\n## Migrations\n\n${RULE}`)
    const [other] = propose('AGENTS.md', `# Rules\n\n${RULE.replace('hash', 'checksum')}`)
    expect(after?.key).toBe(before?.key)
    expect(places([after as LearnedProposal])).toEqual(['CLAUDE.md:7@0123456789ab'])
    expect(other?.key).not.toBe(before?.key)
  })
})

it('[OPERATE-223] ends with documents and messages of half a megabyte whose lines, lists or headings a stranger repeated', () => {
  const head = 'a'.repeat(40)
  const many = (unit: string) => unit.repeat(500_000 / unit.length)
  for (const unit of ['- a\n', '# a\nb\n', ' ', '[', '\n \n'])
    for (const path of ['AGENTS.md', 'docs/adr/1-a.md'])
      expect(proposeMemories([{ path, text: `# Rules\n\n${many(unit)}` }], [], head).length).toBeLessThan(2)
  const body =
    'The cache was stale because the key of a request had no tenant, so one tenant read the answers of another one.'
  const commit = { id: head, subject: 'fix: name the tenant in the key', body, paths: ['src/a.ts'] }
  for (const unit of [' ', '\n', '[', '- '])
    for (const message of [{ subject: commit.subject + many(unit) }, { body: `${body}\n\n${many(unit)}` }])
      expect(proposeMemories([], [{ ...commit, ...message }], head, ['src/a.ts'])).toMatchObject([{ commit: head }])
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pictureOf, playTranscript } from '../../scripts/transcript.mjs'
import { ROOT } from '../support/build'
import type { Json } from '../support/oauth'
import { startPlace } from '../support/places'
import type { RunningServer } from '../support/server'
import { EXAMPLES } from '../support/tool-examples'
import { placeOf } from '../support/tool-places'

/**
 * docs/tools.md, generated from the definitions and answers of a server. `npm test -- test/node/tool-docs.test.ts -u` updates it. README.md's
 * transcript is what scripts/transcript.mjs plays.
 */
let server: RunningServer
let serial = 0
beforeAll(async () => {
  server = await startPlace()
})
afterAll(() => server?.stop())

async function rpc(method: string, params: Json = {}, path = '/mcp'): Promise<Json> {
  const response = await fetch(new URL(path, server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++serial, method, params }),
  })
  return JSON.parse(await response.text()).result
}

/** Values that differ between runs: times, ids of changes, cursors, and similarities that depend on the processor. */
const steady = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?(Z|\+00:00)/g, '2026-11-24T09:00:00.000Z')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'localhost:8787')
    .replaceAll(/\d{4}-\d\d-\d\d(?!T)/g, '2026-11-24')
    .replaceAll(/\b1\d{12}\b/g, '1795510800000')
    .replaceAll(/\b\d{1,2}:\d\d [AP]M\b/g, '9:00 AM')
    .replaceAll(/\b[A-Z][a-z]+day, [A-Z][a-z]+ \d{1,2}, \d{4}\b/g, 'Tuesday, November 24, 2026')
    .replaceAll(/"(dateShort|dayOfWeek)":"[^"]*"/g, '"$1":"…"')
    .replaceAll(/"(isWeekend|weekNumber)":\w+/g, '"$1":…')
    .replaceAll(/change_id\\": \\"[0-9a-f]{32}/g, 'change_id\\": \\"b745512975bd453fa81449c260e82758')
    .replaceAll(/"(change_id|changeId)":"[^"]*"/g, '"$1":"b745512975bd453fa81449c260e82758"')
    .replaceAll(/"(next|cursor)":"[^"]*"/g, '"$1":"qwWL-DM5…"')

/** An answer in one line, its long texts and lists cut. */
function shortened(value: Json, depth = 0): Json {
  if (typeof value === 'string') return value.length > 90 ? `${value.slice(0, 88)}…` : value
  if (Array.isArray(value)) return value.slice(0, 2).map((one) => shortened(one, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 14)
      .map(([key, one]) => [key, shortened(one, depth + 1)]),
  )
}

const typeOf = (schema: Json): string =>
  schema.enum !== undefined
    ? schema.enum.map((one: string) => `\`${one}\``).join(', ')
    : schema.anyOf !== undefined
      ? schema.anyOf.map(typeOf).join(' or ')
      : schema.type === 'array'
        ? `list of ${typeOf(schema.items ?? {})}`
        : (schema.type ?? 'any')

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function argumentRows({ properties = {}, required = [] }: Json): string[] {
  const rows = Object.entries<Json>(properties).map(([name, schema]) => {
    const must = required.includes(name) ? ', required' : ''
    return `| \`${name}\` | ${cell(typeOf(schema))}${must} | ${cell(schema.description ?? '')} |`
  })
  return rows.length === 0 ? ['It takes no arguments.'] : ['| argument | type | |', '|---|---|---|', ...rows]
}

const resultNames = ({ properties = {}, anyOf = [] }: Json): string =>
  [...new Set([properties, ...anyOf.map((one: Json) => one.properties ?? {})].flatMap((one) => Object.keys(one)))]
    .map((name) => `\`${name}\``)
    .join(', ')

it('documents input and output of every tool, with an example that ran', async () => {
  const paths = ['/mcp/core', '/mcp', '/mcp/connector']
  const [core, families, connector] = await Promise.all(paths.map((path) => rpc('tools/list', {}, path)))
  const named = (prefix: string) => (tool: Json) => ({ ...tool, called: `${prefix}${tool.name}` })
  const tools = [...core.tools.map(named('core:')), ...families.tools.map(named('')), ...connector.tools.map(named(''))]
  const answers = new Map<string, string>()
  for (const [name, args] of EXAMPLES) {
    const { path, tool } = placeOf(name)
    const { structuredContent, isError } = await rpc('tools/call', { name: tool, arguments: args }, path)
    expect([name, isError ?? false, isError ? structuredContent : null]).toEqual([name, false, null])
    if (!answers.has(name))
      answers.set(name, `${tool} ${JSON.stringify(args)}\n→ ${steady(JSON.stringify(shortened(structuredContent)))}`)
  }
  expect(tools.map(({ called }: Json) => called).filter((name: string) => !answers.has(name))).toEqual([])
  const sectionOf = ({ name, called, title, description, inputSchema, outputSchema, annotations }: Json): string =>
    [
      `### ${name}`,
      `**${title}**${annotations?.readOnlyHint ? ' (read-only)' : ''}. ${cell(description)}`,
      argumentRows(inputSchema).join('\n'),
      `It returns ${resultNames(outputSchema ?? {}) || 'text'}.`,
      `\`\`\`text\n${answers.get(called)}\n\`\`\``,
    ].join('\n\n')
  const sections = (title: string, prefix: string, listed: Json[]): string[] => [
    `## ${title}`,
    [
      '| tool | |',
      '|---|---|',
      ...listed.map(({ name, description }) => `| \`${name}\` | ${cell(description)} |`),
    ].join('\n'),
    ...listed.map(named(prefix)).map(sectionOf),
  ]
  const page = [
    ...sections('Core tools: `/mcp/core`', 'core:', core.tools),
    ...sections('Tools of the families: `/mcp`', '', families.tools),
    ...sections('Tools of connectors: `/mcp/connector`', '', connector.tools),
  ]
  const head = `# Tools

This page lists the ten tools of \`/mcp/core\`, then the tools of the families, which \`/mcp\` has, and those of connectors. For other endpoints, see [using it](using.md). Each tool has its
definition as clients get it, and a call with its answer (long texts and lists are cut, times and IDs of changes replaced).
\`test/node/tool-docs.test.ts\` generates the page from a running server.`
  await expect(`${[head, ...page].join('\n\n')}\n`).toMatchFileSnapshot('../../docs/tools.md')
})

it('plays the transcript that README.md shows in words and as a picture', async () => {
  const fresh = await startPlace()
  try {
    const lines = await playTranscript(fresh.url.origin)
    expect(lines.length).toBeLessThanOrEqual(12)
    await expect(pictureOf(lines)).toMatchFileSnapshot('../../docs/pictures/transcript.svg')
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(lines.join('\n'))
  } finally {
    await fresh.stop()
  }
})

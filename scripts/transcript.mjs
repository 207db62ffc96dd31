// Plays three agents that share a memory, over MCP, as README.md shows it: `node scripts/transcript.mjs [URL]`, on a server with an empty
// store. A test compares the page and the picture with it.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { resolveServer } from '../src/cli/resolve-server.mjs'

/** The calls, in order. @type {readonly (readonly [who: string, tool: string, args: Record<string, unknown>])[]} */
const PLAYED = [
  [
    'Claude Code',
    'remember',
    {
      title: 'Refunds carry an idempotency key',
      content: 'A retried refund paid twice. The key is the booking id.',
      ...{ kind: 'decision', project: 'ferry' },
    },
  ],
  ['Codex', 'context', { goal: 'make refunds safe to retry', project: 'ferry' }],
  ['Cursor', 'search', { query: 'why did a refund pay twice?' }],
]

/** Characters per line. */
const WIDTH = 120

/** Formats a call, in as many lines as it needs. @param {string} tool @param {Record<string, unknown>} args */
function written(tool, args) {
  const lines = [`${tool}(`]
  Object.entries(args).forEach(([name, value], i, all) => {
    const said = `${name}: ${JSON.stringify(value)}${i === all.length - 1 ? ')' : ', '}`
    const last = lines.length - 1
    if (`${lines[last]}${said}`.length <= WIDTH) lines[last] += said
    else lines.push(`    ${said}`)
  })
  return lines.map((line) => line.trimEnd())
}

/** Returns the lines of a result that are shown. @param {string} tool @param {any} result @returns {string[]} */
function told(tool, result) {
  if (tool === 'remember') return [`→ memory ${result.id}`]
  if (tool === 'context')
    return result.sections.flatMap((/** @type {any} */ { title, memories }) =>
      memories.map((/** @type {any} */ item) => `→ ${title}: [${item.id}] ${item.title} (${item.why})`),
    )
  return result.results.map((/** @type {any} */ { id, content }) => `→ [${id}] ${content.split('\n').at(-1)}`)
}

/**
 * @param {string | URL} origin of a server in open mode with an empty store
 * @returns {Promise<string[]>} lines
 */
export async function playTranscript(origin) {
  const lines = []
  let last = ''
  for (const [who, tool, args] of PLAYED) {
    const client = new Client({ name: who, version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp/core', origin)))
    const { structuredContent, isError } = await client.callTool({ name: tool, arguments: args })
    await client.close()
    if (isError === true) throw new Error(`${tool}: ${JSON.stringify(structuredContent)}`)
    if (who !== last) lines.push(`# ${who}`)
    last = who
    lines.push(...written(tool, args), ...told(tool, structuredContent).map((line) => `  ${line}`))
  }
  return lines
}

const LINE = 22
const MARGIN = 20
/** Seconds between two lines. */
const PAUSE = 0.9

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** @param {string} line */
const colorOf = (line) => (line.startsWith('#') ? '#7d8590' : line.trimStart().startsWith('→') ? '#7ee787' : '#e6edf3')

/**
 * An animated SVG of a transcript, whose lines appear one after the other. Without animation it shows all of them.
 *
 * @param {readonly string[]} lines
 */
export function pictureOf(lines) {
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * 7.9) + 2 * MARGIN
  const height = lines.length * LINE + 2 * MARGIN
  const rows = lines.map((line, i) => {
    const place = `x="${MARGIN}" y="${MARGIN + LINE * i + 15}" fill="${colorOf(line)}"`
    return `  <text ${place} style="animation-delay:${(PAUSE * i).toFixed(1)}s">${escaped(line)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <title>Three agents share a memory</title>
  <style>
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre }
    @media (prefers-reduced-motion: no-preference) { text { animation: appear 0.4s both } }
    @keyframes appear { from { opacity: 0 } to { opacity: 1 } }
  </style>
  <rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`
}

if (process.argv[1]?.endsWith('transcript.mjs')) {
  const origin = (await resolveServer(process.argv[2])).url
  try {
    console.log((await playTranscript(origin)).join('\n'))
  } catch (error) {
    const { message, cause } = /** @type {Error & { cause?: Error }} */ (error)
    const help =
      cause === undefined
        ? ''
        : `: ${cause.message}. Start a server (npm start), or pass one: node scripts/transcript.mjs URL`
    console.error(`${origin} failed to run it (${message})${help}`)
    process.exitCode = 1
  }
}

// `node bench/day/run.mjs [--ref COMMIT …]`: counts the tokens of a working day's answers, by tool, for this tree and
// for commits.
import { parseArgs } from 'node:util'
import { createClient } from '../support/mcp.mjs'
import { markdownTable, thousands } from '../support/numbers.mjs'
import { startServer } from '../support/server.mjs'
import { createWorkspace } from '../support/workspace.mjs'
import { playDay, tokensOf } from './play.mjs'

const { values } = parseArgs({
  options: { ref: { type: 'string', multiple: true, default: [] }, port: { type: 'string', default: '8861' } },
})

/** @param {string | undefined} ref @returns {Promise<Map<string, { calls: number, tokens: number, most: number }>>} */
async function measure(ref) {
  const workspace = createWorkspace(ref)
  const server = await startServer('workerd', {
    workspace,
    state: workspace.folder('state'),
    port: Number(values.port),
    vars: { LOG_LEVEL: 'ERROR' },
  })
  const client = createClient(server.origin)
  const tools = new Map()
  try {
    const ask = async (_, tool, args) => {
      // A release that does not know an argument is called without it.
      try {
        return (await client.call(tool, args)).content
      } catch (error) {
        const { sessionId: _session, ...known } = args
        if (tool !== 'context_orient') throw error
        return (await client.call(tool, known)).content
      }
    }
    for (const { tool, answer } of await playDay(ask, (project) => `/home/ada/${project}`)) {
      const { calls = 0, tokens = 0, most = 0 } = tools.get(tool) ?? {}
      const own = tokensOf(answer)
      tools.set(tool, { calls: calls + 1, tokens: tokens + own, most: Math.max(most, own) })
    }
  } finally {
    client.close()
    await server.stop()
    workspace.remove()
  }
  return tools
}

/** @type {[string, Map<string, { calls: number, tokens: number, most: number }>][]} */
const columns = []
for (const ref of [...values.ref, undefined]) columns.push([ref ?? 'now', await measure(ref)])
const names = [...new Set(columns.flatMap(([, tools]) => [...tools.keys()]))].sort()
const rows = names.map((name) => [
  name,
  ...columns.flatMap(([, tools]) => [
    tools.get(name)?.calls ?? 0,
    tools.get(name)?.tokens ?? 0,
    tools.get(name)?.most ?? 0,
  ]),
])
const sum = (tools) => [...tools.values()].reduce((all, { tokens }) => all + tokens, 0)
const calls = (tools) => [...tools.values()].reduce((all, one) => all + one.calls, 0)
rows.push(['all', ...columns.flatMap(([, tools]) => [calls(tools), thousands(sum(tools)), ''])])
console.log(markdownTable(['tool', ...columns.flatMap(([name]) => [`${name}: calls`, 'tokens', 'most'])], rows))

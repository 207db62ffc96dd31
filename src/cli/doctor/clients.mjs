// Checks that each client is installed, has a supported version, and runs our hooks.
import { CAPTURE_CLIENTS } from '../capture/clients.mjs'
import { isFrom, versionOf } from '../capture/program.mjs'

/** @param {import('./command.mjs').Around} around @returns {Promise<import('./command.mjs').Finding[]>} */
async function checkClient(around, name, isAsked) {
  const client = CAPTURE_CLIENTS[name]
  const [version, found] = await Promise.all([
    versionOf(client.program),
    client.look().catch((error) => ({ hook: null, problems: [error.message] })),
  ])
  if (found.hook !== null) around.hooked.push(name)
  if (!isAsked && found.hook === null && version === null) return []
  const said = version === null ? `${client.program} is not on the PATH` : version
  if (!isAsked && found.hook === null)
    return [{ name, ok: null, detail: `${said}; captures nothing`, todo: `commonplace setup ${name} --capture` }]
  const old =
    version !== null && client.least !== undefined && version !== 'unknown' && !isFrom(version, client.least)
      ? [`version ${client.least} or later is required`]
      : []
  const problems = [...old, ...found.problems]
  if (problems.length === 0) return [{ name, ok: true, detail: `${said}, its hooks are current` }]
  return problems.map((problem) => {
    const [detail, todo] = problem.split(/[:;] (?=commonplace |claude )/)
    return { name, ok: false, detail: `${said}; ${detail}`, ...(todo === undefined ? {} : { todo }) }
  })
}

/** @param {import('./command.mjs').Around} around */
export async function checkClients(around) {
  if (around.client !== null) return checkClient(around, around.client, true)
  const found = await Promise.all(Object.keys(CAPTURE_CLIENTS).map((name) => checkClient(around, name, false)))
  return found.flat()
}
